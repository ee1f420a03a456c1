"""Kinds of drawn data on a discrete system: points of Σ_L, and other Lagrangians on the same groupoid."""

from dataclasses import dataclass
from typing import Any, final

import equinox as eqx

from groupoid_mech._types import Array, Function, Point, Scalar, Vector
from groupoid_mech.laws.groupoid_kinds import OnGroupoid, OnSpace
from groupoid_mech.laws.kinds import A_FUNCTION, Kind
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.mechanics.increment import ArrowFunction, IncrementFunction, evaluate
from groupoid_mech.mechanics.lagrangian_submanifold import LagrangianSubmanifold
from groupoid_mech.mechanics.system import DiscreteSystem

# Beside the 1/dt of a kinetic term this leaves a system regular, and its steps within reach of Newton's method.
STRENGTH = 0.05


@final
@dataclass(frozen=True)
class APointOfSigma(Kind):
    """A point (g, s) of Σ_L: a short arrow with drawn auxiliary variables and multipliers, moved to where ∂L/∂s = 0."""

    scale: float = 0.2

    def size(self, subject: DiscreteSystem) -> int:
        return subject.groupoid.rank + subject.family_size()

    def build(self, subject: DiscreteSystem, point: Point, numbers: Array) -> tuple[Point, Vector]:
        G = subject.groupoid
        g = G.fiber_chart(point, self.scale * numbers[: G.rank])
        return LagrangianSubmanifold(subject).nearest(g, numbers[G.rank :])

    def drawn_on(self, subject: DiscreteSystem) -> Manifold:
        return subject.groupoid.base


@final
@dataclass(frozen=True)
class AConormalVector(Kind):
    """Components of a conormal covector in the basis dφ."""

    def size(self, subject: DiscreteSystem) -> int:
        return subject.multipliers

    def build(self, subject: DiscreteSystem, point: Point, numbers: Array) -> Array:
        return numbers


@final
class Perturbed(eqx.Module):
    """A Lagrangian plus a drawn function of arrows. Auxiliary variables do not enter the latter: points of Σ_L lie over the same (g, s)."""

    lagrangian: Any
    function: Function
    strength: float = STRENGTH

    def __call__(self, g: Point, *auxiliary: Vector) -> Scalar:
        return self.lagrangian(g, *auxiliary) + self.strength * self.function(g)


@final
class PerturbedIncrement(IncrementFunction):
    """The same for a Lagrangian that is told the coordinates of its arrow."""

    lagrangian: IncrementFunction
    function: Function
    strength: float = STRENGTH

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        return evaluate(self.lagrangian, g, a, auxiliary) + self.strength * self.function(g)


def perturbed(system: DiscreteSystem, function: Function) -> DiscreteSystem:
    """The system, of the same class, with a drawn function added to its Lagrangian."""
    lagrangian: ArrowFunction = system.lagrangian
    if isinstance(lagrangian, IncrementFunction):
        changed: ArrowFunction = PerturbedIncrement(lagrangian, function)
    else:
        changed = Perturbed(lagrangian, function)
    return type(system)(system.groupoid, changed, system.constraints, system.auxiliary)


A_POINT_OF_SIGMA = APointOfSigma()
A_CONORMAL_VECTOR = AConormalVector()
A_PERTURBATION = OnGroupoid(OnSpace(A_FUNCTION))
