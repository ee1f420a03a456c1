"""The unit quaternions, the double cover of the rotations of space."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.groups import rotations
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.numerics.angle import ROUND_OFF
from groupoid_mech.numerics.matrix import cross_matrix, dot
from groupoid_mech.numerics.stumpff import stumpff


@final
class UnitQuaternions(LieGroup):
    r"""The unit quaternions :math:`S^3 \cong SU(2)`; an element is ``(w, x, y, z)``.

    The basis of the algebra is :math:`E_1, E_2, E_3 = i/2, j/2, k/2`, so that the brackets are those of :math:`SO(3)` and
    ξ is the rotation vector:

    .. math:: \exp(\xi) = (\cos\tfrac{|\xi|}2, \tfrac{\sin(|\xi|/2)}{|\xi|}\,\xi), \qquad
        \operatorname{cay}(\xi) = \frac{(1 - t/16,\; \xi/2)}{1 + t/16}, \quad t = |\xi|^2 .

    Both inverses reach every element but −1 (``CutLocusError``). The Cayley map is that of the quaternions, not the lift of
    the one on :math:`SO(3)`: it stays within the algebra and covers twice the angle.

    Args:
        tau: The retraction, ``"exp"`` or ``"cayley"``.

    Example:
        >>> H = UnitQuaternions()
        >>> H.multiply(jnp.array([0.0, 1.0, 0.0, 0.0]), jnp.array([0.0, 0.0, 1.0, 0.0]))
        Array([0., 0., 0., 1.], dtype=float64)
    """

    tau: str = eqx.field(static=True, default="exp")
    dim: int = eqx.field(static=True, init=False, default=3)

    def identity(self) -> Point:
        return jnp.array([1.0, 0.0, 0.0, 0.0])

    def multiply(self, g: Point, h: Point) -> Point:
        return rotations.quaternion_product(g, h)

    def inverse(self, g: Point) -> Point:
        return g * jnp.array([1.0, -1.0, -1.0, -1.0])

    def exp(self, xi: Vector) -> Point:
        t = 0.25 * dot(xi, xi)
        return jnp.concatenate([stumpff(0, t)[None], 0.5 * stumpff(1, t) * xi])

    def log(self, g: Point) -> Vector:
        return rotations.vector_of_quaternion(g)

    def cayley(self, xi: Vector) -> Point:
        t = dot(xi, xi) / 16
        return jnp.concatenate([(1 - t)[None], 0.5 * xi]) / (1 + t)

    def cayley_inverse(self, g: Point) -> Vector:
        # 1 + w loses its digits near w = −1; there |u|²/(1 − w) is the same number.
        u = g[1:]
        behind = g[0] < 0
        near = 4 * u / jnp.where(behind, 1.0, 1 + g[0])
        sine_squared = dot(u, u)
        far = 4 * u * (1 - g[0]) / jnp.where(behind, sine_squared, 1.0)
        far = jnp.where(sine_squared > ROUND_OFF**2, far, jnp.nan)
        return jnp.where(behind, far, near)

    def adjoint(self, g: Point) -> Matrix:
        return rotations.rotation_of_quaternion(g)

    def ad(self, xi: Vector) -> Matrix:
        return cross_matrix(xi)

    def dexp(self, xi: Vector) -> Matrix:
        return rotations.dexp_cubic(cross_matrix(xi), dot(xi, xi))

    def dexp_inverse(self, xi: Vector) -> Matrix:
        return rotations.dexp_cubic_inverse(cross_matrix(xi), dot(xi, xi))

    def dcayley(self, xi: Vector) -> Matrix:
        return self.dcayley_inverse(-xi) / (1 + dot(xi, xi) / 16) ** 2

    def dcayley_inverse(self, xi: Vector) -> Matrix:
        t = dot(xi, xi) / 16
        return (1 - t) * jnp.eye(3) + 0.5 * cross_matrix(xi) + 0.125 * xi[:, None] * xi[None, :]

    def hat(self, xi: Vector) -> Matrix:
        return rotations.left_quaternion_matrix(jnp.concatenate([jnp.zeros(1), 0.5 * xi]))

    def matrix(self, g: Point) -> Matrix:
        return rotations.left_quaternion_matrix(g)

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return rotations.quaternion_product(x, jnp.concatenate([jnp.zeros(1), 0.5 * xi]))

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return 2 * rotations.quaternion_product(self.inverse(x), v)[1:]

    def project(self, y: Point) -> Point:
        return y / jnp.sqrt(dot(y, y))

    def violation(self, y: Point) -> Scalar:
        return jnp.abs(jnp.sqrt(dot(y, y)) - 1)

    def random_point(self, key: Key) -> Point:
        return self.project(jax.random.normal(key, (4,)))
