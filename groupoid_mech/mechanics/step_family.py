r"""Generating families of a time step: those that know how long they take, where to look for the next step, and their adjoint."""

from abc import abstractmethod
from typing import Any, Self, final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import number
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.mechanics.increment import IncrementFunction


class StepFamily(IncrementFunction):
    r"""A generating family :math:`L_{dt}(g, s)` of one step of length dt, which may be negative.

    A `DiscreteSystem` of such a family has starts without a guess, other lengths of the step, and an adjoint.
    """

    dt: eqx.AbstractVar[Scalar]

    @abstractmethod
    def guess(self, q: Point, p: Covector) -> Vector:
        r"""The unknowns (a, s) of the step from :math:`(q, p)` to the first order in dt: where Newton's method starts."""

    @abstractmethod
    def adjoint(self) -> "StepFamily":
        r"""The family of the adjoint step, :math:`L^*_{dt}(g, s) = -L_{-dt}(g^{-1}, s)`: the inverse of the step of length −dt."""

    def with_step(self, dt: ArrayLike) -> Self:
        """The same family with another length of the step."""
        return eqx.tree_at(lambda family: family.dt, self, number(f"{type(self).__name__}.with_step", "dt", dt))


@final
class ReversedFamily(StepFamily):
    r"""The family :math:`-L_{-dt}(g^{-1}, s)`, for families whose adjoint has no form of its own.

    Args:
        groupoid: The groupoid of the arrows.
        family: The family L, with any length of the step.
        dt: The length of the step.
    """

    groupoid: LieGroupoid
    family: StepFamily
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Any:
        G = self.groupoid
        back = G.inverse(g)
        return -self._backward().at(back, G.fiber_local(G.source(back), back), *auxiliary)

    def guess(self, q: Point, p: Covector) -> Vector:
        x = self._backward().guess(q, p)
        r = self.groupoid.rank
        return jnp.concatenate([-x[:r], x[r:]])

    def adjoint(self) -> StepFamily:
        return self.family.with_step(self.dt)

    def _backward(self) -> StepFamily:
        return self.family.with_step(-self.dt)
