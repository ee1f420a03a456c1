r"""Arrows :math:`g = c(\alpha(g), a)` of which the coordinates a are known, as the step of a discrete system knows them."""

from functools import singledispatch

import jax.numpy as jnp

from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.action import ActionGroupoid
from groupoid_mech.groupoids.gauge import GaugeGroupoid
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groupoids.product import ProductGroupoid
from groupoid_mech.groupoids.time_extended import TimeExtended
from groupoid_mech.groups.known_algebra import to_algebra_at
from groupoid_mech.manifolds.known_coordinates import carried_to, local_at, reflected_at
from groupoid_mech.manifolds.product import split
from groupoid_mech.numerics.with_value import with_value


@singledispatch
def fiber_local_at(G: LieGroupoid, g: Point, a: Vector) -> Vector:
    r"""The coordinates of an arrow :math:`g = c(\alpha(g), a)`, known to be ``a``: that value without round-off, with the derivatives of
    ``fiber_local``.

    Open for further groupoids: ``@fiber_local_at.register`` adds a closed form of the derivatives in a.

    Args:
        G: The groupoid.
        g: The arrow.
        a: Its coordinates; their own derivatives are not used.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> fiber_local_at(PairGroupoid(Euclidean(1)), (jnp.ones(1), jnp.ones(1) + 1e-9), jnp.array([1e-9]))
        Array([1.e-09], dtype=float64)
    """
    return with_value(a, G.fiber_local(G.source(g), g))


@singledispatch
def reflected_arrow_at(G: LieGroupoid, g: Point, a: Vector) -> Vector:
    r"""The coordinates :math:`-c^{-1}(g^{-1})` at :math:`\beta(g)` of the way on from an arrow :math:`g = c(\alpha(g), a)`: a guess for the next one.

    Args:
        G: The groupoid.
        g: The arrow.
        a: Its coordinates.
    """
    return -G.fiber_local(G.target(g), G.inverse(g))


@singledispatch
def carried_between(G: LieGroupoid, q: Point, r: Point, e: Vector) -> Vector:
    r"""The components at r of a vector in :math:`A_qG`, or of a covector in :math:`A_q^*G`, for base points near each other: the same up to the
    distance.

    Frames may jump between two points, and components with them. Open for further groupoids; those whose frames do not jump need not be
    added.

    Args:
        G: The groupoid.
        q: A base point.
        r: A base point nearby.
        e: The components at q.
    """
    return e


@fiber_local_at.register
def _(G: PairGroupoid, g: Point, a: Vector) -> Vector:
    return local_at(G.base, g[0], g[1], a)


@reflected_arrow_at.register
def _(G: PairGroupoid, g: Point, a: Vector) -> Vector:
    return reflected_at(G.base, g[0], g[1], a)


@carried_between.register
def _(G: PairGroupoid, q: Point, r: Point, e: Vector) -> Vector:
    return carried_to(G.base, q, r, e)


# For both maps τ, τ(ξ)⁻¹ = τ(-ξ).
@reflected_arrow_at.register(GroupGroupoid)
@reflected_arrow_at.register(ActionGroupoid)
def _(G: LieGroupoid, g: Point, a: Vector) -> Vector:
    return a


@fiber_local_at.register
def _(G: GroupGroupoid, g: Point, a: Vector) -> Vector:
    return to_algebra_at(G.group, g, a)


@fiber_local_at.register
def _(G: ActionGroupoid, g: Point, a: Vector) -> Vector:
    return to_algebra_at(G.group, g[1], a)


@fiber_local_at.register
def _(G: GaugeGroupoid, g: Point, a: Vector) -> Vector:
    (x, y, h), n = g, G.base.dim
    return jnp.concatenate([local_at(G.base, x, y, a[:n]), to_algebra_at(G.group, h, a[n:])])


@reflected_arrow_at.register
def _(G: GaugeGroupoid, g: Point, a: Vector) -> Vector:
    (x, y, _), n = g, G.base.dim
    return jnp.concatenate([reflected_at(G.base, x, y, a[:n]), a[n:]])


@carried_between.register
def _(G: GaugeGroupoid, q: Point, r: Point, e: Vector) -> Vector:
    n = G.base.dim
    return jnp.concatenate([carried_to(G.base, q, r, e[:n]), e[n:]])


@fiber_local_at.register
def _(G: ProductGroupoid, g: Point, a: Vector) -> Vector:
    return jnp.concatenate([fiber_local_at(*part) for part in _parts(G, g, a)])


@reflected_arrow_at.register
def _(G: ProductGroupoid, g: Point, a: Vector) -> Vector:
    return jnp.concatenate([reflected_arrow_at(*part) for part in _parts(G, g, a)])


@carried_between.register
def _(G: ProductGroupoid, q: Point, r: Point, e: Vector) -> Vector:
    parts = split(tuple(factor.rank for factor in G.factors), e)
    return jnp.concatenate([carried_between(*part) for part in zip(G.factors, q, r, parts, strict=True)])


@fiber_local_at.register
def _(G: TimeExtended, g: Point, a: Vector) -> Vector:
    return fiber_local_at(G.product, g, a)


@reflected_arrow_at.register
def _(G: TimeExtended, g: Point, a: Vector) -> Vector:
    return reflected_arrow_at(G.product, g, a)


@carried_between.register
def _(G: TimeExtended, q: Point, r: Point, e: Vector) -> Vector:
    return carried_between(G.product, q, r, e)


def _parts(G: ProductGroupoid, g: Point, a: Vector) -> list[tuple[LieGroupoid, Point, Vector]]:
    return list(zip(G.factors, g, split(tuple(factor.rank for factor in G.factors), a), strict=True))
