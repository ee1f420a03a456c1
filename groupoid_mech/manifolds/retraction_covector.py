r"""Covectors pulled back by the retraction of a manifold, in parts that do not depend on how the frame turns.

.. math:: y = \operatorname{retract}(x, \xi), \qquad \delta y = T\operatorname{retract}\cdot(\delta x, \nabla\xi) .

Convention: horizontal are the changes of x with ξ carried along in ambient form, so that :math:`\nabla\xi = 0`; vertical those of ξ at x.
"""

from functools import singledispatch

import jax
import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Vector
from groupoid_mech.manifolds.calculus import tangential
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold, split
from groupoid_mech.manifolds.smooth_chart import carried
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.numerics.stumpff import stumpff


@singledispatch
def retraction_covector(M: Manifold, x: Point, xi: Vector, y: Point, mu: Covector) -> tuple[Covector, Covector]:
    r"""The horizontal and the vertical part of :math:`\mu\,T_{(x, \xi)}\operatorname{retract}`, for a covector μ at y.

    Open for further manifolds: ``@retraction_covector.register`` adds the closed form of one.

    Args:
        M: The manifold.
        x: A point.
        xi: Coordinates ξ.
        y: The point :math:`\operatorname{retract}(x, \xi)`.
        mu: The components of the covector in the frame at y.

    Example:
        >>> from groupoid_mech import Sphere
        >>> north, a_quarter = jnp.array([0.0, 0.0, 1.0]), jnp.array([jnp.pi / 2, 0.0])
        >>> horizontal, vertical = retraction_covector(Sphere(2), north, a_quarter, jnp.array([1.0, 0.0, 0.0]), jnp.array([0.0, 1.0]))
        >>> horizontal.round(6) + 0.0, vertical.round(6)
        (Array([0., 0.], dtype=float64), Array([0.     , 0.63662], dtype=float64))
    """
    (ambient,) = jax.vjp(lambda moved: M.from_ambient(y, moved), jax.tree.map(jnp.zeros_like, y))[1](mu)
    _, transpose = jax.vjp(lambda z, added: M.retract(z, carried(M, x, z, xi) + added), x, jnp.zeros_like(xi))
    slope, vertical = transpose(ambient)
    return tangential(M, x, slope), vertical


@retraction_covector.register
def _(M: Sphere, x: Point, xi: Vector, y: Point, mu: Covector) -> tuple[Covector, Covector]:
    r"""The parts for :math:`y = c_0 x + c_1 E\xi`, with :math:`c_k = c_k(|\xi|^2)` and :math:`P = E(y)\mu`.

    .. math:: c_0\,E^TP - c_1\langle P, x\rangle\,\xi, \qquad
        c_1\,E^TP + \bigl((c_3 - c_2)\langle P, E\xi\rangle - c_1\langle P, x\rangle\bigr)\,\xi .
    """
    t, ambient = dot(xi, xi), M.to_ambient(y, mu)
    tangent, second, third = M.from_ambient(x, ambient), stumpff(2, t), stumpff(3, t)
    # c_k = 1/k! - t c_{k+2}: two functions instead of four.
    cosine, sine = 1 - t * second, 1 - t * third
    across = sine * dot(ambient, x)
    along = (third - second) * dot(tangent, xi)
    return cosine * tangent - across * xi, sine * tangent + (along - across) * xi


@retraction_covector.register(Euclidean)
@retraction_covector.register(Torus)
def _(M: Manifold, x: Point, xi: Vector, y: Point, mu: Covector) -> tuple[Covector, Covector]:
    return mu, mu


@retraction_covector.register
def _(M: ProductManifold, x: Point, xi: Vector, y: Point, mu: Covector) -> tuple[Covector, Covector]:
    sizes = tuple(factor.dim for factor in M.factors)
    parts = zip(M.factors, x, split(sizes, xi), y, split(sizes, mu), strict=True)
    horizontal, vertical = zip(*(retraction_covector(*part) for part in parts), strict=True)
    return jnp.concatenate(horizontal), jnp.concatenate(vertical)
