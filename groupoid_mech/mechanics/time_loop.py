"""The time loop: compiled in pieces of fixed size, so that one compilation serves runs of every length.

Between two pieces a long run reports its progress and stops when a step has failed; what was computed is never lost.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import require_positive_integer
from groupoid_mech._types import Array, Scalar
from groupoid_mech.errors import ArgumentError

Progress: TypeAlias = bool | Callable[[int, int], None]

# One piece holds at most so many rows and about so many numbers, and takes at most so many steps.
_ROWS = 2**15
_NUMBERS = 2**19
_STEPS = 2**20


class Record(Protocol):
    """What a step leaves behind: a named tuple with at least how it went."""

    residual: Scalar
    iterations: Array
    converged: Array

    def _replace(self, **fields: Any) -> Any: ...


class Stepper(Protocol):
    """What can be run: a pytree with a step from one state to the next that records what it did."""

    def step(self, state: Any, /) -> tuple[Any, Any]:
        """The next state and the record of the step."""


class Worst(NamedTuple):
    """The largest residual and number of iterations of the steps since a record was kept."""

    residual: Scalar
    iterations: Array


class Run(NamedTuple):
    """A run: the state where it ended, the kept records stacked (as numpy arrays), the steps taken, whether one failed, and how the last went."""

    end: Any
    kept: Any
    taken: int
    failed: bool
    last: Worst


def check_lengths(owner: str, steps: int, save_every: int) -> None:
    """Refuse lengths of which the last step would not be kept."""
    require_positive_integer(owner, "steps", steps)
    require_positive_integer(owner, "save_every", save_every)
    if steps % save_every:
        raise ArgumentError(
            f"{owner} needs steps to be a multiple of save_every, so that the last one is kept; "
            f"got steps={steps}, save_every={save_every}."
        )


def run(stepper: Stepper, state: Any, nothing: Any, steps: int, save_every: int, progress: Progress) -> Run:
    """Take ``steps`` steps and keep every so many; ``nothing`` is a record of the right structure, before the first step."""
    report = _reporter(progress, steps)
    size = sum(leaf.size for leaf in jax.tree.leaves(nothing))
    rows = max(64, min(_ROWS, _NUMBERS // size))
    rows = max(1, min(rows, _STEPS // save_every))
    pieces, taken, failed = [], 0, False
    while taken < steps and not failed:
        count = min(rows * save_every, steps - taken)
        lengths: Any = np.asarray(count), np.asarray(save_every)
        state, kept, done, last = _piece(stepper, state, nothing, lengths[0], lengths[1], rows)
        failed = int(done) < count
        taken += int(done)
        whole = int(done) // save_every
        pieces.append(jax.tree.map(lambda leaf, n=whole: np.asarray(leaf)[:n], kept))
        report(taken)
    # In numpy: every operation of jax.numpy on a new shape would be a program of its own to compile.
    return Run(state, jax.tree.map(lambda *leaves: np.concatenate(leaves), *pieces), taken, failed, last)


def scan(stepper: Stepper, state: Any, steps: int, save_every: int) -> tuple[Any, Any]:
    """The same as one scan, for use inside of ``jit``, ``grad`` and ``vmap``: the end and the kept records."""

    def inner(begin: Any, _: None) -> tuple[Any, Any]:
        return stepper.step(begin)

    def outer(begin: Any, _: None) -> tuple[Any, Any]:
        if save_every == 1:
            return inner(begin, None)
        following, taken = jax.lax.scan(inner, begin, None, length=save_every)
        last = jax.tree.map(lambda leaf: leaf[-1], taken)
        return following, last._replace(residual=jnp.max(taken.residual), iterations=jnp.max(taken.iterations))

    return jax.lax.scan(outer, state, None, length=steps // save_every)


@eqx.filter_jit
def _piece(
    stepper: Stepper, state: Any, nothing: Any, count: Array, stride: Array, rows: int
) -> tuple[Any, Any, Array, Worst]:
    """Up to ``count`` steps, of which each ``stride``-th is kept; stops at a step that fails, before which ``state`` stays."""
    kept = jax.tree.map(lambda leaf: jnp.zeros((rows, *leaf.shape), leaf.dtype), nothing)

    def unfinished(loop: Any) -> Array:
        _, _, k, ok, _ = loop
        return ok & (k < count)

    def advance(loop: Any) -> Any:
        begin, kept, k, _, before = loop
        following, record = stepper.step(begin)
        ok = record.converged & jnp.isfinite(record.residual)
        # Each step writes the row of its stride: the last one of the stride stays, with the worst residual of all.
        row = jax.lax.div(k, stride)
        worst = _worst(record, before, first=jax.lax.rem(k, stride) == 0)
        record = record._replace(residual=worst.residual, iterations=worst.iterations)
        kept = jax.tree.map(lambda leaf, value: jax.lax.dynamic_update_index_in_dim(leaf, value, row, 0), kept, record)
        begin = jax.tree.map(lambda new, old: jax.lax.select(ok, new, old), following, begin)
        return begin, kept, k + ok, ok, worst

    start = (state, kept, jnp.asarray(0), jnp.asarray(True), Worst(nothing.residual, nothing.iterations))
    state, kept, k, _, last = jax.lax.while_loop(unfinished, advance, start)
    return state, kept, k, last


def _worst(record: Record, before: Worst, first: Array) -> Worst:
    """The largest residual and number of iterations since the stride began."""
    return Worst(
        jnp.where(first, record.residual, jnp.maximum(record.residual, before.residual)),
        jnp.where(first, record.iterations, jnp.maximum(record.iterations, before.iterations)),
    )


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
