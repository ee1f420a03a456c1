r"""The θ-family of a retraction. BM Prop. 2.4, Examples 2.7–2.9."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Array, Point, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.keeps_point import keeps_point
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.surveyed_form import halves, mismatch, require_retraction, surveyed_form, times
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.chart_form import Form, known_form
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.known_coordinates import point_along
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import unit_matrix
from groupoid_mech.numerics.newton import newton_root


@final
class ThetaMap(DiscretizationMap):
    r"""The map :math:`R_\theta(x, v) = R(x, -\theta v)^{-1} \cdot R(x, (1 - \theta) v)` of a retraction R.

    On a manifold :math:`R_\theta(x, v) = (R(x, -\theta v), R(x, (1 - \theta)v))`: explicit Euler, the implicit midpoint rule and implicit
    Euler for θ = 0, ½ and 1. For θ = ½ it is symmetric. θ may be a matrix that acts on the velocity: then different components are
    taken at different points, as in the method of Newmark (`newmark_map`).

    The inverse is :math:`x = \beta(k)`, :math:`k = R(\alpha(g), \theta a)`, :math:`(\cdot, a) = R^{-1}(g)`, where the retraction is straight: runs
    along geodesics or one-parameter groups. Where it also keeps coordinates, as on Lie groups, v = a. Both are known (`known_form`), or found
    out on a drawn arrow when the map is made. Elsewhere k is found by Newton's method, from there or from the same part of the way in the
    fibre chart, and the inverse is NaN (an error outside of ``jit``) where that does not arrive.

    Args:
        retraction: The retraction R, a discretization map with :math:`\alpha(R(x, v)) = x`; or a manifold or groupoid for its own.
        theta: The number θ, or a square matrix.
        form: What is known about the inverse; found out if not given.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> ThetaMap(Euclidean(1), 0.5).inverse((jnp.zeros(1), jnp.ones(1)))
        (Array([0.5], dtype=float64), Array([1.], dtype=float64))
    """

    retraction: DiscretizationMap
    theta: Array
    groupoid: LieGroupoid
    form: Form = eqx.field(static=True)

    def __init__(
        self, retraction: DiscretizationMap | Manifold | LieGroupoid, theta: ArrayLike, *, form: Form | None = None
    ):
        R = retraction if isinstance(retraction, DiscretizationMap) else ChartMap(retraction)
        n = R.groupoid.rank
        self.retraction = R
        self.groupoid = R.groupoid
        self.theta = jnp.asarray(theta, float)
        if self.theta.shape not in ((), (n, n)):
            raise ArgumentError(
                f"ThetaMap needs theta to be a number or a {n} by {n} matrix, as velocities have {n} components; "
                f"got shape {self.theta.shape}."
            )
        self.form = form if form is not None else _find_form(R, self.theta)

    def arrow(self, x: Point, v: Vector) -> Point:
        G, R, back = self.groupoid, self.retraction, self.times(v)
        return G.multiply(G.inverse(R.arrow(x, -back)), R.arrow(x, v - back))

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        return self.inverse_from(g, *self.retraction.inverse(g))

    def inverse_from(self, g: Point, q: Point, a: Vector) -> tuple[Point, Vector]:
        r"""The inverse at an arrow :math:`g = R(q, a)`, of which that of the retraction is known."""
        G, w = self.groupoid, self.times(a)
        if self.form.parallel:
            return G.target(self.retraction.arrow(q, w)), a
        if self.form.straight and self.theta.ndim == 0:
            if _is_own_chart(self.retraction):
                return point_along(G.base, g[0], g[1], a, self.theta)
            # One half is enough, the longer one: which that is depends on θ, a number that is known only when this is run.
            k, early = self.retraction.arrow(q, w), self.theta <= 0.5
            back = G.inverse(k)
            half = jax.tree.map(lambda after, before: jnp.where(early, after, before), G.multiply(back, g), back)
            return G.target(k), self.retraction.inverse(half)[1] / jnp.where(early, 1 - self.theta, -self.theta)
        if not self.form.straight:
            start = w if isinstance(self.retraction, ChartMap) else self._part_of_the_way(g, q)
            w = newton_root(lambda w: mismatch(self.retraction, self.theta, g, q, w), start)
        x, before, after = halves(self.retraction, g, self.retraction.arrow(q, w))
        return x, after - before

    def adjoint(self) -> "ThetaMap":
        identity = 1.0 if self.theta.ndim == 0 else unit_matrix(self.groupoid.rank)
        return ThetaMap(self.retraction, identity - self.theta, form=self.form)

    def times(self, v: Vector) -> Vector:
        r"""The vector :math:`\theta v`."""
        return times(self.theta, v)

    def _part_of_the_way(self, g: Point, q: Point) -> Vector:
        """The vector of R to the point that θ of the fibre coordinates lead to: R may reach the middle of arrows that it does not reach itself."""
        G = self.groupoid
        w = self.times(G.fiber_local(q, g))
        found = self.retraction.inverse(G.fiber_chart(q, w))[1]
        return jnp.where(jnp.all(jnp.isfinite(found)), found, w)


def theta_map(space: DiscretizationMap | Manifold | LieGroupoid, theta: ArrayLike) -> DiscretizationMap:
    r"""The discretization map :math:`R_\theta` of a retraction, in its simplest form: R itself for θ = 0, its adjoint for θ = 1,
    a ``MidpointMap`` for θ = ½ on manifolds that are retracted along geodesics.

    Args:
        space: A manifold or a Lie groupoid with its own chart as retraction, or another retraction.
        theta: The number θ, or a square matrix.

    Example:
        >>> from groupoid_mech import Sphere
        >>> midpoint = theta_map(Sphere(2), 0.5)
        >>> bool(midpoint.asymmetry(jnp.array([0.0, 0.0, 1.0]), jnp.array([0.3, 0.4])) < 1e-15)
        True
    """
    R = space if isinstance(space, DiscretizationMap) else ChartMap(space)
    # Known inside of jit too, unless it is traced itself: whether a method is explicit does not depend on where it is made.
    number = None if isinstance(theta, jax.core.Tracer) or np.ndim(theta) else float(np.asarray(theta))
    if number in (0.0, 1.0):
        if not keeps_point(R) and is_concrete(R):
            require_retraction(R)
        return R if number == 0.0 else R.adjoint()
    between = ThetaMap(R, theta)
    if number == 0.5 and between.form.straight and not between.form.parallel and _is_own_chart(R):
        return MidpointMap(R.groupoid.base, form=between.form)
    return between


def _is_own_chart(R: DiscretizationMap) -> bool:
    """Whether a retraction is that of a manifold itself."""
    return isinstance(R, ChartMap) and isinstance(R.groupoid, PairGroupoid)


def _find_form(R: DiscretizationMap, theta: Array) -> Form:
    if is_concrete(theta) and not np.all(np.isfinite(np.asarray(theta))):
        raise ArgumentError(f"ThetaMap needs a finite theta; got {theta}.")
    known = known_form(R.groupoid) if isinstance(R, ChartMap) and theta.ndim == 0 else None
    if known is not None:
        return known
    if not is_concrete((R, theta)):
        return Form(straight=False, parallel=False)
    return surveyed_form(R, theta.ndim)
