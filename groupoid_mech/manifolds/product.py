"""Products of manifolds."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Key, Point, Scalar, Vector
from groupoid_mech.manifolds.manifold import Manifold


def split(sizes: tuple[int, ...], vector: Vector) -> list[Vector]:
    """Cut a flat coordinate vector into the blocks of the factors."""
    return jnp.split(vector, [int(end) for end in np.cumsum(sizes)[:-1]])


@final
class ProductManifold(Manifold):
    r"""The product :math:`M_1 \times \dots \times M_k`; a point is the tuple of its components.

    .. math:: \operatorname{retract}((x_i), (\xi_i)) = (\operatorname{retract}_i(x_i, \xi_i)) .

    Args:
        factors: The manifolds :math:`M_1, \dots, M_k`, given one after the other.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> M = ProductManifold(Euclidean(1), Euclidean(2))
        >>> M.local((jnp.zeros(1), jnp.zeros(2)), (jnp.ones(1), jnp.array([2.0, 3.0])))
        Array([1., 2., 3.], dtype=float64)
    """

    factors: tuple[Manifold, ...]
    dim: int = eqx.field(static=True)

    def __init__(self, *factors: Manifold):
        require_instances("ProductManifold", "factors", factors, Manifold)
        self.factors = factors
        self.dim = sum(self._sizes)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(M.dim for M in self.factors)

    def retract(self, x: Point, xi: Vector) -> Point:
        return tuple(M.retract(*pair) for M, *pair in zip(self.factors, x, split(self._sizes, xi), strict=True))

    def local(self, x: Point, y: Point) -> Vector:
        return jnp.concatenate([M.local(*pair) for M, *pair in zip(self.factors, x, y, strict=True)])

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return tuple(M.to_ambient(*pair) for M, *pair in zip(self.factors, x, split(self._sizes, xi), strict=True))

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return jnp.concatenate([M.from_ambient(*pair) for M, *pair in zip(self.factors, x, v, strict=True)])

    def project(self, y: Point) -> Point:
        return tuple(M.project(part) for M, part in zip(self.factors, y, strict=True))

    def violation(self, y: Point) -> Scalar:
        return jnp.max(jnp.stack([M.violation(part) for M, part in zip(self.factors, y, strict=True)]))

    def random_point(self, key: Key) -> Point:
        keys = jax.random.split(key, len(self.factors))
        return tuple(M.random_point(part) for M, part in zip(self.factors, keys, strict=True))
