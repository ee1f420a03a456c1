r"""Functions on arrows, reversed: :math:`g \mapsto -f(g^{-1})`, for systems that run backwards."""

from typing import Any, final

from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.mechanics.increment import ArrowFunction, IncrementFunction, evaluate


@final
class Reversed(IncrementFunction):
    r"""The function :math:`-f(g^{-1})` of a function f on arrows."""

    groupoid: LieGroupoid
    function: ArrowFunction

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Any:
        inverse = self.groupoid.inverse(g)
        increment = a
        if isinstance(self.function, IncrementFunction):
            increment = self.groupoid.fiber_local(self.groupoid.source(inverse), inverse)
        return -evaluate(self.function, inverse, increment, auxiliary)
