r"""Functions of arrows that keep the digits which differences of nearby points lose.

In :math:`q_1 - q_0` of two points a step :math:`dt` apart, round-off is :math:`\varepsilon/dt` of the result. The solver knows the
arrow as :math:`g = c(q, a)` with small coordinates a; a function that is given a beside g can take its values from there.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import equinox as eqx
import jax

from groupoid_mech._types import Point, Vector


class IncrementFunction(eqx.Module):
    r"""A function of an arrow :math:`g = c(q, a)` that is told the coordinates a beside g.

    The coordinates are numbers without derivative: they may correct values, as `with_value` does, while derivatives are taken
    through g. A Lagrangian or a constraint of a `DiscreteSystem` may be one; nothing else changes.
    """

    @abstractmethod
    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Any:
        """The value at the arrow ``g`` with fibre coordinates ``a`` at its source."""


ArrowFunction: TypeAlias = Callable[..., Any] | IncrementFunction


def evaluate(function: ArrowFunction, g: Point, a: Vector, auxiliary: tuple[Vector, ...]) -> Any:
    """The value of a function of arrows, of either sort."""
    if isinstance(function, IncrementFunction):
        return function.at(g, jax.lax.stop_gradient(a), *auxiliary)
    return function(g, *auxiliary)


def rows(stacked: Any) -> int:
    """How many elements a stacked pytree holds."""
    return int(jax.tree.leaves(stacked)[0].shape[0])
