r"""Newton's method as a compiled loop, differentiated by the implicit function theorem.

.. math:: F(x, \theta) = 0 \quad\Rightarrow\quad \frac{dx}{d\theta} = -(\partial_x F)^{-1} \partial_\theta F .

The loop is never unrolled and never differentiated through; it stops at round-off, not after a fixed count.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Matrix, Scalar, Vector
from groupoid_mech.numerics.matrix import matvec, solve, solve_columns, unit_matrix

MAX_ITERATIONS = 50
_EPS = float(jnp.finfo(jnp.float64).eps)
_STALL = 1e-8
# A Jacobian is used again after increments below the first of these, while they shrink by the second; the rate of shrinking is
# trusted up to the third, and C after one increment up to the fourth.
_NEAR = 1e-2
_FAST = 1e-2
_CAUTION = 10.0
_LARGE = 1e3


class NewtonReport(NamedTuple):
    """How Newton's method went: the number of iterations, and whether it arrived."""

    iterations: Array
    converged: Array


def newton_root(residual: Callable[[Vector], Vector], guess: Vector) -> Vector:
    r"""The root of a square system near ``guess``; all NaN if Newton's method does not reach one.

    What ``residual`` closes over may be differentiated, in forward and reverse mode, to any order.

    Args:
        residual: :math:`F: R^n \to R^n`.
        guess: The first iterate, shape ``(n,)``.
    """
    return newton_solve(residual, guess, _size_of_all)[0]


def newton_solve(
    residual: Callable[..., Vector],
    guess: Vector,
    sizes: Callable[[Vector], Vector],
    limits: Callable[[Vector], Vector] | None = None,
    *,
    cuts: tuple[int, ...] = (),
    reuse: bool = False,
) -> tuple[Vector, NewtonReport]:
    r"""The root of a square system near ``guess``, and how it was found; all NaN if it was not.

    With :math:`s_k` the size of the k-th increment, the error left after it is about :math:`C s_k^2`, where the last two
    increments show :math:`C \approx s_k/s_{k-1}^2`. The loop ends when that is below round-off, or when small increments no
    longer shrink.

    Args:
        residual: :math:`F: R^n \to R^n`; with ``cuts`` a function of the parts of x.
        guess: The first iterate, shape ``(n,)``.
        sizes: The size of every unknown at an iterate: increments are measured relative to it.
        limits: The largest increment of every unknown at an iterate: longer steps are shortened. No limit if not given.
        cuts: Where x is cut into parts. F is then differentiated in one part at a time, and what does not depend on that part not at all.
        reuse: Whether one Jacobian serves several steps, as long as these shrink fast: for guesses so near that the second step
            is a matter of round-off, and functions whose Jacobian costs several times the value.
    """
    # What the functions close over becomes an argument: only of arguments there are derivatives. Traced once: the value, the Jacobian and
    # the tangents are made from the same program.
    converted, constants = jax.closure_convert(residual, *jnp.split(guess, cuts))
    of_parts = jax.jit(converted, inline=True)
    bounds, known = (None, []) if limits is None else jax.closure_convert(limits, guess)

    # Not jax.lax.custom_root, which traces the derivative even where none is asked for: a fifth of the time to make a step.
    @jax.custom_jvp
    def root(guess: Vector, constants: list[Any], known: list[Any]) -> tuple[Vector, Array, Array]:
        limited = None if bounds is None else lambda x: bounds(x, *known)
        return _iterate(lambda *parts: of_parts(*parts, *constants), guess, sizes, limited, cuts, reuse)

    @root.defjvp
    def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
        x, count, done = root(*primals)
        parts, constants = jnp.split(x, cuts), primals[1]
        _, moved = jax.jvp(lambda constants: of_parts(*parts, *constants), (constants,), (tangents[1],))

        def column(e: Vector) -> Vector:
            return jax.jvp(lambda *parts: of_parts(*parts, *constants), parts, jnp.split(e, cuts))[1]

        change = solve(jax.vmap(column, out_axes=1)(unit_matrix(x.size)), -moved)
        return (x, count, done), (change, jnp.zeros_like(count), jnp.zeros_like(done))

    x, count, done = root(guess, constants, known)
    return x, NewtonReport(count.astype(int), done > 0)


def _size_of_all(x: Vector) -> Vector:
    return jnp.full_like(x, 1 + jnp.max(jnp.abs(x)))


def _iterate(
    residual: Callable[..., Vector],
    guess: Vector,
    sizes: Callable[[Vector], Vector],
    limits: Callable[[Vector], Vector] | None,
    cuts: tuple[int, ...],
    reuse: bool,
) -> tuple[Vector, Array, Array]:
    def jacobian_and_value(x: Vector) -> tuple[Matrix, Vector]:
        parts = jnp.split(x, cuts)

        def columns(k: int) -> tuple[Matrix, Vector]:
            def of_part(part: Vector) -> Vector:
                return residual(*parts[:k], part, *parts[k + 1 :])

            # The value comes along with the derivative: one copy of the residual in the loop.
            return jax.vmap(lambda e: jax.jvp(of_part, (parts[k],), (e,))[::-1], out_axes=(1, None))(
                unit_matrix(parts[k].size)
            )

        blocks = [columns(k) for k, part in enumerate(parts) if part.size]
        return jnp.concatenate([block for block, _ in blocks], axis=1), blocks[0][1]

    def unfinished(state: tuple[Vector, Scalar, Array, Array]) -> Array:
        _, _, done, count = state
        return ~done & (count < MAX_ITERATIONS)

    def advance(state: tuple[Vector, Scalar, Array, Array]) -> tuple[Vector, Scalar, Array, Array]:
        x, previous, _, count = state
        J, F = jacobian_and_value(x)
        solution = solve_columns(J, jnp.concatenate([F[:, None], unit_matrix(F.size)], axis=1) if reuse else F)
        step = solution[:, 0] if reuse else solution
        size = jnp.max(jnp.abs(step) / sizes(x - step))
        if limits is not None:
            step = step / jnp.maximum(1.0, jnp.max(jnp.abs(step) / limits(x)))
        x = x - step
        error = size * jnp.maximum(size, (size / previous) ** 2)
        # Where one more step is cheap, the constant C is not taken for 1 on the word of a single increment.
        done = (error <= (_EPS / _LARGE if reuse else _EPS)) | ((size <= _STALL) & (size >= 0.5 * previous))
        if reuse:
            x, size, done, count = repeat(solution[:, 1:], (x, size, done, count))
        return x, size, done, count + 1

    def repeat(inverse: Matrix, state: tuple[Vector, Scalar, Array, Array]) -> tuple[Vector, Scalar, Array, Array]:
        """Further steps by the same inverse Jacobian: each leaves about the same part of the error, (s_k / s_(k-1)) s_k after the k-th."""

        def fruitful(state: tuple[Vector, Scalar, Array, Array, Array]) -> Array:
            _, _, done, _, fast = state
            return ~done & fast

        def again(state: tuple[Vector, Scalar, Array, Array, Array]) -> tuple[Vector, Scalar, Array, Array, Array]:
            x, previous, _, count, _ = state
            step = matvec(inverse, residual(*jnp.split(x, cuts)))
            size = jnp.max(jnp.abs(step) / sizes(x - step))
            done = (_CAUTION * size * size <= _EPS * previous) | ((size <= _STALL) & (size >= 0.5 * previous))
            return x - step, size, done, count + 1, size <= _FAST * previous

        x, size, done, count = state
        begin = (x, size, done, count, size <= _NEAR)
        return jax.lax.while_loop(fruitful, again, begin)[:4]

    start = (guess, jnp.asarray(jnp.inf), jnp.asarray(False), jnp.asarray(0))
    x, _, done, count = jax.lax.while_loop(unfinished, advance, start)
    # As floats: what is not the root has a derivative too, and only floats have one.
    return jnp.where(done, x, jnp.nan), count.astype(float), done.astype(float)
