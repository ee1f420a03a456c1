r"""Newton's method as a compiled loop, differentiated by the implicit function theorem.

.. math:: F(x, \theta) = 0 \quad\Rightarrow\quad \frac{dx}{d\theta} = -(\partial_x F)^{-1} \partial_\theta F .

The loop is never unrolled and never differentiated through; it stops at round-off, not after a fixed count. For a sequence of equations
that are much like each other, as those of time steps, see `chord`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Matrix, Scalar, Vector
from groupoid_mech.numerics.matrix import solve, solve_columns, unit_matrix

MAX_ITERATIONS = 50
EPS = float(jnp.finfo(jnp.float64).eps)
# Increments that are smaller and do not shrink are round-off.
STALL = 1e-8


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
    residual: Callable[[Vector], Vector], guess: Vector, sizes: Callable[[Vector], Vector]
) -> tuple[Vector, NewtonReport]:
    r"""The root of a square system near ``guess``, and how it was found; all NaN if it was not.

    With :math:`s_k` the size of the k-th increment, the error left after it is about :math:`C s_k^2`, where the last two
    increments show :math:`C \approx s_k/s_{k-1}^2`. The loop ends when that is below round-off, or when small increments no
    longer shrink.

    Args:
        residual: :math:`F: R^n \to R^n`.
        guess: The first iterate, shape ``(n,)``.
        sizes: The size of every unknown at an iterate: increments are measured relative to it.
    """
    # What the function closes over becomes an argument: only of arguments there are derivatives. Traced once: the value, the Jacobian and
    # the tangents are made from the same program.
    converted, constants = jax.closure_convert(residual, guess)
    function = jax.jit(converted, inline=True)

    # Not jax.lax.custom_root, which traces the derivative even where none is asked for: a fifth of the time to make a step.
    @jax.custom_jvp
    def root(guess: Vector, constants: list[Any]) -> tuple[Vector, Array, Array]:
        return _iterate(lambda x: function(x, *constants), guess, sizes)

    @root.defjvp
    def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
        x, count, done = root(*primals)
        change = root_tangent(lambda x, constants: function(x, *constants), x, primals[1], tangents[1])
        return (x, count, done), (change, jnp.zeros_like(count), jnp.zeros_like(done))

    x, count, done = root(guess, constants)
    return x, NewtonReport(count.astype(int), done > 0)


def root_tangent(function: Callable[[Vector, Any], Vector], x: Vector, theta: Any, change: Any) -> Vector:
    r"""The change :math:`dx = -(\partial_x F)^{-1}\,\partial_\theta F\,d\theta` of a root x of :math:`F(\cdot, \theta)`."""
    _, moved = jax.jvp(lambda theta: function(x, theta), (theta,), (change,))
    return solve(jacobian(lambda x: function(x, theta), x), -moved)


def jacobian(function: Callable[[Vector], Vector], x: Vector) -> Matrix:
    """The Jacobian matrix of a function, column by column."""
    return jax.vmap(lambda e: jax.jvp(function, (x,), (e,))[1], out_axes=1)(unit_matrix(x.size))


def _size_of_all(x: Vector) -> Vector:
    return jnp.full_like(x, 1 + jnp.max(jnp.abs(x)))


def _iterate(
    residual: Callable[[Vector], Vector], guess: Vector, sizes: Callable[[Vector], Vector]
) -> tuple[Vector, Array, Array]:
    def jacobian_and_value(x: Vector) -> tuple[Matrix, Vector]:
        # The value comes along with the derivative: one copy of the residual in the loop.
        return jax.vmap(lambda e: jax.jvp(residual, (x,), (e,))[::-1], out_axes=(1, None))(unit_matrix(x.size))

    def unfinished(state: tuple[Vector, Scalar, Array, Array]) -> Array:
        _, _, done, count = state
        return ~done & (count < MAX_ITERATIONS)

    def advance(state: tuple[Vector, Scalar, Array, Array]) -> tuple[Vector, Scalar, Array, Array]:
        x, previous, _, count = state
        step = solve_columns(*jacobian_and_value(x))
        x = x - step
        size = jnp.max(jnp.abs(step) / sizes(x))
        error = size * jnp.maximum(size, (size / previous) ** 2)
        done = (error <= EPS) | ((size <= STALL) & (size >= 0.5 * previous))
        return x, size, done, count + 1

    start = (guess, jnp.asarray(jnp.inf), jnp.asarray(False), jnp.asarray(0))
    x, _, done, count = jax.lax.while_loop(unfinished, advance, start)
    # As floats: what is not the root has a derivative too, and only floats have one.
    return jnp.where(done, x, jnp.nan), count.astype(float), done.astype(float)
