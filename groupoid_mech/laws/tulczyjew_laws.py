"""Laws of the maps that lifts are made of, on any manifold Q: the involution κ of TTQ, Tulczyjew's α and the map Φ. BM §3.1, §3.2."""

from dataclasses import dataclass
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Covector, Form, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.cotangent_lift import difference_covector, tulczyjew_alpha, tulczyjew_alpha_inverse
from groupoid_mech.discretization.tangent_lift import canonical_involution
from groupoid_mech.laws.kinds import A_POINT, A_VECTOR, Kind
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import ExteriorDerivative, push_forward
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.tangent_bundle import TangentBundle

_MONOMIALS = 5


@final
class Surface(eqx.Module):
    """A map (t, s) ↦ Q near a point, without symmetry in t and s: one chart after the other, each at a polynomial."""

    manifold: Manifold
    point: Point
    coefficients: Array

    def __call__(self, t: Scalar, s: Scalar) -> Point:
        first, second = self.coefficients @ jnp.stack([t, s, t * s, t * t, s * s])
        return self.manifold.retract(self.manifold.retract(self.point, first), second)


@final
@dataclass(frozen=True)
class ASurface(Kind):
    """A surface (t, s) ↦ Q through a drawn point."""

    def size(self, subject: Manifold) -> int:
        return 2 * _MONOMIALS * subject.dim

    def build(self, subject: Manifold, point: Point, numbers: Array) -> Surface:
        return Surface(subject, point, numbers.reshape(2, subject.dim, _MONOMIALS))

    def drawn_on(self, subject: Manifold) -> Manifold:
        return subject


@final
class Contraction(eqx.Module):
    r"""The one-form :math:`i_T\omega` on TM of a two-form on M: :math:`(i_T\omega)_w(W) = \omega(w, T\tau\,W)`."""

    omega: Form

    def __call__(self, w: Point) -> Covector:
        x, v = w
        return jnp.concatenate([v @ self.omega(x), jnp.zeros_like(v)])


def tangent_form(M: Manifold, omega: Form, w: Point) -> Matrix:
    r"""The components at a point of TM of :math:`d_T\omega = d(i_T\omega)`, for a closed two-form ω on M."""
    return ExteriorDerivative(TangentBundle(M), Contraction(omega))(w)


def _second_velocity(M: Manifold, surface: Surface, inner: tuple[float, float]) -> Point:
    """The point ∂∂Φ of TTM at (0, 0), with the inner derivative along one of the variables and the outer along the other."""

    def velocity(t: Scalar, s: Scalar) -> tuple[Point, Vector]:
        x, moved = jax.jvp(surface, (t, s), inner)
        return x, M.from_ambient(x, moved)

    (x, v), (x_dot, v_dot) = jax.jvp(velocity, (0.0, 0.0), inner[::-1])
    return (x, v), jnp.concatenate([M.from_ambient(x, x_dot), v_dot])


def _involution_exchanges(M: Manifold, surface: Surface) -> Scalar:
    t, s = (1.0, 0.0), (0.0, 1.0)
    return gap(canonical_involution(M, _second_velocity(M, surface, s)), _second_velocity(M, surface, t))


def _involution_involutive(M: Manifold, q: Point, v: Vector, q_dot: Vector, v_dot: Vector) -> Scalar:
    w = (q, v), jnp.concatenate([q_dot, v_dot])
    return gap(canonical_involution(M, canonical_involution(M, w)), w)


def _alpha_dual(M: Manifold, q: Point, q_dot: Vector, p: Covector, p_dot: Covector, v: Vector, v_dot: Vector) -> Scalar:
    w = (q, p), jnp.concatenate([q_dot, p_dot])
    at, covector = tulczyjew_alpha(M, w)
    there, vector = canonical_involution(M, ((q, v), jnp.concatenate([q_dot, v_dot])))
    # In the frame along the curve of Q, ⟨σ, γ⟩ is the sum of the products of the components.
    pairing = gap((at, covector @ vector), (there, p_dot @ v + p @ v_dot))
    return jnp.maximum(pairing, gap(tulczyjew_alpha_inverse(M, (at, covector)), w))


def _alpha_symplectic(M: Manifold, q: Point, q_dot: Vector, p: Covector, p_dot: Covector) -> Scalar:
    momenta = CotangentBundle(M)
    here, there = TangentBundle(momenta), CotangentBundle(TangentBundle(M))
    w = (q, p), jnp.concatenate([q_dot, p_dot])
    J = push_forward(here, there, lambda y: tulczyjew_alpha(M, y), w)
    pulled = J.T @ there.symplectic_form(tulczyjew_alpha(M, w)) @ J
    return gap(pulled, tangent_form(momenta, momenta.symplectic_form, w))


def _difference_symplectic(M: Manifold, q0: Point, p0: Covector, q1: Point, p1: Covector) -> Scalar:
    momenta = CotangentBundle(M)
    there = CotangentBundle(ProductManifold(M, M))
    g = (q0, p0), (q1, p1)
    J = push_forward(ProductManifold(momenta, momenta), there, difference_covector, g)
    pulled = J.T @ there.symplectic_form(difference_covector(g)) @ J
    first, second = momenta.symplectic_form(g[0]), momenta.symplectic_form(g[1])
    return gap(pulled, jax.scipy.linalg.block_diag(-first, second))


TULCZYJEW_LAWS: tuple[Law, ...] = (
    Law(
        "involution_exchanges",
        "κ(∂_t∂_sΦ) = ∂_s∂_tΦ for every Φ: R² → Q",
        "BM §3.1",
        Manifold,
        (ASurface(),),
        _involution_exchanges,
    ),
    Law(
        "involution_involutive",
        "κ∘κ = id",
        "BM §3.1",
        Manifold,
        (A_POINT, A_VECTOR, A_VECTOR, A_VECTOR),
        _involution_involutive,
    ),
    Law(
        "alpha_dual",
        "⟨α(σ'), κ(γ')⟩ = d/dt⟨σ, γ⟩ for curves in T*Q and TQ over one curve; α⁻¹∘α = id",
        "BM §3.2, §3.3",
        Manifold,
        (A_POINT, A_VECTOR, A_VECTOR, A_VECTOR, A_VECTOR, A_VECTOR),
        _alpha_dual,
    ),
    Law(
        "alpha_symplectic",
        "α*ω_TQ = d_Tω_Q, with d_Tω = d(i_Tω)",
        "BM §3.2",
        Manifold,
        (A_POINT, A_VECTOR, A_VECTOR, A_VECTOR),
        _alpha_symplectic,
    ),
    Law(
        "difference_symplectic",
        "Φ*ω_Q×Q = pr₂*ω − pr₁*ω for Φ(p₀, p₁) = (−p₀, p₁)",
        "BM §3.2",
        Manifold,
        (A_POINT, A_VECTOR, A_POINT, A_VECTOR),
        _difference_symplectic,
    ),
)
