"""A groupoid that checks every call, inside compiled code too."""

from typing import Any, final

import equinox as eqx

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.manifolds.manifold import ON_MANIFOLD, Manifold


@final
class Checked(LieGroupoid):
    r"""The groupoid G, with run-time checks that hold under ``jit`` as well.

    Every groupoid checks concrete arguments; this wrapper also checks values that are only known when compiled code runs: arrows
    on the groupoid, and ends that meet. It is slower, for finding mistakes.

    Args:
        groupoid: The groupoid :math:`G`.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> Checked(PairGroupoid(Euclidean(1))).rank
        1
    """

    groupoid: LieGroupoid
    base: Manifold
    space: Manifold
    rank: int = eqx.field(static=True)

    def __init__(self, groupoid: LieGroupoid):
        require_instances("Checked", "groupoid", (groupoid,), LieGroupoid)
        self.groupoid = groupoid
        self.base = groupoid.base
        self.space = groupoid.space
        self.rank = groupoid.rank

    def source(self, g: Point) -> Point:
        return self.groupoid.source(self._arrow(g))

    def target(self, g: Point) -> Point:
        return self.groupoid.target(self._arrow(g))

    def unit(self, q: Point) -> Point:
        return self.groupoid.unit(self._on(self.base, q, "a base point"))

    def inverse(self, g: Point) -> Point:
        return self.groupoid.inverse(self._arrow(g))

    def multiply(self, g: Point, h: Point) -> Point:
        g, h = self._arrow(g), self._arrow(h)
        g = eqx.error_if(
            g,
            ~(self.groupoid.gap(g, h) <= ON_MANIFOLD),
            f"{type(self.groupoid).__name__}.multiply(g, h) needs target(g) == source(h); arrows compose left to right.",
        )
        return self.groupoid.multiply(g, h)

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        return self.groupoid.fiber_chart(self._on(self.base, q, "a base point"), a)

    def fiber_local(self, q: Point, g: Point) -> Vector:
        g = self._arrow(g)
        g = eqx.error_if(
            g,
            ~(point_distance(self.groupoid.source(g), q) <= ON_MANIFOLD),
            f"{type(self.groupoid).__name__}.fiber_local(q, g) needs source(g) == q.",
        )
        return self.groupoid.fiber_local(q, g)

    def _arrow(self, g: Point) -> Point:
        return self._on(self.space, g, "an arrow")

    def _on(self, manifold: Manifold, x: Any, what: str) -> Any:
        off = ~(manifold.violation(x) <= ON_MANIFOLD)
        return eqx.error_if(
            x, off, f"{type(self.groupoid).__name__} was given {what} off its manifold; project it first."
        )
