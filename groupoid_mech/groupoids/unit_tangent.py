r"""Vectors of the algebroid as tangent vectors at units, in ambient form: :math:`\frac{d}{dt}\,c(q, t a)` at t = 0."""

from functools import singledispatch

import jax
import jax.numpy as jnp

from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.action import ActionGroupoid
from groupoid_mech.groupoids.gauge import GaugeGroupoid
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groupoids.product import ProductGroupoid
from groupoid_mech.groupoids.time_extended import TimeExtended
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.product import split


@singledispatch
def unit_tangent(G: LieGroupoid, q: Point, a: Vector) -> Point:
    r"""The vector :math:`\frac{d}{dt}\,c(q, t a)` at the unit of q, in the ambient form of arrows.

    The derivative of the fibre chart. Open for further groupoids: ``@unit_tangent.register`` adds a closed form, which has no use for
    the value of the chart.

    Args:
        G: The groupoid.
        q: The base point.
        a: Coordinates of a vector in :math:`A_qG`.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> unit_tangent(PairGroupoid(Euclidean(1)), jnp.ones(1), jnp.array([3.0]))
        (Array([0.], dtype=float64), Array([3.], dtype=float64))
    """
    return jax.jvp(lambda b: G.fiber_chart(q, b), (jnp.zeros_like(a),), (a,))[1]


@unit_tangent.register
def _(G: PairGroupoid, q: Point, a: Vector) -> Point:
    return _resting(q), G.base.to_ambient(q, a)


@unit_tangent.register
def _(G: GroupGroupoid, q: Point, a: Vector) -> Point:
    return _algebra(G.group, a)


@unit_tangent.register
def _(G: ActionGroupoid, q: Point, a: Vector) -> Point:
    return _resting(q), _algebra(G.group, a)


@unit_tangent.register
def _(G: GaugeGroupoid, q: Point, a: Vector) -> Point:
    n = G.base.dim
    return _resting(q), G.base.to_ambient(q, a[:n]), _algebra(G.group, a[n:])


@unit_tangent.register
def _(G: ProductGroupoid, q: Point, a: Vector) -> Point:
    parts = split(tuple(factor.rank for factor in G.factors), a)
    return tuple(unit_tangent(*part) for part in zip(G.factors, q, parts, strict=True))


@unit_tangent.register
def _(G: TimeExtended, q: Point, a: Vector) -> Point:
    return unit_tangent(G.product, q, a)


def _resting(q: Point) -> Point:
    return jax.tree.map(jnp.zeros_like, q)


def _algebra(H: LieGroup, a: Vector) -> Point:
    return H.to_ambient(H.identity(), a)
