r"""Arcs of great circles between two points of a sphere whose coordinates are known.

With :math:`y = \operatorname{retract}(x, \xi)`, :math:`\varphi = |\xi|` is the angle and

.. math:: z_\theta = \frac{\sin((1 - \theta)\varphi)\,x + \sin(\theta\varphi)\,y}{\sin\varphi}, \qquad
    \dot z_\theta = \varphi\,\frac{\cos(\theta\varphi)\,y - \cos((1 - \theta)\varphi)\,x}{\sin\varphi} .

Values come from ξ, derivatives are those on the sphere in x and y: no logarithm is taken.
"""

from typing import Any

import jax

from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.numerics.stumpff import stumpff
from groupoid_mech.numerics.with_value import with_value


def known_coordinates(S: Sphere, x: Point, y: Point, xi: Vector) -> Vector:
    r"""The value ξ, with the derivatives of the velocity at the start in the frame there.

    .. math:: \dot z_0 = \varphi\,\frac{y - \cos\varphi\,x}{\sin\varphi}, \qquad \xi = E(x)^T\dot z_0 = \frac{\varphi}{\sin\varphi}\,E(x)^T(y - x) .

    The last form is differentiated: so angular momentum walks at random. By that of ``local``, a function of :math:`E(x)^Ty` and :math:`x\cdot y`,
    it would drift, by 1.7 ε in every step of Euler's symplectic method.
    """
    x, y = _on_sphere(x), _on_sphere(y)
    change, t = _apart(S, x, y, xi)
    return with_value(xi, S.from_ambient(x, change) * (1 / stumpff(1, t)))


def reflected_coordinates(S: Sphere, x: Point, y: Point, xi: Vector) -> Vector:
    r"""The velocity :math:`\dot z_1 = \cos\varphi\,E(x)\xi - \varphi\sin\varphi\,x` at the end, in the frame there."""
    t = dot(xi, xi)
    return S.from_ambient(y, stumpff(0, t) * S.to_ambient(x, xi) - t * stumpff(1, t) * x)


def point_along(S: Sphere, x: Point, y: Point, xi: Vector, theta: Scalar) -> tuple[Point, Vector]:
    r"""The point :math:`z_\theta`, and the velocity :math:`\dot z_\theta` in the frame there."""
    x, y = _on_sphere(x), _on_sphere(y)
    z, velocity = _along(x, y, *_apart(S, x, y, xi), theta)
    return z, S.from_ambient(z, velocity)


def point_in_the_middle(S: Sphere, x: Point, y: Point, xi: Vector) -> tuple[Point, Vector]:
    r"""The point and the velocity for θ = ½.

    .. math:: z = \frac{x + y}{2\cos\frac\varphi2}, \qquad \dot z = \frac{\varphi/2}{\sin\frac\varphi2}\,(y - x) .
    """
    x, y = _on_sphere(x), _on_sphere(y)
    z, velocity = _middle(x, y, *_apart(S, x, y, xi))
    return z, S.from_ambient(z, velocity)


def transported(S: Sphere, x: Point, y: Point, mu: Vector) -> Vector:
    r"""The components at y of a vector or covector at x by parallel transport along the arc from x to y, which is not to be half a circle.

    .. math:: w \mapsto w - \frac{\langle y, w\rangle}{1 + \langle x, y\rangle}\,(x + y), \qquad w = E(x)\mu .

    An isometry. In a frame that moves along so, momenta change with forces alone: a step on :math:`T^*S^2` takes 3.05 values of its equations,
    with the projection :math:`E(y)^T E(x)\mu` instead 3.49.
    """
    w = S.to_ambient(x, mu)
    # The frame at y does not see the part along y.
    return S.from_ambient(y, w - dot(y, w) * (1 / (1 + dot(x, y))) * x)


def _apart(S: Sphere, x: Point, y: Point, xi: Vector) -> tuple[Point, Scalar]:
    """The difference y - x and the square of the angle, with their values from ξ."""
    return with_value(S.displacement(x, xi), y - x), _squared_angle(x, y, dot(xi, xi))


# Programs of their own: their derivatives are traced once for all uses. A quotient is not copied into all uses by XLA, and does not wait for the
# sum that it multiplies.
@jax.jit
def _along(x: Point, y: Point, change: Point, t: Scalar, theta: Scalar) -> tuple[Point, Point]:
    late, half, sinc = 1 - theta, 0.5 - theta, stumpff(1, t)
    z = (late * stumpff(1, late * late * t) * x + theta * stumpff(1, theta * theta * t) * y) / sinc
    # The difference of the two cosines as a product: no digit is lost.
    gap = half * t * stumpff(1, 0.25 * t) * stumpff(1, half * half * t)
    return z, (stumpff(0, theta * theta * t) * change + gap * x) / sinc


@jax.jit
def _middle(x: Point, y: Point, change: Point, t: Scalar) -> tuple[Point, Point]:
    return (x + y) * (0.5 / stumpff(0, 0.25 * t)), change * (1 / stumpff(1, 0.25 * t))


@jax.custom_jvp
def _on_sphere(x: Point) -> Point:
    """The point itself, with the derivative of x/|x|: none across the sphere, where round-off of points would see it."""
    return x


@_on_sphere.defjvp
def _on_sphere_jvp(primals: Any, tangents: Any) -> tuple[Point, Point]:
    (x,), (dx,) = primals, tangents
    x = _on_sphere(x)
    return x, dx - dot(x, dx) * x


@jax.custom_jvp
def _squared_angle(x: Point, y: Point, t: Scalar) -> Scalar:
    """The square of the angle between x and y, known to be t."""
    return t


@_squared_angle.defjvp
def _squared_angle_jvp(primals: Any, tangents: Any) -> tuple[Scalar, Scalar]:
    # What is known is a value only: all derivatives, those of this rule too, come from x and y.
    (x, y, t), (dx, dy, _) = primals, tangents
    t = _squared_angle(x, y, jax.lax.stop_gradient(t))
    return t, (dot(dx, y) + dot(x, dy)) * (-2 / stumpff(1, t))
