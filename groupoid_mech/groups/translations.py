"""The additive group of a vector space."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_positive_integer
from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.groups.affine import affine_algebra_matrix, affine_group_matrix
from groupoid_mech.groups.lie_group import LieGroup


@final
class Translations(LieGroup):
    r"""The abelian group :math:`(R^n, +)`; exp and the Cayley map are the identity.

    Args:
        dim: The dimension :math:`n`.
        tau: The retraction, ``"exp"`` or ``"cayley"`` (the same map here).

    Example:
        >>> Translations(2).multiply(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0]))
        Array([4., 6.], dtype=float64)
    """

    dim: int = eqx.field(static=True)
    tau: str = eqx.field(static=True, default="exp")

    def __check_init__(self) -> None:
        require_positive_integer("Translations", "dim", self.dim)

    def identity(self) -> Point:
        return jnp.zeros(self.dim)

    def multiply(self, g: Point, h: Point) -> Point:
        return g + h

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
        return jnp.eye(self.dim)

    def ad(self, xi: Vector) -> Matrix:
        return jnp.zeros((self.dim, self.dim))

    def dexp(self, xi: Vector) -> Matrix:
        return jnp.eye(self.dim)

    def dexp_inverse(self, xi: Vector) -> Matrix:
        return jnp.eye(self.dim)

    def dcayley(self, xi: Vector) -> Matrix:
        return jnp.eye(self.dim)

    def dcayley_inverse(self, xi: Vector) -> Matrix:
        return jnp.eye(self.dim)

    def hat(self, xi: Vector) -> Matrix:
        return affine_algebra_matrix(jnp.zeros((self.dim, self.dim)), xi)

    def matrix(self, g: Point) -> Matrix:
        return affine_group_matrix((jnp.eye(self.dim), g))

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return xi

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return v

    def project(self, y: Point) -> Point:
        return y

    def violation(self, y: Point) -> Scalar:
        return jnp.zeros(()) * jnp.sum(y)  # NaN and infinity are not elements

    def random_point(self, key: Key) -> Point:
        return jax.random.normal(key, (self.dim,))
