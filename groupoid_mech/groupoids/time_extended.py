"""A groupoid extended by time, for steps of varying length."""

from typing import final

import equinox as eqx

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groupoids.product import ProductGroupoid
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.product import ProductManifold


@final
class TimeExtended(LieGroupoid):
    r"""The groupoid :math:`(R \times R) \times G \rightrightarrows R \times Q`; an arrow is ``((t0, t1), g)``, a base point ``(t, q)``.

    Times are vectors of length 1. The first algebroid coordinate is that of time. MMS §6.3.

    Args:
        groupoid: The groupoid :math:`G`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> G = TimeExtended(PairGroupoid(Euclidean(1)))
        >>> G.duration(((jnp.array([1.0]), jnp.array([1.5])), (jnp.zeros(1), jnp.ones(1))))
        Array(0.5, dtype=float64)
    """

    groupoid: LieGroupoid
    product: ProductGroupoid
    base: ProductManifold
    space: ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self, groupoid: LieGroupoid):
        require_instances("TimeExtended", "groupoid", (groupoid,), LieGroupoid)
        self.groupoid = groupoid
        self.product = ProductGroupoid(PairGroupoid(Euclidean(1)), groupoid)
        self.base = self.product.base
        self.space = self.product.space
        self.rank = self.product.rank

    def source(self, g: Point) -> Point:
        return self.product.source(g)

    def target(self, g: Point) -> Point:
        return self.product.target(g)

    def unit(self, q: Point) -> Point:
        return self.product.unit(q)

    def inverse(self, g: Point) -> Point:
        return self.product.inverse(g)

    def multiply(self, g: Point, h: Point) -> Point:
        return self.product.multiply(g, h)

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        return self.product.fiber_chart(q, a)

    def fiber_local(self, q: Point, g: Point) -> Vector:
        return self.product.fiber_local(q, g)

    def duration(self, g: Point) -> Scalar:
        r"""The time :math:`t_1 - t_0` that an arrow takes."""
        (t0, t1), _ = g
        return (t1 - t0)[0]
