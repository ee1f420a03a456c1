"""Laws of discretization maps and of their lifts, on any Lie groupoid. BM §2, §3, Prop. 5.7, Cor. 5.8."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Covector, Form, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.cotangent_lift import CotangentLift, difference_covector, lifted_covector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.geodesic_map import GeodesicMap
from groupoid_mech.discretization.lagrangian_lift import LagrangianLift, momentum
from groupoid_mech.discretization.lifted_map import LiftedMap
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.discretization.retraction import ChartMap, ProjectionMap
from groupoid_mech.discretization.tangent_lift import TangentLift
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.laws.discretization_kinds import (
    A_COVECTOR,
    A_FRACTION,
    A_NATURAL_LAGRANGIAN,
    A_PLACE,
    A_SHORT_VELOCITY,
    A_VELOCITY,
    NaturalLagrangian,
)
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.laws.tulczyjew_laws import tangent_form
from groupoid_mech.manifolds.calculus import PullBack, frame_bracket, value_and_push_forward
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.tangent_bundle import TangentBundle
from groupoid_mech.numerics.matrix import unit_matrix


@final
class LegendreMap(eqx.Module):
    r"""The Legendre transformation :math:`FL: TQ \to T^*Q` as a map of points."""

    lift: LagrangianLift

    def __call__(self, x: Point) -> Point:
        return x[0], momentum(self.lift.lagrangian, *x)


def _difference_pulled_back(R: LiftedMap, omega: Form, x: Point, v: Vector) -> Matrix:
    """The pull-back by R of the form ω at the second point minus ω at the first."""
    first, second = R.arrow(x, v)
    J, n = R.tangent(x, v), R.groupoid.rank
    return J[n:].T @ omega(second) @ J[n:] - J[:n].T @ omega(first) @ J[:n]


def _zero(R: DiscretizationMap, x: Point) -> Scalar:
    return gap(R.arrow(x, jnp.zeros(R.groupoid.rank)), R.groupoid.unit(x))


def _rigidity(R: DiscretizationMap, x: Point) -> Scalar:
    return gap(R.rigidity(x), unit_matrix(R.groupoid.rank))


def _inverse(R: DiscretizationMap, x: Point, v: Vector) -> Scalar:
    g = R.arrow(x, v)
    back = R.inverse(g)
    return jnp.maximum(gap(back, (x, v)), gap(R.arrow(*back), g))


def _adjoint_by_inversion(R: DiscretizationMap, x: Point, v: Vector) -> Scalar:
    return gap(R.adjoint().arrow(x, v), R.groupoid.inverse(R.arrow(x, -v)))


def _adjoint_discretizes(R: DiscretizationMap, x: Point) -> Scalar:
    adjoint = R.adjoint()
    return jnp.maximum(_zero(adjoint, x), _rigidity(adjoint, x))


def _adjoint_involutive(R: DiscretizationMap, x: Point, v: Vector) -> Scalar:
    return gap(R.adjoint().adjoint().arrow(x, v), R.arrow(x, v))


def is_retraction(R: DiscretizationMap) -> bool:
    """Whether the map keeps the point, as those do that θ-families are made of."""
    return isinstance(R, ChartMap | ProjectionMap | GeodesicMap)


def is_midpoint(R: DiscretizationMap) -> bool:
    """Whether the map is the θ-map of a retraction with θ = ½, or a lift of such a map."""
    if isinstance(R, LiftedMap):
        return is_midpoint(R.map)
    half = isinstance(R, ThetaMap) and R.theta.ndim == 0 and is_concrete(R.theta) and float(R.theta) == 0.5
    return half or isinstance(R, MidpointMap)


def is_midpoint_rule(R: DiscretizationMap) -> bool:
    """Whether the map is the midpoint rule of a vector space."""
    on_pairs = isinstance(R.groupoid, PairGroupoid) and isinstance(R.groupoid.base, Euclidean)
    return on_pairs and is_midpoint(R)


def _theta_discretizes(R: DiscretizationMap, x: Point, theta: Scalar) -> Scalar:
    between = ThetaMap(R, theta)
    return jnp.maximum(_zero(between, x), _rigidity(between, x))


def _symmetric(R: DiscretizationMap, x: Point, v: Vector) -> Scalar:
    return R.asymmetry(x, v)


def _covector_symplectic(R: DiscretizationMap, x: Point, v: Vector, covector: Covector) -> Scalar:
    here, there = CotangentBundle(R.bundle), CotangentBundle(R.groupoid.space)

    def lifted(z: Point) -> Point:
        (y, u), nu = z
        return lifted_covector(R, y, u, nu)

    at = (x, v), covector
    moved, J = value_and_push_forward(here, there, lifted, at)
    return gap(J.T @ there.symplectic_form(moved) @ J, here.symplectic_form(at))


def _covers(R: LiftedMap, x: Point, v: Vector) -> Scalar:
    first, second = R.arrow(x, v)
    return gap((first[0], second[0]), R.map.arrow(x[0], v[: R.manifold.dim]))


def _cotangent_lift_symplectic(R: CotangentLift, x: Point, v: Vector) -> Scalar:
    bundle = CotangentBundle(R.manifold)
    omega = bundle.symplectic_form
    return gap(_difference_pulled_back(R, omega, x, v), tangent_form(bundle, omega, (x, v)))


def _lifts_dual(R: CotangentLift, x: Point, v: Vector, w: Vector) -> Scalar:
    n, momenta = R.manifold.dim, R.arrow(x, v)
    (q, p), p_dot = R.inverse(momenta)
    (_, v0), (_, v1) = TangentLift(R.map).arrow((q, w[:n]), jnp.concatenate([p_dot[:n], w[n:]]))
    left = difference_covector(momenta)[1] @ jnp.concatenate([v0, v1])
    return gap(left, p_dot[n:] @ w[:n] + p @ w[n:])


def _lagrangian_lift_symplectic(R: LagrangianLift, x: Point, v: Vector) -> Scalar:
    bundle, there = TangentBundle(R.manifold), CotangentBundle(R.manifold)
    omega = PullBack(bundle, there, LegendreMap(R), there.symplectic_form)
    return gap(_difference_pulled_back(R, omega, x, v), tangent_form(bundle, omega, (x, v)))


def _lift_of_natural(
    R: DiscretizationMap, x: Point, v: Vector, x_dot: Vector, v_dot: Vector, L: NaturalLagrangian
) -> Scalar:
    w = jnp.concatenate([x_dot, v_dot])
    return gap(LagrangianLift(R, L).arrow((x, v), w), TangentLift(R).arrow((x, v), w))


@final
class CompleteLift(eqx.Module):
    r"""The complete lift to TQ of a metric, :math:`g^C(w, w) = \partial_s g(\partial_tq, \partial_tq)` for :math:`w = \partial_t\partial_sq`.

    In a frame with :math:`[e_a, e_b] = C^c_{ab}e_c`, at (q, u),

    .. math:: g^C = \begin{pmatrix} u[g] - g\,C(u) - C(u)^Tg & g \\ g & 0 \end{pmatrix}, \qquad C(u)^c_b = C^c_{ab}u^a .

    Args:
        geodesics: The map by geodesics of the metric g on Q.
    """

    geodesics: GeodesicMap

    def __call__(self, x: Point) -> Matrix:
        (q, u), Q = x, self.geodesics.manifold
        one = unit_matrix(Q.dim)
        metric = self.geodesics.metric or (lambda y: one)
        g, change = jax.jvp(metric, (q,), (Q.to_ambient(q, u),))
        turned = g @ jax.vmap(lambda e: frame_bracket(Q, q, u, e), out_axes=1)(one)
        return jnp.block([[change - turned - turned.T, g], [g, jnp.zeros_like(g)]])


def _complete_lift(R: GeodesicMap, x: Point, u: Vector, x_dot: Vector, u_dot: Vector) -> Scalar:
    lifted = GeodesicMap(TangentBundle(R.manifold), CompleteLift(R), steps=R.steps)
    w = jnp.concatenate([x_dot, u_dot])
    return gap(lifted.arrow((x, u), w), TangentLift(R).arrow((x, u), w))


DISCRETIZATION_LAWS: tuple[Law, ...] = (
    Law("discretization_zero", "R(x, 0) = ε(x)", "BM Def. 2.2", DiscretizationMap, (A_PLACE,), _zero),
    Law("discretization_rigidity", "π∘T₀R(x, ·) = id", "BM Def. 2.2", DiscretizationMap, (A_PLACE,), _rigidity),
    Law(
        "discretization_inverse",
        "R⁻¹∘R = id, R∘R⁻¹ = id near the units",
        "BM Prop. 2.3",
        DiscretizationMap,
        (A_PLACE, A_SHORT_VELOCITY),
        _inverse,
    ),
    Law(
        "adjoint_by_inversion",
        "R*(x, v) = R(x, −v)⁻¹; for lifts (Rᵀ)* = (R*)ᵀ",
        "BM Prop. 2.5, 3.5, 3.9",
        DiscretizationMap,
        (A_PLACE, A_SHORT_VELOCITY),
        _adjoint_by_inversion,
    ),
    Law(
        "adjoint_discretizes",
        "R*(x, 0) = ε(x), π∘T₀R*(x, ·) = id",
        "BM Prop. 2.5",
        DiscretizationMap,
        (A_PLACE,),
        _adjoint_discretizes,
    ),
    Law(
        "adjoint_involutive",
        "R** = R",
        "BM Prop. 2.5",
        DiscretizationMap,
        (A_PLACE, A_SHORT_VELOCITY),
        _adjoint_involutive,
    ),
    Law(
        "theta_discretizes",
        "R_θ(x, v) = R(x, −θv)⁻¹·R(x, (1 − θ)v) is a discretization map for every retraction R and 0 ≤ θ ≤ 1",
        "BM Prop. 2.4, (2.2)",
        DiscretizationMap,
        (A_PLACE, A_FRACTION),
        _theta_discretizes,
        applies=is_retraction,
    ),
    Law(
        "symmetric_map",
        "R(x, −v)⁻¹ = R(x, v) for θ = ½, and for the lifts of such maps",
        "BM Def. 2.6, Examples 2.7–2.9, Prop. 3.5, 3.9",
        DiscretizationMap,
        (A_PLACE, A_SHORT_VELOCITY),
        _symmetric,
        applies=is_midpoint,
    ),
    Law(
        "lifted_covector_symplectic",
        "R̂: T*AG → T*G is symplectic",
        "BM Prop. 3.2",
        DiscretizationMap,
        (A_PLACE, A_SHORT_VELOCITY, A_COVECTOR),
        _covector_symplectic,
    ),
    Law(
        "lift_covers",
        "(π×π)∘R^E = R∘Tπ for a lift to a bundle π: E → Q",
        "BM Prop. 3.3, 3.6, 5.7",
        LiftedMap,
        (A_PLACE, A_SHORT_VELOCITY),
        _covers,
    ),
    Law(
        "cotangent_lift_symplectic",
        "(R^T*)*Ω₁₂ = d_Tω, with d_Tω = d(i_Tω)",
        "BM Prop. 3.7",
        CotangentLift,
        (A_PLACE, A_SHORT_VELOCITY),
        _cotangent_lift_symplectic,
    ),
    Law(
        "lifts_dual",
        "⟨Φ(α₀, α₁), Rᵀ(w)⟩ = ⟨(R^T*)⁻¹(α₀, α₁), w⟩ᵀ = d/dt⟨σ, γ⟩",
        "BM Prop. 3.8",
        CotangentLift,
        (A_PLACE, A_SHORT_VELOCITY, A_VELOCITY),
        _lifts_dual,
    ),
    Law(
        "lagrangian_lift_symplectic",
        "(R^L)*(Ω_L¹ − Ω_L⁰) = d_TΩ_L",
        "BM Prop. 5.7",
        LagrangianLift,
        (A_PLACE, A_SHORT_VELOCITY),
        _lagrangian_lift_symplectic,
    ),
    Law(
        "lift_of_natural",
        "R^L = Rᵀ for the midpoint rule and L = ½vᵀMv − V(q) with a constant mass",
        "BM Cor. 5.8",
        DiscretizationMap,
        (A_PLACE, A_VELOCITY, A_SHORT_VELOCITY, A_VELOCITY, A_NATURAL_LAGRANGIAN),
        _lift_of_natural,
        applies=is_midpoint_rule,
    ),
    Law(
        "complete_lift",
        "the tangent lift of (x, exp_x v) is the same map of the metric g^C on TQ",
        "BM Remark 3.4",
        GeodesicMap,
        (A_PLACE, A_VELOCITY, A_SHORT_VELOCITY, A_SHORT_VELOCITY),
        _complete_lift,
        tolerance=1e-9,  # the error of the Runge–Kutta steps, which the two maps take in different coordinates
    ),
)
