r"""Fibre charts that are a search, with the search left to the step, which solves other equations at the same time.

.. math:: c(q, a) = g(a, z), \qquad f(a, z) = 0 ,

with the searched numbers z, as `loose_retraction` has it for manifolds.
"""

from functools import singledispatch

from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.gauge import GaugeGroupoid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groupoids.product import ProductGroupoid
from groupoid_mech.groupoids.time_extended import TimeExtended
from groupoid_mech.manifolds.loose_retraction import LooseChart, loose_retraction, searched_numbers, side_by_side


@singledispatch
def searched_by_chart(G: LieGroupoid) -> int:
    """How many numbers the fibre chart of a groupoid searches for."""
    return 0


@singledispatch
def loose_chart(G: LieGroupoid, q: Point) -> LooseChart:
    r"""The map :math:`(a, z) \mapsto (g, f)`: the arrow for searched numbers z, and the equations, 0 where :math:`g = c(q, a)`.

    Elsewhere g is not in G. Open for further groupoids: ``@loose_chart.register``, and ``@searched_by_chart.register``, add one whose chart
    is a search; those that are not added are right too, with a search inside of that for a step.

    Args:
        G: The groupoid.
        q: A base point.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean
        >>> loose_chart(PairGroupoid(Euclidean(1)), jnp.zeros(1))(jnp.ones(1), jnp.zeros(0))[0]
        (Array([0.], dtype=float64), Array([1.], dtype=float64))
    """
    return lambda a, z: (G.fiber_chart(q, a), z)


@searched_by_chart.register(PairGroupoid)
@searched_by_chart.register(GaugeGroupoid)
def _(G: PairGroupoid | GaugeGroupoid) -> int:
    return searched_numbers(G.base)


@loose_chart.register
def _(G: PairGroupoid, q: Point) -> LooseChart:
    retraction = loose_retraction(G.base, q)

    def arrow(a: Vector, z: Vector) -> tuple[Point, Vector]:
        r, off = retraction(a, z)
        return (q, r), off

    return arrow


@loose_chart.register
def _(G: GaugeGroupoid, q: Point) -> LooseChart:
    retraction, n = loose_retraction(G.base, q), G.base.dim

    def arrow(a: Vector, z: Vector) -> tuple[Point, Vector]:
        r, off = retraction(a[:n], z)
        return (q, r, G.group.from_algebra(a[n:])), off

    return arrow


@searched_by_chart.register
def _(G: ProductGroupoid) -> int:
    return sum(searched_by_chart(factor) for factor in G.factors)


@loose_chart.register
def _(G: ProductGroupoid, q: Point) -> LooseChart:
    charts = [loose_chart(*part) for part in zip(G.factors, q, strict=True)]
    ranks = tuple(factor.rank for factor in G.factors)
    return side_by_side(charts, ranks, tuple(searched_by_chart(factor) for factor in G.factors))


@searched_by_chart.register
def _(G: TimeExtended) -> int:
    return searched_by_chart(G.product)


@loose_chart.register
def _(G: TimeExtended, q: Point) -> LooseChart:
    return loose_chart(G.product, q)
