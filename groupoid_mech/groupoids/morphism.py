r"""Morphisms of Lie groupoids, what they induce on bases, tangents and algebroids, and what is related by them.

Convention: matrices act on coordinates in the frames of ``space`` and in the frames of the algebroids that the fibre charts
give; composition reads left to right, ``Phi.then(Psi)`` is :math:`\Psi\circ\Phi`. MMS Def. 4.1, Def. 4.4.
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    is_concrete,
    name_of,
    require_instances,
    require_vector,
    same_structure,
    traced_shape,
)
from groupoid_mech._types import Covector, Matrix, Point, Scalar, Vector, VectorField
from groupoid_mech.errors import NotAMorphismError
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.groupoids.sameness import require_same_groupoid
from groupoid_mech.manifolds.calculus import push_forward
from groupoid_mech.manifolds.drawn_points import FEW, a_few_points
from groupoid_mech.manifolds.manifold import ON_MANIFOLD
from groupoid_mech.numerics.matrix import unit_matrix
from groupoid_mech.numerics.quick_jit import quick_jit


@final
class Morphism(eqx.Module):
    r"""A morphism of Lie groupoids :math:`\Phi: G \to G'`.

    .. math:: \Phi(g h) = \Phi(g)\,\Phi(h), \qquad \Phi_0 = \alpha'\circ\Phi\circ\epsilon: Q \to Q', \qquad
        A\Phi = T\Phi|_{AG}: A_qG \to A_{\Phi_0(q)}G' .

    On drawn composable pairs the construction checks that the map is one, and raises ``NotAMorphismError`` with the condition that
    fails and by how much.

    Args:
        domain: The groupoid :math:`G`.
        codomain: The groupoid :math:`G'`.
        map: The map :math:`\Phi` from arrows to arrows.

    Example:
        >>> from groupoid_mech import Euclidean, GroupGroupoid, PairGroupoid, Translations
        >>> Phi = Morphism(PairGroupoid(Euclidean(1)), GroupGroupoid(Translations(1)), lambda g: g[1] - g[0])
        >>> Phi((jnp.array([2.0]), jnp.array([5.0])))
        Array([3.], dtype=float64)
        >>> Phi.algebroid_map(jnp.zeros(1))
        Array([[1.]], dtype=float64)
    """

    domain: LieGroupoid
    codomain: LieGroupoid
    map: Callable[[Point], Point]

    def __init__(self, domain: LieGroupoid, codomain: LieGroupoid, map: Callable[[Point], Point]):
        require_instances("Morphism", "domain", (domain,), LieGroupoid)
        require_instances("Morphism", "codomain", (codomain,), LieGroupoid)
        self.domain = domain
        self.codomain = codomain
        self.map = as_pytree(map)
        _require_arrows(self)
        if is_concrete((domain, codomain, map)):
            _require_morphism(self)

    def __call__(self, g: Point) -> Point:
        r"""The arrow :math:`\Phi(g)`."""
        self.domain.check_arrow(g, owner="Morphism")
        return _call(self.map, g)

    def base_map(self, q: Point) -> Point:
        r"""The induced map :math:`\Phi_0(q) = \alpha'(\Phi(\epsilon(q)))` of the bases."""
        self.domain.check_point(q, owner="Morphism.base_map")
        return self.codomain.source(self(self.domain.unit(q)))

    def tangent(self, g: Point) -> Matrix:
        r"""The matrix of :math:`T_g\Phi` in the frames of the two groupoids."""
        return push_forward(self.domain.space, self.codomain.space, self.map, g)

    def tangent_base_map(self, q: Point) -> Matrix:
        r"""The matrix of :math:`T_q\Phi_0` in the frames of the two bases."""
        return push_forward(self.domain.base, self.codomain.base, self.base_map, q)

    def algebroid_map(self, q: Point) -> Matrix:
        r"""The matrix of :math:`A\Phi: A_qG \to A_{\Phi_0(q)}G'`, the derivative of :math:`a \mapsto \Phi(c(q, a))` in the fibre charts."""
        self.domain.check_point(q, owner="Morphism.algebroid_map")
        return _algebroid_map(self, q)

    def pull_back_covector(self, g: Point, mu: Covector) -> Covector:
        r"""The covector :math:`(T_g\Phi)^*\mu` at ``g`` of a covector ``mu`` at :math:`\Phi(g)`."""
        require_vector("Morphism.pull_back_covector", "mu", mu, self.codomain.space.dim)
        return self.tangent(g).T @ mu

    def pull_back_momentum(self, q: Point, p: Covector) -> Covector:
        r"""The momentum :math:`(A_q\Phi)^*p \in A^*_qG` of a momentum ``p`` in :math:`A^*_{\Phi_0(q)}G'`."""
        require_vector("Morphism.pull_back_momentum", "p", p, self.codomain.rank)
        return self.algebroid_map(q).T @ p

    def sections_related(self, X: VectorField, Y: VectorField, q: Point) -> Vector:
        r"""The defect :math:`A\Phi(X(q)) - Y(\Phi_0(q))`: 0 at every ``q`` for sections that are :math:`A\Phi`-related."""
        at_q, at_image = X(q), Y(self.base_map(q))
        require_vector("Morphism.sections_related", "X(q)", at_q, self.domain.rank)
        require_vector("Morphism.sections_related", "Y(base_map(q))", at_image, self.codomain.rank)
        return self.algebroid_map(q) @ at_q - at_image

    def covectors_related(self, mu: Covector, nu: Covector, g: Point) -> Covector:
        r"""The defect :math:`\mu - (T_g\Phi)^*\nu`: 0 for covectors at ``g`` and :math:`\Phi(g)` that are :math:`\Phi^*`-related. MMS Def. 4.4."""
        require_vector("Morphism.covectors_related", "mu", mu, self.domain.space.dim)
        return mu - self.pull_back_covector(g, nu)

    def momenta_related(self, p: Covector, r: Covector, q: Point) -> Covector:
        r"""The defect :math:`p - (A_q\Phi)^*r`: 0 for momenta at ``q`` and :math:`\Phi_0(q)` that are :math:`A^*\Phi`-related. MMS Def. 4.4."""
        require_vector("Morphism.momenta_related", "p", p, self.domain.rank)
        return p - self.pull_back_momentum(q, r)

    def then(self, other: "Morphism") -> "Morphism":
        r"""The composition :math:`\Psi\circ\Phi`, first this morphism and then ``other``."""
        require_instances("Morphism.then", "other", (other,), Morphism)
        require_same_groupoid("Morphism.then", "codomain", self.codomain, "other.domain", other.domain)
        return Morphism(self.domain, other.codomain, _Composite(self.map, other.map))


@final
class _Composite(eqx.Module):
    """First one map, then another."""

    first: Callable[[Point], Point]
    second: Callable[[Point], Point]

    def __call__(self, g: Point) -> Point:
        return self.second(self.first(g))


@eqx.filter_jit
def _call(map: Callable[[Point], Point], g: Point) -> Point:
    return map(g)


@eqx.filter_jit
def _algebroid_map(Phi: Morphism, q: Point) -> Matrix:
    G, H = Phi.domain, Phi.codomain
    image = Phi.base_map(q)

    def coordinates(a: Vector) -> Vector:
        return H.fiber_local(image, Phi.map(G.fiber_chart(q, a)))

    return jax.vmap(lambda a: jax.jvp(coordinates, (jnp.zeros(G.rank),), (a,))[1], out_axes=1)(unit_matrix(G.rank))


def _require_arrows(Phi: Morphism) -> None:
    shape, expected = traced_shape(Phi.map, Phi.domain.space.point_like()), Phi.codomain.space.point_like()
    fits = same_structure(shape, expected) and all(
        got.shape == want.shape for got, want in zip(jax.tree.leaves(shape), jax.tree.leaves(expected), strict=True)
    )
    if not fits:
        raise NotAMorphismError(
            f"Morphism needs {name_of(Phi.map)}(g) to be an arrow of {type(Phi.codomain).__name__}, {describe(expected)}; "
            f"it returns {describe(shape)}."
        )


def _require_morphism(Phi: Morphism) -> None:
    defects = {name: float(np.max(np.asarray(value))) for name, value in _defects_on_drawn_arrows(Phi).items()}
    name = name_of(Phi.map)
    conditions = {
        "on": f"{name}(g) on {type(Phi.codomain).__name__}",
        "composable": f"target({name}(g)) == source({name}(h)) for composable g, h",
        "product": f"{name}(g h) == {name}(g) {name}(h)",
        "unit": f"{name} to take units to units",
    }
    for key, condition in conditions.items():
        if not defects[key] <= ON_MANIFOLD:
            raise NotAMorphismError(
                f"Morphism needs {condition}; on drawn arrows it is off by {defects[key]:.3g}.{_cure(key, name, defects)}"
            )


def _cure(key: str, name: str, defects: dict[str, float]) -> str:
    if key in ("composable", "product") and defects["reversed"] <= ON_MANIFOLD:
        return f" It reverses products: give g ↦ {name}(g⁻¹) instead."
    if key == "on":
        return " Project its values, or give the codomain that they lie on."
    return ""


def _defects_on_drawn_arrows(Phi: Morphism) -> dict[str, Scalar]:
    arrows = a_few_points(Phi.domain.space)
    ways = np.random.default_rng(0).uniform(-0.4, 0.4, (FEW, Phi.domain.rank))
    return _morphism_defects(Phi, arrows, ways)


@quick_jit
def _morphism_defects(Phi: Morphism, arrows: Point, ways: Any) -> dict[str, Scalar]:
    G, H = Phi.domain, Phi.codomain

    def defects(g: Point, a: Vector) -> dict[str, Scalar]:
        h = G.fiber_chart(G.target(g), a)
        g_image, h_image, product = Phi.map(g), Phi.map(h), Phi.map(G.multiply(g, h))
        unit = Phi.map(G.unit(G.source(g)))
        turned = jnp.maximum(H.gap(h_image, g_image), point_distance(product, H.multiply(h_image, g_image)))
        return {
            "on": jnp.maximum(H.space.violation(g_image), H.space.violation(product)),
            "composable": H.gap(g_image, h_image),
            "product": point_distance(product, H.multiply(g_image, h_image)),
            "unit": point_distance(unit, H.unit(H.source(unit))),
            "reversed": turned,
        }

    return jax.vmap(defects)(arrows, ways)
