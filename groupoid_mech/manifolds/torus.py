"""The flat torus, in angles."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_positive_integer
from groupoid_mech._types import Key, Point, Scalar, Vector
from groupoid_mech.manifolds.manifold import Manifold


@final
class Torus(Manifold):
    r"""The torus :math:`T^n = (R / 2\pi Z)^n`; a point is a vector of angles, any representative.

    .. math:: \operatorname{retract}(x, \xi) = x + \xi, \qquad
        \operatorname{local}(x, y) = y - x \bmod 2\pi \in [-\pi, \pi]^n .

    Angles are not reduced on the way, so that paths stay continuous; ``project`` reduces them. Where two angles differ
    by exactly π, ``local`` gives one of the two values ±π.

    Args:
        dim: The dimension :math:`n`.

    Example:
        >>> Torus(1).local(jnp.array([3.0]), jnp.array([-3.0])).round(4)
        Array([0.2832], dtype=float64)
    """

    dim: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        require_positive_integer("Torus", "dim", self.dim)

    def retract(self, x: Point, xi: Vector) -> Point:
        return x + xi

    def local(self, x: Point, y: Point) -> Vector:
        return _wrap(y - x)

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return xi

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return v

    def project(self, y: Point) -> Point:
        return _wrap(y)

    def violation(self, y: Point) -> Scalar:
        return jnp.zeros(()) * jnp.sum(y)  # NaN and infinity are not points

    def random_point(self, key: Key) -> Point:
        return jax.random.uniform(key, (self.dim,), minval=-jnp.pi, maxval=jnp.pi)


def _wrap(angle: Vector) -> Vector:
    return angle - 2 * jnp.pi * jnp.round(angle / (2 * jnp.pi))
