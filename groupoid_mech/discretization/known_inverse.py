r"""The inverse of a discretization map at an arrow of which the fibre coordinates are known, in the frame and in smooth components."""

from functools import singledispatch

import jax.numpy as jnp

from groupoid_mech._types import Point, Vector
from groupoid_mech.discretization.cotangent_lift import CotangentLift, difference_covector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.map_covector import map_covector
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.groupoids.known_arrow import fiber_local_at
from groupoid_mech.groups.metric_frame import has_metric_frame
from groupoid_mech.manifolds.known_coordinates import point_in_the_middle
from groupoid_mech.manifolds.smooth_chart import smooth_components


@singledispatch
def inverse_at(R: DiscretizationMap, g: Point, a: Vector) -> tuple[Point, Vector]:
    r"""The point and the velocity :math:`(x, v) = R^{-1}(g)` of an arrow :math:`g = c(\alpha(g), a)`.

    Open for further maps: ``@inverse_at.register`` adds one that need not find out a.

    Args:
        R: The discretization map.
        g: The arrow.
        a: Its fibre coordinates; their own derivatives are not used.
    """
    return R.inverse(g)


@inverse_at.register
def _(R: ChartMap, g: Point, a: Vector) -> tuple[Point, Vector]:
    return R.groupoid.source(g), fiber_local_at(R.groupoid, g, a)


@inverse_at.register
def _(R: MidpointMap, g: Point, a: Vector) -> tuple[Point, Vector]:
    return point_in_the_middle(R.manifold, g[0], g[1], a)


@inverse_at.register
def _(R: ThetaMap, g: Point, a: Vector) -> tuple[Point, Vector]:
    return R.inverse_from(g, *inverse_at(R.retraction, g, a))


@inverse_at.register
def _(R: CotangentLift, g: Point, a: Vector) -> tuple[Point, Vector]:
    (q0, _), (q1, _) = g
    return R.inverse_from(g, *inverse_at(R.map, (q0, q1), a[: R.manifold.dim]))


@singledispatch
def smooth_inverse_at(R: DiscretizationMap, g: Point, a: Vector) -> tuple[Point, Vector]:
    r"""The point and the velocity of `inverse_at` for a map of a manifold, the velocity in smooth components (`smooth_components`).

    Open for further maps: ``@smooth_inverse_at.register`` adds one that has them by a shorter way.

    Args:
        R: The discretization map.
        g: The pair of points.
        a: Its fibre coordinates; their own derivatives are not used.
    """
    return _in_smooth_components(R, g, a)


@smooth_inverse_at.register
def _(R: CotangentLift, g: Point, a: Vector) -> tuple[Point, Vector]:
    # For a connection without torsion that keeps the pairing α_Q exchanges two parts: of (-p0, p1) TR the horizontal one is ∇p, the vertical one p.
    if not has_metric_frame(R.manifold):
        return _in_smooth_components(R, g, a)
    ends, mu = difference_covector(g)
    q, u = inverse_at(R.map, ends, a[: R.manifold.dim])
    horizontal, p = map_covector(R.map, q, u, ends, mu)
    return (q, p), jnp.concatenate([u, horizontal])


def _in_smooth_components(R: DiscretizationMap, g: Point, a: Vector) -> tuple[Point, Vector]:
    y, v = inverse_at(R, g, a)
    return y, smooth_components(R.groupoid.base, y, v)
