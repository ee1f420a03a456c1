"""The time loop: compiled in pieces of fixed size, so that one compilation serves runs of every length.

Between two pieces a long run reports its progress and stops when a step has failed; what was computed is never lost. Inside of
``jit``, ``grad`` or ``vmap`` the loop is one scan instead.
"""

import dataclasses
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import is_concrete, require_finite, require_like, require_positive_integer
from groupoid_mech._types import Array, Vector
from groupoid_mech.errors import ArgumentError, DependentConstraintsError, SingularLagrangianError, StepFailed
from groupoid_mech.mechanics.regularity import regularity_of
from groupoid_mech.mechanics.step import Start, Step
from groupoid_mech.mechanics.trajectory import Trajectory

if TYPE_CHECKING:
    from groupoid_mech.mechanics.system import DiscreteSystem

Progress: TypeAlias = bool | Callable[[int, int], None]

# One piece holds at most so many arrows and about so many numbers, and takes at most so many steps.
_ROWS = 2**15
_NUMBERS = 2**19
_STEPS = 2**20


def simulate(
    system: "DiscreteSystem", start: Start, steps: int, *, save_every: int, progress: Progress, throw: bool
) -> Trajectory:
    """The trajectory of a system; see ``DiscreteSystem.simulate``."""
    require_positive_integer("DiscreteSystem.simulate", "steps", steps)
    require_positive_integer("DiscreteSystem.simulate", "save_every", save_every)
    if steps % save_every:
        raise ArgumentError(
            f"DiscreteSystem.simulate needs steps to be a multiple of save_every, so that the last arrow is kept; "
            f"got steps={steps}, save_every={save_every}."
        )
    _check_start(system, start)
    if not is_concrete((system, start)):
        return _scanned(system, start, steps, save_every)
    report = _reporter(progress, steps)
    rows = max(64, min(_ROWS, _NUMBERS // _row_size(system)))
    rows = max(1, min(rows, _STEPS // save_every))
    begin, pieces, taken, failed = start, [], 0, False
    while taken < steps and not failed:
        count = min(rows * save_every, steps - taken)
        start, kept, done, last = _piece(system, start, jnp.asarray(count), jnp.asarray(save_every), rows)
        failed = int(done) < count
        taken += int(done)
        whole = int(done) // save_every
        pieces.append(jax.tree.map(lambda leaf, n=whole: np.asarray(leaf)[:n], kept))
        report(taken)
    # In numpy: every operation of jax.numpy on a new shape would be a program of its own to compile.
    kept = jax.tree.map(lambda *leaves: np.concatenate(leaves), *pieces)
    trajectory = _assemble(system, begin, kept, save_every, start, np)
    if not failed:
        return trajectory
    return _explain_failure(trajectory, taken + 1, last, throw)


@eqx.filter_jit
def _piece(
    system: "DiscreteSystem", start: Start, count: Array, stride: Array, rows: int
) -> tuple[Start, Step, Array, Step]:
    """Up to ``count`` steps, of which each ``stride``-th is kept; stops at a step that fails, before which ``start`` stays."""
    nothing = _no_step(system)
    kept = jax.tree.map(lambda leaf: jnp.zeros((rows, *leaf.shape), leaf.dtype), nothing)

    def unfinished(state: Any) -> Array:
        _, _, k, ok, _ = state
        return ok & (k < count)

    def advance(state: Any) -> Any:
        begin, kept, k, _, before = state
        following, step = system.step(begin)
        ok = step.converged & jnp.isfinite(step.residual)
        # Each step writes the row of its stride: the last one of the stride stays, with the worst residual of all.
        row = k // stride
        step = _with_worst(step, before, first=k % stride == 0)
        kept = jax.tree.map(lambda leaf, value: jax.lax.dynamic_update_index_in_dim(leaf, value, row, 0), kept, step)
        begin = jax.tree.map(lambda new, old: jnp.where(ok, new, old), following, begin)
        return begin, kept, k + ok, ok, step

    state = (start, kept, jnp.asarray(0), jnp.asarray(True), nothing)
    start, kept, k, _, last = jax.lax.while_loop(unfinished, advance, state)
    return start, kept, k, last


@eqx.filter_jit
def _scanned(system: "DiscreteSystem", start: Start, steps: int, stride: int) -> Trajectory:
    def inner(begin: Start, _: None) -> tuple[Start, Step]:
        return system.step(begin)

    def outer(begin: Start, _: None) -> tuple[Start, Step]:
        if stride == 1:
            return inner(begin, None)
        following, taken = jax.lax.scan(inner, begin, None, length=stride)
        last = jax.tree.map(lambda leaf: leaf[-1], taken)
        return following, last._replace(residual=jnp.max(taken.residual), iterations=jnp.max(taken.iterations))

    end, kept = jax.lax.scan(outer, start, None, length=steps // stride)
    return _assemble(system, start, kept, stride, end, jnp)


def _assemble(system: "DiscreteSystem", start: Start, kept: Step, stride: int, end: Start, xp: Any) -> Trajectory:
    """The trajectory of the kept steps, put together with the functions of numpy or of jax.numpy."""

    def preceded(first: Any, rest: Any) -> Any:
        return jax.tree.map(lambda a, b: xp.concatenate([xp.asarray(a)[None], b]), first, rest)

    def array(value: Any) -> Any:
        return jax.tree.map(jnp.asarray, value)

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


def _with_worst(step: Step, before: Step, first: Array) -> Step:
    """The step, with the largest residual and number of iterations since the stride began."""
    residual = jnp.where(first, step.residual, jnp.maximum(step.residual, before.residual))
    iterations = jnp.where(first, step.iterations, jnp.maximum(step.iterations, before.iterations))
    return step._replace(residual=residual, iterations=iterations)


def _check_start(system: "DiscreteSystem", start: Start) -> None:
    owner = "DiscreteSystem.simulate"
    G = system.groupoid
    G.check_point(start.point, owner=owner, name="start.point")
    vectors: dict[str, tuple[Vector, int]] = {
        "start.momentum": (start.momentum, G.rank),
        "start.reference": (start.reference, system.unknowns),
        "start.guess": (start.guess, system.unknowns),
    }
    for name, (value, size) in vectors.items():
        require_like(owner, name, value, jax.ShapeDtypeStruct((size,), np.dtype(float)))
        require_finite(owner, name, value)


def _no_step(system: "DiscreteSystem") -> Step:
    G = system.groupoid
    arrow, point = jax.tree.map(
        lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), (G.space.point_like(), G.base.point_like())
    )
    count = jnp.asarray(0), jnp.asarray(False)
    return Step(arrow, jnp.zeros(system.family_size()), point, jnp.zeros(G.rank), jnp.asarray(0.0), *count)


def _row_size(system: "DiscreteSystem") -> int:
    G = system.groupoid
    leaves = jax.tree.leaves((G.space.point_like(), G.base.point_like()))
    return sum(leaf.size for leaf in leaves) + G.rank + system.unknowns + 3


def _explain_failure(trajectory: Trajectory, step: int, last: Step, throw: bool) -> Trajectory:
    """Raise the error that names the cause of a failed step, or return the computed part with it."""
    system, end = trajectory.system, trajectory.end
    found = regularity_of(system, end.point, end.guess)
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


def _reporter(progress: Progress, steps: int) -> Callable[[int], None]:
    if progress is False:
        return lambda done: None
    if callable(progress):
        return lambda done: progress(done, steps)
    began = shown = time.monotonic()

    def report(done: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < 0.5 and done < steps:
            return
        shown = now
        rate = done / max(now - began, 1e-9)
        left = (steps - done) / rate if done else float("inf")
        print(f"\r{done:,} of {steps:,} steps, {rate:,.0f} per second, {left:.0f} s left ", end="", file=sys.stderr)
        if done == steps:
            print(file=sys.stderr)

    return report
