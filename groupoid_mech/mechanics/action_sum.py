r"""The action sum on sequences of composable arrows, and its derivatives along the variations with fixed product.

By MMS Theorem 5.1 the variations of :math:`(g_1, \dots, g_n)` with fixed product are

.. math:: g_k \mapsto c(q_{k-1}, v_{k-1})^{-1} \cdot g_k \cdot c(q_k, v_k), \qquad v_0 = v_n = 0, \quad v_k \in A_{q_k}G :

composability and product stay exact however long the :math:`v_k` are, so that they serve as retraction too.
"""

from typing import TYPE_CHECKING, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import require_instances, require_positive_integer
from groupoid_mech._types import Array, Matrix, Point, Scalar, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.mechanics.increment import rows

if TYPE_CHECKING:
    from groupoid_mech.mechanics.system import DiscreteSystem


class Terms(NamedTuple):
    r"""Values, gradients and Hessians of :math:`L(c(q, b)^{-1} g\, c(q', e), s)` in (b, e, s) at :math:`b = e = 0`, for every arrow."""

    values: Array
    gradients: Array
    hessians: Array


def action_sum(system: "DiscreteSystem", arrows: Point, s: Array | None = None) -> Scalar:
    r"""The action sum :math:`\sum_k L(g_k, s_k)` of a sequence of arrows, stacked; MMS §5.2."""
    n = rows(arrows)
    s = jax.device_put(np.zeros((n, system.family_size()))) if s is None else s
    return _action_sum(system, arrows, s)


def path(groupoid: LieGroupoid, g: Point, n: int) -> Point:
    r"""A sequence of n composable arrows whose product is ``g``: :math:`h_{k-1}^{-1} h_k` with :math:`h_k = c(q, \tfrac kn a)`, :math:`g = c(q, a)`.

    Args:
        groupoid: The groupoid.
        g: The product.
        n: How many arrows.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> path(PairGroupoid(Euclidean(1)), (jnp.zeros(1), jnp.ones(1)), 4)[1][:, 0]
        Array([0.25, 0.5 , 0.75, 1.  ], dtype=float64)
    """
    require_instances("path", "groupoid", (groupoid,), LieGroupoid)
    require_positive_integer("path", "n", n)
    groupoid.check_arrow(g, owner="path")
    return _path(groupoid, g, n)


def product(groupoid: LieGroupoid, arrows: Point) -> Point:
    r"""The product :math:`g_1 g_2 \cdots g_n` of stacked composable arrows."""
    require_instances("product", "groupoid", (groupoid,), LieGroupoid)
    return _product(groupoid, arrows)


def largest_gap(groupoid: LieGroupoid, arrows: Point) -> Scalar:
    r"""The largest distance between :math:`\beta(g_k)` and :math:`\alpha(g_{k+1})`: 0 for composable arrows."""
    return _largest_gap(groupoid, arrows)


def vary(groupoid: LieGroupoid, arrows: Point, v: Array) -> Point:
    r"""The sequence :math:`c(q_{k-1}, v_{k-1})^{-1} g_k\, c(q_k, v_k)`, with one vector for each base point :math:`q_0, \dots, q_n`."""
    return _vary(groupoid, arrows, v)


@eqx.filter_jit
def action_terms(system: "DiscreteSystem", arrows: Point, s: Array) -> Terms:
    """Values, gradients and Hessians of all arrows, one after the other: as one native loop that is much faster than a batch."""
    G, r = system.groupoid, system.groupoid.rank

    def one(row: tuple[Point, Vector]) -> tuple[Scalar, Vector, Matrix]:
        g, t = row
        q, q_next, a = G.source(g), G.target(g), system.increment(g)

        def varied(x: Vector) -> Scalar:
            left, right = G.inverse(G.fiber_chart(q, x[:r])), G.fiber_chart(q_next, x[r : 2 * r])
            return system.family(G.multiply(left, G.multiply(g, right)), a, x[2 * r :])

        def gradient(x: Vector) -> tuple[Vector, tuple[Scalar, Vector]]:
            value, slope = jax.value_and_grad(varied)(x)
            return slope, (value, slope)

        hessian, (value, slope) = jax.jacfwd(gradient, has_aux=True)(jnp.concatenate([jnp.zeros(2 * r), t]))
        return value, slope, hessian

    return Terms(*jax.lax.map(one, (arrows, s)))


@eqx.filter_jit
def _action_sum(system: "DiscreteSystem", arrows: Point, s: Array) -> Scalar:
    return jnp.sum(jax.vmap(lambda g, t: system.family(g, system.increment(g), t))(arrows, s))


@eqx.filter_jit
def _path(G: LieGroupoid, g: Point, n: int) -> Point:
    q = G.source(g)
    a = G.fiber_local(q, g)
    nodes = jax.vmap(lambda t: G.fiber_chart(q, t * a))(jnp.arange(n + 1) / n)
    before, after = jax.tree.map(lambda leaf: leaf[:-1], nodes), jax.tree.map(lambda leaf: leaf[1:], nodes)
    return jax.vmap(lambda h, k: G.multiply(G.inverse(h), k))(before, after)


@eqx.filter_jit
def _product(G: LieGroupoid, arrows: Point) -> Point:
    first, rest = jax.tree.map(lambda leaf: leaf[0], arrows), jax.tree.map(lambda leaf: leaf[1:], arrows)
    return jax.lax.scan(lambda total, g: (G.multiply(total, g), None), first, rest)[0]


@eqx.filter_jit
def _largest_gap(G: LieGroupoid, arrows: Point) -> Scalar:
    before, after = jax.tree.map(lambda leaf: leaf[:-1], arrows), jax.tree.map(lambda leaf: leaf[1:], arrows)
    gaps = jax.vmap(lambda g, h: point_distance(G.target(g), G.source(h)))(before, after)
    return jnp.max(gaps, initial=0.0)


@eqx.filter_jit
def _vary(G: LieGroupoid, arrows: Point, v: Array) -> Point:
    def one(g: Point, b: Vector, e: Vector) -> Point:
        left, right = G.inverse(G.fiber_chart(G.source(g), b)), G.fiber_chart(G.target(g), e)
        return G.multiply(left, G.multiply(g, right))

    return jax.vmap(one)(arrows, v[:-1], v[1:])
