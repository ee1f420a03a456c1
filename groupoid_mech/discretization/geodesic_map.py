r"""The retraction by geodesics of a Riemannian metric. BM Example 2.8."""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    name_of,
    require_instances,
    require_positive_integer,
    traced_shape,
)
from groupoid_mech._types import Array, Covector, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.known_coordinates import local_at
from groupoid_mech.manifolds.loose_retraction import searched_numbers
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.mechanics.system import parameters_as_arrays
from groupoid_mech.numerics.forward_derivatives import differentiated_forward
from groupoid_mech.numerics.matrix import dot, inverse_matrix, matvec
from groupoid_mech.numerics.newton import newton_root


@final
class GeodesicMap(DiscretizationMap):
    r"""The retraction :math:`R(x, v) = (x, \exp_x v)` by the Riemannian exponential of a metric on any manifold.

    The geodesic equations are solved by a fixed number of Runge–Kutta steps: for vectors of a third of the radius of
    curvature, 64 of them reach 1e-11, and each doubling gains a factor 16. The map is a retraction whatever their number. On a Lie group
    second derivatives are exact up to the error by which the steps leave it, and symplectic methods symplectic up to that. The inverse is
    found by Newton's method, shooting from x; steps of methods do without it (`hamiltonian_system`). On spheres, Euclidean spaces and Lie
    groups with a bi-invariant metric `ChartMap` is the same in closed form.

    Args:
        manifold: The manifold Q.
        metric: The matrix of the metric in the frame at a point, ``metric(x)``; the frame is orthonormal if not given, as on embedded
            manifolds.
        steps: The number of Runge–Kutta steps.

    Example:
        >>> from groupoid_mech import Sphere
        >>> north, v = jnp.array([0.0, 0.0, 1.0]), jnp.array([0.3, 0.4])
        >>> geodesic = GeodesicMap(Sphere(2)).arrow(north, v)[1]
        >>> bool(jnp.max(jnp.abs(geodesic - Sphere(2).retract(north, v))) < 1e-10)
        True
    """

    manifold: Manifold
    metric: Callable[[Point], Matrix] | None
    steps: int = eqx.field(static=True)
    groupoid: PairGroupoid

    def __init__(self, manifold: Manifold, metric: Callable[[Point], Matrix] | None = None, steps: int = 64):
        require_instances("GeodesicMap", "manifold", (manifold,), Manifold)
        require_positive_integer("GeodesicMap", "steps", steps)
        n = manifold.dim
        if metric is not None:
            shape = traced_shape(metric, manifold.point_like())
            if getattr(shape, "shape", None) != (n, n):
                raise ArgumentError(
                    f"GeodesicMap needs metric(x) to be a {n} by {n} matrix in the frame at x; {name_of(metric)} returns {describe(shape)}."
                )
        self.manifold = manifold
        self.metric = None if metric is None else parameters_as_arrays(as_pytree(metric))
        self.steps = steps
        self.groupoid = PairGroupoid(manifold)

    def arrow(self, x: Point, v: Vector) -> Point:
        return x, self.manifold.retract(x, self.coordinates(x, v))

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        x, y = g
        a = self.manifold.local(x, y)
        return x, newton_root(lambda v: self.coordinates(x, v) - a, a)

    def adjoint(self) -> DiscretizationMap:
        return AdjointMap(self)

    def energy(self, x: Point, v: Vector) -> Scalar:
        r"""The kinetic energy :math:`\tfrac12\langle v, v\rangle` of the metric."""
        return 0.5 * dot(v, self._lowered(x, v))

    def coordinates(self, x: Point, v: Vector) -> Vector:
        r"""The coordinates :math:`\operatorname{local}(x, \exp_xv)` of the point that the geodesic reaches at time 1."""
        M = self.manifold

        def reached(y: Point, v: Vector) -> Vector:
            return M.local(y, self._end(y, M.to_ambient(y, v)))

        if searched_numbers(M):
            # In the point itself: coordinates near it would be a search for the point that is known.
            ambient, as_point = ravel_pytree(x)
            variables, n = jnp.concatenate([ambient, v]), ambient.size
            return differentiated_forward(lambda z: reached(as_point(z[:n]), z[n:]), variables)
        # All derivatives in x are those in its coordinates near itself, which are fewer.
        here = jax.lax.stop_gradient(x)
        variables = jnp.concatenate([local_at(M, here, x, jnp.zeros(M.dim)), v])
        return differentiated_forward(lambda z: reached(M.retract(here, z[: M.dim]), z[M.dim :]), variables)

    def _end(self, x: Point, velocity: Point) -> Point:
        """The point that the geodesic reaches at time 1."""
        begin = x, velocity
        h, zero = 1 / self.steps, jax.tree.map(jnp.zeros_like, begin)

        def moved(state: tuple[Point, Point], slope: tuple[Point, Point], by: Scalar) -> tuple[Point, Point]:
            return jax.tree.map(lambda y, k: y + by * k, state, slope)

        def advance(state: tuple[Point, Point], _: None) -> tuple[tuple[Point, Point], None]:
            # The classical method of order 4, as a loop over its stages: one copy of the field in the program.
            def stage(sums: Any, weights: Array) -> tuple[Any, None]:
                slope, following = sums
                slope = self._rate(*moved(state, slope, h * weights[0]))
                return (slope, moved(following, slope, h * weights[1])), None

            return jax.lax.scan(stage, (zero, state), jnp.asarray(_STAGES))[0][1], None

        return jax.lax.scan(advance, begin, None, length=self.steps)[0][0]

    def _rate(self, x: Point, velocity: Point) -> tuple[Point, Point]:
        r"""The geodesic equations, point and velocity in ambient form: components of the velocity would jump with the frame. Both leave TQ by
        the error of the method only.

        .. math:: \frac{d}{dt}(g v)_b = e_b\bigl[\tfrac12\langle v, g v\rangle\bigr] + \langle g v, [v, e_b]\rangle, \qquad
            \ddot x = \frac{d}{dt}(E v) ,

        in the frame E with the matrix g of the metric; with :math:`\langle P, E\,\cdot\rangle = g v` the last term is
        :math:`\langle P, \partial_{Ev}(E e_b) - \partial_{Ee_b}(E v)\rangle`: first derivatives of E and g are enough.
        """
        M = self.manifold
        v = M.from_ambient(x, velocity)
        p = self._lowered(x, v)
        (P,) = jax.vjp(lambda u: M.from_ambient(x, u), velocity)[1](p)

        def components(y: Point, covector: Point) -> Covector:
            return jax.vjp(lambda e: M.to_ambient(y, e), v)[1](covector)[0]

        def along(y: Point) -> tuple[Covector, Point]:
            return jax.tree.map(jnp.subtract, components(y, P), self._lowered(y, v)), M.to_ambient(y, v)

        def beside(y: Point) -> Scalar:
            pairings = jax.tree.map(lambda a, b: jnp.sum(a * b), P, M.to_ambient(y, v))
            return self.energy(y, v) - sum(jax.tree.leaves(pairings), jnp.zeros(()))

        forward = M.to_ambient(x, v)
        _, (turned, curved) = jax.jvp(along, (x,), (forward,))
        force = components(x, jax.grad(beside)(x)) + turned
        acceleration = force if self.metric is None else matvec(inverse_matrix(self.metric(x)), force)
        return forward, jax.tree.map(jnp.add, curved, M.to_ambient(x, acceleration))

    def _lowered(self, x: Point, v: Vector) -> Covector:
        """The covector of a vector by the metric."""
        return v if self.metric is None else matvec(self.metric(x), v)


# How far along the last slope each stage is taken, and its weight in the step.
_STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
