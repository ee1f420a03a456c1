"""Block matrices of groups that act by x ↦ A x + b."""

import jax.numpy as jnp

from groupoid_mech._types import Matrix, Point, Vector


def block_lower(A: Matrix, B: Matrix, C: Matrix) -> Matrix:
    """The matrix ((A, 0), (B, C))."""
    return jnp.block([[A, jnp.zeros((A.shape[0], C.shape[1]))], [B, C]])


def affine_algebra_matrix(A: Matrix, v: Vector) -> Matrix:
    """The matrix ((A, v), (0, 0))."""
    return jnp.block([[A, v[:, None]], [jnp.zeros((1, v.size + 1))]])


def affine_group_matrix(g: Point) -> Matrix:
    """The homogeneous matrix ((R, x), (0, 1)) of the motion ``(R, x)``."""
    return affine_algebra_matrix(*g).at[-1, -1].set(1.0)
