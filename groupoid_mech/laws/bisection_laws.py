"""Laws of local bisections of a Lie groupoid: sections, actions, their inverse semigroup, the tangent of multiplication. MMS App. A."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Point, Scalar, Vector
from groupoid_mech.groupoids.bisection import InverseBisection, ProductBisection
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.local_bisection import (
    LocalBisection,
    tangent_multiply_by_bisections,
    transverse_directions,
)
from groupoid_mech.laws.groupoid_kinds import A_COMPOSABLE_TRIPLE, A_FIBER_VECTOR, A_TANGENT_VECTOR
from groupoid_mech.laws.kinds import AVector, Kind, OnBase
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import right_inverse

Bisections = tuple[LocalBisection, ...]


@final
@dataclass(frozen=True)
class ABisectionChain(Kind):
    """Three local bisections through composable arrows, so that their products exist nearby; one kind for all laws."""

    def size(self, subject: LieGroupoid) -> int:
        return A_COMPOSABLE_TRIPLE.size(subject)

    def build(self, subject: LieGroupoid, point: Point, numbers: Array) -> Bisections:
        arrows = A_COMPOSABLE_TRIPLE.build(subject, point, numbers)
        stacked = jax.tree.map(lambda *parts: jnp.stack(parts), *arrows)
        directions = jax.vmap(lambda g: transverse_directions(subject, g))(stacked)
        return tuple(LocalBisection(subject, g, E) for g, E in zip(arrows, directions, strict=True))

    def drawn_on(self, subject: LieGroupoid) -> Manifold:
        return subject.space


@final
@dataclass(frozen=True)
class AnArrowNearby(Kind):
    """A short tangent vector of the groupoid, from an arrow to one nearby."""

    def size(self, subject: LieGroupoid) -> int:
        return A_TANGENT_VECTOR.size(subject)

    def build(self, subject: LieGroupoid, point: Point, numbers: Array) -> Vector:
        return 0.1 * A_TANGENT_VECTOR.build(subject, point, numbers)


def _near_source(B: LocalBisection, z: Vector) -> Point:
    G = B.groupoid
    return G.base.retract(G.source(B.arrow), z)


def _near_target(B: LocalBisection, z: Vector) -> Point:
    G = B.groupoid
    return G.base.retract(G.target(B.arrow), z)


def _worst(*defects: Scalar) -> Scalar:
    return jnp.max(jnp.stack(defects))


def _bisection_through_arrow(G: LieGroupoid, chain: Bisections) -> Scalar:
    B = chain[0]
    g = B.arrow
    return jnp.maximum(gap(B.at_source(G.source(g)), g), gap(B.at_target(G.target(g)), g))


def _bisection_sections(G: LieGroupoid, chain: Bisections, z: Vector) -> Scalar:
    B = chain[0]
    q, x = _near_source(B, z), _near_target(B, z)
    g, h = B.at_source(q), B.at_target(x)
    return _worst(gap(G.source(g), q), gap(G.target(h), x), G.space.violation(g), G.space.violation(h))


def _bisection_base_map(G: LieGroupoid, chain: Bisections, z: Vector) -> Scalar:
    B = chain[0]
    g = B.at_source(_near_source(B, z))
    return gap((B.at_target(G.target(g)), B.inverse_base_map(G.target(g))), (g, G.source(g)))


def _bisection_actions_inverse(G: LieGroupoid, chain: Bisections, v: Vector) -> Scalar:
    B1, B2, _ = chain
    g, h = G.space.retract(B1.arrow, v), G.space.retract(B2.arrow, v)
    left = gap(InverseBisection(B1).left(B1.left(h)), h)
    return jnp.maximum(left, gap(InverseBisection(B2).right(B2.right(g)), g))


def _bisection_product(G: LieGroupoid, chain: Bisections, z: Vector) -> Scalar:
    B1, B2, _ = chain
    product = ProductBisection(B1, B2)
    left = B1.left(B2.at_source(_near_source(B2, z)))
    right = B2.right(B1.at_source(G.source(left)))
    return _worst(
        gap(left, right), gap(product.at_source(G.source(left)), left), gap(product.at_target(G.target(left)), left)
    )


def _bisections_associate(G: LieGroupoid, chain: Bisections, z: Vector) -> Scalar:
    B1, B2, B3 = chain
    first = ProductBisection(ProductBisection(B1, B2), B3)
    second = ProductBisection(B1, ProductBisection(B2, B3))
    q = _near_source(B1, z)
    return gap(first.at_source(q), second.at_source(q))


def _bisection_inverse(G: LieGroupoid, chain: Bisections, z: Vector) -> Scalar:
    B = chain[0]
    q, x = _near_source(B, z), _near_target(B, z)
    return jnp.maximum(
        gap(ProductBisection(B, InverseBisection(B)).at_source(q), G.unit(q)),
        gap(ProductBisection(InverseBisection(B), B).at_source(x), G.unit(x)),
    )


def _left_actions_compose(G: LieGroupoid, chain: Bisections, v: Vector) -> Scalar:
    B1, B2, B3 = chain
    g = G.space.retract(B3.arrow, v)
    return gap(B1.left(B2.left(g)), ProductBisection(B1, B2).left(g))


def _right_actions_compose(G: LieGroupoid, chain: Bisections, v: Vector) -> Scalar:
    B1, B2, B3 = chain
    g = G.space.retract(B1.arrow, v)
    return gap(B3.right(B2.right(g)), ProductBisection(B2, B3).right(g))


def _bisection_actions_commute(G: LieGroupoid, chain: Bisections, v: Vector) -> Scalar:
    B1, B2, B3 = chain
    g = G.space.retract(B2.arrow, v)
    return gap(B1.left(B3.right(g)), B3.right(B1.left(g)))


def _tangent_of_multiplication(G: LieGroupoid, chain: Bisections, v: Vector, a: Vector) -> Scalar:
    B1, B2, _ = chain
    g, h = B1.arrow, B2.arrow
    w = right_inverse(G.tangent_source(h)) @ (G.tangent_target(g) @ v) + G.left_field(h, a)
    by_bisections = tangent_multiply_by_bisections(G, g, h, v, w, bisections=(B1, B2))
    return gap(by_bisections, G.tangent_multiply(g, h, v, w))


def _law(name: str, statement: str, source: str, draws: tuple[Kind, ...], defect: Callable[..., Scalar]) -> Law:
    return Law(name, statement, source, LieGroupoid, draws, defect)


_BS = ABisectionChain()
_Z, _V = OnBase(AVector(scale=0.1)), AnArrowNearby()

BISECTION_LAWS: tuple[Law, ...] = (
    _law("bisection_through_arrow", "B_α(α(g)) = g = B_β(β(g))", "MMS A.2", (_BS,), _bisection_through_arrow),
    _law("bisection_sections", "α(B_α(q)) = q, β(B_β(q)) = q", "MMS A.1", (_BS, _Z), _bisection_sections),
    _law("bisection_base_map", "B_β∘(β∘B_α) = B_α, α∘B_β = (β∘B_α)⁻¹", "MMS A.1", (_BS, _Z), _bisection_base_map),
    _law(
        "bisection_actions_inverse",
        "ℓ_i(B) ∘ ℓ_B = id = r_i(B) ∘ r_B",
        "MMS A.1",
        (_BS, _V),
        _bisection_actions_inverse,
    ),
    _law("bisection_product", "B₁B₂ = ℓ_B₁(B₂) = r_B₂(B₁)", "MMS A.1", (_BS, _Z), _bisection_product),
    _law("bisections_associate", "(B₁B₂)B₃ = B₁(B₂B₃)", "MMS A.1", (_BS, _Z), _bisections_associate),
    _law("bisection_inverse", "B i(B) = ε(U), i(B) B = ε(V)", "MMS A.1", (_BS, _Z), _bisection_inverse),
    _law("left_actions_compose", "ℓ_B₁ ∘ ℓ_B₂ = ℓ_B₁B₂", "MMS A.1", (_BS, _V), _left_actions_compose),
    _law("right_actions_compose", "r_B₃ ∘ r_B₂ = r_B₂B₃", "MMS A.1", (_BS, _V), _right_actions_compose),
    _law("bisection_actions_commute", "ℓ_B₁ ∘ r_B₃ = r_B₃ ∘ ℓ_B₁", "MMS A.1", (_BS, _V), _bisection_actions_commute),
    _law(
        "tangent_of_multiplication",
        "Tm(v, w) = Tr_B₂(v) + Tℓ_B₁(w) − T(ℓ_B₁∘r_B₂∘ε)(v_q)",
        "MMS Thm A.1",
        (_BS, A_TANGENT_VECTOR, A_FIBER_VECTOR),
        _tangent_of_multiplication,
    ),
)
