r"""What a run remembers from step to step, so that the next one is found with about three values of its equations."""

from math import comb
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._types import Array, Vector
from groupoid_mech.numerics.chord import KeptInverse, no_inverse

# How many steps are remembered: more would follow the solution more closely, but also enlarge its round-off, by 2 to this power. With one
# more, the momentum of a rigid body drifts like n^0.75 over a million steps, with ten like n^0.6.
_STEPS = 10
# The next value of the polynomial through so many equidistant ones, the last first.
_WEIGHTS = np.array([(-1.0) ** k * comb(_STEPS, k + 1) for k in range(_STEPS)])


@final
class StepMemory(eqx.Module):
    r"""How far the references of the last steps were off, and an inverse Jacobian of their equations.

    The reference of a step is what is known about its unknowns before; the differences :math:`d_k` to what they turned out to be are smooth
    in time, and extrapolated.

    Args:
        differences: The differences of the last steps, the last first; zero before there were any.
        inverse: The inverse Jacobian.
    """

    differences: Array
    inverse: KeptInverse

    @classmethod
    def blank(cls, unknowns: int) -> "StepMemory":
        """The memory of a run that begins."""
        return cls(jnp.zeros((_STEPS, unknowns)), no_inverse(unknowns))

    def next_difference(self) -> Vector:
        """The next value of the polynomial through the differences; the last one, where steps are so long, or frames so different, that the
        polynomial leads farther away from it than it is itself.
        """
        last = self.differences[0]
        ahead = jnp.sum(_WEIGHTS[:, None] * self.differences, axis=0)
        wild = jnp.max(jnp.abs(ahead - last)) > jnp.max(jnp.abs(last))
        return jnp.where(wild, last, ahead)

    def after(self, difference: Vector, inverse: KeptInverse) -> "StepMemory":
        """The memory after one more step."""
        newest = jax.lax.stop_gradient(difference)[None]
        return StepMemory(jnp.concatenate([newest, self.differences[:-1]]), inverse)
