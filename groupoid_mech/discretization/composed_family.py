r"""The composition of two discrete systems as one generating family, with the point in between as auxiliary variable. BM §6.

.. math:: L(g; w, s_1, s_2) = L_1(k, s_1) + L_2(k^{-1} g, s_2), \qquad k = c(\alpha(g), w) .
"""

from typing import final

import jax.numpy as jnp

from groupoid_mech._arguments import require_instances, same_structure
from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.system import DiscreteSystem


@final
class ComposedFamily(IncrementFunction):
    r"""The family :math:`L_1(k, s_1) + L_2(k^{-1} g, s_2)`, stationary in the inner arrow :math:`k = c(\alpha(g), w)` and in both s.

    Args:
        first: The system of the first half.
        second: The system of the second half.
    """

    first: DiscreteSystem
    second: DiscreteSystem

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        G, n = self.first.groupoid, self.first.family_size()
        w, s1, s2 = jnp.split(auxiliary[0], [G.rank, G.rank + n])
        q = G.source(g)
        k = G.fiber_chart(q, w)
        rest = G.multiply(G.inverse(k), g)
        return self.first.family(k, w, s1) + self.second.family(rest, self.second.increment(rest), s2)


def compose_systems(first: DiscreteSystem, second: DiscreteSystem) -> DiscreteSystem:
    r"""The discrete system whose Hamiltonian map is that of ``first`` followed by that of ``second``.

    .. math:: L(g; w, s_1, s_2) = L_1(k, s_1) + L_2(k^{-1} g, s_2), \qquad k = c(\alpha(g), w) ,

    on every groupoid; on a pair groupoid :math:`L_1(q_0, q_{1/2}) + L_2(q_{1/2}, q_1)`, a discrete Lagrangian with an inner node. Constraints
    become part of the family. To run many compositions, steps one after the other are quicker: `compose`.

    Args:
        first: The system of the first arrow.
        second: The system of the second arrow, on the same groupoid.
    """
    require_instances("compose_systems", "first", (first,), DiscreteSystem)
    require_instances("compose_systems", "second", (second,), DiscreteSystem)
    G = first.groupoid
    if not same_structure(G, second.groupoid):
        raise ArgumentError(f"compose_systems needs two systems on one groupoid; got {G} and {second.groupoid}.")
    size = G.rank + first.family_size() + second.family_size()
    return DiscreteSystem(G, ComposedFamily(first, second), auxiliary=size)
