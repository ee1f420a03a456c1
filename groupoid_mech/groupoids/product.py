"""Products of Lie groupoids."""

from typing import Any, final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.manifolds.product import ProductManifold, split


@final
class ProductGroupoid(LieGroupoid):
    r"""The product :math:`G_1 \times \dots \times G_k \rightrightarrows Q_1 \times \dots \times Q_k`, component by component.

    Args:
        factors: The groupoids :math:`G_1, \dots, G_k`, given one after the other.

    Example:
        >>> from groupoid_mech import SO3, Euclidean, GroupGroupoid, PairGroupoid
        >>> plate_ball = ProductGroupoid(PairGroupoid(Euclidean(2)), GroupGroupoid(SO3()))
        >>> plate_ball.rank
        5
    """

    factors: tuple[LieGroupoid, ...]
    base: ProductManifold
    space: ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self, *factors: LieGroupoid):
        require_instances("ProductGroupoid", "factors", factors, LieGroupoid)
        self.factors = factors
        self.base = ProductManifold(*(G.base for G in factors))
        self.space = ProductManifold(*(G.space for G in factors))
        self.rank = sum(self._ranks)

    @property
    def _ranks(self) -> tuple[int, ...]:
        return tuple(G.rank for G in self.factors)

    def source(self, g: Point) -> Point:
        return self._each("source", g)

    def target(self, g: Point) -> Point:
        return self._each("target", g)

    def unit(self, q: Point) -> Point:
        return self._each("unit", q)

    def inverse(self, g: Point) -> Point:
        return self._each("inverse", g)

    def multiply(self, g: Point, h: Point) -> Point:
        return self._each("multiply", g, h)

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        return self._each("fiber_chart", q, split(self._ranks, a))

    def fiber_local(self, q: Point, g: Point) -> Vector:
        return jnp.concatenate(self._each("fiber_local", q, g))

    def _each(self, method: str, *arguments: Any) -> tuple[Any, ...]:
        return tuple(getattr(G, method)(*parts) for G, *parts in zip(self.factors, *arguments, strict=True))
