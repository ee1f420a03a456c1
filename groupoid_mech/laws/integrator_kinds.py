"""Kinds of drawn data of methods: points and functions on A*G, and methods with a drawn Hamiltonian."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Function, Point, Scalar, Vector
from groupoid_mech.algebroids.dual_bundle import DualBundle
from groupoid_mech.discretization.composition import Composition, WeightedComposition
from groupoid_mech.discretization.discrete_gradient import DiscreteGradient
from groupoid_mech.discretization.energy_integrator import EnergyIntegrator
from groupoid_mech.discretization.galerkin_family import GalerkinFamily
from groupoid_mech.discretization.hamiltonian_family import HamiltonianFamily, hamiltonian_system
from groupoid_mech.discretization.inner_point_family import WithInnerPoint
from groupoid_mech.discretization.integrator import Integrator
from groupoid_mech.discretization.lagrangian_family import LagrangianFamily
from groupoid_mech.discretization.point_and_velocity_family import WithPointAndVelocity
from groupoid_mech.discretization.pontryagin_family import PontryaginFamily
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.splitting import Drift, Kick
from groupoid_mech.discretization.system_integrator import SystemIntegrator
from groupoid_mech.discretization.velocity_family import WithVelocity
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.laws.kinds import A_WAVY_FUNCTION, Kind, Within
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.smooth_chart import has_tangent_fibres

# Beside a kinetic energy of size 1 this leaves Lagrangians regular, and the equations of a step within reach of Newton's method.
_STRENGTH = 0.1


@final
@dataclass(frozen=True)
class OnPhaseSpace(Within):
    """An object of some kind on the manifold A*G of a method or system on a groupoid."""

    def inside(self, subject: Any) -> Any:
        return phase_space(subject)


@final
@dataclass(frozen=True)
class OnManifold(Within):
    """An object of some kind on the manifold that a method moves on, or a discrete gradient is for."""

    def inside(self, subject: Any) -> Any:
        return manifold_of(subject)


@final
@dataclass(frozen=True)
class OnConfigurations(Within):
    """An object of some kind for the discretization maps of Q, drawn for a method on TQ or T*Q."""

    def inside(self, subject: Any) -> Any:
        return ChartMap(subject.space.base)


@final
@dataclass(frozen=True)
class ASmoothFunction(Kind):
    """A function without special form on the manifold of a method: of the point; on a bundle of tangent vectors or covectors, of the
    vector in ambient form, as frames may jump.
    """

    def size(self, subject: Any) -> int:
        return A_WAVY_FUNCTION.size(_ambient_space(_place_of(subject)))

    def build(self, subject: Any, point: Point, numbers: Array) -> Any:
        M = _place_of(subject)
        return SmoothFunction(M, A_WAVY_FUNCTION.build(_ambient_space(M), point, numbers))


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
    G = groupoid_behind(subject)
    return DualBundle(G.base, G.rank)


def groupoid_behind(subject: Any) -> LieGroupoid:
    """The groupoid G of a method on A*G, or of a map."""
    if isinstance(subject, Composition | WeightedComposition):
        return groupoid_behind(subject.methods[0])
    if isinstance(subject, Drift):
        return PairGroupoid(subject.space.base)
    G: LieGroupoid = subject.system.groupoid if isinstance(subject, SystemIntegrator) else subject.groupoid
    return G


def manifold_of(subject: Any) -> Any:
    """The manifold of a method or of a discrete gradient."""
    return subject.map.groupoid.base if isinstance(subject, DiscreteGradient) else subject.space


@final
class AddedFunction(eqx.Module):
    """A function plus a drawn one."""

    function: Function
    drawn: Function

    def __call__(self, x: Point) -> Scalar:
        return self.function(x) + _STRENGTH * self.drawn(x)


@final
class AddedOnBundle(eqx.Module):
    """A Hamiltonian H(q, p) or a Lagrangian L(q, v) plus a drawn function on the bundle."""

    function: Callable[[Point, Vector], Scalar]
    drawn: Function

    def __call__(self, q: Point, p: Vector) -> Scalar:
        return self.function(q, p) + _STRENGTH * self.drawn((q, p))


@final
class AddedPotential(eqx.Module):
    """A potential plus a drawn function on A*G, at p = 0."""

    potential: Function
    drawn: Function
    rank: int = eqx.field(static=True)

    def __call__(self, q: Point) -> Scalar:
        return self.potential(q) + _STRENGTH * self.drawn((q, jnp.zeros(self.rank)))


@final
class AddedKinetic(eqx.Module):
    """A kinetic energy plus a drawn function on A*G, at one point of a flat base."""

    kinetic: Function
    drawn: Function
    point: Point

    def __call__(self, p: Vector) -> Scalar:
        return self.kinetic(p) + _STRENGTH * self.drawn((self.point, p))


@final
class DrawnLagrangian(eqx.Module):
    """A kinetic energy plus a drawn function on AG."""

    function: Function

    def __call__(self, q: Point, v: Vector) -> Scalar:
        return 0.5 * jnp.sum(v * v) + _STRENGTH * self.function((q, v))


def is_hamiltonian_method(method: Integrator) -> bool:
    """Whether the method is one for Hamilton's equations on A*G: of a generating family, a kick, a drift, or composed of these."""
    if isinstance(method, Composition | WeightedComposition):
        return all(is_hamiltonian_method(part) for part in method.methods)
    return isinstance(method, SystemIntegrator | Kick | Drift)


def has_hamiltonian(method: SystemIntegrator) -> bool:
    """Whether the method is that of a Hamiltonian and a discretization map."""
    return isinstance(family_of(method), HamiltonianFamily)


def with_drawn(method: Any, F: Function) -> Any:
    """The method, with a drawn function added to its Hamiltonian or Lagrangian: to its parts, if it is composed; another one as it is."""
    if isinstance(method, Composition | WeightedComposition):
        return eqx.tree_at(lambda m: m.methods, method, tuple(with_drawn(part, F) for part in method.methods))
    if isinstance(method, Kick):
        return put(method, lambda m: m.potential, AddedPotential(method.potential, F, method.groupoid.rank))
    if isinstance(method, Drift):
        origin = jax.tree.map(jnp.zeros_like, method.space.base.point_like())
        return put(method, lambda m: m.kinetic, AddedKinetic(method.kinetic, F, origin))
    family = family_of(method) if isinstance(method, SystemIntegrator) else None
    if isinstance(family, HamiltonianFamily):
        return with_hamiltonian(method, AddedOnBundle(family.hamiltonian, F))
    if isinstance(family, LagrangianFamily | GalerkinFamily | PontryaginFamily):
        return put(method, lambda m: family_of(m).lagrangian, AddedOnBundle(family.lagrangian, F))
    return method


def with_hamiltonian(method: SystemIntegrator, H: Callable[[Point, Vector], Scalar]) -> SystemIntegrator:
    """The method of the same discretization map with another Hamiltonian."""
    return put(method, lambda m: m.system, hamiltonian_system(H, family_of(method).map, method.dt))


def family_of(method: SystemIntegrator) -> Any:
    """The family of a method, whether point and velocity are among the unknowns or not."""
    family: Any = method.system.lagrangian
    return family.family if isinstance(family, WithInnerPoint | WithVelocity | WithPointAndVelocity) else family


def put(method: Any, where: Callable[[Any], Any], new: Any) -> Any:
    """The method with another function, Lagrangian or field in one place."""
    old = where(method)
    return eqx.tree_at(where, method, new, is_leaf=lambda leaf: leaf is old)
