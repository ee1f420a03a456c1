"""The motions of space."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.groups import rotations
from groupoid_mech.groups.affine import affine_algebra_matrix, affine_group_matrix, block_lower
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.manifolds.restored import restored
from groupoid_mech.numerics.matrix import axial, cross_matrix, dot, matmul, matvec
from groupoid_mech.numerics.stumpff import stumpff


@final
class SE3(LieGroup):
    r"""The group :math:`SE(3)` of motions of space; an element is ``(R, x)``, the map :math:`y \mapsto R y + x`.

    Algebra coordinates are :math:`(\omega, v)`, rotation first:

    .. math:: [(\omega, v), (\sigma, w)] = (\omega\times\sigma, \omega\times w - \sigma\times v), \qquad
        \exp(\omega, v) = (\exp\omega, V(\omega) v), \qquad
        \operatorname{cay}(\omega, v) = (\operatorname{cay}\omega, (I - \tfrac12\hat\omega)^{-1} v),

    with :math:`V(\omega) = I + c_2\hat\omega + c_3\hat\omega^2`. As :math:`se(3)` is :math:`so(3)` over the dual numbers
    :math:`\omega + \varepsilon v`, the lower left block of dexp is the derivative of that of SO(3) in the direction v. At
    rotations by π ``log`` chooses as in `SO3`, and ``cayley_inverse`` raises ``CutLocusError``.

    Args:
        tau: The retraction, ``"exp"`` or ``"cayley"``.

    Example:
        >>> R, x = SE3().exp(jnp.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]))
        >>> x
        Array([1., 2., 3.], dtype=float64)
    """

    tau: str = eqx.field(static=True, default="exp")
    dim: int = eqx.field(static=True, init=False, default=6)

    def identity(self) -> Point:
        return jnp.eye(3), jnp.zeros(3)

    def multiply(self, g: Point, h: Point) -> Point:
        return matmul(g[0], h[0]), matvec(g[0], h[1]) + g[1]

    def inverse(self, g: Point) -> Point:
        return g[0].T, -matvec(g[0].T, g[1])

    def exp(self, xi: Vector) -> Point:
        w, v = xi[:3], xi[3:]
        return rotations.rotation_from_vector(w), matvec(rotations.left_integral(w), v)

    def log(self, g: Point) -> Vector:
        w = rotations.vector_of_rotation(g[0])
        return jnp.concatenate([w, matvec(rotations.left_integral_inverse(w), g[1])])

    def cayley(self, xi: Vector) -> Point:
        w, v = xi[:3], xi[3:]
        return rotations.rotation_cayley(w), matvec(rotations.half_step_inverse(w), v)

    def cayley_inverse(self, g: Point) -> Vector:
        w = rotations.rotation_cayley_inverse(g[0])
        return jnp.concatenate([w, g[1] - 0.5 * jnp.cross(w, g[1])])

    def adjoint(self, g: Point) -> Matrix:
        return block_lower(g[0], matmul(cross_matrix(g[1]), g[0]), g[0])

    def ad(self, xi: Vector) -> Matrix:
        W = cross_matrix(xi[:3])
        return block_lower(W, cross_matrix(xi[3:]), W)

    def dexp(self, xi: Vector) -> Matrix:
        W, V = cross_matrix(xi[:3]), cross_matrix(xi[3:])
        t, t_dot = dot(xi[:3], xi[:3]), 2 * dot(xi[:3], xi[3:])
        c2, c3, c4, c5 = (stumpff(k, t) for k in range(2, 6))
        c2_dot, c3_dot = 0.5 * (2 * c4 - c3) * t_dot, 0.5 * (3 * c5 - c4) * t_dot
        diagonal = rotations.dexp_cubic(W, t)
        lower = -c2_dot * W - c2 * V + c3_dot * matmul(W, W) + c3 * (matmul(W, V) + matmul(V, W))
        return block_lower(diagonal, lower, diagonal)

    def dexp_inverse(self, xi: Vector) -> Matrix:
        diagonal = rotations.dexp_cubic_inverse(cross_matrix(xi[:3]), dot(xi[:3], xi[:3]))
        lower = -matmul(matmul(diagonal, self.dexp(xi)[3:, :3]), diagonal)
        return block_lower(diagonal, lower, diagonal)

    def dcayley(self, xi: Vector) -> Matrix:
        rotation = rotations.rotation_dcayley(xi[:3])
        lower = -0.5 * matmul(cross_matrix(xi[3:]), rotation)
        return block_lower(rotation, lower, rotations.half_step_inverse(-xi[:3]))

    def dcayley_inverse(self, xi: Vector) -> Matrix:
        half = jnp.eye(3) + 0.5 * cross_matrix(xi[:3])
        lower = 0.5 * matmul(half, cross_matrix(xi[3:]))
        return block_lower(rotations.rotation_dcayley_inverse(xi[:3]), lower, half)

    def hat(self, xi: Vector) -> Matrix:
        return affine_algebra_matrix(cross_matrix(xi[:3]), xi[3:])

    def matrix(self, g: Point) -> Matrix:
        return affine_group_matrix(g)

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return matmul(x[0], cross_matrix(xi[:3])), matvec(x[0], xi[3:])

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return jnp.concatenate([axial(matmul(x[0].T, v[0])), matvec(x[0].T, v[1])])

    def project(self, y: Point) -> Point:
        return rotations.nearest_rotation(y[0]), y[1]

    def violation(self, y: Point) -> Scalar:
        return SO3().violation(y[0]) + 0 * jnp.sum(y[1])  # NaN and infinity are not translations

    def random_point(self, key: Key) -> Point:
        key_rotation, key_shift = jax.random.split(key)
        return SO3().random_point(key_rotation), jax.random.normal(key_shift, (3,))


@restored.register
def _(group: SE3, g: Point) -> Point:
    return restored(SO3(), g[0]), g[1]
