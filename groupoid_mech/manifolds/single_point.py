"""The manifold with one point, the base of a Lie group seen as a groupoid."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._types import Key, Point, Scalar, Vector
from groupoid_mech.manifolds.manifold import Manifold


@final
class SinglePoint(Manifold):
    r"""The point :math:`\{*\}`, of dimension 0, written as an empty vector.

    Example:
        >>> import jax
        >>> SinglePoint().random_point(jax.random.key(0)).shape
        (0,)
    """

    dim: int = eqx.field(static=True, init=False, default=0)

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
        return jnp.sum(y)

    def random_point(self, key: Key) -> Point:
        return jnp.zeros(0)
