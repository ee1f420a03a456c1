"""The Heisenberg group, in exponential coordinates."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.numerics.matrix import matvec


@final
class Heisenberg(LieGroup):
    r"""The Heisenberg group on :math:`R^3`; an element is ``(x, y, z)``.

    .. math:: (x, y, z)(x', y', z') = (x + x', y + y', z + z' + \tfrac12(x y' - y x')), \qquad [E_1, E_2] = E_3 .

    These are exponential coordinates: exp and log are the identity, and the Cayley map of the defining upper triangular
    matrices equals exp, as their third powers vanish.

    Args:
        tau: The retraction, ``"exp"`` or ``"cayley"`` (the same map here).

    Example:
        >>> Heisenberg().multiply(jnp.array([1.0, 0.0, 0.0]), jnp.array([0.0, 1.0, 0.0]))
        Array([1. , 1. , 0.5], dtype=float64)
    """

    tau: str = eqx.field(static=True, default="exp")
    dim: int = eqx.field(static=True, init=False, default=3)

    def identity(self) -> Point:
        return jnp.zeros(3)

    def multiply(self, g: Point, h: Point) -> Point:
        return g + h + jnp.zeros(3).at[2].set(0.5 * (g[0] * h[1] - g[1] * h[0]))

    def inverse(self, g: Point) -> Point:
        return -g

    def exp(self, xi: Vector) -> Point:
        return xi

    def log(self, g: Point) -> Vector:
        return g

    def cayley(self, xi: Vector) -> Point:
        return xi

    def cayley_inverse(self, g: Point) -> Vector:
        return g

    def adjoint(self, g: Point) -> Matrix:
        return jnp.eye(3) + self.ad(g)

    def ad(self, xi: Vector) -> Matrix:
        return jnp.zeros((3, 3)).at[2, :2].set(jnp.stack([-xi[1], xi[0]]))

    def dexp(self, xi: Vector) -> Matrix:
        return jnp.eye(3) - 0.5 * self.ad(xi)

    def dexp_inverse(self, xi: Vector) -> Matrix:
        return jnp.eye(3) + 0.5 * self.ad(xi)

    def dcayley(self, xi: Vector) -> Matrix:
        return jnp.eye(3) - 0.5 * self.ad(xi)

    def dcayley_inverse(self, xi: Vector) -> Matrix:
        return jnp.eye(3) + 0.5 * self.ad(xi)

    def hat(self, xi: Vector) -> Matrix:
        zero = jnp.zeros_like(xi[0])
        return jnp.stack([zero, xi[0], xi[2], zero, zero, xi[1], zero, zero, zero]).reshape(3, 3)

    def matrix(self, g: Point) -> Matrix:
        return jnp.eye(3) + self.hat(g).at[0, 2].add(0.5 * g[0] * g[1])

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return xi + 0.5 * matvec(self.ad(x), xi)

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return v - 0.5 * matvec(self.ad(x), v)

    def project(self, y: Point) -> Point:
        return y

    def violation(self, y: Point) -> Scalar:
        return jnp.zeros(()) * jnp.sum(y)  # NaN and infinity are not elements

    def random_point(self, key: Key) -> Point:
        return jax.random.normal(key, (3,))
