r"""Covectors pulled back by discretization maps of a manifold, in parts that do not depend on how the frame turns.

.. math:: \mu\,T_{(x, v)}R, \qquad \mu \in T^*_{(q_0, q_1)}(Q \times Q), \quad (q_0, q_1) = R(x, v) .

Convention: horizontal and vertical as in `retraction_covector`.
"""

from functools import singledispatch
from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.retraction_covector import retraction_covector
from groupoid_mech.manifolds.smooth_chart import frame_components
from groupoid_mech.manifolds.tangent_bundle import TangentBundle
from groupoid_mech.numerics.matrix import matvec


@singledispatch
def map_covector(R: DiscretizationMap, x: Point, v: Vector, g: Point, mu: Covector) -> tuple[Covector, Covector]:
    r"""The horizontal and the vertical part of :math:`\mu\,T_{(x, v)}R`.

    Open for further maps: ``@map_covector.register`` adds a shorter form of one.

    Args:
        R: The discretization map, of a manifold Q.
        x: The point.
        v: The velocity.
        g: The pair :math:`(q_0, q_1) = R(x, v)`.
        mu: The components of μ in the frames at both points.
    """
    return _by_tangent(R, x, v, mu)


@map_covector.register
def _(R: ChartMap, x: Point, v: Vector, g: Point, mu: Covector) -> tuple[Covector, Covector]:
    if not isinstance(R.groupoid, PairGroupoid):
        return _by_tangent(R, x, v, mu)
    start, end = jnp.split(mu, 2)
    horizontal, vertical = retraction_covector(R.groupoid.base, x, v, g[1], end)
    return start + horizontal, vertical


@map_covector.register
def _(R: MidpointMap, x: Point, v: Vector, g: Point, mu: Covector) -> tuple[Covector, Covector]:
    half = 0.5 * v
    return _parted(R.manifold, (-half, half), (-0.5, 0.5), x, g, mu)


@map_covector.register
def _(R: ThetaMap, x: Point, v: Vector, g: Point, mu: Covector) -> tuple[Covector, Covector]:
    if not (isinstance(R.retraction, ChartMap) and isinstance(R.groupoid, PairGroupoid) and R.theta.ndim == 0):
        return _by_tangent(R, x, v, mu)
    parts = -R.theta, 1 - R.theta
    return _parted(R.groupoid.base, (parts[0] * v, parts[1] * v), parts, x, g, mu)


def _parted(
    Q: Manifold, ways: tuple[Vector, Vector], parts: tuple[Any, Any], x: Point, g: Point, mu: Covector
) -> tuple[Covector, Covector]:
    r"""For the map :math:`R(x, v) = (\operatorname{retract}(x, bv), \operatorname{retract}(x, av))`, with the ways bv, av and the parts b, a."""
    covectors = jnp.split(mu, 2)
    (horizontal, vertical), (further, upright) = (
        retraction_covector(Q, x, way, y, covector) for way, y, covector in zip(ways, g, covectors, strict=True)
    )
    return horizontal + further, parts[0] * vertical + parts[1] * upright


def _by_tangent(R: DiscretizationMap, x: Point, v: Vector, mu: Covector) -> tuple[Covector, Covector]:
    bundle = TangentBundle(R.groupoid.base)
    _, transpose = jax.vjp(lambda w: frame_components(bundle, (x, v), w), jnp.zeros(bundle.dim))
    (covector,) = transpose(matvec(R.tangent(x, v).T, mu))
    horizontal, vertical = jnp.split(covector, 2)
    return horizontal, vertical
