"""Laws of symplectic groupoids: the form, the graph of multiplication, fibres, units, Poisson maps. MMS Def. 2.11, Theorem 2.16."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Function, Matrix, Point, Scalar, Vector
from groupoid_mech.algebroids.algebroid import Section
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.laws.groupoid_kinds import (
    A_COMPOSABLE_PAIR,
    A_FIBER_VECTOR,
    A_POINT_OF_THE_BASE,
    A_SECTION,
    A_TANGENT_VECTOR,
    AN_ARROW,
    OnGroupoid,
    OnSpace,
)
from groupoid_mech.laws.kinds import A_FUNCTION, Kind
from groupoid_mech.laws.law import RANK, Law, gap, numerical_rank
from groupoid_mech.manifolds.calculus import differential
from groupoid_mech.numerics.matrix import complement, right_inverse
from groupoid_mech.symplectic.cotangent_groupoid import CotangentGroupoid
from groupoid_mech.symplectic.cotangent_product import multiply_by_bisections
from groupoid_mech.symplectic.symplectic_groupoid import SymplecticGroupoid

Arrows = tuple[Point, ...]


@final
@dataclass(frozen=True)
class ASymmetricMatrix(Kind):
    """A symmetric matrix of half the dimension of the groupoid: the slope of a Lagrangian subspace."""

    def size(self, subject: LieGroupoid) -> int:
        return (subject.space.dim // 2) ** 2

    def build(self, subject: LieGroupoid, point: Point, numbers: Array) -> Matrix:
        A = numbers.reshape(subject.space.dim // 2, subject.space.dim // 2)
        return A + A.T


@final
@dataclass(frozen=True)
class ASquareMatrix(Kind):
    """A square matrix of the dimension of the groupoid: the columns of subspaces."""

    def size(self, subject: LieGroupoid) -> int:
        return subject.space.dim**2

    def build(self, subject: LieGroupoid, point: Point, numbers: Array) -> Matrix:
        return numbers.reshape(subject.space.dim, subject.space.dim)


def composable_vector(G: LieGroupoid, pair: Arrows, v: Vector, a: Vector) -> Vector:
    """A vector w at the second arrow with Tα w = Tβ v: the least-norm lift, and an α-vertical part with coordinates a."""
    g, h = pair
    return right_inverse(G.tangent_source(h)) @ (G.tangent_target(g) @ v) + G.left_frame(h) @ a


def lagrangian_subspace(omega: Matrix, slope: Matrix) -> Matrix:
    r"""The Lagrangian subspace of the given symmetric slope, as columns, in a Darboux basis of ω from its eigenvectors.

    An eigenvector :math:`u + i v` of :math:`i\omega` with eigenvalue λ > 0 gives :math:`\omega(u, v) = -\lambda |u|^2`.
    """
    values, vectors = jnp.linalg.eigh(1j * omega)
    d = omega.shape[0] // 2
    scale = jnp.sqrt(2 / values[d:])
    positions, momenta = vectors[:, d:].real * scale, -vectors[:, d:].imag * scale
    return positions + momenta @ slope


def _symplectic_antisymmetric(G: SymplecticGroupoid, chain: Arrows) -> Scalar:
    omega = G.symplectic_form(chain[0])
    smallest = jnp.linalg.svd(omega, compute_uv=False)[-1]
    return jnp.where(smallest > RANK, gap(omega, -omega.T), jnp.inf)


def _multiplication_symplectic(
    G: SymplecticGroupoid, pair: Arrows, v1: Vector, v2: Vector, a1: Vector, a2: Vector
) -> Scalar:
    g, h = pair
    v, a = jnp.stack([v1, v2]), jnp.stack([a1, a2])
    w = jax.vmap(lambda v, a: composable_vector(G, pair, v, a))(v, a)
    u = jax.vmap(lambda v, w: G.tangent_multiply(g, h, v, w))(v, w)
    product = u[0] @ G.symplectic_form(G.multiply(g, h)) @ u[1]
    return gap(product, v1 @ G.symplectic_form(g) @ v2 + w[0] @ G.symplectic_form(h) @ w[1])


def _fibers_orthogonal(G: SymplecticGroupoid, chain: Arrows) -> Scalar:
    (g,) = chain
    pairing = G.left_frame(g).T @ G.symplectic_form(g) @ G.right_frame(g)
    return gap(pairing, jnp.zeros_like(pairing))


def _units_lagrangian(G: SymplecticGroupoid, q: Point) -> Scalar:
    J = G.tangent_unit(q)
    pulled = J.T @ G.symplectic_form(G.unit(q)) @ J
    return gap(pulled, jnp.zeros_like(pulled)) + abs(2 * G.base.dim - G.space.dim)


def _target_poisson(G: SymplecticGroupoid, chain: Arrows) -> Scalar:
    (g,) = chain
    J = G.tangent_target(g)
    return gap(J @ _tensor(G, g) @ J.T, G.poisson_tensor(G.target(g)))


def _source_anti_poisson(G: SymplecticGroupoid, chain: Arrows) -> Scalar:
    (g,) = chain
    J = G.tangent_source(g)
    return gap(J @ _tensor(G, g) @ J.T, -G.poisson_tensor(G.source(g)))


def _anchor_is_poisson(G: SymplecticGroupoid, q: Point) -> Scalar:
    return gap(G.anchor(q), G.poisson_tensor(q) @ G.covector_of(q))


def _kernels_agree(G: SymplecticGroupoid, chain: Arrows, slope: Matrix, a: Vector) -> Scalar:
    (g,) = chain
    omega = G.symplectic_form(g)
    generic = lagrangian_subspace(omega, slope)
    # The Lagrangian subspace nearest to the generic one that contains a vector of the source fibre: a degenerate one.
    v = G.left_field(g, a)
    degenerate = jnp.concatenate([generic @ complement((generic.T @ omega.T @ v)[:, None]), v[:, None]], axis=1)
    subspaces = jnp.stack([generic, degenerate])
    sources, targets = (
        jax.vmap(lambda W, T=T: numerical_rank(T @ W))(subspaces) for T in (G.tangent_source(g), G.tangent_target(g))
    )
    return jnp.sum(jnp.abs(sources - targets)) + jnp.abs(sources[1] - (G.base.dim - 1))


def _orthogonals_meet(G: SymplecticGroupoid, chain: Arrows, columns: Matrix) -> Scalar:
    omega = G.symplectic_form(chain[0])
    d = omega.shape[0] // 2
    V, W = columns[:, :d], jnp.concatenate([columns[:, :1], columns[:, d + 1 :]], axis=1)  # they share a direction
    V_orthogonal, W_orthogonal = complement(omega.T @ V), complement(omega.T @ W)
    shared = 2 * d - numerical_rank(jnp.concatenate([V, W], axis=1))
    shared_by_orthogonals = 2 * d - numerical_rank(jnp.concatenate([V_orthogonal, W_orthogonal], axis=1))
    pairing = V.T @ omega @ V_orthogonal
    return jnp.abs(shared - shared_by_orthogonals) + gap(pairing, jnp.zeros_like(pairing))


def _end_momenta(T: CotangentGroupoid, chain: Arrows, L: Function, X: Section) -> Scalar:
    (g,) = chain
    G = T.groupoid
    start, end = G.source(g), G.target(g)
    mu = differential(G.space, L, g)

    def moved(f: Callable[[Scalar], Point]) -> Scalar:
        return jax.jvp(lambda t: L(f(t)), (jnp.zeros(()),), (jnp.ones(()),))[1]

    right = -moved(lambda t: G.multiply(G.inverse(G.fiber_chart(start, t * X(start))), g))
    left = moved(lambda t: G.multiply(g, G.fiber_chart(end, t * X(end))))
    (q0, p0), (q1, p1) = T.source((g, mu)), T.target((g, mu))
    return gap((q0, q1, p0 @ X(start), p1 @ X(end)), (start, end, right, left))


def _cotangent_product(T: CotangentGroupoid, pair: Arrows) -> Scalar:
    x, y = pair
    return gap(T.multiply(x, y), multiply_by_bisections(T, x, y))


def _tensor(G: SymplecticGroupoid, g: Point) -> Matrix:
    return jnp.linalg.inv(G.symplectic_form(g)).T


def _law(name: str, statement: str, source: str, draws: tuple[Kind, ...], defect: Callable[..., Scalar]) -> Law:
    return Law(name, statement, source, SymplecticGroupoid, draws, defect)


_G, _Q, _V, _A = AN_ARROW, A_POINT_OF_THE_BASE, A_TANGENT_VECTOR, A_FIBER_VECTOR

SYMPLECTIC_LAWS: tuple[Law, ...] = (
    _law(
        "symplectic_antisymmetric", "ω is antisymmetric of full rank", "MMS Def. 2.11", (_G,), _symplectic_antisymmetric
    ),
    _law(
        "multiplication_symplectic",
        "m*ω = pr₁*ω + pr₂*ω on G₂",
        "MMS Def. 2.11",
        (A_COMPOSABLE_PAIR, _V, _V, _A, _A),
        _multiplication_symplectic,
    ),
    _law("fibers_orthogonal", "(ker Tα)^ω = ker Tβ", "MMS Def. 2.11", (_G,), _fibers_orthogonal),
    _law("units_lagrangian", "ε*ω = 0, 2 dim P = dim G", "MMS Def. 2.11", (_Q,), _units_lagrangian),
    _law("target_poisson", "β is Poisson", "MMS Def. 2.11", (_G,), _target_poisson),
    _law("source_anti_poisson", "α is anti-Poisson", "MMS Def. 2.11", (_G,), _source_anti_poisson),
    _law("anchor_is_poisson", "ρ = Π ∘ (v ↦ ω(v, Tε ·))", "MMS Def. 2.11", (_Q,), _anchor_is_poisson),
    _law(
        "kernels_agree",
        "dim ker Tα|Σ = dim ker Tβ|Σ for Lagrangian Σ",
        "MMS Thm 2.16",
        (_G, ASymmetricMatrix(), _A),
        _kernels_agree,
    ),
    _law(
        "orthogonals_meet",
        "dim V ∩ W = dim V^ω ∩ W^ω where dim V + dim W = dim Z",
        "MMS Lemma 2.15",
        (_G, ASquareMatrix()),
        _orthogonals_meet,
    ),
    Law(
        "end_momenta",
        "⟨α̃(μ), X(α(g))⟩ = ⟨μ, →X(g)⟩, ⟨β̃(μ), X(β(g))⟩ = ⟨μ, ←X(g)⟩",
        "MMS (4)",
        CotangentGroupoid,
        (OnGroupoid(AN_ARROW), OnGroupoid(OnSpace(A_FUNCTION)), OnGroupoid(A_SECTION)),
        _end_momenta,
    ),
    Law(
        "cotangent_product",
        "m̃ by its definition equals m̃ by bisections",
        "MMS Thm A.2",
        CotangentGroupoid,
        (A_COMPOSABLE_PAIR,),
        _cotangent_product,
    ),
)
