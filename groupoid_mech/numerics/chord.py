r"""Newton's method with a Jacobian that is kept: the chord method, for a sequence of equations that are much like each other.

.. math:: x \mapsto x - B\,F(x), \qquad B = F'(x_0)^{-1} \text{ at an earlier point, mostly of an earlier equation.}

A value of F costs a fraction of its Jacobian. From a near guess two or three values are enough, and one Jacobian serves hundreds of time
steps: it is computed again when increments shrink too slowly. Differentiated by the implicit function theorem, like `newton_solve`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Matrix, Vector
from groupoid_mech.numerics.matrix import invert, matvec
from groupoid_mech.numerics.newton import EPS, MAX_ITERATIONS, STALL, NewtonReport, jacobian, root_tangent

# A root is found when the next increment would be of this size; or of the second, if it is no smaller than the one before.
_SETTLED = 4 * EPS
_NOISE = 1e-12
# What is kept is trusted with increments up to here, while two more values of F promise to be enough.
_NEAR = 1e-2


class KeptInverse(NamedTuple):
    """An inverse Jacobian, and whether there is one yet."""

    matrix: Matrix
    known: Array


class _State(NamedTuple):
    x: Vector
    values: Any
    inverse: KeptInverse
    size: Array
    fresh: Array
    done: Array
    count: Array


def no_inverse(n: int) -> KeptInverse:
    """Nothing is kept yet: the Jacobian is computed at the first guess."""
    return KeptInverse(jnp.zeros((n, n)), jnp.asarray(False))


def chord_solve(
    function: Callable[[Vector], tuple[Vector, Any]],
    guess: Vector,
    inverse: KeptInverse,
    sizes: Callable[[Vector], Vector],
    limits: Callable[[Vector], Vector] | None = None,
) -> tuple[Vector, Any, KeptInverse, NewtonReport]:
    r"""The root of a square system near ``guess``, other values there, the inverse to keep, and how it was found; all NaN if it was not.

    The values of a function at the root are those of the last iteration: nothing is computed again. They may be differentiated, like the
    root, in what the function closes over.

    Args:
        function: The values :math:`F(x) \in R^n`, and others: arrays of floats.
        guess: The first iterate, shape ``(n,)``.
        inverse: The inverse Jacobian kept from before, or `no_inverse`.
        sizes: The size of every unknown at an iterate: increments are measured relative to it.
        limits: The largest increment of every unknown at an iterate: longer steps are shortened. No limit if not given.
    """
    # What the functions close over becomes an argument: only of arguments there are derivatives.
    converted, constants = jax.closure_convert(function, guess)
    traced = jax.jit(converted, inline=True)
    bounds, known = (None, []) if limits is None else jax.closure_convert(limits, guess)

    @jax.custom_jvp
    def root(guess: Vector, inverse: list[Array], constants: list[Any], known: list[Any]) -> Any:
        limited = None if bounds is None else lambda x: bounds(x, *known)
        begin = KeptInverse(inverse[0], inverse[1] > 0)
        end = _iterate(lambda x: traced(x, *constants), guess, begin, sizes, limited)
        x, values = jax.tree.map(lambda leaf: jnp.where(end.done, leaf, jnp.nan), (end.x, end.values))
        # As floats: what is not the root has a derivative too, and only floats have one.
        return x, values, [end.inverse.matrix, *(flag.astype(float) for flag in (end.inverse.known, end.count, end.done))]

    @root.defjvp
    def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
        x, values, others = root(*primals)
        constants, moving = primals[2], tangents[2]
        change = root_tangent(lambda x, constants: traced(x, *constants)[0], x, constants, moving)
        _, (_, moved) = jax.jvp(lambda x, constants: traced(x, *constants), (x, constants), (change, moving))
        return (x, values, others), (change, moved, jax.tree.map(jnp.zeros_like, others))

    kept = [inverse.matrix, inverse.known.astype(float)]
    x, values, (matrix, there, count, done) = root(guess, kept, constants, known)
    return x, values, KeptInverse(matrix, there > 0), NewtonReport(count.astype(int), done > 0)


def _iterate(
    function: Callable[[Vector], tuple[Vector, Any]],
    guess: Vector,
    inverse: KeptInverse,
    sizes: Callable[[Vector], Vector],
    limits: Callable[[Vector], Vector] | None,
) -> _State:
    def advance(state: _State) -> _State:
        x, kept, previous = state.x, state.inverse, state.size
        F, values = function(x)

        def increment(B: Matrix) -> tuple[Vector, Array]:
            step = matvec(B, F)
            return step, jnp.max(jnp.abs(step) / sizes(x))

        _, size = increment(kept.matrix)
        rate = size / previous
        stalled = (rate >= 0.5) & ((size <= _NOISE) | (state.fresh & (size <= STALL)))
        done = kept.known & ((size <= _SETTLED) | stalled)
        trusted = kept.known & (size <= _NEAR) & (size * rate * rate <= EPS)
        renewed = ~(done | trusted)
        # A loop of at most one turn: unlike a branch it stays one in batches, and is left out while nobody needs it.
        B, _ = jax.lax.while_loop(
            lambda turn: turn[1],
            lambda turn: (invert(jacobian(lambda x: function(x)[0], x)), jnp.asarray(False)),
            (kept.matrix, renewed),
        )
        step, size = increment(B)
        if limits is not None:
            step = step / jnp.maximum(1.0, jnp.max(jnp.abs(step) / limits(x)))
        x = jnp.where(done, x, x - step)
        return _State(x, values, KeptInverse(B, kept.known | renewed), size, renewed, done, state.count + 1)

    def unfinished(state: _State) -> Array:
        return ~state.done & (state.count < MAX_ITERATIONS)

    no = jnp.asarray(False)
    blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(function, guess)[1])
    begin = _State(guess, blank, inverse, jnp.asarray(jnp.inf), no, no, jnp.asarray(0))
    return jax.lax.while_loop(unfinished, advance, begin)
