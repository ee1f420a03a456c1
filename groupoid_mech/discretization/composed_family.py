r"""The composition of two discrete systems as one generating family, with the point in between as auxiliary variable. BM §6.

.. math:: L(g; w, s_1, s_2) = L_1(k, s_1) + L_2(k^{-1} g, s_2), \qquad k = c(\alpha(g), w) .

Where the chart c is a search itself, for numbers z with equations f = 0 (`loose_chart`), z and multipliers ν are variables too, behind w, and
:math:`\langle\nu, f\rangle` is added.
"""

from typing import Any, final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import is_concrete, require_instances, same_structure
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.known_arrow import carried_between
from groupoid_mech.groupoids.loose_chart import loose_chart, searched_by_chart
from groupoid_mech.manifolds.product import split
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import dot


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
        first, second, G = self.first, self.second, self.first.groupoid
        m = searched_by_chart(G)
        w, z, multiplier, s1, s2 = split((G.rank, m, m, first.family_size(), second.family_size()), auxiliary[0])
        k, off = loose_chart(G, G.source(g))(w, z)
        rest = G.multiply(G.inverse(k), g)
        value = first.family(k, w, s1) + second.family(rest, second.increment(rest), s2)
        return value + dot(multiplier, off) if m else value


@final
class ComposedSteps(StepFamily):
    r"""The family :math:`L_1(k, s_1) + L_2(k^{-1} g, s_2)` of two steps, :math:`dt = dt_1 + dt_2`; another dt divides in the same proportion.

    Args:
        first: The system of the first step, of a `StepFamily` and without constraints.
        second: The system of the second step, likewise.
        dt: The length of both steps together.
    """

    first: DiscreteSystem
    second: DiscreteSystem
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        return ComposedFamily(*self._parts()).at(g, a, *auxiliary)

    def guess(self, q: Point, p: Covector) -> Vector:
        (first, second), G = self._parts(), self.first.groupoid
        w, s1 = jnp.split(first.first_guess(q, p), [G.rank])
        k = G.fiber_chart(q, w)
        there = G.target(k)
        rest, s2 = jnp.split(second.first_guess(there, carried_between(G, q, there, p)), [G.rank])
        a = G.fiber_local(q, G.multiply(k, G.fiber_chart(there, rest)))
        return jnp.concatenate([a, w, jnp.zeros(2 * searched_by_chart(G)), s1, s2])

    def adjoint(self) -> StepFamily:
        first, second = (_with_family(part, _family(part).adjoint()) for part in self._parts())
        return ComposedSteps(first=second, second=first, dt=self.dt)

    def _parts(self) -> tuple[DiscreteSystem, DiscreteSystem]:
        """Both systems, with the lengths of their steps."""
        families = _family(self.first), _family(self.second)
        ratio = self.dt / (families[0].dt + families[1].dt)
        first, second = (family.with_step(ratio * family.dt) for family in families)
        return _with_family(self.first, first), _with_family(self.second, second)


def compose_systems(first: DiscreteSystem, second: DiscreteSystem) -> DiscreteSystem:
    r"""The discrete system whose Hamiltonian map is that of ``first`` followed by that of ``second``.

    .. math:: L(g; w, s_1, s_2) = L_1(k, s_1) + L_2(k^{-1} g, s_2), \qquad k = c(\alpha(g), w) ,

    on every groupoid; on a pair groupoid :math:`L_1(q_0, q_{1/2}) + L_2(q_{1/2}, q_1)`, a discrete Lagrangian with an inner node. Constraints
    become part of the family. Of two systems of a `StepFamily` without constraints it is one again, with the sum of both time steps: it has
    starts without a guess, other time steps, an adjoint, and runs as a `SystemIntegrator`. To run many compositions, steps one after the
    other are quicker: `compose`.

    Args:
        first: The system of the first arrow.
        second: The system of the second arrow, on the same groupoid.

    Example:
        >>> import groupoid_mech as gm
        >>> line, l = gm.Euclidean(1), lambda q, v: v[0] ** 2 / 2 + jnp.cos(q[0])
        >>> verlet = compose_systems(*(gm.lagrangian_system(l, gm.theta_map(line, theta), dt=0.05) for theta in (0, 1)))
        >>> float(gm.SystemIntegrator(verlet).dt)
        0.1
    """
    require_instances("compose_systems", "first", (first,), DiscreteSystem)
    require_instances("compose_systems", "second", (second,), DiscreteSystem)
    G = first.groupoid
    if not same_structure(G, second.groupoid):
        raise ArgumentError(f"compose_systems needs two systems on one groupoid; got {G} and {second.groupoid}.")
    size = G.rank + 2 * searched_by_chart(G) + first.family_size() + second.family_size()
    family: IncrementFunction = ComposedFamily(first, second)
    if _takes_steps(first) and _takes_steps(second):
        dt = _family(first).dt + _family(second).dt
        # A step and one back, of the same length: there is no proportion to keep.
        if not (is_concrete(dt) and float(dt) == 0):
            family = ComposedSteps(first=first, second=second, dt=dt)
    return DiscreteSystem(G, family, auxiliary=size)


def _takes_steps(system: DiscreteSystem) -> bool:
    return isinstance(system.lagrangian, StepFamily) and not system.multipliers


def _family(system: DiscreteSystem) -> StepFamily:
    family: Any = system.lagrangian
    return family


def _with_family(system: DiscreteSystem, family: StepFamily) -> DiscreteSystem:
    return eqx.tree_at(lambda system: system.lagrangian, system, family)
