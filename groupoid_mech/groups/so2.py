"""The rotation group of the plane."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.groups import plane
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.numerics.matrix import matmul


@final
class SO2(LieGroup):
    r"""The circle group :math:`SO(2)`; an element is a 2×2 rotation matrix.

    .. math:: \exp\theta = \begin{pmatrix}\cos\theta & -\sin\theta\\ \sin\theta & \cos\theta\end{pmatrix}, \qquad
        \operatorname{cay}(\theta) = \exp(2\arctan\tfrac\theta2) .

    ``log`` returns the angle in (−π, π]; ``cayley_inverse`` has no value at the half turn and raises ``CutLocusError``.

    Args:
        tau: The retraction, ``"exp"`` or ``"cayley"``.

    Example:
        >>> SO2().log(SO2().exp(jnp.array([0.5])))
        Array([0.5], dtype=float64)
    """

    tau: str = eqx.field(static=True, default="exp")
    dim: int = eqx.field(static=True, init=False, default=1)

    def identity(self) -> Point:
        return jnp.eye(2)

    def multiply(self, g: Point, h: Point) -> Point:
        return matmul(g, h)

    def inverse(self, g: Point) -> Point:
        return g.T

    def exp(self, xi: Vector) -> Point:
        return plane.rotation(xi[0])

    def log(self, g: Point) -> Vector:
        return plane.angle_of(g)[None]

    def cayley(self, xi: Vector) -> Point:
        return plane.cayley(xi[0])

    def cayley_inverse(self, g: Point) -> Vector:
        return plane.cayley_inverse(g)[None]

    def adjoint(self, g: Point) -> Matrix:
        return jnp.eye(1)

    def ad(self, xi: Vector) -> Matrix:
        return jnp.zeros((1, 1))

    def dexp(self, xi: Vector) -> Matrix:
        return jnp.eye(1)

    def dexp_inverse(self, xi: Vector) -> Matrix:
        return jnp.eye(1)

    def dcayley(self, xi: Vector) -> Matrix:
        return (1 / (1 + 0.25 * xi * xi))[:, None]

    def dcayley_inverse(self, xi: Vector) -> Matrix:
        return (1 + 0.25 * xi * xi)[:, None]

    def hat(self, xi: Vector) -> Matrix:
        return xi[0] * plane.QUARTER_TURN

    def matrix(self, g: Point) -> Matrix:
        return g

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return xi[0] * matmul(x, plane.QUARTER_TURN)

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return plane.turn_rate(x, v)[None]

    def project(self, y: Point) -> Point:
        return plane.nearest_rotation(y)

    def violation(self, y: Point) -> Scalar:
        return plane.rotation_violation(y)

    def random_point(self, key: Key) -> Point:
        return plane.rotation(jax.random.uniform(key, minval=-jnp.pi, maxval=jnp.pi))
