r"""The morphisms that come with the groupoids: quotients, anchors, projections, isomorphisms.

Convention: each function gives a `Morphism` whose domain and codomain are built from its arguments. MMS §4.1.
"""

from collections.abc import Callable
from typing import final

import equinox as eqx

from groupoid_mech._arguments import as_pytree, require_instances
from groupoid_mech._types import Point
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.action import ActionGroupoid
from groupoid_mech.groupoids.gauge import GaugeGroupoid
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.morphism import Morphism
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groupoids.product import ProductGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.numerics.matrix import matmul, matvec


def identity_morphism(G: LieGroupoid) -> Morphism:
    r"""The identity :math:`G \to G`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import GroupGroupoid, Translations
        >>> identity_morphism(GroupGroupoid(Translations(1)))(jnp.ones(1))
        Array([1.], dtype=float64)
    """
    require_instances("identity_morphism", "G", (G,), LieGroupoid)
    return Morphism(G, G, _same)


def pair_to_group(H: LieGroup) -> Morphism:
    r"""The quotient by left translations, :math:`H \times H \to H, \; (g_0, g_1) \mapsto g_0^{-1} g_1`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Translations
        >>> pair_to_group(Translations(1))((jnp.ones(1), jnp.array([3.0])))
        Array([2.], dtype=float64)
    """
    require_instances("pair_to_group", "H", (H,), LieGroup)
    return Morphism(PairGroupoid(H), GroupGroupoid(H), _Difference(H))


def pair_to_gauge(base: Manifold, H: LieGroup) -> Morphism:
    r"""The quotient :math:`P \times P \to (P \times P)/H` for :math:`P = B \times H`:
    :math:`((x_0, h_0), (x_1, h_1)) \mapsto (x_0, x_1, h_0^{-1} h_1)`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean, Translations
        >>> zero, one = jnp.zeros(1), jnp.ones(1)
        >>> pair_to_gauge(Euclidean(1), Translations(1))(((zero, one), (one, 3 * one)))
        (Array([0.], dtype=float64), Array([1.], dtype=float64), Array([2.], dtype=float64))
    """
    require_instances("pair_to_gauge", "base", (base,), Manifold)
    require_instances("pair_to_gauge", "H", (H,), LieGroup)
    return Morphism(PairGroupoid(ProductManifold(base, H)), GaugeGroupoid(base, H), _GaugeClass(H))


def anchor_morphism(G: LieGroupoid) -> Morphism:
    r"""The anchor :math:`(\alpha, \beta): G \to Q \times Q`; its algebroid map is the anchor :math:`\rho` of :math:`AG`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import SO2, Euclidean, GaugeGroupoid
        >>> anchor_morphism(GaugeGroupoid(Euclidean(1), SO2())).algebroid_map(jnp.zeros(1))
        Array([[1., 0.]], dtype=float64)
    """
    require_instances("anchor_morphism", "G", (G,), LieGroupoid)
    return Morphism(G, PairGroupoid(G.base), _Ends(G))


def projection(P: ProductGroupoid, k: int) -> Morphism:
    r"""The projection :math:`G_0 \times \dots \times G_n \to G_k` of a product to the factor ``k``, counted from 0.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import GroupGroupoid, ProductGroupoid, Translations
        >>> P = ProductGroupoid(GroupGroupoid(Translations(1)), GroupGroupoid(Translations(2)))
        >>> projection(P, 1)((jnp.zeros(1), jnp.ones(2)))
        Array([1., 1.], dtype=float64)
    """
    require_instances("projection", "P", (P,), ProductGroupoid)
    if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k < len(P.factors):
        raise ArgumentError(
            f"projection needs k to be an integer from 0 to {len(P.factors) - 1}, the number of a factor; got {k!r}."
        )
    return Morphism(P, P.factors[k], _Component(k))


def group_morphism(H: LieGroup, K: LieGroup, f: Callable[[Point], Point]) -> Morphism:
    r"""A morphism of Lie groups :math:`f: H \to K`, seen as one of groupoids.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import SO3, UnitQuaternions
        >>> cover = group_morphism(UnitQuaternions(), SO3(), UnitQuaternions().adjoint)
        >>> cover(jnp.array([0.0, 0.0, 0.0, 1.0])).round(12) + 0.0
        Array([[-1.,  0.,  0.],
               [ 0., -1.,  0.],
               [ 0.,  0.,  1.]], dtype=float64)
    """
    require_instances("group_morphism", "H", (H,), LieGroup)
    require_instances("group_morphism", "K", (K,), LieGroup)
    return Morphism(GroupGroupoid(H), GroupGroupoid(K), as_pytree(f))


def action_morphism(G: ActionGroupoid) -> Morphism:
    r"""The morphism :math:`Q \rtimes H \to H, \; (q, h) \mapsto h`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import ActionGroupoid, Euclidean, Translations
        >>> G = ActionGroupoid(Euclidean(1), Translations(1), lambda q, h: q + h)
        >>> action_morphism(G)((jnp.zeros(1), jnp.ones(1)))
        Array([1.], dtype=float64)
    """
    require_instances("action_morphism", "G", (G,), ActionGroupoid)
    return Morphism(G, GroupGroupoid(G.group), _Component(1))


def gauge_to_product(base: Manifold, H: LieGroup) -> Morphism:
    r"""The isomorphism :math:`((B \times H) \times (B \times H))/H \to (B \times B) \times H, \; (x_0, x_1, h) \mapsto ((x_0, x_1), h)`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean, Translations
        >>> gauge_to_product(Euclidean(1), Translations(1)).algebroid_map(jnp.zeros(1))
        Array([[1., 0.],
               [0., 1.]], dtype=float64)
    """
    require_instances("gauge_to_product", "base", (base,), Manifold)
    require_instances("gauge_to_product", "H", (H,), LieGroup)
    return Morphism(GaugeGroupoid(base, H), _pair_times_group(base, H), _split_gauge)


def product_to_gauge(base: Manifold, H: LieGroup) -> Morphism:
    r"""The inverse of `gauge_to_product`, :math:`((x_0, x_1), h) \mapsto (x_0, x_1, h)`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean, Translations
        >>> product_to_gauge(Euclidean(1), Translations(1)).base_map((jnp.ones(1), jnp.zeros(0)))
        Array([1.], dtype=float64)
    """
    require_instances("product_to_gauge", "base", (base,), Manifold)
    require_instances("product_to_gauge", "H", (H,), LieGroup)
    return Morphism(_pair_times_group(base, H), GaugeGroupoid(base, H), _join_gauge)


def rotations_to_sphere() -> Morphism:
    r"""The quotient of :math:`SO(3) \times SO(3)` by rotations about the vertical, the gauge groupoid of :math:`SO(3) \to S^2`.

    .. math:: (R_0, R_1) \mapsto (R_0^T e_3, R_0^T R_1) \in S^2 \rtimes SO(3), \qquad q\cdot R = R^T q .

    Its fibres are the orbits :math:`(k R_0, k R_1)` of the rotations with :math:`k e_3 = e_3`.

    Example:
        >>> import jax.numpy as jnp
        >>> Phi = rotations_to_sphere()
        >>> Phi.base_map(jnp.eye(3))
        Array([0., 0., 1.], dtype=float64)
    """
    return Morphism(PairGroupoid(SO3()), ActionGroupoid(Sphere(2), SO3(), turn_back), _vertical_and_turn)


def _pair_times_group(base: Manifold, H: LieGroup) -> ProductGroupoid:
    return ProductGroupoid(PairGroupoid(base), GroupGroupoid(H))


def _same(g: Point) -> Point:
    return g


def _split_gauge(g: Point) -> Point:
    x0, x1, h = g
    return (x0, x1), h


def _join_gauge(g: Point) -> Point:
    (x0, x1), h = g
    return x0, x1, h


def turn_back(q: Point, R: Point) -> Point:
    r"""The right action :math:`q \cdot R = R^T q` of rotations on the sphere."""
    return matvec(R.T, q)


def _vertical_and_turn(g: Point) -> Point:
    R0, R1 = g
    return R0[2], matmul(R0.T, R1)


@final
class _Difference(eqx.Module):
    """The map (g0, g1) ↦ g0⁻¹ g1."""

    group: LieGroup

    def __call__(self, g: Point) -> Point:
        return self.group.multiply(self.group.inverse(g[0]), g[1])


@final
class _GaugeClass(eqx.Module):
    """The map ((x0, h0), (x1, h1)) ↦ (x0, x1, h0⁻¹ h1)."""

    group: LieGroup

    def __call__(self, g: Point) -> Point:
        (x0, h0), (x1, h1) = g
        return x0, x1, self.group.multiply(self.group.inverse(h0), h1)


@final
class _Ends(eqx.Module):
    """The map g ↦ (α(g), β(g))."""

    groupoid: LieGroupoid

    def __call__(self, g: Point) -> Point:
        return self.groupoid.source(g), self.groupoid.target(g)


@final
class _Component(eqx.Module):
    """The map that takes one component of a tuple."""

    number: int = eqx.field(static=True)

    def __call__(self, g: Point) -> Point:
        return g[self.number]
