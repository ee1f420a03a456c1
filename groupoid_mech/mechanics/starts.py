r"""Starts of a simulation from a momentum or from a velocity."""

import jax.numpy as jnp

from groupoid_mech._arguments import is_concrete, require_instances, require_vector
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.mechanics.step import Start
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.quick_jit import quick_jit


def from_momentum(system: DiscreteSystem, q: Point, p: Covector, guess: Vector | None = None) -> Start:
    r"""The start at the point :math:`(q, p) \in A^*G`: the first arrow solves :math:`F^-(g, s) = p`.

    Args:
        system: The discrete system.
        q: The base point.
        p: The momentum, in the frame dual to that of the algebroid.
        guess: Where Newton's method starts, for the unknowns (a, s); if not given what a `StepFamily` guesses, or zero, the unit arrow.

    Example:
        >>> from groupoid_mech import DiscreteSystem, Euclidean, PairGroupoid
        >>> free = DiscreteSystem(PairGroupoid(Euclidean(1)), lambda g: jnp.sum((g[1] - g[0]) ** 2))
        >>> free.simulate(from_momentum(free, jnp.zeros(1), jnp.ones(1)), 3).base_points[:, 0]
        Array([0. , 0.5, 1. , 1.5], dtype=float64)
    """
    require_instances("from_momentum", "system", (system,), DiscreteSystem)
    system.groupoid.check_point(q, owner="from_momentum")
    require_vector("from_momentum", "p", p, system.groupoid.rank)
    x = _first_guess(system, q, p) if guess is None else guess
    require_vector("from_momentum", "guess", x, system.unknowns)
    return system.start_at(q, p, x)


def from_velocity(
    system: DiscreteSystem, q: Point, v: Vector, dt: float | Scalar, multipliers: Vector | None = None
) -> Start:
    r"""The start whose first arrow is :math:`c(q, dt\,v)`, moved onto N if there are constraints.

    Args:
        system: The discrete system.
        q: The base point.
        v: The velocity, in the frame of the algebroid at q.
        dt: The time step.
        multipliers: The multipliers of the first arrow; zero if not given.
    """
    require_instances("from_velocity", "system", (system,), DiscreteSystem)
    system.groupoid.check_point(q, owner="from_velocity")
    require_vector("from_velocity", "v", v, system.groupoid.rank)
    if is_concrete(dt) and not float(dt) > 0:
        raise ArgumentError(f"from_velocity needs dt > 0; got {dt}. To run backwards, simulate system.reversed().")
    g = system.project(system.groupoid.fiber_chart(q, jnp.asarray(dt) * v))
    return system.start(g, multipliers=multipliers)


@quick_jit
def _first_guess(system: DiscreteSystem, q: Point, p: Covector) -> Vector:
    return system.first_guess(q, p)
