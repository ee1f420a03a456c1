r"""The cotangent groupoid :math:`T^*G \rightrightarrows A^*G` of a Lie groupoid.

Convention: :math:`\tilde\alpha(\mu)_a = \langle\mu, \overrightarrow{e_a}\rangle`, :math:`\tilde\beta(\mu)_a = \langle\mu,
\overleftarrow{e_a}\rangle`. MMS (4), Appendix A.3.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Covector, Matrix, Point, Vector
from groupoid_mech.algebroids.dual_bundle import DualBundle
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.numerics.matrix import right_inverse, unit_matrix
from groupoid_mech.symplectic.linear_poisson import LinearPoisson
from groupoid_mech.symplectic.symplectic_groupoid import SymplecticGroupoid


@final
class CotangentGroupoid(SymplecticGroupoid):
    r"""The cotangent groupoid :math:`T^*G \rightrightarrows A^*G`; an arrow is ``(g, mu)``, a base point ``(q, p)``.

    .. math:: \tilde\alpha(\mu)_a = \langle\mu, \overrightarrow{e_a}(g)\rangle, \qquad
        \tilde\beta(\mu)_a = \langle\mu, \overleftarrow{e_a}(g)\rangle, \qquad
        \langle\tilde m(\mu, \nu), Tm(v, w)\rangle = \langle\mu, v\rangle + \langle\nu, w\rangle .

    The fibre chart over ``(q, p)`` takes :math:`(a, b)` to :math:`\mu = \mu_0(g, p) + \beta^* (b + b_0)` at
    :math:`g = c(q, a)`, with :math:`\mu_0` the least-norm covector whose source is p and :math:`b_0` such that
    :math:`(0, 0)` is the unit.

    Args:
        groupoid: The groupoid :math:`G`.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> T = CotangentGroupoid(PairGroupoid(Euclidean(1)))
        >>> step = ((jnp.zeros(1), jnp.ones(1)), jnp.array([-2.0, 3.0]))
        >>> T.source(step)
        (Array([0.], dtype=float64), Array([2.], dtype=float64))
        >>> T.target(step)
        (Array([1.], dtype=float64), Array([3.], dtype=float64))
    """

    groupoid: LieGroupoid
    base: DualBundle
    space: CotangentBundle
    rank: int = eqx.field(static=True)

    def __init__(self, groupoid: LieGroupoid):
        require_instances("CotangentGroupoid", "groupoid", (groupoid,), LieGroupoid)
        self.groupoid = groupoid
        self.base = DualBundle(groupoid.base, groupoid.rank)
        self.space = CotangentBundle(groupoid.space)
        self.rank = groupoid.space.dim

    def source(self, g: Point) -> Point:
        arrow, mu = g
        return self.groupoid.source(arrow), self.groupoid.right_frame(arrow).T @ mu

    def target(self, g: Point) -> Point:
        arrow, mu = g
        return self.groupoid.target(arrow), self.groupoid.left_frame(arrow).T @ mu

    def unit(self, q: Point) -> Point:
        point, p = q
        return self.groupoid.unit(point), self.groupoid.algebroid_projection(point).T @ p

    def inverse(self, g: Point) -> Point:
        arrow, mu = g
        inverse = self.groupoid.inverse(arrow)
        return inverse, -self.groupoid.tangent_inverse(inverse).T @ mu

    def multiply(self, g: Point, h: Point) -> Point:
        (first, mu), (second, nu) = g, h
        G = self.groupoid
        product = G.multiply(first, second)
        # A vector u at the product is Tm(v, w) with w any vector at the second arrow of the same Tβ, and v that of k h⁻¹.
        lifts = right_inverse(G.tangent_target(second)) @ G.tangent_target(product)

        def paired(u: Vector, w: Vector) -> Covector:
            vectors = G.space.to_ambient(product, u), G.space.to_ambient(second, w)
            moved = jax.jvp(lambda k, s: G.multiply(k, G.inverse(s)), (product, second), vectors)[1]
            return mu @ G.space.from_ambient(first, moved) + nu @ w

        return product, jax.vmap(paired)(unit_matrix(self.rank), lifts.T)

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        (point, p), r = q, self.groupoid.rank
        arrow = self.groupoid.fiber_chart(point, a[:r])
        return arrow, self._least_covector(arrow, p) + self.groupoid.tangent_target(arrow).T @ (a[r:] + self._shift(q))

    def fiber_local(self, q: Point, g: Point) -> Vector:
        (point, p), (arrow, mu) = q, g
        b = right_inverse(self.groupoid.tangent_target(arrow)).T @ (mu - self._least_covector(arrow, p))
        return jnp.concatenate([self.groupoid.fiber_local(point, arrow), b - self._shift(q)])

    def symplectic_form(self, g: Point) -> Matrix:
        return self.space.symplectic_form(g)

    def poisson_tensor(self, q: Point) -> Matrix:
        return LinearPoisson(GroupoidAlgebroid(self.groupoid)).tensor(q)

    def _least_covector(self, arrow: Point, p: Covector) -> Covector:
        return right_inverse(self.groupoid.right_frame(arrow).T) @ p

    def _shift(self, q: Point) -> Covector:
        unit, covector = self.unit(q)
        return right_inverse(self.groupoid.tangent_target(unit)).T @ (covector - self._least_covector(unit, q[1]))
