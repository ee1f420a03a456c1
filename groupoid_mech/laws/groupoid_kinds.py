"""Kinds of drawn data on a Lie groupoid: arrows, composable chains, algebroid vectors, sections."""

from dataclasses import dataclass
from typing import Any, final

from groupoid_mech._types import Array, Point
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.laws.kinds import A_POINT, Coordinates, Kind, OnBase, Polynomial, Within, features
from groupoid_mech.manifolds.manifold import Manifold


@final
@dataclass(frozen=True)
class AChain(Kind):
    """A tuple of composable arrows: the first anywhere on the groupoid, the others by the fibre chart at the last target."""

    length: int
    scale: float = 0.8

    def size(self, subject: LieGroupoid) -> int:
        return (self.length - 1) * subject.rank

    def build(self, subject: LieGroupoid, point: Point, numbers: Array) -> tuple[Point, ...]:
        chain = [point]
        for a in numbers.reshape(self.length - 1, subject.rank):
            chain.append(subject.fiber_chart(subject.target(chain[-1]), self.scale * a))
        return tuple(chain)

    def drawn_on(self, subject: LieGroupoid) -> Manifold:
        return subject.space


@final
@dataclass(frozen=True)
class AnAlgebroidVector(Coordinates):
    """Coordinates in a fibre of the algebroid, or of its dual, with entries in [−scale, scale]."""

    def size(self, subject: LieGroupoid) -> int:
        return subject.rank


@final
@dataclass(frozen=True)
class ATangentVector(Coordinates):
    """Coordinates of a tangent vector, or covector, of the groupoid."""

    def size(self, subject: LieGroupoid) -> int:
        return subject.space.dim


@final
@dataclass(frozen=True)
class ASection(Kind):
    """A section of the algebroid (or of its dual): components that are polynomials in the base point."""

    def size(self, subject: Any) -> int:
        return int(subject.rank) * features(subject.base)

    def build(self, subject: Any, point: Point, numbers: Array) -> Polynomial:
        return Polynomial(numbers.reshape(subject.rank, features(subject.base)))


@final
@dataclass(frozen=True)
class OnSpace(Within):
    """An object of some kind on the manifold of arrows of a groupoid."""

    def inside(self, subject: LieGroupoid) -> Any:
        return subject.space


@final
@dataclass(frozen=True)
class OnGroupoid(Within):
    """An object of some kind on the groupoid of an algebroid or of a cotangent groupoid."""

    def inside(self, subject: Any) -> Any:
        return subject.groupoid


AN_ARROW = AChain(1)
A_COMPOSABLE_PAIR = AChain(2)
A_COMPOSABLE_TRIPLE = AChain(3)
A_FIBER_VECTOR = AnAlgebroidVector()
A_TANGENT_VECTOR = ATangentVector()
A_POINT_OF_THE_BASE = OnBase(A_POINT)
A_SECTION = ASection()
