r"""The form of a retraction as a drawn arrow shows it, and the two parts of an arrow that it is read from."""

import jax.numpy as jnp
import numpy as np

from groupoid_mech._types import Array, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.chart_form import Form
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.manifolds.drawn_points import drawn_point
from groupoid_mech.numerics.matrix import matvec
from groupoid_mech.numerics.quick_jit import quick_jit

_SAME = 1e-11
_LENGTH = 0.3


def surveyed_form(R: DiscretizationMap, axes: int = 0) -> Form:
    """The form of a retraction as a drawn arrow shows it, for numbers θ or, with ``axes`` = 2, for matrices."""
    off, bend, turn = (float(value) for value in _survey(R, *_drawn_arrow(R.groupoid, axes)))
    _require_source(R, off)
    straight = bend <= _SAME
    return Form(straight, straight and turn <= _SAME)


def require_retraction(R: DiscretizationMap) -> None:
    """Refuse a map that moves the point of a drawn arrow."""
    _require_source(R, float(_source_gap(R, *_drawn_arrow(R.groupoid, 0)[:2])))


def halves(R: DiscretizationMap, g: Point, k: Point) -> tuple[Point, Vector, Vector]:
    """The point x that the first part k of an arrow g leads to, and the vectors of R there to the beginning and to the end of g."""
    G = R.groupoid
    back = G.inverse(k)
    return G.target(k), R.inverse(back)[1], R.inverse(G.multiply(back, g))[1]


def mismatch(R: DiscretizationMap, theta: Array, g: Point, q: Point, w: Vector) -> Vector:
    """The equation of the inner arrow: −θ v leads back to q, with v the difference of both halves."""
    _, before, after = halves(R, g, R.arrow(q, w))
    return times(theta, after - before) + before


def times(theta: Array, v: Vector) -> Vector:
    """The vector θ v, of a number or a matrix."""
    return matvec(theta, v) if theta.ndim else theta * v


def _require_source(R: DiscretizationMap, off: float) -> None:
    if not off <= _SAME:
        raise ArgumentError(
            f"ThetaMap needs a retraction, R(x, v) with source x; that of {type(R).__name__} is off by {off:.3g}. "
            f"Give the retraction that the map was made from."
        )


def _drawn_arrow(G: LieGroupoid, axes: int) -> tuple[Point, np.ndarray, np.ndarray]:
    """A point, a velocity and θ, a number or a matrix."""
    rng = np.random.default_rng(7)
    return (
        drawn_point(G.base, 0),
        rng.uniform(0.5 * _LENGTH, _LENGTH, G.rank),
        np.asarray(rng.uniform(size=(G.rank,) * axes)),
    )


@quick_jit
def _source_gap(R: DiscretizationMap, x: Point, v: Vector) -> Scalar:
    return point_distance(R.groupoid.source(R.arrow(x, v)), x)


@quick_jit
def _survey(R: DiscretizationMap, x: Point, v: Vector, theta: Array) -> tuple[Scalar, Scalar, Scalar]:
    """On a drawn arrow, how far R is from keeping the point, from being straight, and the velocity from having the same coordinates."""
    G = R.groupoid
    g = R.arrow(x, v)
    a = R.inverse(g)[1]
    w = times(theta, a)
    _, before, after = halves(R, g, R.arrow(x, w))
    bend, turn = mismatch(R, theta, g, x, w), after - before - a
    return point_distance(G.source(g), x), jnp.max(jnp.abs(bend)), jnp.max(jnp.abs(turn))
