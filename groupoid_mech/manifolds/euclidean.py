"""Euclidean space, the flat manifold."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_positive_integer
from groupoid_mech._types import Key, Point, Scalar, Vector
from groupoid_mech.manifolds.manifold import Manifold


@final
class Euclidean(Manifold):
    r"""The vector space :math:`R^n`.

    .. math:: \operatorname{retract}(x, \xi) = x + \xi .

    Args:
        dim: The dimension :math:`n`.

    Example:
        >>> Euclidean(2).local(jnp.zeros(2), jnp.array([1.0, 2.0]))
        Array([1., 2.], dtype=float64)
    """

    dim: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        require_positive_integer("Euclidean", "dim", self.dim)

    def retract(self, x: Point, xi: Vector) -> Point:
        return x + xi

    def local(self, x: Point, y: Point) -> Vector:
        return y - x

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return xi

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return v

    def project(self, y: Point) -> Point:
        return y

    def violation(self, y: Point) -> Scalar:
        return jnp.zeros(()) * jnp.sum(y)  # NaN and infinity are not points

    def random_point(self, key: Key) -> Point:
        return jax.random.normal(key, (self.dim,))
