r"""What rotations in three dimensions share, as matrices, quaternions or parts of motions.

.. math:: \exp\hat\omega = I + c_1\hat\omega + c_2\hat\omega^2, \qquad
    d\exp_\omega = I - c_2\hat\omega + c_3\hat\omega^2, \qquad
    (d\exp_\omega)^{-1} = I + \tfrac12\hat\omega + \kappa\hat\omega^2,

with Stumpff's :math:`c_k` at :math:`t = |\omega|^2`. The two derivatives hold with ad in place of :math:`\hat\omega` on every
algebra where :math:`\mathrm{ad}^3 = -t\,\mathrm{ad}`.

Those of many operations are programs of their own, ``jax.jit``: their derivatives are traced once for all uses.
"""

import jax
import jax.numpy as jnp

from groupoid_mech._types import Matrix, Scalar, Vector
from groupoid_mech.numerics.angle import ROUND_OFF, angle_ratio
from groupoid_mech.numerics.matrix import axial, cross_matrix, dot, matmul, matvec, unit_matrix
from groupoid_mech.numerics.newton import newton_root
from groupoid_mech.numerics.stumpff import stumpff


@jax.jit
def rotation_from_vector(w: Vector) -> Matrix:
    r"""Rodrigues' formula: the rotation by the angle :math:`|\omega|` about the axis :math:`\omega`."""
    t, W = dot(w, w), cross_matrix(w)
    return unit_matrix(3) + stumpff(1, t) * W + stumpff(2, t) * matmul(W, W)


def left_integral(w: Vector) -> Matrix:
    r""":math:`V(\omega) = \int_0^1 \exp(s\hat\omega)\,ds = I + c_2\hat\omega + c_3\hat\omega^2`, the translation part of a screw."""
    return dexp_cubic(-cross_matrix(w), dot(w, w))


def left_integral_inverse(w: Vector) -> Matrix:
    r""":math:`V(\omega)^{-1} = I - \tfrac12\hat\omega + \kappa\hat\omega^2`."""
    return dexp_cubic_inverse(-cross_matrix(w), dot(w, w))


@jax.jit
def kappa(t: Scalar) -> Scalar:
    r""":math:`\kappa(\theta^2) = \theta^{-2}(1 - \tfrac\theta2\cot\tfrac\theta2) = (c_3 - 2c_4)/(2c_2)`: no digit lost at 0."""
    return (stumpff(3, t) - 2 * stumpff(4, t)) / (2 * stumpff(2, t))


def dexp_cubic(ad: Matrix, t: Scalar) -> Matrix:
    r""":math:`(1 - e^{-\mathrm{ad}})/\mathrm{ad} = I - c_2\,\mathrm{ad} + c_3\,\mathrm{ad}^2` where :math:`\mathrm{ad}^3 = -t\,\mathrm{ad}`."""
    return unit_matrix(ad.shape[0]) - stumpff(2, t) * ad + stumpff(3, t) * matmul(ad, ad)


def dexp_cubic_inverse(ad: Matrix, t: Scalar) -> Matrix:
    r""":math:`\mathrm{ad}/(1 - e^{-\mathrm{ad}}) = I + \tfrac12\mathrm{ad} + \kappa\,\mathrm{ad}^2` where :math:`\mathrm{ad}^3 = -t\,\mathrm{ad}`."""
    return unit_matrix(ad.shape[0]) + 0.5 * ad + kappa(t) * matmul(ad, ad)


def rotation_cayley(w: Vector) -> Matrix:
    r""":math:`(I - \hat\omega/2)^{-1}(I + \hat\omega/2) = I + \frac{1}{1 + t/4}(\hat\omega + \tfrac12\hat\omega^2)`."""
    W = cross_matrix(w)
    return unit_matrix(3) + (W + 0.5 * matmul(W, W)) / (1 + 0.25 * dot(w, w))


def half_step_inverse(w: Vector) -> Matrix:
    r""":math:`(I - \hat\omega/2)^{-1} = \frac{1}{1 + t/4}(I + \tfrac12\hat\omega + \tfrac14\omega\omega^T)`."""
    return (unit_matrix(3) + 0.5 * cross_matrix(w) + 0.25 * w[:, None] * w[None, :]) / (1 + 0.25 * dot(w, w))


def rotation_dcayley(w: Vector) -> Matrix:
    r""":math:`d\mathrm{cay}_\omega = \frac{1}{1 + t/4}(I - \tfrac12\hat\omega)`."""
    return (unit_matrix(3) - 0.5 * cross_matrix(w)) / (1 + 0.25 * dot(w, w))


def rotation_dcayley_inverse(w: Vector) -> Matrix:
    r""":math:`(d\mathrm{cay}_\omega)^{-1} = I + \tfrac12\hat\omega + \tfrac14\omega\omega^T`."""
    return unit_matrix(3) + 0.5 * cross_matrix(w) + 0.25 * w[:, None] * w[None, :]


@jax.jit
def quaternion_of(R: Matrix) -> Vector:
    r"""One of the two unit quaternions :math:`\pm(w, x, y, z)` of a rotation, the one with :math:`w \ge 0`.

    :math:`4 q q^T` is linear in R; its row with the largest diagonal entry is normalized, so no digit is lost at any
    angle. At a rotation by π the largest of x, y, z is taken positive.
    """
    a, b, c, d, e, f, g, h, i = R.reshape(9)
    x, y, z = h - f, c - g, d - b
    rows = jnp.stack(
        [
            jnp.stack([1 + a + e + i, x, y, z]),
            jnp.stack([x, 1 + a - e - i, b + d, c + g]),
            jnp.stack([y, b + d, 1 - a + e - i, f + h]),
            jnp.stack([z, c + g, f + h, 1 - a - e + i]),
        ]
    )
    row = rows[0]
    best = rows[0, 0]
    for k in range(1, 4):
        larger = rows[k, k] > best
        row, best = jnp.where(larger, rows[k], row), jnp.where(larger, rows[k, k], best)
    q = row / jnp.sqrt(dot(row, row))
    return jnp.where(q[0] < 0, -q, q)


@jax.jit
def vector_of_quaternion(q: Vector) -> Vector:
    r"""The rotation vector :math:`2\,\mathrm{atan2}(|u|, w)\,u/|u|` of a unit quaternion :math:`(w, u)`."""
    u = q[1:]
    sine_squared = dot(u, u)
    undetermined = (q[0] < 0) & (sine_squared < ROUND_OFF**2)
    return jnp.where(undetermined, jnp.nan, 2 * angle_ratio(jnp.where(undetermined, 1.0, sine_squared), q[0]) * u)


def vector_of_rotation(R: Matrix) -> Vector:
    r"""The rotation vector of length ≤ π of a rotation matrix."""
    return vector_of_quaternion(quaternion_of(R))


def rotation_cayley_inverse(R: Matrix) -> Vector:
    r"""The vector :math:`2\tan(\theta/2)` times the axis, from the quaternion :math:`(w, u)` as :math:`2u/w`."""
    q = quaternion_of(R)
    return jnp.where(q[0] > ROUND_OFF, 2 * q[1:] / q[0], jnp.nan)


def rotation_of_quaternion(q: Vector) -> Matrix:
    r"""The rotation :math:`x \mapsto q x \bar q` of a unit quaternion."""
    w, u = q[0], q[1:]
    U = cross_matrix(u)
    return unit_matrix(3) + 2 * w * U + 2 * matmul(U, U)


def quaternion_product(p: Vector, q: Vector) -> Vector:
    r"""Hamilton's product :math:`p q`."""
    return matvec(left_quaternion_matrix(p), q)


def left_quaternion_matrix(q: Vector) -> Matrix:
    r"""The matrix of :math:`p \mapsto q p`."""
    w, x, y, z = q
    return jnp.stack([w, -x, -y, -z, x, w, -z, y, y, z, w, -x, z, -y, x, w]).reshape(4, 4)


def straightened_rotation(A: Matrix) -> Matrix:
    r"""The nearest rotation to a matrix that is one up to round-off, :math:`A - \tfrac12 A\,(A^TA - 1)`: one Newton step for the polar factor."""
    return A - matmul(A, 0.5 * (matmul(A.T, A) - unit_matrix(3)))


def nearest_rotation(A: Matrix) -> Matrix:
    r"""The rotation R with the least :math:`|R - A|`, for a matrix near the rotations; differentiable in A.

    The singular value decomposition gives the value; the condition that :math:`R^T A` be symmetric gives the derivative
    by the implicit function theorem, where the decomposition has none (at rotations its singular values coincide).
    """
    U, _, Vt = jnp.linalg.svd(jax.lax.stop_gradient(A))
    nearest = (U * jnp.ones(3).at[2].set(jnp.linalg.det(U @ Vt))) @ Vt

    def asymmetry(w: Vector) -> Vector:
        return axial(matmul(matmul(nearest, rotation_from_vector(w)).T, A))

    return matmul(nearest, rotation_from_vector(newton_root(asymmetry, jnp.zeros(3))))
