r"""Immersed submanifolds of symplectic manifolds, and the generators of Lagrangian ones.

Convention: a submanifold is the image of a map from a manifold of parameters; it is Lagrangian when the form pulls back to zero
and its dimension is half that of the surrounding manifold. MMS §3.1, Theorem 3.1.
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import as_pytree, require_instances, traced_shape
from groupoid_mech._types import Array, Covector, Function, Matrix, Point, Scalar
from groupoid_mech.algebroids.dual_bundle import DualBundle
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.calculus import differential, push_forward, value_and_push_forward
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.single_point import SinglePoint
from groupoid_mech.numerics.matrix import complement, matvec, right_inverse
from groupoid_mech.symplectic.relation import LinearRelation

Form = Callable[[Point], Matrix]


@final
class Immersion(eqx.Module):
    r"""The submanifold :math:`\{f(s) : s \in S\} \subset M` of a map :math:`f: S \to M`.

    Args:
        parameters: The manifold :math:`S`.
        space: The manifold :math:`M`.
        map: The immersion :math:`f`.

    Example:
        >>> from groupoid_mech import CotangentBundle, Euclidean
        >>> line = Euclidean(1)
        >>> zero_section = Immersion(line, CotangentBundle(line), lambda q: (q, jnp.zeros(1)))
        >>> zero_section.isotropy(CotangentBundle(line).symplectic_form, jnp.ones(1))
        Array([[0.]], dtype=float64)
    """

    parameters: Manifold
    space: Manifold
    map: Callable[[Point], Point]

    def __init__(self, parameters: Manifold, space: Manifold, map: Callable[[Point], Point]):
        require_instances("Immersion", "parameters", (parameters,), Manifold)
        require_instances("Immersion", "space", (space,), Manifold)
        traced_shape(map, parameters.point_like())
        self.parameters = parameters
        self.space = space
        self.map = as_pytree(map)

    def __call__(self, s: Point) -> Point:
        return self.map(s)

    def tangent(self, s: Point) -> Matrix:
        r"""The tangent space at :math:`f(s)`: the columns of :math:`T_sf`."""
        return push_forward(self.parameters, self.space, self.map, s)

    def isotropy(self, form: Form, s: Point) -> Matrix:
        r"""The pull-back :math:`f^*\omega` at s: zero exactly where the submanifold is isotropic."""
        point, J = value_and_push_forward(self.parameters, self.space, self.map, s)
        return J.T @ form(point) @ J

    def relation(self, s: Point) -> LinearRelation:
        r"""The tangent space at :math:`f(s)` of a submanifold of a product :math:`P \times R`, as a linear relation."""
        first, _ = self.two_factors("Immersion.relation")
        J = self.tangent(s)
        return LinearRelation(J[: first.dim], J[first.dim :])

    def transpose(self) -> "Immersion":
        r"""The relation :math:`\{(y, x)\}` of a submanifold :math:`\{(x, y)\} \subset P \times R`, read backwards."""
        first, second = self.two_factors("Immersion.transpose")
        return Immersion(self.parameters, ProductManifold(second, first), Swapped(self.map))

    def then(self, f: Callable[[Point], Point], target: Manifold) -> "Immersion":
        r"""The composition :math:`\{(x, f(y))\}` of a relation :math:`\{(x, y)\} \subset P \times R` with a map :math:`f: R \to S`.

        With another relation, use `compose_relations`.
        """
        first, _ = self.two_factors("Immersion.then")
        return Immersion(self.parameters, ProductManifold(first, target), Followed(self.map, as_pytree(f)))

    def two_factors(self, owner: str = "Immersion.two_factors") -> tuple[Manifold, Manifold]:
        r"""The manifolds :math:`P` and :math:`R` of a relation, a submanifold of :math:`P \times R`; an error if it is none."""
        factors: Any = getattr(self.space, "factors", ())
        if len(factors) != 2:
            raise ArgumentError(f"{owner} needs a submanifold of a product of two manifolds; it lies in {self.space}.")
        return factors

    def smallest_stretch(self, s: Point) -> Scalar:
        r"""The smallest singular value of :math:`T_sf`: positive exactly where f is an immersion."""
        return jnp.linalg.svd(self.tangent(s), compute_uv=False)[-1]


def one_form_graph(M: Manifold, sigma: Callable[[Point], Covector]) -> Immersion:
    r"""The graph :math:`\{(x, \sigma(x))\} \subset T^*M` of a one-form: Lagrangian exactly when σ is closed."""
    return Immersion(M, CotangentBundle(M), Section(as_pytree(sigma)))


def differential_graph(M: Manifold, L: Function) -> Immersion:
    r"""The Lagrangian submanifold :math:`dL(M) \subset T^*M` of a function L."""
    return Immersion(M, CotangentBundle(M), DifferentialSection(M, as_pytree(L)))


def constrained_graph(M: Manifold, N: Manifold, inclusion: Callable[[Point], Point], L: Function) -> Immersion:
    r"""The Lagrangian submanifold :math:`\Sigma_L = \{\mu \in T^*M|_N : \langle\mu, v\rangle = \langle dL, v\rangle
    \text{ on } TN\}` of a function on a submanifold :math:`N \subset M` (Śniatycki and Tulczyjew, MMS Theorem 3.1).

    A parameter is ``(n, nu)``: a point of N and coordinates of a covector that vanishes on :math:`T_nN`.

    Args:
        M: The surrounding manifold.
        N: The submanifold, as a manifold of its own.
        inclusion: The immersion of N in M.
        L: A function on N.
    """
    codim = M.dim - N.dim
    if codim < 0:
        raise ArgumentError(f"constrained_graph needs N no larger than M; its dimension is {N.dim}, that of M {M.dim}.")
    parameters: Manifold = DualBundle(N, codim) if codim else ProductManifold(N, SinglePoint())
    return Immersion(parameters, CotangentBundle(M), ConstrainedSection(M, N, as_pytree(inclusion), as_pytree(L)))


def conormal_bundle(M: Manifold, N: Manifold, inclusion: Callable[[Point], Point]) -> Immersion:
    r"""The conormal bundle :math:`\{\mu \in T^*M|_N : \mu|_{TN} = 0\}`, the case :math:`L = 0`."""
    return constrained_graph(M, N, inclusion, _nothing)


def generated_relation(P: Manifold, R: Manifold, L: Function) -> Immersion:
    r"""The Lagrangian relation :math:`\{((x, -D_1L), (y, D_2L))\} \subset T^*P^- \times T^*R` of a function :math:`L(x, y)`.

    A parameter is ``(x, y)``. Where :math:`D_1D_2L` is invertible it is the graph of a symplectic map; L is called with the pair.

    Args:
        P: The manifold of x.
        R: The manifold of y.
        L: A function of the pair ``(x, y)``.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> line = Euclidean(1)
        >>> free = generated_relation(line, line, lambda s: jnp.sum((s[1] - s[0]) ** 2) / 2)
        >>> free((jnp.zeros(1), jnp.ones(1)))[1]
        (Array([1.], dtype=float64), Array([1.], dtype=float64))
    """
    pair = ProductManifold(P, R)
    return Immersion(pair, ProductManifold(CotangentBundle(P), CotangentBundle(R)), Generated(pair, as_pytree(L)))


def map_graph(P: Manifold, R: Manifold, f: Callable[[Point], Point]) -> Immersion:
    r"""The graph :math:`\{(x, f(x))\} \subset P \times R`: Lagrangian in :math:`P^- \times R` exactly when f is symplectic."""
    return Immersion(P, ProductManifold(P, R), Graph(as_pytree(f)))


@final
class Section(eqx.Module):
    """The map x ↦ (x, σ(x))."""

    sigma: Callable[[Point], Covector]

    def __call__(self, x: Point) -> Point:
        return x, self.sigma(x)


@final
class DifferentialSection(eqx.Module):
    """The map x ↦ (x, dL(x))."""

    manifold: Manifold
    function: Function

    def __call__(self, x: Point) -> Point:
        return x, differential(self.manifold, self.function, x)


@final
class ConstrainedSection(eqx.Module):
    """The map (n, ν) ↦ (j(n), least-norm extension of dL + conormal covector with coordinates ν)."""

    manifold: Manifold
    submanifold: Manifold
    inclusion: Callable[[Point], Point]
    function: Function

    def __call__(self, s: Point) -> Point:
        n, nu = s
        J = push_forward(self.submanifold, self.manifold, self.inclusion, n)
        extension = matvec(right_inverse(J.T), differential(self.submanifold, self.function, n))
        return self.inclusion(n), extension + matvec(complement(J), nu)


@final
class Generated(eqx.Module):
    """The map (x, y) ↦ ((x, −D₁L), (y, D₂L))."""

    manifold: ProductManifold
    function: Function

    def __call__(self, s: Point) -> Point:
        n = self.manifold.factors[0].dim
        mu = differential(self.manifold, self.function, s)
        return (s[0], -mu[:n]), (s[1], mu[n:])


@final
class Swapped(eqx.Module):
    """The map s ↦ (y, x) of a map s ↦ (x, y)."""

    map: Callable[[Point], Point]

    def __call__(self, s: Point) -> Point:
        x, y = self.map(s)
        return y, x


@final
class Followed(eqx.Module):
    """The map s ↦ (x, f(y)) of a map s ↦ (x, y)."""

    map: Callable[[Point], Point]
    second: Callable[[Point], Point]

    def __call__(self, s: Point) -> Point:
        x, y = self.map(s)
        return x, self.second(y)


@final
class Graph(eqx.Module):
    """The map x ↦ (x, f(x))."""

    map: Callable[[Point], Point]

    def __call__(self, x: Point) -> Point:
        return x, self.map(x)


def _nothing(x: Any) -> Array:
    return jnp.zeros(())
