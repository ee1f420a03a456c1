"""Laws of symplectic groupoids: the form, the graph of multiplication, fibres, units, Poisson maps. MMS Def. 2.11, Theorem 2.16."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Function, Key, Matrix, Point, Scalar, Vector, VectorField
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.laws.groupoid_kinds import (
    A_COMPOSABLE_PAIR,
    A_FIBER_VECTOR,
    A_POINT_OF_THE_BASE,
    A_TANGENT_VECTOR,
    AN_ARROW,
)
from groupoid_mech.laws.kinds import A_BASE_POINT, A_FIELD, A_FUNCTION, A_VECTOR, Kind, OnBase
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import differential, push_forward
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.numerics.matrix import complement, right_inverse
from groupoid_mech.symplectic.cotangent_groupoid import CotangentGroupoid
from groupoid_mech.symplectic.cotangent_product import multiply_by_bisections
from groupoid_mech.symplectic.immersion import constrained_graph, differential_graph
from groupoid_mech.symplectic.symplectic_groupoid import SymplecticGroupoid

Arrows = tuple[Point, ...]
_RANK = 1e-8


@final
@dataclass(frozen=True)
class ASymmetricMatrix(Kind):
    """A symmetric matrix of half the dimension of the groupoid: the slope of a Lagrangian subspace."""

    def size(self, subject: LieGroupoid) -> int:
        return (subject.space.dim // 2) ** 2

    def build(self, subject: LieGroupoid, key: Key, numbers: Array) -> Matrix:
        A = numbers.reshape(subject.space.dim // 2, subject.space.dim // 2)
        return A + A.T


@final
@dataclass(frozen=True)
class ASquareMatrix(Kind):
    """A square matrix of the dimension of the groupoid: the columns of subspaces."""

    def size(self, subject: LieGroupoid) -> int:
        return subject.space.dim**2

    def build(self, subject: LieGroupoid, key: Key, numbers: Array) -> Matrix:
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
    return jnp.where(smallest > _RANK, gap(omega, -omega.T), jnp.inf)


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
        jax.vmap(lambda W, T=T: _rank(T @ W))(subspaces) for T in (G.tangent_source(g), G.tangent_target(g))
    )
    return jnp.sum(jnp.abs(sources - targets)) + jnp.abs(sources[1] - (G.base.dim - 1))


def _orthogonals_meet(G: SymplecticGroupoid, chain: Arrows, columns: Matrix) -> Scalar:
    omega = G.symplectic_form(chain[0])
    d = omega.shape[0] // 2
    V, W = columns[:, :d], jnp.concatenate([columns[:, :1], columns[:, d + 1 :]], axis=1)  # they share a direction
    V_orthogonal, W_orthogonal = complement(omega.T @ V), complement(omega.T @ W)
    shared = 2 * d - _rank(jnp.concatenate([V, W], axis=1))
    shared_by_orthogonals = 2 * d - _rank(jnp.concatenate([V_orthogonal, W_orthogonal], axis=1))
    pairing = V.T @ omega @ V_orthogonal
    return jnp.abs(shared - shared_by_orthogonals) + gap(pairing, jnp.zeros_like(pairing))


def _differential_graph(T: CotangentBundle, x: Point, L: Function) -> Scalar:
    pulled = differential_graph(T.base, L).isotropy(T.symplectic_form, x)
    return gap(pulled, jnp.zeros_like(pulled))


def _constrained_graph(T: CotangentBundle, x: Point, f: VectorField, L: Function, nu: Vector) -> Scalar:
    def loop(s: Point) -> Point:
        directions = jnp.tanh(f(x)), jnp.tanh(jnp.roll(f(x), 1) - 1)
        return T.base.retract(x, 0.3 * (directions[0] * jnp.cos(s[0]) + directions[1] * jnp.sin(s[0])))

    sigma = constrained_graph(T.base, Torus(1), loop, lambda s: L(loop(s)))
    s = jnp.array([0.4]), nu[: T.base.dim - 1]
    pulled = sigma.isotropy(T.symplectic_form, s)
    _, mu = sigma(s)
    tangent = push_forward(Torus(1), T.base, loop, s[0])[:, 0]
    agrees = gap(mu @ tangent, differential(T.base, L, loop(s[0])) @ tangent)
    return jnp.maximum(gap(pulled, jnp.zeros_like(pulled)), agrees)


def _cotangent_product(T: CotangentGroupoid, pair: Arrows) -> Scalar:
    x, y = pair
    return gap(T.multiply(x, y), multiply_by_bisections(T, x, y))


def _tensor(G: SymplecticGroupoid, g: Point) -> Matrix:
    return jnp.linalg.inv(G.symplectic_form(g)).T


def _rank(A: Matrix) -> Scalar:
    singular = jnp.linalg.svd(A, compute_uv=False)
    return jnp.sum(singular > _RANK * singular[0]).astype(float)


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
        "differential_graph_lagrangian",
        "dL(M) is Lagrangian in T*M",
        "MMS Thm 3.1",
        CotangentBundle,
        (A_BASE_POINT, OnBase(A_FUNCTION)),
        _differential_graph,
    ),
    Law(
        "constrained_graph_lagrangian",
        "Σ_L of a function on N ⊂ M is Lagrangian in T*M and agrees with dL on TN",
        "MMS Thm 3.1",
        CotangentBundle,
        (A_BASE_POINT, OnBase(A_FIELD), OnBase(A_FUNCTION), A_VECTOR),
        _constrained_graph,
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
