"""What all vector bundles share: a point over the base with coordinates in the fibre."""

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Key, Point, Scalar, Vector
from groupoid_mech.manifolds.manifold import Manifold, from_ambient_by_autodiff, to_ambient_by_autodiff


class VectorBundle(Manifold):
    r"""A vector bundle :math:`E \to M`; a point is ``(x, e)`` with ``e`` the coordinates in the frame of the fibre at ``x``."""

    base: eqx.AbstractVar[Manifold]
    rank: eqx.AbstractVar[int]

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return to_ambient_by_autodiff(self, x, xi)

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return from_ambient_by_autodiff(self, x, v)

    def project(self, y: Point) -> Point:
        return self.base.project(y[0]), y[1]

    def violation(self, y: Point) -> Scalar:
        return self.base.violation(y[0]) + 0 * jnp.sum(y[1])  # NaN and infinity are not vectors

    def random_point(self, key: Key) -> Point:
        key_point, key_vector = jax.random.split(key)
        return self.base.random_point(key_point), jax.random.normal(key_vector, (self.rank,))
