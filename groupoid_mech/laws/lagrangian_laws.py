"""Laws of Lagrangian submanifolds: graphs, constrained graphs, their dynamics, composition of relations. MMS §2.2, §3.1, BM §6."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import block_diag

from groupoid_mech._types import Array, Covector, Function, Matrix, Point, Scalar, Vector, VectorField
from groupoid_mech.laws.groupoid_kinds import A_FIBER_VECTOR, A_TANGENT_VECTOR, AN_ARROW, OnGroupoid, OnSpace
from groupoid_mech.laws.kinds import (
    A_BASE_POINT,
    A_FIELD,
    A_FUNCTION,
    A_QUADRATIC_FUNCTION,
    A_VECTOR,
    OnBase,
    Within,
)
from groupoid_mech.laws.law import Law, gap, numerical_rank
from groupoid_mech.manifolds.calculus import differential, push_forward
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.numerics.matrix import right_inverse
from groupoid_mech.symplectic.composition import compose_relations
from groupoid_mech.symplectic.cotangent_groupoid import CotangentGroupoid
from groupoid_mech.symplectic.immersion import Immersion, constrained_graph, differential_graph, generated_relation

Arrows = tuple[Point, ...]


@final
@dataclass(frozen=True)
class OnPairs(Within):
    """An object of some kind on the pairs of points of the base of a bundle."""

    def inside(self, subject: Any) -> Any:
        return ProductManifold(subject.base, subject.base)


@final
class Curved(eqx.Module):
    r"""The function :math:`L + \tfrac12 \xi^T S \xi` with :math:`\xi = \operatorname{local}(x, \cdot)`: L with other second derivatives at x."""

    manifold: Manifold
    function: Function
    centre: Point
    S: Matrix

    def __call__(self, y: Point) -> Scalar:
        xi = self.manifold.local(self.centre, y)
        return self.function(y) + 0.5 * xi @ self.S @ xi


@final
class Tilted(eqx.Module):
    r"""The function :math:`L(y, z) + \langle c, \operatorname{local}(x, y)\rangle`: its first derivative at (x, z) is changed by c."""

    manifold: Manifold
    function: Function
    centre: Point
    c: Covector

    def __call__(self, s: Point) -> Scalar:
        return self.function(s) + self.c @ self.manifold.local(self.centre, s[0])


@final
class Sheet(eqx.Module):
    r"""The surface :math:`n \mapsto \operatorname{retract}(x, n_1 v + n_2 w + n_1 n_2 w')` through a point, w′ a turned w; the rows v, w."""

    manifold: Manifold
    centre: Point
    directions: Matrix

    def __call__(self, n: Vector) -> Point:
        bend = jnp.prod(n) * jnp.roll(self.directions[-1], 1)
        return self.manifold.retract(self.centre, n @ self.directions + bend)


def end_tangents(T: CotangentGroupoid, sigma: Immersion, s: Point) -> Array:
    r"""The matrices of :math:`T_s(\tilde\alpha|_\Sigma)` and :math:`T_s(\tilde\beta|_\Sigma)`, stacked."""

    def tangent(end: Callable[[Point], Point]) -> Matrix:
        return push_forward(sigma.parameters, T.base, lambda s: end(sigma(s)), s)

    return jnp.stack([tangent(T.source), tangent(T.target)])


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


def _differential_kernels(T: CotangentGroupoid, chain: Arrows, L: Function, a: Vector) -> Scalar:
    (g,) = chain
    G, M = T.groupoid, T.groupoid.space
    v, lift = G.left_field(g, a), right_inverse(G.right_frame(g).T)

    def bent(S: Matrix, _: None) -> tuple[Matrix, Array]:
        tangents = end_tangents(T, differential_graph(M, Curved(M, L, g, S)), g)
        w = S @ v - lift @ (tangents[0] @ v)[G.base.dim :]
        v_unit = v / jnp.linalg.norm(v)
        w_unit = w / jnp.linalg.norm(v)
        mixed = jnp.outer(v_unit, w_unit)
        degenerate = mixed + mixed.T - (v_unit @ w_unit) * jnp.outer(v_unit, v_unit)  # symmetric, takes v to w
        return degenerate, jax.vmap(numerical_rank)(tangents)

    # One copy of the program: first S = 0, then the S that puts v, tangent to the source fibre, into the kernel.
    _, ranks = jax.lax.scan(bent, jnp.zeros((M.dim, M.dim)), length=2)
    return jnp.sum(jnp.abs(ranks[:, 0] - ranks[:, 1])) + jnp.abs(ranks[1, 0] - (M.dim - 1))


def _constrained_kernels(
    T: CotangentGroupoid, chain: Arrows, L: Function, v: Vector, a: Vector, nu: Covector
) -> Scalar:
    (g,) = chain
    G, M = T.groupoid, T.groupoid.space
    N = Euclidean(min(2, M.dim))
    sheet = Sheet(M, g, jnp.stack([G.left_field(g, a), v])[: N.dim])

    def ranks(scale: Scalar) -> Array:
        sigma = constrained_graph(M, N, sheet, lambda n: scale * L(sheet(n)))
        return jax.vmap(numerical_rank)(end_tangents(T, sigma, (jnp.zeros(N.dim), scale * nu[N.dim :])))

    # On the conormal bundle, scale 0, the vector a of the source fibre is in the kernel of the source.
    found = jax.vmap(ranks)(jnp.array([0.0, 1.0]))
    return jnp.sum(jnp.abs(found[:, 0] - found[:, 1])) + jnp.where(found[0, 0] < M.dim, 0.0, 1.0)


def matching_relations(T: CotangentBundle, points: Arrows, L: Function, K: Function) -> tuple[Immersion, Immersion]:
    """The relations of two functions on pairs, the second one tilted so that parameters (x, y) and (y, z) match."""
    x, y, z = points
    M = T.base
    first, second = generated_relation(M, M, L), generated_relation(M, M, K)
    c = second((y, z))[0][1] - first((x, y))[1][1]
    return first, generated_relation(M, M, Tilted(M, K, y, c))


def _composition_lagrangian(
    T: CotangentBundle, x: Point, y: Point, z: Point, L: Function, K: Function, w: Vector
) -> Scalar:
    first, second = matching_relations(T, (x, y, z), L, K)
    both = compose_relations(first, second, (x, y), (y, z))
    pulled = both.isotropy(lambda point: block_diag(-T.symplectic_form(point[0]), T.symplectic_form(point[1])), 0.1 * w)
    return gap(pulled, jnp.zeros_like(pulled)) + abs(both.parameters.dim - T.dim)


def _composition_transposes(
    T: CotangentBundle, x: Point, y: Point, z: Point, L: Function, K: Function, w: Vector
) -> Scalar:
    first, second = matching_relations(T, (x, y, z), L, K)
    both = compose_relations(first, second, (x, y), (y, z))
    backwards = compose_relations(second.transpose(), first.transpose(), (y, z), (x, y))
    u, v = both.map.pair(0.1 * w)  # type: ignore[attr-defined]
    there, back = both(0.1 * w), backwards(backwards.map.coordinates(v, u))  # type: ignore[attr-defined]
    return jnp.maximum(gap(there, back[::-1]), gap(first(u)[1], second(v)[0]))


_M, _X = OnBase(A_FUNCTION), A_BASE_POINT
_L = OnPairs(A_QUADRATIC_FUNCTION)
_G, _A, _V = OnGroupoid(AN_ARROW), OnGroupoid(A_FIBER_VECTOR), OnGroupoid(A_TANGENT_VECTOR)
_ON_ARROWS = OnGroupoid(OnSpace(A_QUADRATIC_FUNCTION))

LAGRANGIAN_LAWS: tuple[Law, ...] = (
    Law(
        "differential_graph_lagrangian",
        "dL(M) is Lagrangian in T*M",
        "MMS Thm 3.1",
        CotangentBundle,
        (_X, _M),
        _differential_graph,
    ),
    Law(
        "constrained_graph_lagrangian",
        "Σ_L of a function on N ⊂ M is Lagrangian in T*M and agrees with dL on TN",
        "MMS Thm 3.1",
        CotangentBundle,
        (_X, OnBase(A_FIELD), _M, A_VECTOR),
        _constrained_graph,
    ),
    Law(
        "differential_kernels_agree",
        "dim ker T(α̃|Σ) = dim ker T(β̃|Σ) for Σ = dL(G), L regular or degenerate",
        "MMS Thm 2.16",
        CotangentGroupoid,
        (_G, _ON_ARROWS, _A),
        _differential_kernels,
    ),
    Law(
        "constrained_kernels_agree",
        "dim ker T(α̃|Σ) = dim ker T(β̃|Σ) for Σ_L of a function on N ⊂ G",
        "MMS Thm 2.16",
        CotangentGroupoid,
        (_G, _ON_ARROWS, _V, _A, _V),
        _constrained_kernels,
    ),
    Law(
        "composition_lagrangian",
        "Σ₁;Σ₂ is Lagrangian for Lagrangian relations Σ₁, Σ₂ that meet transversally",
        "BM §6",
        CotangentBundle,
        (_X, _X, _X, _L, _L, A_VECTOR),
        _composition_lagrangian,
    ),
    Law(
        "composition_transposes",
        "(Σ₁;Σ₂)ᵀ = Σ₂ᵀ;Σ₁ᵀ",
        "BM §6",
        CotangentBundle,
        (_X, _X, _X, _L, _L, A_VECTOR),
        _composition_transposes,
    ),
)
