"""Laws of the methods that discretization maps give, for drawn Hamiltonians and Lagrangians. BM §4–§7."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._types import Array, Covector, Function, Key, Point, Scalar, Vector
from groupoid_mech.algebroids.dual_bundle import DualBundle
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.discretization.composed_family import compose_systems
from groupoid_mech.discretization.cotangent_lift import lifted_step
from groupoid_mech.discretization.discrete_gradient import DiscreteGradient, EnergyIntegrator
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.field_integrator import SecondOrderField
from groupoid_mech.discretization.geodesic_map import GeodesicMap
from groupoid_mech.discretization.hamiltonian_family import HamiltonianFamily
from groupoid_mech.discretization.inner_point_family import InnerPointFamily
from groupoid_mech.discretization.integrator import Integrator
from groupoid_mech.discretization.lagrangian_family import lagrangian_system
from groupoid_mech.discretization.lagrangian_lift import LegendreHamiltonian
from groupoid_mech.discretization.retraction import ChartMap, ProjectionMap
from groupoid_mech.discretization.second_order import difference_defect
from groupoid_mech.discretization.system_integrator import SystemIntegrator
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.laws.discretization_kinds import A_PLACE, A_SHORT_VELOCITY
from groupoid_mech.laws.kinds import A_FIELD, A_FUNCTION, A_POINT, AVector, Kind
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.smooth_chart import has_tangent_fibres
from groupoid_mech.symplectic.linear_poisson import LinearPoisson
from groupoid_mech.symplectic.poisson_map import poisson_defect

# Beside a kinetic energy of size 1 this leaves the equations of a step within reach of Newton's method.
_STRENGTH = 0.1


@final
@dataclass(frozen=True)
class OnPhaseSpace(Kind):
    """An object of some kind on the manifold A*G of a method or system on a groupoid."""

    kind: Kind

    def size(self, subject: Any) -> int:
        return self.kind.size(phase_space(subject))

    def build(self, subject: Any, key: Key, numbers: Array) -> Any:
        return self.kind.build(phase_space(subject), key, numbers)


@final
@dataclass(frozen=True)
class OnManifold(Kind):
    """An object of some kind on the manifold that a method moves on, or a discrete gradient is for."""

    kind: Kind

    def size(self, subject: Any) -> int:
        return self.kind.size(manifold_of(subject))

    def build(self, subject: Any, key: Key, numbers: Array) -> Any:
        return self.kind.build(manifold_of(subject), key, numbers)


@final
@dataclass(frozen=True)
class ASmoothFunction(Kind):
    """A smooth function on the manifold of a method: a polynomial of the point; on a bundle of tangent vectors or covectors, of the
    vector in ambient form, as frames may jump.
    """

    def size(self, subject: Any) -> int:
        return A_FUNCTION.size(_ambient_space(_place_of(subject)))

    def build(self, subject: Any, key: Key, numbers: Array) -> Any:
        M = _place_of(subject)
        return SmoothFunction(M, A_FUNCTION.build(_ambient_space(M), key, numbers))


@final
class SmoothFunction(eqx.Module):
    """A function of a point; of a point (q, p) of a bundle through the ambient form of p, where p is tangent."""

    manifold: Any
    function: Function

    def __call__(self, x: Point) -> Scalar:
        if not has_tangent_fibres(self.manifold):
            return self.function(x)
        q, p = x
        return self.function((q, self.manifold.base.to_ambient(q, p)))


def _place_of(subject: Any) -> Any:
    return manifold_of(subject) if isinstance(subject, EnergyIntegrator) else phase_space(subject)


def _ambient_space(M: Any) -> Any:
    return ProductManifold(M.base, M.base) if has_tangent_fibres(M) else M


def phase_space(subject: Any) -> DualBundle:
    """The manifold A*G of a method or a map on a groupoid."""
    G = subject.system.groupoid if isinstance(subject, SystemIntegrator) else subject.groupoid
    return DualBundle(G.base, G.rank)


def manifold_of(subject: Any) -> Any:
    """The manifold of a method or of a discrete gradient."""
    return subject.map.groupoid.base if isinstance(subject, DiscreteGradient) else subject.space


@final
class AddedHamiltonian(eqx.Module):
    """A Hamiltonian plus a drawn function on A*G."""

    hamiltonian: Callable[[Point, Covector], Scalar]
    function: Function

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return self.hamiltonian(q, p) + _STRENGTH * self.function((q, p))


@final
class DrawnLagrangian(eqx.Module):
    """A kinetic energy plus a drawn function on AG."""

    function: Function

    def __call__(self, q: Point, v: Vector) -> Scalar:
        return 0.5 * jnp.sum(v * v) + _STRENGTH * self.function((q, v))


def has_hamiltonian(method: SystemIntegrator) -> bool:
    """Whether the method is that of a Hamiltonian and a discretization map."""
    return isinstance(method.system.lagrangian, HamiltonianFamily | InnerPointFamily)


def with_drawn(method: SystemIntegrator, F: Function) -> SystemIntegrator:
    """The method, with a drawn function added to its Hamiltonian; one without Hamiltonian as it is."""
    family: Any = method.system.lagrangian
    if not has_hamiltonian(method):
        return method
    return eqx.tree_at(
        lambda m: m.system.lagrangian.hamiltonian,
        method,
        AddedHamiltonian(family.hamiltonian, F),
        is_leaf=lambda leaf: leaf is family.hamiltonian,
    )


def _poisson(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    method = with_drawn(method, F)
    A = LinearPoisson(GroupoidAlgebroid(method.system.groupoid))
    return poisson_defect(A, A, method, x)


def _family_is_lift(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    method = with_drawn(method, F)
    family: Any = method.system.lagrangian
    return gap(method(x), lifted_step(family.map, family.hamiltonian, method.dt, *x))


def _adjoint_inverts(method: Integrator, x: Point) -> Scalar:
    return gap(method.adjoint().with_step(-method.dt)(method(x)), x)


def _adjoint_of_map(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    return _adjoint_inverts(with_drawn(method, F), x)


def _routes_agree(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    family: Any = method.system.lagrangian
    lagrangian = DrawnLagrangian(F)
    system = lagrangian_system(lagrangian, family.map, method.dt)
    hamiltonian = eqx.tree_at(
        lambda m: m.system.lagrangian.hamiltonian,
        method,
        LegendreHamiltonian(lagrangian),
        is_leaf=lambda leaf: leaf is family.hamiltonian,
    )
    return gap(hamiltonian(x), system.hamiltonian_map(*x))


def _composition(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    first = with_drawn(method, F)
    second = first.adjoint().with_step(0.5 * method.dt)
    between = first(x)
    r = method.system.groupoid.rank
    guesses = first.system.first_guess(*x), second.system.first_guess(*between)
    inner, outer = guesses[0][:r], guesses[1][:r]
    guess = jnp.concatenate([inner + outer, inner, guesses[0][r:], guesses[1][r:]])
    composed = compose_systems(first.system, second.system)
    return gap(composed.hamiltonian_map(x[0], x[1], guess), second(between))


def gives_difference_equation(R: DiscretizationMap) -> bool:
    """Whether the map is a retraction of a manifold, or a θ-map of a Euclidean space."""
    if not isinstance(R.groupoid, PairGroupoid):
        return False
    theta = isinstance(R, ThetaMap) and isinstance(R.groupoid.base, Euclidean) and R.theta.ndim == 0
    return theta or isinstance(R, ChartMap | ProjectionMap | GeodesicMap)


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


@final
class AddedFunction(eqx.Module):
    """A function plus a drawn one."""

    function: Function
    drawn: Function

    def __call__(self, x: Point) -> Scalar:
        return self.function(x) + _STRENGTH * self.drawn(x)


_X, _F = OnPhaseSpace(A_POINT), ASmoothFunction()
_Y, _H = OnManifold(A_POINT), OnManifold(A_FUNCTION)
_STEP = OnManifold(AVector(scale=0.3))

INTEGRATOR_LAWS: tuple[Law, ...] = (
    Law(
        "method_poisson",
        "the step of (5.1), and of every generating family, is a Poisson map of A*G: symplectic on T*Q",
        "BM Prop. 5.1",
        SystemIntegrator,
        (_X, _F),
        _poisson,
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
        "BM Prop. 6.3",
        SystemIntegrator,
        (_X, _F),
        _adjoint_of_map,
        applies=has_hamiltonian,
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
    Law("adjoint_inverts", "Φ*_−dt∘Φ_dt = id", "BM Def. 6.2", Integrator, (_Y,), _adjoint_inverts),
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
