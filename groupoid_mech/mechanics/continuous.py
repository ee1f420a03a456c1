r"""The Euler–Lagrange equations on a Lie algebroid, and exact discrete Lagrangians: what discrete systems are measured against.

On the fibre :math:`\alpha^{-1}(q)` a Lagrangian l on AG lifts to :math:`\tilde l(a, \dot a) = l(\beta(g), \xi)`, :math:`g = c(q, a)`,
:math:`\overleftarrow\xi(g) = \dot g`: there the equations are the ordinary Euler–Lagrange equations in the coordinates a. Neither frames nor
structure functions enter, so that these are an oracle independent of the algebroid's formulas.
"""

from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, require_instances, require_positive_integer, require_vector
from groupoid_mech._types import Array, Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.left_velocity import left_velocity
from groupoid_mech.mechanics.discretize import AlgebroidFunction
from groupoid_mech.numerics.matrix import solve
from groupoid_mech.numerics.newton import newton_root


@final
class EulerLagrange(eqx.Module):
    r"""The flow of the Euler–Lagrange equations on a Lie algebroid.

    .. math:: \dot q^i = \rho^i_a\xi^a, \qquad \frac{d}{dt}\frac{\partial l}{\partial\xi^a} = \rho^i_a\frac{\partial l}{\partial q^i}
        + C^c_{ba}\,\xi^b\frac{\partial l}{\partial\xi^c} .

    Args:
        lagrangian: The function ``l(q, xi)`` on the algebroid, regular in ``xi``.
        groupoid: A groupoid of the algebroid.
        tolerance: The relative and absolute tolerance of the integration, by diffrax's Dopri8.
        substeps: With this given, so many steps of equal length instead: then the flow is smooth to the last digit.
    """

    lagrangian: AlgebroidFunction
    groupoid: LieGroupoid
    tolerance: float = eqx.field(static=True)
    substeps: int | None = eqx.field(static=True)

    def __init__(
        self,
        lagrangian: AlgebroidFunction,
        groupoid: LieGroupoid,
        tolerance: float = 1e-13,
        substeps: int | None = None,
    ):
        require_instances("EulerLagrange", "groupoid", (groupoid,), LieGroupoid)
        if substeps is not None:
            require_positive_integer("EulerLagrange", "substeps", substeps)
        self.lagrangian = as_pytree(lagrangian)
        self.groupoid = groupoid
        self.tolerance = tolerance
        self.substeps = substeps

    def __call__(self, q: Point, xi: Vector, time: ArrayLike) -> tuple[Point, Vector, Scalar]:
        r"""The arrow :math:`g` from the base point ``q`` to where the motion is after ``time``, the velocity there, and the action so far.

        The time should be short enough for the fibre chart at q to reach the arrow; `trajectory` joins such pieces.
        """
        self.groupoid.check_point(q, owner="EulerLagrange")
        require_vector("EulerLagrange", "xi", xi, self.groupoid.rank)
        return _flow(self, q, xi, jnp.asarray(time, float))

    def trajectory(self, q: Point, xi: Vector, dt: ArrayLike, steps: int) -> tuple[Point, Point, Vector]:
        """The arrows of ``steps`` pieces of length ``dt``, the base points with the first one, and the velocities there."""
        self.groupoid.check_point(q, owner="EulerLagrange.trajectory")
        require_vector("EulerLagrange.trajectory", "xi", xi, self.groupoid.rank)
        require_positive_integer("EulerLagrange.trajectory", "steps", steps)
        return _trajectory(self, q, xi, jnp.asarray(dt, float), steps)

    def momentum(self, q: Point, xi: Vector) -> Covector:
        r"""The momentum :math:`\partial l/\partial\xi`."""
        return jax.grad(self.lagrangian, argnums=1)(q, xi)

    def energy(self, q: Point, xi: Vector) -> Scalar:
        r"""The energy :math:`\langle\partial l/\partial\xi, \xi\rangle - l`."""
        return jnp.sum(self.momentum(q, xi) * xi) - self.lagrangian(q, xi)

    def lifted(self, q: Point, a: Vector, a_dot: Vector) -> Scalar:
        r"""The Lagrangian :math:`\tilde l(a, \dot a)` on the fibre over q."""
        return lifted_lagrangian(self.lagrangian, self.groupoid, q, a, a_dot)


class ExactStep(NamedTuple):
    """The exact discrete Lagrangian at an arrow, and its Legendre transformations: the momenta of the motion at both ends."""

    action: Scalar
    minus: Covector
    plus: Covector


def exact_step(flow: EulerLagrange, g: Point, dt: ArrayLike) -> ExactStep:
    r"""The exact discrete Lagrangian :math:`L(g) = \int_0^{dt} l\,dt` along the motion from :math:`\alpha(g)` whose arrow is g.

    Its Legendre transformations are :math:`F^\pm = \partial l/\partial\xi` at the ends, so that its discrete trajectories are the points of
    the continuous motion at the times :math:`k\,dt`. The motion is found by shooting; NaN where Newton's method does not find one.

    Args:
        flow: The continuous equations.
        g: The arrow.
        dt: The time step.
    """
    require_instances("exact_step", "flow", (flow,), EulerLagrange)
    flow.groupoid.check_arrow(g, owner="exact_step")
    return _exact_step(flow, g, jnp.asarray(dt, float))


def lifted_lagrangian(lagrangian: AlgebroidFunction, G: LieGroupoid, q: Point, a: Vector, a_dot: Vector) -> Scalar:
    r"""The Lagrangian :math:`\tilde l(a, \dot a) = l(\beta(g), \xi)` on the fibre over q, with :math:`\overleftarrow\xi(g) = \dot g`."""
    g, velocity = jax.jvp(lambda b: G.fiber_chart(q, b), (a,), (a_dot,))
    return lagrangian(G.target(g), left_velocity(G, g, velocity))


def fiber_acceleration(lagrangian: AlgebroidFunction, G: LieGroupoid, q: Point, a: Vector, a_dot: Vector) -> Vector:
    r"""The acceleration :math:`\ddot a` of the Euler–Lagrange equations of :math:`\tilde l(a, \dot a)` on the fibre over q."""

    def lifted(b: Vector, b_dot: Vector) -> Scalar:
        return lifted_lagrangian(lagrangian, G, q, b, b_dot)

    def momentum(b: Vector, b_dot: Vector) -> Covector:
        return jax.grad(lifted, argnums=1)(b, b_dot)

    force = jax.grad(lifted)(a, a_dot)
    transport = jax.jvp(lambda b: momentum(b, a_dot), (a,), (a_dot,))[1]
    return solve(jax.jacfwd(momentum, argnums=1)(a, a_dot), force - transport)


def _coordinates(flow: EulerLagrange, q: Point, xi: Vector, time: Scalar) -> tuple[Vector, Vector, Scalar]:
    """Fibre coordinates, their velocity and the action after a time."""
    import diffrax

    r = flow.groupoid.rank

    def rates(t: Any, y: Array, _: Any) -> Array:
        a, a_dot = y[:r], y[r : 2 * r]
        return jnp.concatenate(
            [a_dot, fiber_acceleration(flow.lagrangian, flow.groupoid, q, a, a_dot), flow.lifted(q, a, a_dot)[None]]
        )

    start = jnp.concatenate([jnp.zeros(r), xi, jnp.zeros(1)])
    term = diffrax.ODETerm(rates)
    if flow.substeps is None:
        control: Any = diffrax.PIDController(rtol=flow.tolerance, atol=flow.tolerance)
        found = diffrax.diffeqsolve(
            term, diffrax.Dopri8(), 0.0, time, None, start, stepsize_controller=control, max_steps=2**14
        )
    else:
        found = diffrax.diffeqsolve(
            term,
            diffrax.Dopri8(),
            0.0,
            time,
            time / flow.substeps,
            start,
            adjoint=diffrax.ForwardMode(),
            max_steps=flow.substeps + 1,
        )
    end = found.ys[-1]
    return end[:r], end[r : 2 * r], end[2 * r]


@eqx.filter_jit
def _flow(flow: EulerLagrange, q: Point, xi: Vector, time: Scalar) -> tuple[Point, Vector, Scalar]:
    G = flow.groupoid
    a, a_dot, action = _coordinates(flow, q, xi, time)
    g, velocity = jax.jvp(lambda b: G.fiber_chart(q, b), (a,), (a_dot,))
    return g, left_velocity(G, g, velocity), action


@eqx.filter_jit
def _exact_step(flow: EulerLagrange, g: Point, dt: Scalar) -> ExactStep:
    G = flow.groupoid
    q = G.source(g)
    a = G.fiber_local(q, g)
    xi = newton_root(lambda xi: _coordinates(flow, q, xi, dt)[0] - a, a / dt)
    arrow, velocity, action = _flow(flow, q, xi, dt)
    return ExactStep(action, flow.momentum(q, xi), flow.momentum(G.target(arrow), velocity))


@eqx.filter_jit
def _trajectory(flow: EulerLagrange, q: Point, xi: Vector, dt: Scalar, steps: int) -> tuple[Point, Point, Vector]:
    def advance(state: tuple[Point, Vector], _: None) -> Any:
        g, velocity, _action = _flow(flow, *state, dt)
        following = flow.groupoid.target(g), velocity
        return following, (g, *following)

    _, (arrows, points, velocities) = jax.lax.scan(advance, (q, xi), None, length=steps)
    joined = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), (q, xi), (points, velocities))
    return arrows, *joined
