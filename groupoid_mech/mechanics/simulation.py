"""The simulation of a discrete system: the time loop around its step, and what to say when a step fails.

Inside of ``jit``, ``grad`` or ``vmap`` the loop is one scan instead.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import is_concrete, require_finite, require_like
from groupoid_mech._types import Vector
from groupoid_mech.errors import DependentConstraintsError, SingularLagrangianError, StepFailed
from groupoid_mech.mechanics.regularity import regularity_of
from groupoid_mech.mechanics.step import Start, Step
from groupoid_mech.mechanics.time_loop import Progress, Worst, check_lengths, run, scan
from groupoid_mech.mechanics.trajectory import Trajectory

if TYPE_CHECKING:
    from groupoid_mech.mechanics.system import DiscreteSystem


def simulate(
    system: "DiscreteSystem", start: Start, steps: int, *, save_every: int, progress: Progress, throw: bool
) -> Trajectory:
    """The trajectory of a system; see ``DiscreteSystem.simulate``."""
    check_lengths("DiscreteSystem.simulate", steps, save_every)
    _check_start(system, start)
    if not is_concrete((system, start)):
        return _scanned(system, start, steps, save_every)
    end, kept, taken, failed, last = run(system, start, _no_step(system), steps, save_every, progress)
    trajectory = _assemble(system, start, kept, save_every, end, np)
    if not failed:
        return trajectory
    return _explain_failure(trajectory, taken + 1, last, throw)


@eqx.filter_jit
def _scanned(system: "DiscreteSystem", start: Start, steps: int, stride: int) -> Trajectory:
    end, kept = scan(system, start, steps, stride)
    return _assemble(system, start, kept, stride, end, jnp)


def _assemble(system: "DiscreteSystem", start: Start, kept: Step, stride: int, end: Start, xp: Any) -> Trajectory:
    """The trajectory of the kept steps, put together with the functions of numpy or of jax.numpy."""

    def preceded(first: Any, rest: Any) -> Any:
        return jax.tree.map(lambda a, b: xp.concatenate([xp.asarray(a)[None], b]), first, rest)

    def array(value: Any) -> Any:
        # Unlike ``jnp.asarray``, this is no program to compile for every new length.
        return jax.device_put(value)

    k = system.auxiliary
    return Trajectory(
        system,
        array(kept.arrow),
        array(kept.auxiliary[:, :k]),
        array(kept.auxiliary[:, k:]),
        array(preceded(start.point, kept.point)),
        array(preceded(start.momentum, kept.momentum)),
        array(kept.residual),
        array(kept.iterations),
        array(kept.converged),
        array(stride * (1 + xp.arange(kept.residual.shape[0]))),
        end,
    )


def _check_start(system: "DiscreteSystem", start: Start) -> None:
    owner = "DiscreteSystem.simulate"
    G = system.groupoid
    G.check_point(start.point, owner=owner, name="start.point")
    vectors: dict[str, tuple[Vector, int]] = {
        "start.momentum": (start.momentum, G.rank),
        "start.reference": (start.reference, system.sought),
    }
    for name, (value, size) in vectors.items():
        require_like(owner, name, value, jax.ShapeDtypeStruct((size,), np.dtype(float)))
        require_finite(owner, name, value)


def _no_step(system: "DiscreteSystem") -> Step:
    G = system.groupoid
    likes = G.space.point_like(), G.base.point_like()
    arrow, point = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), likes)
    count: Any = np.asarray(0), np.asarray(False)
    vectors: Any = np.zeros(system.family_size()), np.zeros(G.rank), np.asarray(0.0)
    return Step(arrow, vectors[0], point, *vectors[1:], *count)


def _explain_failure(trajectory: Trajectory, step: int, last: Worst, throw: bool) -> Trajectory:
    """Raise the error that names the cause of a failed step, or return the computed part with it."""
    system, end = trajectory.system, trajectory.end
    found = regularity_of(system, end.point, system.guess_of(end))
    kind: type[StepFailed] = StepFailed
    if not found.finite:
        cause = "the Lagrangian or its derivatives are not finite there: the arrow has left their domain"
    elif found.dependent:
        kind = DependentConstraintsError
        cause = f"the constraints are dependent there: {found.dependence}. Remove or change the ones that repeat others"
    elif found.singular:
        kind = SingularLagrangianError
        cause = f"the Lagrangian is singular there: {found.degeneracy}. It does not determine the next arrow"
    else:
        cause = (
            f"Newton's method did not converge from the reflection of the last step (Jacobian of condition "
            f"{found.condition:.2g}). The step is probably too large: take a smaller dt, or a start nearer to a solution"
        )
    after = "nothing was computed before it" if step == 1 else f"the {step - 1} steps before it are in error.trajectory"
    message = f"step {step} failed after {int(last.iterations)} iterations: {cause}; {after}."
    flagged = dataclasses.replace(trajectory, failure=message)
    if throw:
        raise kind(message, step=step, trajectory=flagged)
    return flagged
