r"""Block-tridiagonal linear systems, in time linear in the number of blocks.

.. math:: E_k z_{k-1} + D_k z_k + U_k z_{k+1} = r_k, \qquad k = 1, \dots, n .

Block elimination from the first block to the last, with pivoting inside of the blocks. It fails, with values that are not finite, where
a leading block is singular although the matrix is not; `solve_pivoted` is the fallback.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._types import Array, Matrix, Vector
from groupoid_mech.numerics.matrix import matmul, matvec, solve_columns


class BlockTridiagonal(NamedTuple):
    """The blocks below, on and above the diagonal, each of shape (n, size, size); the first below and the last above are not read."""

    lower: Array
    diagonal: Array
    upper: Array


def solve_blocks(A: BlockTridiagonal, rhs: Array) -> tuple[Array, Array]:
    r"""The solution z, shape (n, size), and the eliminated diagonal blocks :math:`D_k - E_k \tilde D_{k-1}^{-1} U_{k-1}`.

    For a symmetric matrix the signs of the eigenvalues of the eliminated blocks are, together, those of the matrix (Haynsworth).
    """
    size = rhs.shape[1]

    def eliminate(before: tuple[Matrix, Vector], row: tuple[Matrix, Matrix, Matrix, Vector]) -> Any:
        lower, diagonal, upper, r = row
        coupling, value = before
        pivot = diagonal - matmul(lower, coupling)
        remainder = r - matvec(lower, value)
        solved = solve_columns(pivot, jnp.concatenate([upper, remainder[:, None]], axis=1))
        return (solved[:, :size], solved[:, size]), (solved, pivot)

    def substitute(after: Vector, solved: Matrix) -> tuple[Vector, Vector]:
        z = solved[:, size] - matvec(solved[:, :size], after)
        return z, z

    nothing = (jnp.zeros((size, size)), jnp.zeros(size))
    rows = (A.lower.at[0].set(0.0), A.diagonal, A.upper.at[-1].set(0.0), rhs)
    steps: tuple[Array, Array] = jax.lax.scan(eliminate, nothing, rows)[1]
    solved, pivots = steps
    _, z = jax.lax.scan(substitute, jnp.zeros(size), solved, reverse=True)
    return z, pivots


def solve_pivoted(A: BlockTridiagonal, rhs: Array) -> np.ndarray:
    """The same solution by banded elimination with row pivoting across blocks; slower, and outside of compiled code."""
    # Here, as it is rarely needed: an eighth of the time to import this package.
    from scipy.linalg import solve_banded

    lower, diagonal, upper, r = (np.asarray(part) for part in (*A, rhs))
    n, size = r.shape
    width = 2 * size - 1
    bands = np.zeros((2 * width + 1, n * size))
    places = np.arange(n * size).reshape(n, size)
    for offset, blocks in ((-1, lower), (0, diagonal), (1, upper)):
        here = slice(max(0, -offset), n - max(0, offset))
        rows = np.broadcast_to(places[here, :, None], blocks[here].shape)
        columns = np.broadcast_to(places[here, None, :] + offset * size, blocks[here].shape)
        bands[width + rows - columns, columns] = blocks[here]
    return solve_banded((width, width), bands, r.ravel()).reshape(n, size)
