"""Laws of morphisms of Lie groupoids: structure maps, algebroid maps, related fields and momenta. MMS Def. 4.1, Def. 4.4."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import jax
import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.groupoids.isomorphism import Isomorphism
from groupoid_mech.groupoids.morphism import Morphism
from groupoid_mech.laws.groupoid_kinds import (
    A_COMPOSABLE_PAIR,
    A_FIBER_VECTOR,
    A_POINT_OF_THE_BASE,
    A_TANGENT_VECTOR,
    AN_ARROW,
)
from groupoid_mech.laws.kinds import Kind, Within
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import directional_derivative

Arrows = tuple[Point, ...]


@final
@dataclass(frozen=True)
class OnDomain(Within):
    """An object of some kind on the domain of a morphism."""

    def inside(self, subject: Morphism | Isomorphism) -> Any:
        return subject.domain


@final
@dataclass(frozen=True)
class OnCodomain(Within):
    """An object of some kind on the codomain of a morphism."""

    def inside(self, subject: Morphism | Isomorphism) -> Any:
        return subject.codomain


def _morphism_ends(Phi: Morphism, chain: Arrows) -> Scalar:
    (g,) = chain
    G, H, image = Phi.domain, Phi.codomain, Phi(g)
    source = gap(H.source(image), Phi.base_map(G.source(g)))
    target = gap(H.target(image), Phi.base_map(G.target(g)))
    return jnp.max(jnp.stack([source, target, H.space.violation(image)]))


def _morphism_products(Phi: Morphism, pair: Arrows) -> Scalar:
    g, h = pair
    return gap(Phi(Phi.domain.multiply(g, h)), Phi.codomain.multiply(Phi(g), Phi(h)))


def _morphism_units(Phi: Morphism, q: Point) -> Scalar:
    return gap(Phi(Phi.domain.unit(q)), Phi.codomain.unit(Phi.base_map(q)))


def _morphism_inverses(Phi: Morphism, chain: Arrows) -> Scalar:
    (g,) = chain
    return gap(Phi(Phi.domain.inverse(g)), Phi.codomain.inverse(Phi(g)))


def _algebroid_map_anchors(Phi: Morphism, q: Point) -> Scalar:
    left = Phi.codomain.anchor(Phi.base_map(q)) @ Phi.algebroid_map(q)
    return gap(left, Phi.tangent_base_map(q) @ Phi.domain.anchor(q))


def _algebroid_map_brackets(Phi: Morphism, q: Point) -> Scalar:
    G, image, F = Phi.domain, Phi.base_map(q), Phi.algebroid_map(q)
    C, C_image = GroupoidAlgebroid(G).structure(q), GroupoidAlgebroid(Phi.codomain).structure(image)
    # slopes[a, d, b] = ρ(e_a)[F^d_b]
    slopes = jax.vmap(lambda v: directional_derivative(G.base, Phi.algebroid_map, q, v))(G.anchor(q).T)
    turned = jnp.einsum("adb->dab", slopes)
    of_images = jnp.einsum("def,ea,fb->dab", C_image, F, F) + turned - jnp.swapaxes(turned, 1, 2)
    return gap(jnp.einsum("dc,cab->dab", F, C), of_images)


def _isomorphism(same: Isomorphism, pair: Arrows, pair_image: Arrows) -> Scalar:
    there, back = same.forward, same.backward
    one_way = _inverse_defects(there, back, pair)
    other_way = _inverse_defects(back, there, pair_image)
    return jnp.max(jnp.stack([*one_way, *other_way]))


def _inverse_defects(Phi: Morphism, Psi: Morphism, pair: Arrows) -> tuple[Scalar, ...]:
    g, _ = pair
    q = Phi.domain.source(g)
    return (
        gap(Psi(Phi(g)), g),
        gap(Psi.base_map(Phi.base_map(q)), q),
        _morphism_products(Phi, pair),
        _morphism_ends(Phi, (g,)),
    )


def _morphism_relates_left_fields(Phi: Morphism, chain: Arrows, a: Vector) -> Scalar:
    (g,) = chain
    G, H = Phi.domain, Phi.codomain
    image = H.left_field(Phi(g), Phi.algebroid_map(G.target(g)) @ a)
    return gap(Phi.tangent(g) @ G.left_field(g, a), image)


def _morphism_relates_right_fields(Phi: Morphism, chain: Arrows, a: Vector) -> Scalar:
    (g,) = chain
    G, H = Phi.domain, Phi.codomain
    image = H.right_field(Phi(g), Phi.algebroid_map(G.source(g)) @ a)
    return gap(Phi.tangent(g) @ G.right_field(g, a), image)


def _related_covectors_have_related_momenta(Phi: Morphism, chain: Arrows, nu: Covector) -> Scalar:
    (g,) = chain
    G, H = Phi.domain, Phi.codomain
    mu, image = Phi.pull_back_covector(g, nu), Phi(g)
    ends = (
        Phi.momenta_related(G.left_frame(g).T @ mu, H.left_frame(image).T @ nu, G.target(g)),
        Phi.momenta_related(G.right_frame(g).T @ mu, H.right_frame(image).T @ nu, G.source(g)),
        Phi.covectors_related(mu, nu, g),
    )
    return jnp.max(jnp.stack([jnp.max(jnp.abs(end), initial=0.0) for end in ends])) / (1 + jnp.max(jnp.abs(nu)))


def _law(name: str, statement: str, source: str, draws: tuple[Kind, ...], defect: Callable[..., Scalar]) -> Law:
    return Law(name, statement, source, Morphism, draws, defect)


_PAIR, _ARROW, _Q, _A = (OnDomain(kind) for kind in (A_COMPOSABLE_PAIR, AN_ARROW, A_POINT_OF_THE_BASE, A_FIBER_VECTOR))
_NU = OnCodomain(A_TANGENT_VECTOR)

MORPHISM_LAWS: tuple[Law, ...] = (
    _law("morphism_ends", "α′∘Φ = Φ₀∘α, β′∘Φ = Φ₀∘β, Φ(g) ∈ G′", "MMS Def. 4.1", (_ARROW,), _morphism_ends),
    _law("morphism_products", "Φ(gh) = Φ(g)Φ(h)", "MMS Def. 4.1", (_PAIR,), _morphism_products),
    _law("morphism_units", "Φ(ε(q)) = ε′(Φ₀(q))", "MMS §4.1", (_Q,), _morphism_units),
    _law("morphism_inverses", "Φ(g⁻¹) = Φ(g)⁻¹", "MMS §4.1", (_ARROW,), _morphism_inverses),
    _law("algebroid_map_anchors", "ρ′∘AΦ = TΦ₀∘ρ", "MMS §4.1", (_Q,), _algebroid_map_anchors),
    _law(
        "algebroid_map_brackets",
        "F^d_c C^c_ab = F^e_a F^f_b C′^d_ef + ρ(e_a)[F^d_b] − ρ(e_b)[F^d_a], AΦ(e_a) = F^d_a e′_d",
        "MMS §4.1",
        (_Q,),
        _algebroid_map_brackets,
    ),
    _law(
        "morphism_relates_left_fields",
        "TΦ(←a(g)) = ←(AΦ a)(Φ(g))",
        "MMS §4.1",
        (_ARROW, _A),
        _morphism_relates_left_fields,
    ),
    _law(
        "morphism_relates_right_fields",
        "TΦ(→a(g)) = →(AΦ a)(Φ(g))",
        "MMS §4.1",
        (_ARROW, _A),
        _morphism_relates_right_fields,
    ),
    _law(
        "related_covectors_have_related_momenta",
        "μ = TΦ*μ′ ⇒ α̃(μ) = AΦ*α̃′(μ′), β̃(μ) = AΦ*β̃′(μ′)",
        "MMS Def. 4.4",
        (_ARROW, _NU),
        _related_covectors_have_related_momenta,
    ),
    Law(
        "isomorphism",
        "Ψ∘Φ = id, Φ∘Ψ = id, Ψ₀ = Φ₀⁻¹, Φ and Ψ morphisms",
        "MMS Def. 4.1",
        Isomorphism,
        (_PAIR, OnCodomain(A_COMPOSABLE_PAIR)),
        _isomorphism,
    ),
)
