r"""The action groupoid of the coadjoint action, the symplectic groupoid of a Lie–Poisson space."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Matrix, Point, Vector
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.numerics.matrix import weighted_sum
from groupoid_mech.symplectic.symplectic_groupoid import SymplecticGroupoid


@final
class CoadjointGroupoid(SymplecticGroupoid):
    r"""The symplectic groupoid :math:`H \ltimes h^* \rightrightarrows h^*`; an arrow is ``(p, h)``, from p to :math:`\mathrm{Ad}_h^* p`.

    .. math:: \alpha(p, h) = p, \qquad \beta(p, h) = \mathrm{Ad}_h^T p, \qquad (p, h)(\mathrm{Ad}_h^T p, k) = (p, h k) .

    It is :math:`T^*H` by :math:`(p, h) \mapsto (h, \mu = \mathrm{Ad}_h^T p)` with μ left-trivialized, and carries its form
    :math:`\omega((\delta p, \xi), (\delta r, \eta)) = \langle\delta\nu, \xi\rangle - \langle\delta\mu, \eta\rangle +
    \langle\mu, [\xi, \eta]\rangle` with :math:`\delta\mu = \mathrm{Ad}_h^T\delta p + \mathrm{ad}_\xi^T\mu`. The base carries
    :math:`\{p_a, p_b\} = -C^c_{ab} p_c`.

    Args:
        group: The Lie group :math:`H`.

    Example:
        >>> from groupoid_mech import SO3
        >>> G = CoadjointGroupoid(SO3())
        >>> G.target((jnp.array([0.0, 0.0, 1.0]), SO3().exp(jnp.array([jnp.pi / 2, 0.0, 0.0])))).round(12) + 0.0
        Array([0., 1., 0.], dtype=float64)
    """

    group: LieGroup
    base: Euclidean
    space: ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self, group: LieGroup):
        require_instances("CoadjointGroupoid", "group", (group,), LieGroup)
        self.group = group
        self.base = Euclidean(group.dim)
        self.space = ProductManifold(self.base, group)
        self.rank = group.dim

    def source(self, g: Point) -> Point:
        return g[0]

    def target(self, g: Point) -> Point:
        return self.group.adjoint(g[1]).T @ g[0]

    def unit(self, q: Point) -> Point:
        return q, self.group.identity()

    def inverse(self, g: Point) -> Point:
        return self.group.adjoint(g[1]).T @ g[0], self.group.inverse(g[1])

    def multiply(self, g: Point, h: Point) -> Point:
        return g[0], self.group.multiply(g[1], h[1])

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        return q, self.group.from_algebra(a)

    def fiber_local(self, q: Point, g: Point) -> Vector:
        return self.group.to_algebra(g[1])

    def symplectic_form(self, g: Point) -> Matrix:
        p, h = g
        Ad, n = self.group.adjoint(h), self.group.dim
        mu = Ad.T @ p
        twist = weighted_sum(mu, self.group.structure_constants())
        # In δμ the coadjoint term turns +⟨μ, [ξ, η]⟩ into −⟨μ, [ξ, η]⟩.
        return jnp.block([[jnp.zeros((n, n)), -Ad], [Ad.T, -twist]])

    def poisson_tensor(self, q: Point) -> Matrix:
        return -weighted_sum(q, self.group.structure_constants())
