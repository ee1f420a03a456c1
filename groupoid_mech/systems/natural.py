r"""The parts of natural systems, whose energy is kinetic energy plus potential, in frames where the inertia is diagonal.

.. math:: H(q, p) = \tfrac12\sum_i p_i^2/m_i + V(q), \qquad l(q, v) = \tfrac12\sum_i m_i v_i^2 - V(q) .
"""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._types import Array, Covector, Function, Point, Scalar, Vector
from groupoid_mech.numerics.matrix import dot


@final
class KineticEnergy(eqx.Module):
    r"""The kinetic energy :math:`\tfrac12\sum_i p_i^2/m_i`.

    Args:
        mass: The masses or moments of inertia, or one number for all.
    """

    mass: Array

    def __call__(self, p: Covector) -> Scalar:
        return 0.5 * dot(p, (1 / self.mass) * p)


@final
class NaturalLagrangian(eqx.Module):
    r"""The Lagrangian :math:`\tfrac12\sum_i m_i v_i^2 - V(q)`.

    Args:
        mass: The masses or moments of inertia, or one number for all.
        potential: The function V.
    """

    mass: Array
    potential: Function

    def __call__(self, q: Point, v: Vector) -> Scalar:
        return 0.5 * dot(v, self.mass * v) - self.potential(q)


def no_potential(q: Point) -> Scalar:
    """The potential 0."""
    return jnp.zeros(())
