"""Laws of Lie groups: axioms, exponential and Cayley maps, adjoint actions, trivialized derivatives."""

from collections.abc import Callable

import jax.numpy as jnp

from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.groups.lie_group import LieGroup, ad_by_autodiff, adjoint_by_autodiff, trivialized_derivative
from groupoid_mech.laws.kinds import A_POINT, A_ROTATION_SIZED_VECTOR, A_VECTOR, Kind
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import lie_bracket


def _multiply_assoc(G: LieGroup, g: Point, h: Point, k: Point) -> Scalar:
    return gap(G.multiply(G.multiply(g, h), k), G.multiply(g, G.multiply(h, k)))


def _identity_multiply(G: LieGroup, g: Point) -> Scalar:
    e = G.identity()
    return jnp.maximum(gap(G.multiply(e, g), g), gap(G.multiply(g, e), g))


def _inverse_multiply(G: LieGroup, g: Point) -> Scalar:
    e = G.identity()
    return jnp.maximum(gap(G.multiply(G.inverse(g), g), e), gap(G.multiply(g, G.inverse(g)), e))


def _closed(G: LieGroup, g: Point, h: Point) -> Scalar:
    return jnp.maximum(G.violation(G.multiply(g, h)), G.violation(G.inverse(g)))


def _matrix_multiply(G: LieGroup, g: Point, h: Point) -> Scalar:
    return gap(G.matrix(G.multiply(g, h)), G.matrix(g) @ G.matrix(h))


def _log_exp(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.log(G.exp(xi)), xi)


def _exp_log(G: LieGroup, g: Point) -> Scalar:
    return gap(G.exp(G.log(g)), g)


def _exp_one_parameter(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.exp(xi), G.multiply(G.exp(0.3 * xi), G.exp(0.7 * xi)))


def _exp_derivative_at_zero(G: LieGroup, xi: Vector) -> Scalar:
    # The one-parameter law holds for exp(2ξ) too: the velocity at 0 tells them apart.
    hat = G.hat(xi)
    step = 2.0**-10
    powers = jnp.eye(hat.shape[0])
    series = jnp.eye(hat.shape[0])
    for k in range(1, 7):
        powers = powers @ (step * hat) / k
        series = series + powers
    return gap(G.matrix(G.exp(step * xi)), series)


def _cayley_round_trip(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.cayley_inverse(G.cayley(xi)), xi)


def _cayley_matrix(G: LieGroup, xi: Vector) -> Scalar:
    half = 0.5 * G.hat(xi)
    unit = jnp.eye(half.shape[0])
    return gap((unit - half) @ G.matrix(G.cayley(xi)), unit + half)


def _cayley_inverse_element(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.multiply(G.cayley(xi), G.cayley(-xi)), G.identity())


def _cayley_equivariant(G: LieGroup, g: Point, xi: Vector) -> Scalar:
    return gap(G.cayley(G.adjoint(g) @ xi), G.multiply(G.multiply(g, G.cayley(xi)), G.inverse(g)))


def _adjoint_multiply(G: LieGroup, g: Point, h: Point) -> Scalar:
    return gap(G.adjoint(G.multiply(g, h)), G.adjoint(g) @ G.adjoint(h))


def _adjoint_autodiff(G: LieGroup, g: Point) -> Scalar:
    return gap(G.adjoint(g), adjoint_by_autodiff(G, g))


def _ad_autodiff(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.ad(xi), ad_by_autodiff(G, xi))


def _ad_homomorphism(G: LieGroup, xi: Vector, eta: Vector) -> Scalar:
    A, B = G.ad(xi), G.ad(eta)
    return gap(G.ad(A @ eta), A @ B - B @ A)


def _hat_bracket(G: LieGroup, xi: Vector, eta: Vector) -> Scalar:
    A, B = G.hat(xi), G.hat(eta)
    return gap(G.hat(G.ad(xi) @ eta), A @ B - B @ A)


def _left_invariant_bracket(G: LieGroup, g: Point, xi: Vector, eta: Vector) -> Scalar:
    return gap(lie_bracket(G, lambda _: xi, lambda _: eta)(g), G.ad(xi) @ eta)


def _coadjoint_pairing(G: LieGroup, g: Point, mu: Vector, xi: Vector) -> Scalar:
    return gap((G.coadjoint(g) @ mu) @ (G.adjoint(g) @ xi), mu @ xi)


def _dexp_autodiff(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.dexp(xi), trivialized_derivative(G, G.exp, xi))


def _dexp_inverse(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.dexp_inverse(xi) @ G.dexp(xi), jnp.eye(G.dim))


def _dcayley_autodiff(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.dcayley(xi), trivialized_derivative(G, G.cayley, xi))


def _dcayley_inverse(G: LieGroup, xi: Vector) -> Scalar:
    return gap(G.dcayley_inverse(xi) @ G.dcayley(xi), jnp.eye(G.dim))


def _retract_by_tau(G: LieGroup, g: Point, xi: Vector) -> Scalar:
    tau = {"exp": G.exp, "cayley": G.cayley}[G.tau]
    return gap(G.retract(g, xi), G.multiply(g, tau(xi)))


def _law(name: str, statement: str, draws: tuple[Kind, ...], defect: Callable[..., Scalar]) -> Law:
    return Law(name, statement, "Lie groups", LieGroup, draws, defect)


_XI = A_ROTATION_SIZED_VECTOR

GROUP_LAWS: tuple[Law, ...] = (
    _law("multiply_assoc", "(g h) k = g (h k)", (A_POINT, A_POINT, A_POINT), _multiply_assoc),
    _law("identity_multiply", "e g = g = g e", (A_POINT,), _identity_multiply),
    _law("inverse_multiply", "g⁻¹ g = e = g g⁻¹", (A_POINT,), _inverse_multiply),
    _law("multiply_closed", "g h and g⁻¹ are in G", (A_POINT, A_POINT), _closed),
    _law("matrix_multiply", "matrix(g h) = matrix(g) matrix(h)", (A_POINT, A_POINT), _matrix_multiply),
    _law("log_exp", "log(exp ξ) = ξ for |ξ| < π", (_XI,), _log_exp),
    _law("exp_log", "exp(log g) = g", (A_POINT,), _exp_log),
    _law("exp_one_parameter", "exp(ξ) = exp(0.3 ξ) exp(0.7 ξ)", (_XI,), _exp_one_parameter),
    _law("exp_series", "matrix(exp ξ) = Σ ξ̂ᵏ/k! for small ξ", (_XI,), _exp_derivative_at_zero),
    _law("cayley_round_trip", "cay⁻¹(cay ξ) = ξ", (_XI,), _cayley_round_trip),
    _law("cayley_matrix", "(I − ξ̂/2) matrix(cay ξ) = I + ξ̂/2", (_XI,), _cayley_matrix),
    _law("cayley_inverse_element", "cay(ξ) cay(−ξ) = e", (_XI,), _cayley_inverse_element),
    _law("cayley_equivariant", "cay(Ad_g ξ) = g cay(ξ) g⁻¹", (A_POINT, A_VECTOR), _cayley_equivariant),
    _law("adjoint_multiply", "Ad_{g h} = Ad_g Ad_h", (A_POINT, A_POINT), _adjoint_multiply),
    _law("adjoint_autodiff", "Ad_g = D(ξ ↦ g exp(ξ) g⁻¹)(0)", (A_POINT,), _adjoint_autodiff),
    _law("ad_autodiff", "ad_ξ = d/dt Ad_{exp tξ}", (A_VECTOR,), _ad_autodiff),
    _law("ad_homomorphism", "ad_{[ξ, η]} = ad_ξ ad_η − ad_η ad_ξ", (A_VECTOR, A_VECTOR), _ad_homomorphism),
    _law("hat_bracket", "hat([ξ, η]) = ξ̂ η̂ − η̂ ξ̂", (A_VECTOR, A_VECTOR), _hat_bracket),
    _law("left_invariant_bracket", "[←ξ, ←η] = ←[ξ, η]", (A_POINT, A_VECTOR, A_VECTOR), _left_invariant_bracket),
    _law("coadjoint_pairing", "⟨Ad*_{g⁻¹} μ, Ad_g ξ⟩ = ⟨μ, ξ⟩", (A_POINT, A_VECTOR, A_VECTOR), _coadjoint_pairing),
    _law("dexp_autodiff", "dexp_ξ = exp(ξ)⁻¹ D exp(ξ)", (_XI,), _dexp_autodiff),
    _law("dexp_inverse", "dexp_ξ⁻¹ dexp_ξ = I", (_XI,), _dexp_inverse),
    _law("dcayley_autodiff", "dcay_ξ = cay(ξ)⁻¹ D cay(ξ)", (_XI,), _dcayley_autodiff),
    _law("dcayley_inverse", "dcay_ξ⁻¹ dcay_ξ = I", (_XI,), _dcayley_inverse),
    _law("retract_by_tau", "retract(g, ξ) = g τ(ξ)", (A_POINT, A_VECTOR), _retract_by_tau),
)
