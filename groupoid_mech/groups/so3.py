"""The rotation group of space."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.groups import rotations
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.restored import restored
from groupoid_mech.numerics.matrix import axial, cross_matrix, dot, matmul
from groupoid_mech.numerics.with_value import with_value


@final
class SO3(LieGroup):
    r"""The rotation group :math:`SO(3)`; an element is a 3×3 matrix.

    .. math:: [E_1, E_2] = E_3, \qquad \mathrm{Ad}_R = R, \qquad \mathrm{ad}_\omega = \hat\omega .

    ``log`` returns the rotation vector of length at most π; of the two vectors of a rotation by exactly π it takes the one
    whose largest component is positive. ``cayley_inverse`` has no value there and raises ``CutLocusError``.

    Args:
        tau: The retraction, ``"exp"`` or ``"cayley"``.

    Example:
        >>> SO3().log(SO3().exp(jnp.array([0.1, 0.2, 0.3]))).round(12)
        Array([0.1, 0.2, 0.3], dtype=float64)
    """

    tau: str = eqx.field(static=True, default="exp")
    dim: int = eqx.field(static=True, init=False, default=3)

    def identity(self) -> Point:
        return jnp.eye(3)

    def multiply(self, g: Point, h: Point) -> Point:
        return matmul(g, h)

    def inverse(self, g: Point) -> Point:
        return g.T

    def exp(self, xi: Vector) -> Point:
        return rotations.rotation_from_vector(xi)

    def log(self, g: Point) -> Vector:
        return rotations.vector_of_rotation(g)

    def cayley(self, xi: Vector) -> Point:
        return rotations.rotation_cayley(xi)

    def cayley_inverse(self, g: Point) -> Vector:
        return rotations.rotation_cayley_inverse(g)

    def adjoint(self, g: Point) -> Matrix:
        return g

    def ad(self, xi: Vector) -> Matrix:
        return cross_matrix(xi)

    def dexp(self, xi: Vector) -> Matrix:
        return rotations.dexp_cubic(cross_matrix(xi), dot(xi, xi))

    def dexp_inverse(self, xi: Vector) -> Matrix:
        return rotations.dexp_cubic_inverse(cross_matrix(xi), dot(xi, xi))

    def dcayley(self, xi: Vector) -> Matrix:
        return rotations.rotation_dcayley(xi)

    def dcayley_inverse(self, xi: Vector) -> Matrix:
        return rotations.rotation_dcayley_inverse(xi)

    def hat(self, xi: Vector) -> Matrix:
        return cross_matrix(xi)

    def matrix(self, g: Point) -> Matrix:
        return g

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return matmul(x, cross_matrix(xi))

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return axial(matmul(x.T, v))

    def project(self, y: Point) -> Point:
        return rotations.nearest_rotation(y)

    def violation(self, y: Point) -> Scalar:
        orthogonality = jnp.max(jnp.abs(matmul(y.T, y) - jnp.eye(3)))
        return jnp.maximum(orthogonality, jnp.abs(dot(jnp.cross(y[0], y[1]), y[2]) - 1))

    def random_point(self, key: Key) -> Point:
        q = jax.random.normal(key, (4,))
        return rotations.rotation_of_quaternion(q / jnp.sqrt(dot(q, q)))


@restored.register
def _(group: SO3, R: Point) -> Point:
    return with_value(rotations.straightened_rotation(R), R)
