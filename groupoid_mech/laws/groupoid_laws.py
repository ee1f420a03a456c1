"""Laws of Lie groupoids: axioms, fibre charts, invariant fields, tangents of the structure maps. MMS §2.1."""

from collections.abc import Callable

import jax.numpy as jnp

from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.laws.groupoid_kinds import (
    A_COMPOSABLE_PAIR,
    A_COMPOSABLE_TRIPLE,
    A_FIBER_VECTOR,
    A_POINT_OF_THE_BASE,
    AN_ARROW,
)
from groupoid_mech.laws.kinds import Kind
from groupoid_mech.laws.law import Law, gap

Arrows = tuple[Point, ...]


def _product_ends(G: LieGroupoid, pair: Arrows) -> Scalar:
    g, h = pair
    product = G.multiply(g, h)
    return jnp.maximum(gap(G.source(product), G.source(g)), gap(G.target(product), G.target(h)))


def _product_stays(G: LieGroupoid, pair: Arrows) -> Scalar:
    g, h = pair
    violations = [G.space.violation(arrow) for arrow in (G.multiply(g, h), G.inverse(g), G.unit(G.source(g)))]
    return jnp.max(jnp.stack([*violations, G.base.violation(G.source(g)), G.base.violation(G.target(g))]))


def _arrows_associate(G: LieGroupoid, triple: Arrows) -> Scalar:
    g, h, k = triple
    return gap(G.multiply(G.multiply(g, h), k), G.multiply(g, G.multiply(h, k)))


def _unit_ends(G: LieGroupoid, q: Point) -> Scalar:
    return jnp.maximum(gap(G.source(G.unit(q)), q), gap(G.target(G.unit(q)), q))


def _unit_multiply(G: LieGroupoid, chain: Arrows) -> Scalar:
    (g,) = chain
    return jnp.maximum(gap(G.multiply(G.unit(G.source(g)), g), g), gap(G.multiply(g, G.unit(G.target(g))), g))


def _inverse_arrow(G: LieGroupoid, chain: Arrows) -> Scalar:
    (g,) = chain
    return jnp.maximum(
        gap(G.multiply(g, G.inverse(g)), G.unit(G.source(g))), gap(G.multiply(G.inverse(g), g), G.unit(G.target(g)))
    )


def _translations(G: LieGroupoid, pair: Arrows) -> Scalar:
    g, h = pair
    left = G.left_translate(g, h)
    right = G.right_translate(h, g)
    ends = jnp.maximum(gap(G.source(left), G.source(g)), gap(G.target(right), G.target(h)))
    back = gap(G.left_translate(G.inverse(g), left), h), gap(G.right_translate(G.inverse(h), right), g)
    return jnp.max(jnp.stack([ends, *back]))


def _fiber_chart(G: LieGroupoid, q: Point, a: Vector) -> Scalar:
    g = G.fiber_chart(q, a)
    at_zero = gap(G.fiber_chart(q, jnp.zeros(G.rank)), G.unit(q))
    return jnp.max(jnp.stack([at_zero, gap(G.source(g), q), gap(G.fiber_local(q, g), a), G.space.violation(g)]))


def _left_field_invariant(G: LieGroupoid, pair: Arrows, a: Vector) -> Scalar:
    g, h = pair
    vertical = G.tangent_source(h) @ G.left_field(h, a)
    translated = G.tangent_multiply(g, h, jnp.zeros(G.space.dim), G.left_field(h, a))
    return jnp.maximum(gap(vertical, jnp.zeros_like(vertical)), gap(translated, G.left_field(G.multiply(g, h), a)))


def _right_field_invariant(G: LieGroupoid, pair: Arrows, a: Vector) -> Scalar:
    g, h = pair
    vertical = G.tangent_target(g) @ G.right_field(g, a)
    translated = G.tangent_multiply(g, h, G.right_field(g, a), jnp.zeros(G.space.dim))
    return jnp.maximum(gap(vertical, jnp.zeros_like(vertical)), gap(translated, G.right_field(G.multiply(g, h), a)))


def _anchor_of_left_field(G: LieGroupoid, chain: Arrows, a: Vector) -> Scalar:
    (g,) = chain
    return gap(G.tangent_target(g) @ G.left_field(g, a), G.anchor(G.target(g)) @ a)


def _anchor_of_right_field(G: LieGroupoid, chain: Arrows, a: Vector) -> Scalar:
    (g,) = chain
    return gap(G.tangent_source(g) @ G.right_field(g, a), -G.anchor(G.source(g)) @ a)


def _inverse_swaps_fields(G: LieGroupoid, chain: Arrows, a: Vector) -> Scalar:
    (g,) = chain
    return gap(G.tangent_inverse(g) @ G.right_field(g, a), -G.left_field(G.inverse(g), a))


def _tangent_inverse_at_unit(G: LieGroupoid, q: Point, a: Vector) -> Scalar:
    unit = G.unit(q)
    v = G.left_field(unit, a)
    return gap(G.tangent_inverse(unit) @ v, -v + G.tangent_unit(q) @ G.tangent_target(unit) @ v)


def _variation_in_between(G: LieGroupoid, pair: Arrows, a: Vector) -> Scalar:
    g, h = pair
    moved = G.tangent_multiply(g, h, G.left_field(g, a), -G.right_field(h, a))
    return gap(moved, jnp.zeros_like(moved))


def _fields_at_unit(G: LieGroupoid, q: Point, a: Vector) -> Scalar:
    unit = G.unit(q)
    left = G.algebroid_projection(q) @ G.left_field(unit, a)
    right = G.algebroid_projection(q) @ G.right_field(unit, a)
    return jnp.maximum(gap(left, a), gap(right, a))


def _law(
    name: str,
    statement: str,
    source: str,
    draws: tuple[Kind, ...],
    defect: Callable[..., Scalar],
    tolerance: float = 1e-12,
) -> Law:
    return Law(name, statement, source, LieGroupoid, draws, defect, tolerance)


_PAIR, _Q, _A = A_COMPOSABLE_PAIR, A_POINT_OF_THE_BASE, A_FIBER_VECTOR

GROUPOID_LAWS: tuple[Law, ...] = (
    _law("product_ends", "α(gh) = α(g), β(gh) = β(h)", "MMS Def. 2.1", (_PAIR,), _product_ends, 1e-13),
    _law("product_stays", "gh, g⁻¹, ε(q) are in G, α(g), β(g) in Q", "MMS Def. 2.1", (_PAIR,), _product_stays, 1e-13),
    _law("arrows_associate", "(gh)k = g(hk)", "MMS Def. 2.1", (A_COMPOSABLE_TRIPLE,), _arrows_associate, 1e-13),
    _law("unit_ends", "α(ε(q)) = q = β(ε(q))", "MMS Def. 2.1", (_Q,), _unit_ends, 1e-13),
    _law("unit_multiply", "ε(α(g)) g = g = g ε(β(g))", "MMS Def. 2.1", (AN_ARROW,), _unit_multiply, 1e-13),
    _law("inverse_arrow", "g g⁻¹ = ε(α(g)), g⁻¹ g = ε(β(g))", "MMS Def. 2.1", (AN_ARROW,), _inverse_arrow, 1e-13),
    _law("translations", "ℓ_g⁻¹ ∘ ℓ_g = id, r_h⁻¹ ∘ r_h = id", "MMS Def. 2.3", (_PAIR,), _translations, 1e-13),
    _law("fiber_chart", "c(q, 0) = ε(q), α(c(q, a)) = q", "MMS Def. 2.9", (_Q, _A), _fiber_chart),
    _law("left_field_invariant", "Tα ←a = 0, Tℓ_g ←a(h) = ←a(gh)", "MMS Def. 2.6", (_PAIR, _A), _left_field_invariant),
    _law(
        "right_field_invariant", "Tβ →a = 0, Tr_h →a(g) = →a(gh)", "MMS Def. 2.6", (_PAIR, _A), _right_field_invariant
    ),
    _law("anchor_of_left_field", "Tβ ←a(g) = ρ(β(g)) a", "MMS Def. 2.9", (AN_ARROW, _A), _anchor_of_left_field),
    _law("anchor_of_right_field", "Tα →a(g) = −ρ(α(g)) a", "MMS Rem. 2.10", (AN_ARROW, _A), _anchor_of_right_field),
    _law("fields_at_unit", "π_q ←a = a = π_q →a at ε(q)", "MMS (1), (2)", (_Q, _A), _fields_at_unit),
    _law("inverse_swaps_fields", "Ti →a(g) = −←a(g⁻¹)", "MMS (2)", (AN_ARROW, _A), _inverse_swaps_fields),
    _law("tangent_inverse_at_unit", "Ti(v) = −v + T(ε∘β)v on A_qG", "MMS (3)", (_Q, _A), _tangent_inverse_at_unit),
    _law("variation_in_between", "Tm(←a(g), −→a(h)) = 0", "MMS Thm 5.1", (_PAIR, _A), _variation_in_between),
)
