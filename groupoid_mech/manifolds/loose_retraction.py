r"""Retractions that are a search, with the search left to the caller: for code that solves other equations at the same time.

.. math:: \operatorname{retract}(x, \xi) = y(\xi, z), \qquad f(\xi, z) = 0 ,

with the searched numbers z, and as many equations f. Most retractions search for nothing.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import TypeAlias

import jax.numpy as jnp

from groupoid_mech._types import Point, Vector
from groupoid_mech.manifolds.level_set import LevelSet
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold, split
from groupoid_mech.manifolds.vector_bundle import VectorBundle

LooseChart: TypeAlias = Callable[[Vector, Vector], tuple[Point, Vector]]


@singledispatch
def searched_numbers(M: Manifold) -> int:
    """How many numbers the retraction of a manifold searches for."""
    return 0


@singledispatch
def loose_retraction(M: Manifold, x: Point) -> LooseChart:
    r"""The map :math:`(\xi, z) \mapsto (y, f)`: the point for searched numbers z, and the equations, 0 where
    :math:`y = \operatorname{retract}(x, \xi)`.

    Elsewhere y is not on the manifold. Open for further manifolds: ``@loose_retraction.register``, and ``@searched_numbers.register``, add
    one whose retraction is a search; z are lengths in the ambient space.

    Args:
        M: The manifold.
        x: A point.

    Example:
        >>> from groupoid_mech import LevelSet
        >>> circle = LevelSet(lambda x: x[0] ** 2 + x[1] ** 2 - 1, 2)
        >>> y, f = loose_retraction(circle, jnp.array([1.0, 0.0]))(jnp.array([0.6]), jnp.array([0.2]))
        >>> y.round(12), abs(f).round(12)
        (Array([ 0.8, -0.6], dtype=float64), Array([0.], dtype=float64))
    """
    return lambda xi, z: (M.retract(x, xi), z)


@searched_numbers.register
def _(M: LevelSet) -> int:
    return M.codim


@loose_retraction.register
def _(M: LevelSet, x: Point) -> LooseChart:
    return M.loose_retraction(x)


@searched_numbers.register
def _(M: VectorBundle) -> int:
    return searched_numbers(M.base)


@loose_retraction.register
def _(M: VectorBundle, x: Point) -> LooseChart:
    base, n = loose_retraction(M.base, x[0]), M.base.dim

    def moved(xi: Vector, z: Vector) -> tuple[Point, Vector]:
        y, off = base(xi[:n], z)
        return (y, x[1] + xi[n:]), off

    return moved


@searched_numbers.register
def _(M: ProductManifold) -> int:
    return sum(searched_numbers(factor) for factor in M.factors)


@loose_retraction.register
def _(M: ProductManifold, x: Point) -> LooseChart:
    charts = [loose_retraction(*part) for part in zip(M.factors, x, strict=True)]
    dims = tuple(factor.dim for factor in M.factors)
    return side_by_side(charts, dims, tuple(searched_numbers(factor) for factor in M.factors))


def side_by_side(charts: list[LooseChart], dims: tuple[int, ...], searched: tuple[int, ...]) -> LooseChart:
    """The chart of a product, from those of the factors and the numbers of their coordinates and searched numbers."""

    def moved(xi: Vector, z: Vector) -> tuple[Point, Vector]:
        parts = zip(charts, split(dims, xi), split(searched, z), strict=True)
        points, off = zip(*(chart(*part) for chart, *part in parts), strict=True)
        return points, jnp.concatenate(off)

    return moved
