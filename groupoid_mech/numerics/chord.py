r"""Newton's method with a Jacobian that is kept: the chord method, for a sequence of equations that are much like each other.

.. math:: x \mapsto x - B\,F(x), \qquad B = F'(x_0)^{-1} \text{ at an earlier point, mostly of an earlier equation.}

A value of F costs a fraction of its Jacobian. From a near guess three or four values are enough, and one Jacobian serves up to thousands of time
steps: it is computed again when increments shrink too slowly. Differentiated by the implicit function theorem, like `newton_solve`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Matrix, Scalar, Vector
from groupoid_mech.numerics.matrix import dot, invert, matvec
from groupoid_mech.numerics.newton import EPS, MAX_ITERATIONS, STALL, NewtonReport, jacobian, root_tangent

# A root is found when the last increment is expected to have left no more than the first of these, relative to the size of x, and the next
# one, at most the second, is round-off; or when the next one is no more than the third. What is left has the same sign in step after step,
# unlike round-off: with ε/8 in the first place, angular momentum on T*S² drifts by up to 0.07 ε in every step, with ε/512 by up to
# 0.004 ε: less than its random walk of a hundred thousand steps (tests/verification/test_drift.py).
_LEFT = EPS / 512
_ROUND_OFF = 8 * EPS
_SETTLED = EPS / 8
# Increments that are smaller and do not shrink are round-off, even by an old Jacobian.
_NOISE = 1e-12
# What is kept is trusted with increments up to here, while a few more values of F promise to be enough: two, or up to four where a new
# Jacobian costs more. Higher powers of increments would be no numbers any more.
_NEAR = 1e-2
_FEWEST, _MOST = 2, 4


class KeptInverse(NamedTuple):
    """An inverse Jacobian that is kept, and whether there is one yet: 1 or 0."""

    matrix: Matrix
    known: Scalar


class _State(NamedTuple):
    """An iterate; squares of the size of the last increment, of the rate at which increments shrink, and of what is expected to be left; and
    whether the Jacobian is one of a point next to it.
    """

    x: Vector
    values: Any
    inverse: KeptInverse
    size: Scalar
    rate: Scalar
    left: Scalar
    fresh: Array
    done: Array
    iterations: Array


def no_inverse(n: int) -> KeptInverse:
    """Nothing is kept yet: the Jacobian is computed at the first guess."""
    return KeptInverse(jnp.zeros((n, n)), jnp.zeros(()))


def chord_solve(
    function: Callable[[Vector], tuple[Vector, Any]],
    guess: Vector,
    inverse: KeptInverse,
    sizes: Callable[[Vector], Vector],
    limits: Callable[[Vector], Vector] | None = None,
) -> tuple[Vector, Any, KeptInverse, NewtonReport]:
    r"""The root of a square system near ``guess``, other values there, the inverse to keep, and how it was found; all NaN if it was not.

    The values of the function at the root are those of the last iteration: nothing is computed again. They may be differentiated, like the
    root, in what the function closes over.

    Args:
        function: The values :math:`F(x) \in R^n`, and others: arrays of floats.
        guess: The first iterate, shape ``(n,)``.
        inverse: The inverse Jacobian kept from the equation before, or `no_inverse`.
        sizes: The size of every unknown at an iterate: increments are measured relative to it.
        limits: The largest increment of every unknown at an iterate: longer steps are shortened. No limit if not given.
    """
    # What the functions close over becomes an argument: only of arguments there are derivatives.
    converted, constants = jax.closure_convert(function, guess)
    traced = jax.jit(converted, inline=True)
    bounds, known = (None, []) if limits is None else jax.closure_convert(limits, guess)
    scale, held = jax.closure_convert(sizes, guess)

    @jax.custom_jvp
    def root(guess: Vector, inverse: KeptInverse, constants: list[Any], known: list[Any], held: list[Any]) -> Any:
        limited = None if bounds is None else lambda x: bounds(x, *known)
        end = _iterate(lambda x: traced(x, *constants), guess, inverse, lambda x: scale(x, *held), limited)
        x, values = jax.tree.map(lambda leaf: jnp.where(end.done, leaf, jnp.nan), (end.x, end.values))
        # As floats: what is not the root has a derivative too, and only floats have one.
        return x, values, (end.inverse, end.iterations.astype(float), end.done.astype(float))

    @root.defjvp
    def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
        x, values, others = root(*primals)
        constants, moving = primals[2], tangents[2]
        change = root_tangent(lambda x, constants: traced(x, *constants)[0], x, constants, moving)
        _, (_, moved) = jax.jvp(lambda x, constants: traced(x, *constants), (x, constants), (change, moving))
        return (x, values, others), (change, moved, jax.tree.map(jnp.zeros_like, others))

    x, values, (inverse, count, done) = root(guess, inverse, constants, known, held)
    return x, values, inverse, NewtonReport(count.astype(int), done > 0)


def _iterate(
    function: Callable[[Vector], tuple[Vector, Any]],
    guess: Vector,
    inverse: KeptInverse,
    sizes: Callable[[Vector], Vector],
    limits: Callable[[Vector], Vector] | None,
) -> _State:
    more = min(_MOST, max(_FEWEST, (guess.size + 2) // 3))

    def advance(state: _State) -> _State:
        x, B, first = state.x, state.inverse.matrix, state.iterations == 0
        # Sizes are squares, and no quotient waits for F: the loop takes as long as its longest chain of operations.
        weights = 1 / sizes(x)
        F, values = function(x)
        step = matvec(B, F)

        def square(step: Vector) -> Scalar:
            return dot(weights * step, weights * step)

        size, before = square(step), state.size
        known = state.inverse.known > 0
        settled = (size <= _SETTLED**2) | ((state.left <= _LEFT**2) & (size <= _ROUND_OFF**2))
        stalled = ~first & (size >= 0.25 * before) & ((size <= _NOISE**2) | (state.fresh & (size <= STALL**2)))
        done = known & (settled | stalled)
        trusted = known & (size <= _NEAR**2) & (first | (size ** (more + 1) <= EPS**2 * before**more))
        renewed = _of_any(~(done | trusted))

        def renew() -> tuple[Matrix, Vector, Scalar]:
            B = invert(jacobian(lambda x: function(x)[0], x))
            step = matvec(B, F)
            return B, step, square(step)

        B, step, size = jax.lax.cond(renewed, renew, lambda: (B, step, size))
        if limits is not None:
            step = step / jnp.maximum(1.0, jnp.max(jnp.abs(step) / limits(x)))
        ratio = size / before
        # Where round-off hides how small an increment is, the last rate counts, and what was expected to be left before.
        rate = jnp.where(size > _ROUND_OFF**2, ratio, jnp.minimum(state.rate, ratio))
        rate = jnp.where(first | renewed, jnp.inf, rate)
        left = rate * jnp.minimum(size, jnp.where(renewed, jnp.inf, state.left))
        return _State(
            x=jnp.where(done, x, x - step),
            values=values,
            inverse=KeptInverse(B, jnp.where(renewed, 1.0, state.inverse.known)),
            size=size,
            rate=rate,
            left=left,
            # Also after further steps, if these are so small that nothing but round-off can make increments grow again.
            fresh=renewed | (state.fresh & (before <= STALL**2) & (size <= STALL**2)),
            done=done,
            iterations=state.iterations + 1,
        )

    def unfinished(state: _State) -> Array:
        return ~state.done & (state.iterations < MAX_ITERATIONS)

    far, no = jnp.asarray(jnp.inf), jnp.asarray(False)
    blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(function, guess)[1])
    begin = _State(guess, blank, inverse, far, far, far, no, no, jnp.asarray(0))
    return jax.lax.while_loop(unfinished, advance, begin)


# In a batch the Jacobian is computed for all members as soon as one needs it: so all may have it.
@jax.custom_batching.custom_vmap
def _of_any(flag: Array) -> Array:
    return flag


@_of_any.def_vmap
def _(size: int, batched: Any, flag: Array) -> tuple[Array, bool]:
    return jnp.any(flag), False
