r"""What follows from coordinates that are known: for code that made the point y as :math:`\operatorname{retract}(x, \xi)`, and so has ξ.

The logarithm in :math:`\operatorname{local}(x, y)` is then needed for derivatives only, and there are closed forms of these in ξ. Functions that are
open for further manifolds: ``@local_at.register`` adds the closed form of one.
"""

from functools import singledispatch

import jax
import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.manifolds import great_circle
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold, split
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.numerics.with_value import with_value


@singledispatch
def local_at(M: Manifold, x: Point, y: Point, xi: Vector) -> Vector:
    r"""The coordinates :math:`\operatorname{local}(x, y)`, known to be ``xi``: that value without round-off, with the derivatives of ``local``.

    Args:
        M: The manifold.
        x: A point.
        y: The point :math:`\operatorname{retract}(x, \xi)`.
        xi: The coordinates ξ; their own derivatives are not used.

    Example:
        >>> import jax
        >>> from groupoid_mech import Sphere
        >>> S2, x, xi = Sphere(2), jnp.array([0.0, 0.6, 0.8]), jnp.array([0.3, 0.4])
        >>> y = S2.retract(x, xi)
        >>> exact, known = jax.jit(jax.jacobian(S2.local, 1))(x, y), jax.jit(jax.jacobian(lambda y: local_at(S2, x, y, xi)))(y)
        >>> float(jnp.max(jnp.abs((exact - known) @ S2.frame(y)))) < 1e-15
        True
    """
    return with_value(xi, M.local(x, y))


@singledispatch
def reflected_at(M: Manifold, x: Point, y: Point, xi: Vector) -> Vector:
    r"""The coordinates :math:`-\operatorname{local}(y, x)` of the way on from :math:`y = \operatorname{retract}(x, \xi)`, in the frame at y.

    Args:
        M: The manifold.
        x: A point.
        y: The point :math:`\operatorname{retract}(x, \xi)`.
        xi: The coordinates ξ.
    """
    return -M.local(y, x)


@singledispatch
def point_along(M: Manifold, x: Point, y: Point, xi: Vector, theta: Scalar) -> tuple[Point, Vector]:
    r"""The point :math:`z = \operatorname{retract}(x, \theta\xi)` on the way to :math:`y = \operatorname{retract}(x, \xi)`, and the velocity there.

    For manifolds that are retracted along geodesics, where the velocity is :math:`\operatorname{local}(z, y)/(1 - \theta)`, or
    :math:`-\operatorname{local}(z, x)/\theta`: the longer half is taken.

    Args:
        M: The manifold.
        x: A point.
        y: The point :math:`\operatorname{retract}(x, \xi)`.
        xi: The coordinates ξ; their own derivatives are not used.
        theta: The part θ of the way.
    """
    z = M.retract(x, theta * local_at(M, x, y, xi))
    early = theta <= 0.5
    end = jax.tree.map(lambda after, before: jnp.where(early, after, before), y, x)
    return z, M.local(z, end) / jnp.where(early, 1 - theta, -theta)


@singledispatch
def point_in_the_middle(M: Manifold, x: Point, y: Point, xi: Vector) -> tuple[Point, Vector]:
    r"""The point and the velocity of `point_along` for θ = ½, where formulas are shorter.

    Args:
        M: The manifold.
        x: A point.
        y: The point :math:`\operatorname{retract}(x, \xi)`.
        xi: The coordinates ξ; their own derivatives are not used.
    """
    return point_along(M, x, y, xi, jnp.asarray(0.5))


@singledispatch
def carried_to(M: Manifold, x: Point, y: Point, mu: Covector) -> Covector:
    r"""The components :math:`E(y)^T E(x)\,\mu` at a nearby point y of a covector at x, for orthonormal frames E: the same up to the distance.

    Frames may jump between two points, and components with them. On a sphere by parallel transport.

    Args:
        M: The manifold.
        x: A point.
        y: A point nearby.
        mu: The components of the covector in the frame at x.

    Example:
        >>> from groupoid_mech import Sphere
        >>> below, above = jnp.array([0.0, 1.0, -1e-9]), jnp.array([0.0, 1.0, 1e-9])
        >>> carried_to(Sphere(2), below, above, jnp.array([1.0, 2.0])).round(6)
        Array([-1., -2.], dtype=float64)
    """
    return M.from_ambient(y, M.to_ambient(x, mu))


local_at.register(Sphere, great_circle.known_coordinates)
reflected_at.register(Sphere, great_circle.reflected_coordinates)
point_along.register(Sphere, great_circle.point_along)
point_in_the_middle.register(Sphere, great_circle.point_in_the_middle)
carried_to.register(Sphere, great_circle.transported)


@local_at.register
def _(M: ProductManifold, x: Point, y: Point, xi: Vector) -> Vector:
    return jnp.concatenate([local_at(*part) for part in _parts(M, x, y, xi)])


@reflected_at.register
def _(M: ProductManifold, x: Point, y: Point, xi: Vector) -> Vector:
    return jnp.concatenate([reflected_at(*part) for part in _parts(M, x, y, xi)])


@reflected_at.register(Euclidean)
@reflected_at.register(Torus)
def _(M: Manifold, x: Point, y: Point, xi: Vector) -> Vector:
    return xi


@carried_to.register(Euclidean)
@carried_to.register(Torus)
def _(M: Manifold, x: Point, y: Point, mu: Covector) -> Covector:
    return mu


@carried_to.register
def _(M: ProductManifold, x: Point, y: Point, mu: Covector) -> Covector:
    return jnp.concatenate([carried_to(*part) for part in _parts(M, x, y, mu)])


@point_along.register
def _(M: ProductManifold, x: Point, y: Point, xi: Vector, theta: Scalar) -> tuple[Point, Vector]:
    return _joined([point_along(*part, theta) for part in _parts(M, x, y, xi)])


@point_in_the_middle.register
def _(M: ProductManifold, x: Point, y: Point, xi: Vector) -> tuple[Point, Vector]:
    return _joined([point_in_the_middle(*part) for part in _parts(M, x, y, xi)])


def _parts(M: ProductManifold, x: Point, y: Point, xi: Vector) -> list[tuple[Manifold, Point, Point, Vector]]:
    return list(zip(M.factors, x, y, split(tuple(factor.dim for factor in M.factors), xi), strict=True))


def _joined(pairs: list[tuple[Point, Vector]]) -> tuple[Point, Vector]:
    return tuple(point for point, _ in pairs), jnp.concatenate([vector for _, vector in pairs])
