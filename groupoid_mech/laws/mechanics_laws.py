"""Laws of discrete systems: Σ_L, Legendre transformations, flows and their Poisson property, for drawn Lagrangians. MMS §2.2, §3."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Function, Matrix, Point, Scalar, Vector, VectorField
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.laws.groupoid_kinds import A_FIBER_VECTOR, A_SECTION, OnGroupoid
from groupoid_mech.laws.kinds import A_FUNCTION, Kind, OnBase
from groupoid_mech.laws.lagrangian_laws import Curved
from groupoid_mech.laws.law import Law, gap, numerical_rank
from groupoid_mech.laws.mechanics_kinds import A_CONORMAL_VECTOR, A_PERTURBATION, A_POINT_OF_SIGMA, STRENGTH, perturbed
from groupoid_mech.mechanics.lagrangian_submanifold import LagrangianSubmanifold
from groupoid_mech.mechanics.noether import symmetry_defect
from groupoid_mech.mechanics.step import Start
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import complement, right_inverse
from groupoid_mech.symplectic.linear_poisson import LinearPoisson
from groupoid_mech.symplectic.poisson_map import poisson_defect

Sigma = tuple[Point, Vector]


def start_at(system: DiscreteSystem, at: Sigma) -> Start:
    """The start whose first step is the arrow of a point of Σ_L."""
    g, s = at
    q = system.groupoid.source(g)
    guess = jnp.concatenate([system.groupoid.fiber_local(q, g), s])
    return system.start_at(q, system.legendre_minus(g, s), guess)


def two_steps(system: DiscreteSystem, start: Start) -> tuple[Start, tuple[Point, Vector]]:
    """The start of the second step, and the arrows and auxiliary variables of both, stacked."""

    def advance(begin: Start, _: None) -> tuple[Start, tuple[Start, Point, Vector]]:
        following, step = system.step(begin)
        return following, (following, step.arrow, step.auxiliary)

    # A loop: one copy of the step in the program.
    _, (starts, arrows, s) = jax.lax.scan(advance, start, None, length=2)
    return row(starts, 0), (arrows, s)


def row(tree: Point, k: int) -> Point:
    """One row of a stacked tree."""
    return jax.tree.map(lambda leaf: leaf[k], tree)


def _legendre_restricts(system: DiscreteSystem, at: Sigma, P: Function) -> Scalar:
    system = perturbed(system, P)
    S = LagrangianSubmanifold(system)
    x = at[0], S.covector(*at)
    source, target = S.cotangent.source(x), S.cotangent.target(x)
    ends = system.groupoid.source(at[0]), system.groupoid.target(at[0])
    return gap((source, target), ((ends[0], system.legendre_minus(*at)), (ends[1], system.legendre_plus(*at))))


def _sigma_lagrangian(system: DiscreteSystem, at: Sigma, P: Function) -> Scalar:
    S = LagrangianSubmanifold(perturbed(system, P))
    pulled, tangent = S.isotropy(*at), S.tangent(*at)
    dimension = jnp.abs(numerical_rank(tangent) - S.cotangent.space.dim / 2)
    return jnp.max(jnp.abs(pulled)) / (1 + jnp.max(jnp.abs(tangent))) + dimension


def _legendre_kernels(system: DiscreteSystem, at: Sigma, P: Function, a: Vector) -> Scalar:
    (g, s), G, M = at, system.groupoid, system.groupoid.space
    lift = right_inverse(G.right_frame(g).T)

    def bent(S: Matrix, _: None) -> tuple[Matrix, Array]:
        changed = perturbed(system, Curved(M, P, g, S))
        D = LagrangianSubmanifold(changed).morse_derivative(g, s)

        def along(v: Vector) -> tuple[Vector, Vector]:
            def ends(h: Point, t: Vector) -> tuple[Point, ...]:
                return G.source(h), changed.legendre_minus(h, t), G.target(h), changed.legendre_plus(h, t)

            (q, _, r, _), (dq, minus, dr, plus) = jax.jvp(ends, (g, s), (M.to_ambient(g, v[: M.dim]), v[M.dim :]))
            return (
                jnp.concatenate([G.base.from_ambient(q, dq), minus]),
                jnp.concatenate([G.base.from_ambient(r, dr), plus]),
            )

        kernel = complement(D.T)
        ranks = jnp.stack([numerical_rank(J) for J in jax.vmap(along, in_axes=1, out_axes=1)(kernel)])
        # A vector of the source fibre, tangent to N: the symmetric S that takes it into the kernel of TF⁻.
        free = complement((D[:, : M.dim] @ G.left_frame(g)).T) if G.rank > s.size else jnp.zeros((G.rank, 0))
        v = G.left_frame(g) @ (free @ a[: free.shape[1]])
        w = S @ v - lift @ along(jnp.concatenate([v, jnp.zeros_like(s)]))[0][G.base.dim :] / STRENGTH
        size = jnp.linalg.norm(v) + jnp.where(free.shape[1] == 0, 1.0, 0.0)
        v, w = v / size, w / size
        mixed = jnp.outer(v, w)
        return mixed + mixed.T - (v @ w) * jnp.outer(v, v), ranks

    # One copy of the program: first S = 0, then the S that makes the Lagrangian degenerate.
    _, ranks = jax.lax.scan(bent, jnp.zeros((M.dim, M.dim)), length=2)
    degenerate = jnp.abs(ranks[1, 0] - (M.dim - 1)) if G.rank > s.size else jnp.zeros(())
    return jnp.sum(jnp.abs(ranks[:, 0] - ranks[:, 1])) + degenerate


def _flow(system: DiscreteSystem, at: Sigma, P: Function) -> Scalar:
    system = perturbed(system, P)
    S = LagrangianSubmanifold(system)
    _, (arrows, s) = two_steps(system, start_at(system, at))
    covectors = jax.vmap(S.covector)(arrows, s)
    first, second = row((arrows, covectors), 0), row((arrows, covectors), 1)
    equations = gap(S.cotangent.target(first), S.cotangent.source(second))
    stationary = jax.vmap(system.stationarity)(arrows, s)
    return jnp.maximum(equations, jnp.max(jnp.abs(stationary), initial=0.0))


def _hamiltonian_map_poisson(system: DiscreteSystem, at: Sigma, P: Function) -> Scalar:
    system = perturbed(system, P)
    start = start_at(system, at)
    A = LinearPoisson(GroupoidAlgebroid(system.groupoid))
    return poisson_defect(
        A, A, lambda x: system.hamiltonian_map(x[0], x[1], start.guess), (start.point, start.momentum)
    )


def _reversed_inverts(system: DiscreteSystem, at: Sigma, P: Function) -> Scalar:
    system = perturbed(system, P)
    (g, s), start, G = at, start_at(system, at), system.groupoid
    q, p = system.hamiltonian_map(start.point, start.momentum, start.guess)
    back = jnp.concatenate([G.fiber_local(G.target(g), G.inverse(g)), s])
    return gap(system.reversed().hamiltonian_map(q, p, back), (start.point, start.momentum))


def _noether_balance(system: DiscreteSystem, at: Sigma, P: Function, X: VectorField, f: Function) -> Scalar:
    system = perturbed(system, P)
    between, (arrows, s) = two_steps(system, start_at(system, at))
    g, t = row((arrows, s), 1)
    end = system.groupoid.target(g), system.legendre_plus(g, t)

    def quantity(q: Point, p: Vector) -> Scalar:
        return p @ X(q) + f(q)

    before, after = quantity(between.point, between.momentum), quantity(*end)
    fall = symmetry_defect(system, X, g, t, f)
    return jnp.abs(before - after - fall) / (1 + jnp.abs(before) + jnp.abs(after))


def _affine_structure(system: DiscreteSystem, at: Sigma, P: Function, c: Vector) -> Scalar:
    (g, s), S = at, LagrangianSubmanifold(perturbed(system, P))
    u = s[: system.auxiliary] if system.auxiliary else None
    moved = S.covector(g, s) + S.conormal(g, u) @ c
    agrees = gap(S.covector(g, S.add_conormal(s, c)), moved)
    if system.auxiliary:
        return agrees
    off, multipliers = S.violation(g, moved), S.multipliers_of(g, moved)
    size = 1 + jnp.max(jnp.abs(moved))
    return jnp.maximum(agrees, jnp.maximum(jnp.max(jnp.abs(off)) / size, gap(multipliers, s + c)))


def _law(name: str, statement: str, source: str, draws: tuple[Kind, ...], defect: Callable[..., Scalar]) -> Law:
    return Law(name, statement, source, DiscreteSystem, draws, defect)


_AT, _P = A_POINT_OF_SIGMA, A_PERTURBATION

MECHANICS_LAWS: tuple[Law, ...] = (
    _law("legendre_restricts", "F⁻L = α̃|Σ_L, F⁺L = β̃|Σ_L", "MMS Def. 3.3", (_AT, _P), _legendre_restricts),
    _law("sigma_lagrangian", "Σ_L is Lagrangian in T*G", "MMS Thm 3.1", (_AT, _P), _sigma_lagrangian),
    _law(
        "legendre_kernels_agree",
        "dim ker TF⁻L = dim ker TF⁺L, L regular or degenerate",
        "MMS Cor. 3.4",
        (_AT, _P, OnGroupoid(A_FIBER_VECTOR)),
        _legendre_kernels,
    ),
    _law("flow", "β̃(μ_k) = α̃(μ_{k+1}), μ_k ∈ Σ_L", "MMS (5)", (_AT, _P), _flow),
    _law(
        "hamiltonian_map_poisson",
        "F⁺∘(F⁻)⁻¹ is a Poisson map of A*G: DΨ Π DΨᵀ = Π∘Ψ",
        "MMS §3.1",
        (_AT, _P),
        _hamiltonian_map_poisson,
    ),
    _law("reversed_inverts", "the map of −L(g⁻¹) is the inverse map", "MMS Def. 3.3", (_AT, _P), _reversed_inverts),
    _law(
        "noether_balance",
        "(⟨p, X⟩ + f)(k) − (⟨p, X⟩ + f)(k+1) = the symmetry defect of the arrow, for every X and f",
        "MMS Thm 4.9",
        (_AT, _P, OnGroupoid(A_SECTION), OnGroupoid(OnBase(A_FUNCTION))),
        _noether_balance,
    ),
    _law(
        "affine_structure",
        "μ + c_a dφ^a ∈ Σ_L, with multipliers λ + c",
        "MMS §3.2",
        (_AT, _P, A_CONORMAL_VECTOR),
        _affine_structure,
    ),
)
