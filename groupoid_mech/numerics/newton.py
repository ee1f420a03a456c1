r"""Newton's method as a compiled loop, differentiated by the implicit function theorem.

.. math:: F(x, \theta) = 0 \quad\Rightarrow\quad \frac{dx}{d\theta} = -(\partial_x F)^{-1} \partial_\theta F .

The loop is never unrolled and never differentiated through; it stops at round-off, not after a fixed count.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Vector
from groupoid_mech.numerics.matrix import solve

MAX_ITERATIONS = 50
_ROUND_OFF = 4 * float(jnp.finfo(jnp.float64).eps)
_STALL = 1e-8


def newton_root(residual: Callable[[Vector], Vector], guess: Vector) -> Vector:
    r"""The root of a square system near ``guess``; all NaN if Newton's method does not reach one.

    Steps are taken until the increment is of the size of round-off, or small and no longer shrinking. What ``residual``
    closes over may be differentiated, in forward and reverse mode, to any order.

    Args:
        residual: :math:`F: R^n \to R^n`.
        guess: The first iterate, shape ``(n,)``.
    """
    return jax.lax.custom_root(residual, guess, _iterate, _tangent_solve)


def _iterate(residual: Callable[[Vector], Vector], guess: Vector) -> Vector:
    # The value comes along with the derivative: one copy of the residual in the loop.
    jacobian_and_value = jax.jacfwd(lambda x: (residual(x),) * 2, has_aux=True)

    def unfinished(state: tuple[Vector, Array, Array, Array]) -> Array:
        _, _, done, count = state
        return ~done & (count < MAX_ITERATIONS)

    def advance(state: tuple[Vector, Array, Array, Array]) -> tuple[Vector, Array, Array, Array]:
        x, previous, _, count = state
        step = solve(*jacobian_and_value(x))
        x = x - step
        size = jnp.max(jnp.abs(step)) / (1 + jnp.max(jnp.abs(x)))
        done = (size <= _ROUND_OFF) | ((size <= _STALL) & (size >= 0.5 * previous))
        return x, size, done, count + 1

    start = (guess, jnp.asarray(jnp.inf), jnp.asarray(False), jnp.asarray(0))
    x, _, done, _ = jax.lax.while_loop(unfinished, advance, start)
    return jnp.where(done, x, jnp.nan)


def _tangent_solve(linear: Callable[[Vector], Vector], rhs: Vector) -> Any:
    return solve(jax.vmap(linear, out_axes=1)(jnp.eye(rhs.size)), rhs)
