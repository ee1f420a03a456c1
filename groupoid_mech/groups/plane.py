"""What rotations and motions of the plane share: 2×2 rotation matrices and their angle."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from groupoid_mech._types import Matrix, Scalar
from groupoid_mech.numerics.angle import ROUND_OFF
from groupoid_mech.numerics.matrix import matmul

# A numpy constant: importing the package must not start JAX's backend.
QUARTER_TURN: Any = np.array([[0.0, -1.0], [1.0, 0.0]])


def scaled_rotation(c: Scalar, s: Scalar) -> Matrix:
    r"""The matrix :math:`c I + s J`."""
    return jnp.stack([c, -s, s, c]).reshape(2, 2)


def rotation(angle: Scalar) -> Matrix:
    """The rotation by an angle."""
    return scaled_rotation(jnp.cos(angle), jnp.sin(angle))


def angle_of(R: Matrix) -> Scalar:
    """The angle of a rotation, in (−π, π]."""
    return jnp.arctan2(R[1, 0], R[0, 0])


def turn_rate(R: Matrix, V: Matrix) -> Scalar:
    r"""The rate :math:`\dot\theta` of a tangent vector :math:`V = \dot\theta R J` at a rotation."""
    S = matmul(R.T, V)
    return 0.5 * (S[1, 0] - S[0, 1])


def cayley(angle: Scalar) -> Matrix:
    r""":math:`(I - \theta J/2)^{-1}(I + \theta J/2)`."""
    t = 0.25 * angle * angle
    return scaled_rotation((1 - t) / (1 + t), angle / (1 + t))


def cayley_inverse(R: Matrix) -> Scalar:
    r""":math:`2\tan(\theta/2)` of a rotation by :math:`\theta`; of the two formulas for it the one that keeps its digits."""
    c, s = R[0, 0], R[1, 0]
    behind = c < 0
    far = jnp.where(jnp.abs(s) > ROUND_OFF, 2 * (1 - c) / jnp.where(behind, s, 1.0), jnp.nan)
    return jnp.where(behind, far, 2 * s / jnp.where(behind, 1.0, 1 + c))


def nearest_rotation(A: Matrix) -> Matrix:
    """The rotation nearest to a 2×2 matrix."""
    c, s = A[0, 0] + A[1, 1], A[1, 0] - A[0, 1]
    return scaled_rotation(c, s) / jnp.sqrt(c * c + s * s)


def rotation_violation(A: Matrix) -> Scalar:
    """How far a 2×2 matrix is from being a rotation."""
    orthogonality = jnp.max(jnp.abs(matmul(A.T, A) - jnp.eye(2)))
    return jnp.maximum(orthogonality, jnp.abs(A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0] - 1))
