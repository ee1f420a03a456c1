r"""Laws of the discrete action principle: variations with fixed product, and the derivative of the action sum along them. MMS §5.

Of the constraint submanifold only tangent spaces enter, so that arrows are drawn anywhere and N is the level set of φ through them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Function, Matrix, Point, Scalar, Vector
from groupoid_mech.laws.groupoid_kinds import A_COMPOSABLE_PAIR, A_COMPOSABLE_TRIPLE, A_FIBER_VECTOR, OnGroupoid
from groupoid_mech.laws.kinds import Kind
from groupoid_mech.laws.law import RANK, Law, gap
from groupoid_mech.laws.mechanics_kinds import A_PERTURBATION, A_POINT_OF_SIGMA, perturbed
from groupoid_mech.laws.mechanics_laws import Sigma, row, start_at, two_steps
from groupoid_mech.mechanics.action_sum import action_sum, largest_gap, product, vary
from groupoid_mech.mechanics.system import DiscreteSystem

Arrows = tuple[Point, ...]


@final
@dataclass(frozen=True)
class AuxiliaryOfArrows(Kind):
    """Auxiliary variables and multipliers for a number of arrows, one row for each."""

    count: int

    def size(self, subject: DiscreteSystem) -> int:
        return self.count * subject.family_size()

    def build(self, subject: DiscreteSystem, point: Point, numbers: Array) -> Array:
        return jnp.asarray(numbers).reshape(self.count, subject.family_size())


def null_projector(A: Matrix) -> Matrix:
    """The orthogonal projector onto the kernel of a matrix, whatever its rank; onto everything if it has no rows."""
    size = A.shape[1]
    if A.shape[0] == 0:
        return jnp.eye(size)
    _, singular, rows = jnp.linalg.svd(A, full_matrices=True)
    singular = jnp.concatenate([singular, jnp.zeros(size - singular.size)]) if size > singular.size else singular
    null = jnp.where(singular > RANK * singular[0], 0.0, 1.0)
    return (rows.T * null) @ rows


def stacked(arrows: Arrows) -> Point:
    """Arrows of a tuple along a first axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrows)


def _conormals(system: DiscreteSystem, g: Point, s: Vector) -> Matrix:
    """The differentials dφ at an arrow, as rows in the frame of G; none without constraints."""
    M, u = system.groupoid.space, s[: system.auxiliary]

    def along(v: Vector) -> Vector:
        return jax.jvp(lambda h: system.constraint_values(h, u), (g,), (M.to_ambient(g, v),))[1]

    return jax.vmap(along, out_axes=1)(jnp.eye(M.dim)) if system.multipliers else jnp.zeros((0, M.dim))


def _variations(system: DiscreteSystem, pair: Arrows, s: Array) -> tuple[Matrix, Matrix]:
    """The map v ↦ (←v(g₁), −→v(g₂)), and the projector of A_qG onto the v for which both are tangent to N."""
    g, h = pair
    left, right = system.groupoid.left_frame(g), system.groupoid.right_frame(h)
    off = jnp.concatenate([_conormals(system, g, s[0]) @ left, _conormals(system, h, s[1]) @ right])
    return jnp.concatenate([left, -right]), null_projector(off)


def _conditions(system: DiscreteSystem, pair: Arrows, s: Array) -> Matrix:
    """The linear equations of T(C²) on pairs of vectors: tangent to N, composable, and in the kernel of Tm."""
    (g, h), G = pair, system.groupoid
    M = G.space
    product = G.multiply(g, h)

    def moved(x: Vector) -> Vector:
        vectors = M.to_ambient(g, x[: M.dim]), M.to_ambient(h, x[M.dim :])
        return M.from_ambient(product, jax.jvp(G.multiply, (g, h), vectors)[1])

    first, second = _conormals(system, g, s[0]), _conormals(system, h, s[1])
    return jnp.concatenate(
        [
            jnp.concatenate([first, jnp.zeros_like(first)], axis=1),
            jnp.concatenate([jnp.zeros_like(second), second], axis=1),
            jnp.concatenate([G.tangent_target(g), -G.tangent_source(h)], axis=1),
            jax.vmap(moved, out_axes=1)(jnp.eye(2 * M.dim)),
        ]
    )


def _variation_admissible(system: DiscreteSystem, pair: Arrows, s: Array, v: Vector) -> Scalar:
    variation, tangent = _variations(system, pair, s)
    defect = _conditions(system, pair, s) @ variation @ (tangent @ v)
    return gap(defect, jnp.zeros_like(defect))


def _variations_exhaust(system: DiscreteSystem, pair: Arrows, s: Array) -> Scalar:
    variation, tangent = _variations(system, pair, s)
    kernel = null_projector(_conditions(system, pair, s))
    dimension = jnp.abs(jnp.trace(kernel) - jnp.trace(tangent))
    left, _, _ = jnp.linalg.svd(variation, full_matrices=False)
    outside = kernel - left @ (left.T @ kernel)
    return jnp.max(jnp.abs(outside)) + jnp.round(dimension)


def _vary_keeps_product(system: DiscreteSystem, triple: Arrows, v: Vector, w: Vector) -> Scalar:
    G, arrows, zero = system.groupoid, stacked(triple), jnp.zeros_like(v)
    varied = vary(G, arrows, jnp.stack([zero, v, w, zero]))
    return jnp.maximum(gap(product(G, varied), product(G, arrows)), largest_gap(G, varied))


def _action_derivative(system: DiscreteSystem, triple: Arrows, s: Array, P: Function) -> Scalar:
    system = perturbed(system, P)
    G, arrows = system.groupoid, stacked(triple)

    def action(v: Array) -> Scalar:
        return action_sum(
            system, vary(G, arrows, jnp.concatenate([jnp.zeros((1, G.rank)), v, jnp.zeros((1, G.rank))])), s
        )

    plus, minus = jax.vmap(system.legendre_plus)(arrows, s), jax.vmap(system.legendre_minus)(arrows, s)
    return gap(jax.grad(action)(jnp.zeros((2, G.rank))), plus[:-1] - minus[1:])


def _flow_critical(system: DiscreteSystem, at: Sigma, P: Function, v: Vector) -> Scalar:
    system = perturbed(system, P)
    G = system.groupoid
    _, (arrows, s) = two_steps(system, start_at(system, at))
    _, tangent = _variations(system, (row(arrows, 0), row(arrows, 1)), s)
    free = s.at[:, system.auxiliary :].set(0.0)
    zero = jnp.zeros_like(v)

    def action(t: Scalar) -> Scalar:
        return action_sum(system, vary(G, arrows, jnp.stack([zero, t * (tangent @ v), zero])), free)

    change = jax.grad(action)(0.0)
    return jnp.abs(change) / (1 + jnp.max(jnp.abs(system.legendre_minus(row(arrows, 0), free[0]))))


def _law(name: str, statement: str, source: str, draws: tuple[Kind, ...], defect: Callable[..., Scalar]) -> Law:
    return Law(name, statement, source, DiscreteSystem, draws, defect)


_PAIR, _TRIPLE, _V = OnGroupoid(A_COMPOSABLE_PAIR), OnGroupoid(A_COMPOSABLE_TRIPLE), OnGroupoid(A_FIBER_VECTOR)

VARIATIONAL_LAWS: tuple[Law, ...] = (
    _law(
        "variation_admissible",
        "(←v(g₁), −→v(g₂)) is in T(C²): tangent to N, Tβ = Tα, Tm = 0",
        "MMS Thm 5.1",
        (_PAIR, AuxiliaryOfArrows(2), _V),
        _variation_admissible,
    ),
    _law(
        "variations_exhaust",
        "every vector of T(C²) is (←v(g₁), −→v(g₂)); dim T(C²) = dim (A_qG)_(N,g₁,g₂)",
        "MMS Thm 5.1",
        (_PAIR, AuxiliaryOfArrows(2)),
        _variations_exhaust,
    ),
    _law(
        "vary_keeps_product",
        "c(q_{k−1}, v_{k−1})⁻¹ g_k c(q_k, v_k) compose to g₁⋯g_n for v₀ = v_n = 0, however long the v_k",
        "MMS §5.1",
        (_TRIPLE, _V, _V),
        _vary_keeps_product,
    ),
    _law(
        "action_derivative",
        "∂S/∂v_k = F⁺(g_k) − F⁻(g_{k+1}): critical exactly where (5) holds",
        "MMS §5.2",
        (_TRIPLE, AuxiliaryOfArrows(3), A_PERTURBATION),
        _action_derivative,
    ),
    _law(
        "flow_critical",
        "⟨d(L(g₁) + L(g₂)), (←v(g₁), −→v(g₂))⟩ = 0 on trajectories, for v in (A_qG)_(N,g₁,g₂)",
        "MMS (6)",
        (A_POINT_OF_SIGMA, A_PERTURBATION, _V),
        _flow_critical,
    ),
)
