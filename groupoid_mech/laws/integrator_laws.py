"""Laws of the methods that discretization maps give, for drawn Hamiltonians and Lagrangians. BM §4–§7."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._types import Function, Point, Scalar, Vector
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.discretization.composed_family import compose_systems
from groupoid_mech.discretization.cotangent_lift import lifted_step
from groupoid_mech.discretization.discrete_gradient import DiscreteGradient
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.energy_integrator import EnergyIntegrator
from groupoid_mech.discretization.field_integrator import SecondOrderField
from groupoid_mech.discretization.integrator import Integrator
from groupoid_mech.discretization.lagrangian_family import lagrangian_system
from groupoid_mech.discretization.lagrangian_lift import LegendreHamiltonian
from groupoid_mech.discretization.second_order import difference_defect
from groupoid_mech.discretization.system_integrator import SystemIntegrator
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.groupoids.loose_chart import searched_by_chart
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.laws.discretization_kinds import A_PLACE, A_SHORT_VELOCITY
from groupoid_mech.laws.discretization_laws import is_midpoint, is_retraction
from groupoid_mech.laws.integrator_kinds import (
    AddedFunction,
    ASmoothFunction,
    DrawnLagrangian,
    OnManifold,
    OnPhaseSpace,
    family_of,
    groupoid_behind,
    has_hamiltonian,
    is_hamiltonian_method,
    manifold_of,
    with_drawn,
    with_hamiltonian,
)
from groupoid_mech.laws.kinds import A_FIELD, A_FUNCTION, A_POINT, AVector
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.symplectic.linear_poisson import LinearPoisson
from groupoid_mech.symplectic.poisson_map import poisson_defect


def _poisson(method: Integrator, x: Point, F: Function) -> Scalar:
    A = LinearPoisson(GroupoidAlgebroid(groupoid_behind(method)))
    return poisson_defect(A, A, with_drawn(method, F), x)


def _family_is_lift(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    method = with_drawn(method, F)
    family = family_of(method)
    return gap(method(x), lifted_step(family.map, family.hamiltonian, method.dt, *x))


def _adjoint_inverts(method: Integrator, x: Point) -> Scalar:
    return gap(method.adjoint().with_step(-method.dt)(method(x)), x)


def _adjoint_of_map(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    return _adjoint_inverts(with_drawn(method, F), x)


def is_method_of_midpoint(method: SystemIntegrator) -> bool:
    """Whether the method is that of a Hamiltonian and a symmetric map, one with θ = ½."""
    family = family_of(method)
    return has_hamiltonian(method) and is_midpoint(family.map)


def _symmetric(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    method = with_drawn(method, F)
    return gap(method.with_step(-method.dt)(method(x)), x)


def _routes_agree(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    family = family_of(method)
    lagrangian = DrawnLagrangian(F)
    system = lagrangian_system(lagrangian, family.map, method.dt)
    hamiltonian = with_hamiltonian(method, LegendreHamiltonian(lagrangian))
    return gap(hamiltonian(x), system.hamiltonian_map(*x))


def _composition(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    first = with_drawn(method, F)
    second = first.adjoint().with_step(0.5 * method.dt)
    between = first(x)
    G = method.system.groupoid
    r, searched = G.rank, jnp.zeros(2 * searched_by_chart(G))
    guesses = first.system.first_guess(*x), second.system.first_guess(*between)
    inner, outer = guesses[0][:r], guesses[1][:r]
    guess = jnp.concatenate([inner + outer, inner, searched, guesses[0][r:], guesses[1][r:]])
    composed = compose_systems(first.system, second.system)
    return gap(composed.hamiltonian_map(x[0], x[1], guess), second(between))


def gives_difference_equation(R: DiscretizationMap) -> bool:
    """Whether the map is a retraction of a manifold, or a θ-map of a Euclidean space."""
    if not isinstance(R.groupoid, PairGroupoid):
        return False
    theta = isinstance(R, ThetaMap) and isinstance(R.groupoid.base, Euclidean) and R.theta.ndim == 0
    return theta or is_retraction(R)


def _second_order(R: DiscretizationMap, x: Point, v: Vector, F: Function) -> Scalar:
    return difference_defect(R, SecondOrderField(AccelerationOf(F)), (x, v))


@final
class AccelerationOf(eqx.Module):
    """The acceleration of a drawn field on A*G, read as one on TQ."""

    field: Callable[[Point], Vector]

    def __call__(self, q: Point, v: Vector) -> Vector:
        return 0.3 * self.field((q, v))[: v.shape[0]]


def _rise(gradient: DiscreteGradient, y: Point, v: Vector, H: Function) -> Scalar:
    slope = gradient.at(H, y, v)
    return jnp.abs(gradient.defect(H, y, v)) / (1 + jnp.max(jnp.abs(slope)))


def _consistent(gradient: DiscreteGradient, y: Point, H: Function) -> Scalar:
    M = manifold_of(gradient)
    return gap(gradient.at(H, y, jnp.zeros(M.dim)), frame_derivatives(M, H, y))


def _energy_kept(method: EnergyIntegrator, x: Point, F: Function) -> Scalar:
    H = AddedFunction(method.hamiltonian, F)
    changed = eqx.tree_at(lambda m: m.hamiltonian, method, H, is_leaf=lambda leaf: leaf is method.hamiltonian)
    before, after = H(x), H(changed(x))
    return jnp.abs(after - before) / (1 + jnp.abs(before))


_X, _F = OnPhaseSpace(A_POINT), ASmoothFunction()
_Y, _H = OnManifold(A_POINT), OnManifold(A_FUNCTION)
_STEP = OnManifold(AVector(scale=0.3))

INTEGRATOR_LAWS: tuple[Law, ...] = (
    Law(
        "method_poisson",
        "the step of (5.1), of every generating family, and of their compositions is a Poisson map of A*G: symplectic on T*Q",
        "BM Prop. 5.1, §6",
        Integrator,
        (_X, _F),
        _poisson,
        applies=is_hamiltonian_method,
    ),
    Law(
        "family_is_lift",
        "the family ⟨p, R⁻¹(g)⟩ − dt H gives the step of the lift R̂(dt X_H)",
        "BM (5.1), (6.1)",
        SystemIntegrator,
        (_X, _F),
        _family_is_lift,
        applies=has_hamiltonian,
    ),
    Law(
        "method_of_adjoint",
        "the method of R* is the adjoint: Φ[R*]_dt = (Φ[R]_−dt)⁻¹",
        "BM §6.1, Prop. 3.9",
        SystemIntegrator,
        (_X, _F),
        _adjoint_of_map,
        applies=has_hamiltonian,
    ),
    Law(
        "method_symmetric",
        "Φ_−dt∘Φ_dt = id for the method of a symmetric map, R* = R",
        "BM Def. 6.2, Prop. 6.3",
        SystemIntegrator,
        (_X, _F),
        _symmetric,
        applies=is_method_of_midpoint,
    ),
    Law(
        "routes_agree",
        "dt L(R⁻¹(g)/dt) and ⟨p, R⁻¹(g)⟩ − dt H, H = ⟨p, v⟩ − L, give the same step",
        "BM (5.4), (5.5)",
        SystemIntegrator,
        (_X, _F),
        _routes_agree,
        applies=has_hamiltonian,
    ),
    Law(
        "composed_systems",
        "the family L₁(k) + L₂(k⁻¹g) gives the step of L₁, then that of L₂",
        "BM §6",
        SystemIntegrator,
        (_X, _F),
        _composition,
        applies=has_hamiltonian,
    ),
    Law("adjoint_inverts", "Φ*_−dt∘Φ_dt = id", "BM §6.1", Integrator, (_Y,), _adjoint_inverts),
    Law(
        "second_order_commutes",
        "R²(TR¹Γ) = R¹(TR²Γ) for every second-order field Γ and retraction, and for the θ-maps of Rⁿ",
        "BM Prop. 4.2, (4.8)",
        DiscretizationMap,
        (A_PLACE, A_SHORT_VELOCITY, OnPhaseSpace(A_FIELD)),
        _second_order,
        applies=gives_difference_equation,
    ),
    Law(
        "discrete_gradient_rise",
        "⟨d̄H(x, x'), R⁻¹(x, x')⟩ = H(x') − H(x)",
        "BM (7.1)",
        DiscreteGradient,
        (_Y, _STEP, _H),
        _rise,
    ),
    Law("discrete_gradient_consistent", "d̄H(x, x) = dH(x)", "BM (7.1)", DiscreteGradient, (_Y, _H), _consistent),
    Law("energy_kept", "H(Φ(x)) = H(x)", "BM §7.2", EnergyIntegrator, (_Y, _F), _energy_kept),
)
