"""The motions of the plane."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.groups import plane
from groupoid_mech.groups.affine import affine_algebra_matrix, affine_group_matrix, block_lower
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.groups.rotations import dexp_cubic, dexp_cubic_inverse
from groupoid_mech.numerics.matrix import matmul, matvec
from groupoid_mech.numerics.stumpff import stumpff


@final
class SE2(LieGroup):
    r"""The group :math:`SE(2)` of motions of the plane; an element is ``(R, x)``, the map :math:`y \mapsto R y + x`.

    Algebra coordinates are :math:`(\theta, v_1, v_2)`, rotation first:

    .. math:: [(\theta, v), (\phi, w)] = (0, \theta J w - \phi J v), \qquad
        \exp(\theta, v) = (R_\theta, (c_1(\theta^2) + \theta c_2(\theta^2) J)\,v), \qquad
        \operatorname{cay}(\theta, v) = (\operatorname{cay}\theta, (I - \tfrac\theta2 J)^{-1} v) .

    At a half turn ``log`` takes the angle +π; ``cayley_inverse`` has no value there and raises ``CutLocusError``.

    Args:
        tau: The retraction, ``"exp"`` or ``"cayley"``.

    Example:
        >>> R, x = SE2().exp(jnp.array([jnp.pi / 2, jnp.pi / 2, 0.0]))
        >>> x.round(12)
        Array([1., 1.], dtype=float64)
    """

    tau: str = eqx.field(static=True, default="exp")
    dim: int = eqx.field(static=True, init=False, default=3)

    def identity(self) -> Point:
        return jnp.eye(2), jnp.zeros(2)

    def multiply(self, g: Point, h: Point) -> Point:
        return matmul(g[0], h[0]), matvec(g[0], h[1]) + g[1]

    def inverse(self, g: Point) -> Point:
        return g[0].T, -matvec(g[0].T, g[1])

    def exp(self, xi: Vector) -> Point:
        return plane.rotation(xi[0]), matvec(_integral(xi[0]), xi[1:])

    def log(self, g: Point) -> Vector:
        angle = plane.angle_of(g[0])
        V = _integral(angle)
        return jnp.concatenate([angle[None], matvec(V.T, g[1]) / (V[0, 0] ** 2 + V[1, 0] ** 2)])

    def cayley(self, xi: Vector) -> Point:
        return plane.cayley(xi[0]), matvec(_half_step(-xi[0]), xi[1:]) / (1 + 0.25 * xi[0] ** 2)

    def cayley_inverse(self, g: Point) -> Vector:
        angle = plane.cayley_inverse(g[0])
        return jnp.concatenate([angle[None], matvec(_half_step(angle), g[1])])

    def adjoint(self, g: Point) -> Matrix:
        return block_lower(jnp.eye(1), -matvec(plane.QUARTER_TURN, g[1])[:, None], g[0])

    def ad(self, xi: Vector) -> Matrix:
        J = plane.QUARTER_TURN
        return block_lower(jnp.zeros((1, 1)), -matvec(J, xi[1:])[:, None], xi[0] * J)

    def dexp(self, xi: Vector) -> Matrix:
        return dexp_cubic(self.ad(xi), xi[0] ** 2)

    def dexp_inverse(self, xi: Vector) -> Matrix:
        return dexp_cubic_inverse(self.ad(xi), xi[0] ** 2)

    def dcayley(self, xi: Vector) -> Matrix:
        s = 1 / (1 + 0.25 * xi[0] ** 2)
        shear = 0.5 * s * matvec(plane.QUARTER_TURN, xi[1:])[:, None]
        return block_lower(s[None, None], shear, s * _half_step(xi[0]))

    def dcayley_inverse(self, xi: Vector) -> Matrix:
        backward = _half_step(-xi[0])
        shear = -0.5 * matvec(backward, matvec(plane.QUARTER_TURN, xi[1:]))[:, None]
        return block_lower((1 + 0.25 * xi[0] ** 2)[None, None], shear, backward)

    def hat(self, xi: Vector) -> Matrix:
        return affine_algebra_matrix(xi[0] * plane.QUARTER_TURN, xi[1:])

    def matrix(self, g: Point) -> Matrix:
        return affine_group_matrix(g)

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return xi[0] * matmul(x[0], plane.QUARTER_TURN), matvec(x[0], xi[1:])

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return jnp.concatenate([plane.turn_rate(x[0], v[0])[None], matvec(x[0].T, v[1])])

    def project(self, y: Point) -> Point:
        return plane.nearest_rotation(y[0]), y[1]

    def violation(self, y: Point) -> Scalar:
        return plane.rotation_violation(y[0]) + 0 * jnp.sum(y[1])  # NaN and infinity are not translations

    def random_point(self, key: Key) -> Point:
        key_angle, key_shift = jax.random.split(key)
        angle = jax.random.uniform(key_angle, minval=-jnp.pi, maxval=jnp.pi)
        return plane.rotation(angle), jax.random.normal(key_shift, (2,))


def _integral(angle: Scalar) -> Matrix:
    r""":math:`\int_0^1 R_{s\theta}\,ds = c_1 I + \theta c_2 J`."""
    t = angle * angle
    return plane.scaled_rotation(stumpff(1, t), angle * stumpff(2, t))


def _half_step(angle: Scalar) -> Matrix:
    r""":math:`I - \tfrac\theta2 J`, whose inverse is its transpose over :math:`1 + \theta^2/4`."""
    return plane.scaled_rotation(jnp.ones_like(angle), -0.5 * angle)
