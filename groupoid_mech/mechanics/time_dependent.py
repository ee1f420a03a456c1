r"""Time as a variable: systems on :math:`R \times R \times G \rightrightarrows R \times Q` with fixed, adaptive or prescribed steps.

.. math:: L_R(t_0, t_1, g) = h\, l\bigl(t, x(g), \xi(g)/h\bigr), \qquad h = t_1 - t_0, \quad t = \tfrac12(t_0 + t_1) .

The equation of time says that :math:`E_k = -\partial L_R/\partial t_1` of one step is :math:`\partial L_R/\partial t_0` of the next: the discrete
energy is conserved, and determines the step. A constraint on the step takes that equation over by its multiplier. MMS §6.3.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    is_concrete,
    name_of,
    require_choice,
    require_instances,
    traced_shape,
)
from groupoid_mech._types import Array, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.time_extended import TimeExtended
from groupoid_mech.mechanics.discretize import RULES, Discretized
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.mechanics.trajectory import Trajectory
from groupoid_mech.numerics.with_value import with_value

TimeFunction: TypeAlias = Callable[[Scalar, Point, Vector], Any]


def discretize_time(
    lagrangian: TimeFunction,
    groupoid: LieGroupoid,
    step: ArrayLike | Callable[[Point], Scalar] | None = None,
    *,
    constraints: TimeFunction | None = None,
    rule: str = "trapezoid",
) -> DiscreteSystem:
    r"""The discrete system with time of a Lagrangian ``l(t, q, xi)``.

    An arrow is ``((t0, t1), g)`` with times of shape (1,). The momentum of time is minus the discrete energy.

    Args:
        lagrangian: The function ``l(t, q, xi)``, with ``xi`` in the frame of the algebroid at ``q``.
        groupoid: The groupoid G.
        step: A number h: the step is fixed, :math:`t_1 = t_0 + h`, and the motion is that of the system without time (MMS Example 6.2).
            A function ``h(g)``: the step is prescribed, :math:`t_1 = t_0 + h(g)`. Not given: the step is determined by conservation of the
            discrete energy (MMS Example 6.1). Where the energy does not depend on the step, as for free motion, the system is singular
            and simulating it raises ``SingularLagrangianError``.
        constraints: The function ``Psi(t, q, xi)``, with a vector as value.
        rule: As in `discretize`.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> def driven(t, q, v):
        ...     return jnp.sum(v**2) / 2 + jnp.cos(q[0]) + 0.1 * q[0] * jnp.sin(t)
        >>> system = discretize_time(driven, PairGroupoid(Euclidean(1)), step=0.1)
        >>> first = (jnp.zeros(1), jnp.array([0.1])), (jnp.zeros(1), jnp.array([0.05]))
        >>> trajectory = system.simulate(first, 20)
        >>> float(trajectory.base_points[0][-1, 0].round(12))
        2.0
    """
    require_instances("discretize_time", "groupoid", (groupoid,), LieGroupoid)
    require_choice("discretize_time", "rule", rule, RULES)
    _require_function("lagrangian", lagrangian, groupoid, axes=0)
    if constraints is not None:
        _require_function("constraints", constraints, groupoid, axes=1)
    prescribed: Any = None
    if callable(step):
        shape = traced_shape(step, groupoid.space.point_like())
        if getattr(shape, "shape", None) != ():
            raise ArgumentError(
                f"discretize_time needs step(g) to return a number; {name_of(step)} returns {describe(shape)}."
            )
        prescribed = as_pytree(step)
    elif step is not None:
        if is_concrete(step) and not float(jnp.asarray(step)) > 0:
            raise ArgumentError(f"discretize_time needs a step > 0; got {step}.")
        prescribed = jnp.asarray(step, float)
    action = TimeDiscretized(groupoid, as_pytree(lagrangian), rule)
    if constraints is None and prescribed is None:
        return DiscreteSystem(TimeExtended(groupoid), action, limits=keep_time_running)
    among = None if constraints is None else TimeDiscretized(groupoid, as_pytree(constraints), rule)
    return DiscreteSystem(TimeExtended(groupoid), action, StepConstraints(among, prescribed), limits=keep_time_running)


def keep_time_running(x: Vector) -> Vector:
    """Limits for Newton's method: a time step changes by at most a half in one iteration, so that it keeps its sign.

    Without, the method leaves for other roots where the energy hardly depends on the step: on Kepler orbits of eccentricity 0.5 and more.
    """
    return jnp.full_like(x, jnp.inf).at[0].set(jnp.where(x[0] == 0, jnp.inf, 0.5 * jnp.abs(x[0])))


def discrete_energies(trajectory: Trajectory) -> Array:
    r"""The discrete energies :math:`E_k = -p_t` at the base points of a trajectory with time."""
    require_instances("discrete_energies", "trajectory.system.groupoid", (trajectory.system.groupoid,), TimeExtended)
    return -trajectory.momenta[:, 0]


@final
class TimeDiscretized(IncrementFunction):
    r"""The function :math:`h\,l(t, x(g), \xi(g)/h)` of an arrow with time; the step h comes from the coordinates of the arrow."""

    groupoid: LieGroupoid
    function: TimeFunction
    rule: str = eqx.field(static=True)

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Any:
        (t0, t1), arrow = g
        h = with_value(a[0], (t1 - t0)[0])
        now = AtTime(self.function, t0[0] + 0.5 * h)
        return Discretized(self.groupoid, now, h, self.rule).at(arrow, a[1:])


@final
class AtTime(eqx.Module):
    """A function of time and of the algebroid at one time."""

    function: TimeFunction
    time: Scalar

    def __call__(self, q: Point, xi: Vector) -> Any:
        return self.function(self.time, q, xi)


@final
class StepConstraints(IncrementFunction):
    r"""The constraints of a motion, and :math:`t_1 - t_0 - h(g)` for a prescribed step."""

    constraints: TimeDiscretized | None
    step: Any

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Vector:
        parts = [] if self.constraints is None else [self.constraints.at(g, a)]
        if self.step is not None:
            (t0, t1), arrow = g
            length = self.step(arrow) if callable(self.step) else self.step
            parts.append(with_value(a[0], (t1 - t0)[0])[None] - length)
        return jnp.concatenate(parts)


def _require_function(role: str, function: Any, G: LieGroupoid, *, axes: int) -> None:
    shape = traced_shape(function, jnp.zeros(()), G.base.point_like(), jnp.zeros(G.rank))
    if len(getattr(shape, "shape", (None,) * 9)) != axes:
        need = "a number" if axes == 0 else "a vector"
        raise ArgumentError(
            f"discretize_time needs {role}(t, q, xi) to return {need}; {name_of(function)} returns {describe(shape)}."
        )
