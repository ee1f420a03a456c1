"""Kinds of drawn data of a discretization map: where it is taken, with what velocities and covectors, and what is made of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import equinox as eqx

from groupoid_mech._types import Array, Matrix, Point, Scalar, Vector
from groupoid_mech.laws.groupoid_kinds import (
    A_FIBER_VECTOR,
    A_POINT_OF_THE_BASE,
    A_TANGENT_VECTOR,
    AnAlgebroidVector,
    OnGroupoid,
)
from groupoid_mech.laws.kinds import A_WAVY_FUNCTION, Kind, OnBase
from groupoid_mech.numerics.matrix import unit_matrix


@final
@dataclass(frozen=True)
class AFraction(Kind):
    """A number between 0 and 1."""

    def size(self, subject: Any) -> int:
        return 1

    def build(self, subject: Any, point: Point, numbers: Array) -> Scalar:
        return (1 + numbers[0]) / 2


@final
class NaturalLagrangian(eqx.Module):
    r"""The Lagrangian :math:`\tfrac12 v^TMv - V(q)` of a constant mass matrix."""

    mass: Matrix
    potential: Callable[[Point], Scalar]

    def __call__(self, q: Point, v: Vector) -> Scalar:
        return 0.5 * v @ self.mass @ v - self.potential(q)


@final
@dataclass(frozen=True)
class ANaturalLagrangian(Kind):
    """A Lagrangian with a positive mass matrix, 1 plus a square, and a potential without special form."""

    def size(self, subject: Any) -> int:
        return int(subject.groupoid.rank) ** 2 + _POTENTIAL.size(subject)

    def build(self, subject: Any, point: Point, numbers: Array) -> NaturalLagrangian:
        n = subject.groupoid.rank
        root = numbers[: n * n].reshape(n, n)
        return NaturalLagrangian(unit_matrix(n) + root @ root.T, _POTENTIAL.build(subject, point, numbers[n * n :]))


_POTENTIAL = OnGroupoid(OnBase(A_WAVY_FUNCTION))

A_PLACE = OnGroupoid(A_POINT_OF_THE_BASE)
A_VELOCITY = OnGroupoid(A_FIBER_VECTOR)
# A discretization map is a diffeomorphism near the zero section only.
A_SHORT_VELOCITY = OnGroupoid(AnAlgebroidVector(scale=0.3))
# Covectors of AG have as many components as those of G.
A_COVECTOR = OnGroupoid(A_TANGENT_VECTOR)
A_FRACTION = AFraction()
A_NATURAL_LAGRANGIAN = ANaturalLagrangian()
