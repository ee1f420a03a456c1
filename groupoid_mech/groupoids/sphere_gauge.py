r"""The gauge groupoid of the bundle :math:`SO(3) \to S^2`, which has no trivialization."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._types import Matrix, Point, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groups.rotations import rotation_from_vector
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.numerics.matrix import axial, cross_matrix, dot, matmul, matvec, unit_matrix


@final
class SphereGaugeGroupoid(LieGroupoid):
    r"""The gauge groupoid :math:`(SO(3) \times SO(3))/SO(2) \rightrightarrows S^2` of :math:`SO(3) \to S^2,\; R \mapsto R^T e_3`.

    SO(2) are the rotations k about :math:`e_3`, acting by :math:`(k R_0, k R_1)`. The class of :math:`(R_0, R_1)` is the arrow
    :math:`(x, R)` with :math:`x = R_1^T e_3` and :math:`R = R_0^T R_1`: a rotation that carries the end to the start.

    .. math:: \alpha(x, R) = R x, \qquad \beta(x, R) = x, \qquad (x, R)(y, S) = (y, R S), \qquad
        c(q, (a, \theta)) = (x, e^{\theta\hat q}\, T_{q x}^{-1}), \; x = \operatorname{retract}(q, a),

    with the rotation :math:`T_{q x}` of the great circle from q to x. So a moves the end by parallel transport, and θ turns the
    fibre over it: :math:`AG = TS^2 \oplus \mathfrak{so}(2)`. It is isomorphic to :math:`S^2 \rtimes SO(3)`, see
    `sphere_isomorphism`. The fibre chart reaches every end but the antipode.

    Example:
        >>> G = SphereGaugeGroupoid()
        >>> north = jnp.array([0.0, 0.0, 1.0])
        >>> G.target(G.fiber_chart(north, jnp.array([jnp.pi / 2, 0.0, 0.3]))).round(12) + 0.0
        Array([1., 0., 0.], dtype=float64)
    """

    base: Sphere
    group: SO3
    space: ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self) -> None:
        self.base = Sphere(2)
        self.group = SO3()
        self.space = ProductManifold(self.base, self.group)
        self.rank = 3

    def source(self, g: Point) -> Point:
        return matvec(g[1], g[0])

    def target(self, g: Point) -> Point:
        return g[0]

    def unit(self, q: Point) -> Point:
        return q, jnp.eye(3)

    def inverse(self, g: Point) -> Point:
        return matvec(g[1], g[0]), g[1].T

    def multiply(self, g: Point, h: Point) -> Point:
        return h[0], matmul(g[1], h[1])

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        x = self.base.retract(q, a[:2])
        return x, matmul(rotation_from_vector(a[2] * q), _great_circle_rotation(q, x).T)

    def fiber_local(self, q: Point, g: Point) -> Vector:
        turn = matmul(g[1], _great_circle_rotation(q, g[0]))
        angle = jnp.arctan2(dot(q, axial(turn)), 0.5 * (jnp.trace(turn) - 1))
        return jnp.concatenate([self.base.local(q, g[0]), angle[None]])


def _great_circle_rotation(x: Point, y: Point) -> Matrix:
    r"""The rotation about :math:`x \times y` that carries x to y: :math:`I + K + K^2/(1 + x \cdot y)`, :math:`K = \widehat{x \times y}`."""
    K = cross_matrix(jnp.cross(x, y))
    return unit_matrix(3) + K + matmul(K, K) / (1 + dot(x, y))
