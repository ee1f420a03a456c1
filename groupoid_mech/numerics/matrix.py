"""Products and solves of small matrices, as plain multiply-and-add.

Convention: one matrix at a time, shapes known when tracing. Derivatives of a library ``dot`` and every LAPACK call leave the
compiled loop and cost more than the arithmetic of small sizes; ``benchmarks/small_matrices.py`` shows where this turns.
"""

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Matrix, Vector

# Solves win up to here in time loops that compile to one native function; products with their Jacobians up to 6.
UNROLLED_UP_TO = 12
_SUMMED_UP_TO = 6


def matmul(A: Matrix, B: Matrix) -> Matrix:
    """``A B``, as multiply-and-sum for small matrices."""
    if max(*A.shape, *B.shape) > _SUMMED_UP_TO:
        return A @ B
    return jnp.sum(A[:, :, None] * B[None, :, :], axis=1)


def matvec(A: Matrix, x: Vector) -> Vector:
    """``A x`` for a small matrix."""
    return jnp.sum(A * x[None, :], axis=1)


def dot(x: Vector, y: Vector) -> Array:
    """The Euclidean inner product of two small vectors."""
    return jnp.sum(x * y)


def cross_matrix(w: Vector) -> Matrix:
    r"""The matrix :math:`\hat w` with :math:`\hat w\,x = w \times x`."""
    zero = jnp.zeros_like(w[0])
    return jnp.stack([zero, -w[2], w[1], w[2], zero, -w[0], -w[1], w[0], zero]).reshape(3, 3)


def solve(A: Matrix, b: Vector) -> Vector:
    """The solution of ``A x = b``, differentiated as a linear solve.

    Up to size 12 by unrolled Gauss–Jordan elimination with partial pivoting, above by LAPACK. A singular ``A`` gives
    infinities or NaN, which callers turn into their own named errors.
    """
    eliminate = _eliminate if A.shape[0] <= UNROLLED_UP_TO else jnp.linalg.solve
    return jax.lax.custom_linear_solve(
        lambda x: matvec(A, x),
        b,
        solve=lambda _, rhs: eliminate(A, rhs),
        transpose_solve=lambda _, rhs: eliminate(A.T, rhs),
    )


def solve_columns(A: Matrix, B: Matrix) -> Matrix:
    """The solution of ``A X = B`` for all columns at once, not differentiated: up to size 12 by elimination, above by LAPACK."""
    return _eliminate(A, B) if A.shape[0] <= UNROLLED_UP_TO else jnp.linalg.solve(A, B)


def right_inverse(B: Matrix) -> Matrix:
    r"""The least-norm right inverse :math:`B^T (B B^T)^{-1}` of a wide matrix of full rank; no rows, no columns."""
    return _right_inverse(B) if B.shape[0] else B.T


@jax.custom_jvp
def _right_inverse(B: Matrix) -> Matrix:
    return matmul(B.T, solve_columns(matmul(B, B.T), jnp.eye(B.shape[0])))


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
    rows = jnp.concatenate([A, b.reshape(n, -1)], axis=1)
    for k in range(n):
        best = k + jnp.argmax(jnp.abs(rows[k:, k]))
        pivot = jax.lax.dynamic_index_in_dim(rows, best, keepdims=False)
        rows = jax.lax.dynamic_update_index_in_dim(rows, rows[k], best, 0)
        pivot = pivot / pivot[k]
        rows = (rows - rows[:, k : k + 1] * pivot).at[k].set(pivot)
    return rows[:, n:].reshape(b.shape)


def axial(S: Matrix) -> Vector:
    r"""The vector of the antisymmetric part of a 3×3 matrix: the inverse of `cross_matrix`."""
    return 0.5 * jnp.stack([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def complement(A: Matrix) -> Matrix:
    r"""An orthonormal basis, as columns, of the orthogonal complement of the columns of ``A``.

    By Householder reflections: for ``A`` of full column rank the basis is a smooth function of ``A`` but for sudden
    sign changes on a set of measure zero. The columns ``(complement, A)`` are positively oriented for one column.
    """
    n, m = A.shape
    columns = [A[:, j] for j in range(m)]
    basis = jnp.eye(n)[:, : n - m]
    reflections = []
    for j in range(m):
        tail = jnp.arange(n) < n - j
        a = jnp.where(tail, columns[j], 0.0)
        pivot = n - 1 - j
        sign = jnp.where(a[pivot] >= 0, 1.0, -1.0)
        v = a.at[pivot].add(sign * jnp.sqrt(dot(a, a)))
        scale = 2 / dot(v, v)
        reflections.append((v, scale, sign))
        for k in range(j + 1, m):
            columns[k] = columns[k] - scale * dot(v, columns[k]) * v
    for v, scale, sign in reversed(reflections):
        basis = basis - scale * v[:, None] * jnp.sum(v[:, None] * basis, axis=0)[None, :]
        basis = basis.at[:, 0].multiply(sign) if n > m else basis
    return basis
