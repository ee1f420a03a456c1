"""Products and solves of small matrices, as plain multiply-and-add.

Convention: one matrix at a time, shapes known when tracing. Derivatives of a library ``dot`` and every LAPACK call leave the
compiled loop and cost more than the arithmetic of small sizes; ``benchmarks/small_matrices.py`` shows where this turns.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from groupoid_mech._types import Array, Matrix, Vector

# Solves win up to here in time loops that compile to one native function; products with their Jacobians up to 6.
UNROLLED_UP_TO = 12
_SUMMED_UP_TO = 6
_INVERTED_UNROLLED_UP_TO = 4

# The entries of ŵ: (ŵ)_ij = _CROSS[i, j, k] w_k.
_CROSS = np.array(
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]], float
)


@functools.cache
def unit_matrix(n: int) -> Matrix:
    """The unit matrix as a constant: unlike ``jnp.eye`` it adds nothing to a program, and is not to be written to."""
    unit: Any = np.eye(n)
    unit.flags.writeable = False
    return unit


def matmul(A: Matrix, B: Matrix) -> Matrix:
    """``A B``, as multiply-and-sum for small matrices."""
    if max(*A.shape, *B.shape) > _SUMMED_UP_TO:
        return A @ B
    shape = (*A.shape, B.shape[1])
    terms = lax.mul(lax.broadcast_in_dim(A, shape, (0, 1)), lax.broadcast_in_dim(B, shape, (1, 2)))
    return lax.reduce_sum(terms, (1,))


def matvec(A: Matrix, x: Vector) -> Vector:
    """``A x`` for a small matrix."""
    return lax.reduce_sum(lax.mul(A, lax.broadcast_in_dim(x, A.shape, (1,))), (1,))


def dot(x: Vector, y: Vector) -> Array:
    """The Euclidean inner product of two small vectors."""
    return lax.reduce_sum(lax.mul(x, y), (0,))


def weighted_sum(weights: Vector, terms: Array) -> Array:
    r"""The sum :math:`\sum_k w_k T_k` of few arrays, stacked."""
    return lax.reduce_sum(lax.mul(lax.broadcast_in_dim(weights, terms.shape, (0,)), terms), (0,))


def cross_matrix(w: Vector) -> Matrix:
    r"""The matrix :math:`\hat w` with :math:`\hat w\,x = w \times x`."""
    return lax.reduce_sum(lax.mul(_CROSS, lax.broadcast_in_dim(w, (3, 3, 3), (2,))), (2,))


def solve(A: Matrix, b: Vector) -> Vector:
    """The solution of ``A x = b``, differentiated as a linear solve.

    Up to size 12 by unrolled Gauss–Jordan elimination with partial pivoting, above by LAPACK. A singular ``A`` gives
    infinities or NaN, which callers turn into their own named errors.
    """
    return jax.lax.custom_linear_solve(
        lambda x: matvec(A, x),
        b,
        solve=lambda _, rhs: _solution(A, rhs),
        transpose_solve=lambda _, rhs: _solution(A.T, rhs),
    )


# A derivative along several vectors at once has one matrix and several right-hand sides: that is one elimination, where ``vmap`` would look for
# pivots once for each of them, and gather and scatter rows.
@jax.custom_batching.custom_vmap
def _solution(A: Matrix, b: Vector) -> Vector:
    return solve_columns(A, b[:, None])[:, 0]


@_solution.def_vmap
def _(size: int, batched: Any, A: Matrix, b: Array) -> tuple[Array, bool]:
    if not batched[0]:
        return solve_columns(A, b.T).T, True
    rows = b if batched[1] else jnp.broadcast_to(b, (size, *b.shape))
    return jax.vmap(lambda A, b: solve_columns(A, b[:, None])[:, 0])(A, rows), True


def solve_columns(A: Matrix, B: Matrix) -> Matrix:
    """The solution of ``A X = B`` for all columns at once, not differentiated: up to size 12 by elimination, above by LAPACK."""
    return _eliminate(A, B) if A.shape[0] <= UNROLLED_UP_TO else jnp.linalg.solve(A, B)


def invert(A: Matrix) -> Matrix:
    """The inverse of a matrix, not differentiated: elimination with partial pivoting, from size 5 on as a loop, which is quick to compile."""
    n = A.shape[0]
    if n <= _INVERTED_UNROLLED_UP_TO:
        return _eliminate(A, jnp.asarray(unit_matrix(n)))
    row = np.arange(n)

    def clear(k: Array, rows: Matrix) -> Matrix:
        column = lax.dynamic_index_in_dim(rows, k, axis=1, keepdims=False)
        best = jnp.argmax(jnp.where(row < k, -1.0, jnp.abs(column)))
        pivot = lax.dynamic_index_in_dim(rows, best, keepdims=False)
        rows = lax.dynamic_update_index_in_dim(rows, lax.dynamic_index_in_dim(rows, k), best, 0)
        pivot = pivot / lax.dynamic_index_in_dim(pivot, k)
        column = lax.dynamic_index_in_dim(rows, k, axis=1)
        return jnp.where((row == k)[:, None], pivot[None, :], rows - column * pivot[None, :])

    rows = lax.concatenate([A, jnp.asarray(unit_matrix(n))], 1)
    return lax.slice_in_dim(lax.fori_loop(0, n, clear, rows), n, 2 * n, axis=1)


@jax.custom_jvp
def inverse_matrix(A: Matrix) -> Matrix:
    r"""The inverse of a matrix, differentiated by products alone: :math:`d(A^{-1}) = -A^{-1}\,dA\,A^{-1}`."""
    return invert(A)


@inverse_matrix.defjvp
def _inverse_matrix_derivative(primals: tuple[Matrix], tangents: tuple[Matrix]) -> tuple[Matrix, Matrix]:
    inverse = inverse_matrix(*primals)
    return inverse, -matmul(inverse, matmul(tangents[0], inverse))


def right_inverse(B: Matrix) -> Matrix:
    r"""The least-norm right inverse :math:`B^T (B B^T)^{-1}` of a wide matrix of full rank; no rows, no columns."""
    return _right_inverse(B) if B.shape[0] else B.T


@jax.custom_jvp
def _right_inverse(B: Matrix) -> Matrix:
    gram = matmul(B, B.T)
    return matmul(B.T, _invert_positive(gram) if B.shape[0] <= UNROLLED_UP_TO else jnp.linalg.inv(gram))


@_right_inverse.defjvp
def _right_inverse_derivative(primals: tuple[Matrix], tangents: tuple[Matrix]) -> tuple[Matrix, Matrix]:
    # dB⁺ = (1 − B⁺B) dBᵀ (B Bᵀ)⁻¹ − B⁺ dB B⁺ with (B Bᵀ)⁻¹ = B⁺ᵀ B⁺: products only, no solve is differentiated.
    (B,), (dB,) = primals, tangents
    inverse = _right_inverse(B)
    normal = dB.T - matmul(inverse, matmul(B, dB.T))
    return inverse, matmul(normal, matmul(inverse.T, inverse)) - matmul(inverse, matmul(dB, inverse))


def _eliminate(A: Matrix, b: Array) -> Array:
    """Gauss–Jordan elimination with partial pivoting, for one right-hand side or a matrix of them."""
    n = A.shape[0]
    rows = lax.concatenate([A, b.reshape(n, -1)], 1)
    for k in range(n):
        pivot = lax.index_in_dim(rows, k, keepdims=False)
        # The last row has no rivals.
        if k < n - 1:
            best = k + lax.argmax(lax.abs(lax.slice(rows, (k, k), (n, k + 1))), 0, int)[0]
            pivot = lax.dynamic_index_in_dim(rows, best, keepdims=False)
            rows = lax.dynamic_update_slice(rows, lax.slice_in_dim(rows, k, k + 1), (best, 0))
        rows = _clear_column(rows, k, pivot / lax.index_in_dim(pivot, k))
    return lax.slice_in_dim(rows, n, rows.shape[1], axis=1).reshape(b.shape)


def _invert_positive(A: Matrix) -> Matrix:
    """The inverse of a positive definite matrix: no pivots are sought."""
    n = A.shape[0]
    rows = lax.concatenate([A, unit_matrix(n)], 1)
    for k in range(n):
        pivot = lax.index_in_dim(rows, k, keepdims=False)
        rows = _clear_column(rows, k, pivot / lax.index_in_dim(pivot, k))
    return lax.slice_in_dim(rows, n, 2 * n, axis=1)


def _clear_column(rows: Matrix, k: int, pivot: Vector) -> Matrix:
    """Row k replaced by the pivot, and column k of the others cleared by it."""
    shape = rows.shape
    pivots = lax.broadcast_in_dim(pivot, shape, (1,))
    column = lax.broadcast_in_dim(lax.slice_in_dim(rows, k, k + 1, axis=1), shape, (0, 1))
    here = np.broadcast_to((np.arange(shape[0]) == k)[:, None], shape)
    return lax.select(here, pivots, lax.sub(rows, lax.mul(column, pivots)))


def axial(S: Matrix) -> Vector:
    r"""The vector of the antisymmetric part of a 3×3 matrix: the inverse of `cross_matrix`."""
    return lax.reduce_sum(lax.mul(0.5 * _CROSS, lax.broadcast_in_dim(S, (3, 3, 3), (0, 1))), (0, 1))


def complement(A: Matrix) -> Matrix:
    r"""An orthonormal basis, as columns, of the orthogonal complement of the columns of ``A``.

    By Householder reflections: for ``A`` of full column rank the basis is a smooth function of ``A`` but for sudden
    sign changes on a set of measure zero. The columns ``(complement, A)`` are positively oriented for one column.
    """
    return _reflected(A, A.shape[0] - A.shape[1])


def complement_and_span(A: Matrix) -> tuple[Matrix, Matrix]:
    """Orthonormal bases, as columns, of the orthogonal complement and of the span of the columns of ``A``, of full column rank."""
    n, m = A.shape
    basis = _reflected(A, n)
    return basis[:, : n - m], basis[:, n - m :]


def _reflected(A: Matrix, count: int) -> Matrix:
    """The first so many unit vectors, moved by the reflections that move the last ones onto the columns of ``A``, one after the other."""
    n, m = A.shape
    columns = [A[:, j] for j in range(m)]
    basis = unit_matrix(n)[:, :count]
    reflections = []
    for j in range(m):
        # What earlier reflections have cleared is left alone: the last j entries.
        a = columns[j] * np.append(np.ones(n - j), np.zeros(j)) if j else columns[j]
        pivot = unit_matrix(n)[n - 1 - j]
        sign = jnp.where(a[n - 1 - j] >= 0, 1.0, -1.0)
        size = jnp.sqrt(dot(a, a))
        v = a + sign * size * pivot
        scale = 1 / (size * (size + jnp.abs(a[n - 1 - j])))  # 2/|v|²
        reflections.append((v, scale, sign))
        for k in range(j + 1, m):
            columns[k] = columns[k] - scale * dot(v, columns[k]) * v
    for v, scale, sign in reversed(reflections):
        along = lax.reduce_sum(lax.mul(lax.broadcast_in_dim(v, basis.shape, (0,)), jnp.asarray(basis)), (0,))
        basis = basis - (scale * v)[:, None] * along[None, :]
        if n > m:
            basis = basis * jnp.where(np.arange(count) == 0, sign, 1.0)[None, :]
    return basis
