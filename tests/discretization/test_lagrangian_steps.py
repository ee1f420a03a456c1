"""Steps by the lift of a Lagrangian, BM (5.3): velocities are sought with the step, and the orbits are those of the map."""

from typing import final

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import depth_of_searches

import groupoid_mech as gm
from groupoid_mech.discretization.loose_ends import EndsByMomenta, FoundEnds, loose_ends

ROUNDED, DT = 1e-12, 0.1
R1, R2, S2 = gm.Euclidean(1), gm.Euclidean(2), gm.Sphere(2)
METHODS = {"field": gm.FieldIntegrator, "ends": gm.EndpointIntegrator}


def relativistic(q, v):
    """Speeds are below 1; the mass at rest depends on the place."""
    return -jnp.sqrt(1 - jnp.sum(v * v)) * (1 + 0.1 * jnp.sin(q[0])) + jnp.cos(q[0])


def swollen(q, v):
    """A mass that depends on the place, and momenta that are not linear in velocities."""
    speed = jnp.sum(v * v)
    return speed / (2 * (1 + 0.4 * q[0])) + 0.05 * speed**2 - 0.6 * q[1] - q[2] ** 2


@final
class Hidden(gm.DiscretizationMap):
    """The control: a map of which methods know its arrows only, found by Newton's method."""

    map: gm.LagrangianLift
    groupoid: gm.PairGroupoid

    def __init__(self, map):
        self.map = map
        self.groupoid = map.groupoid

    def arrow(self, x, v):
        return self.map.arrow(x, v)

    def inverse(self, g):
        return self.map.inverse(g)

    def adjoint(self):
        return Hidden(self.map.adjoint())


def both(name, lagrangian, R, dt=DT):
    """The method by a Lagrangian lift, and the control."""
    Q = R.groupoid.base
    field, lift = gm.LagrangianField(lagrangian, Q), gm.LagrangianLift(R, lagrangian)
    return tuple(METHODS[name](field, map, dt) for map in (lift, Hidden(lift)))


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)))) for a, b in pairs)


# ------------------------------------------------------------------------- one search in a step

LINE = relativistic, gm.theta_map(R1, 0.5), (jnp.array([0.3]), jnp.array([0.6]))
SPHERE = swollen, gm.theta_map(S2, 0.5), (S2.project(jnp.array([0.6, -0.5, 0.1])), jnp.array([0.4, -0.9]))


@pytest.mark.few(2)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", [LINE, SPHERE], ids=["line", "sphere"])
def test_no_velocity_is_searched_inside_of_the_search_for_a_step(name, case):
    lagrangian, R, x = case
    depths = [depth_of_searches(jax.make_jaxpr(method)(x)) for method in both(name, lagrangian, R)]
    assert depths[0] == 1
    assert depths[1] >= 2, "the control"


def test_which_ends_are_loose():
    lift = gm.LagrangianLift(LINE[1], relativistic)
    assert isinstance(loose_ends(lift, LINE[2]), EndsByMomenta)
    others = gm.TangentLift(LINE[1]), gm.CotangentLift(LINE[1]), Hidden(lift)
    assert all(isinstance(loose_ends(R, LINE[2]), FoundEnds) for R in others)


# ------------------------------------------------------------------------- the same orbits


@pytest.mark.few(1)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("R", [gm.theta_map(R1, 0.3), gm.theta_map(R1, 1.0)])
def test_orbits_of_a_bounded_velocity_are_those_of_the_map(name, R):
    """At 0.97 of the largest speed, with other lengths of the step, and back by the adjoint."""
    x = jnp.array([0.3]), jnp.array([0.97])
    method, control = both(name, relativistic, R)
    run = method.run(x, 40)
    assert distance(run.points, control.run(x, 40).points) <= ROUNDED
    assert float(np.max(run.residuals)) <= 1e-15
    assert distance(run.points[1][1:], run.points[1][:-1]) > 1e-3
    assert distance(method.with_step(0.13)(x), control.with_step(0.13)(x)) <= ROUNDED
    assert distance(method.adjoint()(x), control.adjoint()(x)) <= ROUNDED
    if name == "field":
        assert distance(method.adjoint().with_step(-DT)(run.end), method.run(x, 39).end) <= ROUNDED


def about_the_equator(count=400):
    """Points and velocities that cross the equator of S² upwards and downwards, in a step, or next to its start, its middle or its end."""
    rng = np.random.default_rng(3)
    angles = 2 * np.pi * rng.uniform(size=count)
    close = np.array([0, 0.5, 1])[np.arange(count) % 3] + 10 ** rng.uniform(-12, -1, count) * rng.choice([-1, 1], count)
    late = np.where(np.arange(count) < count // 4, rng.uniform(0.1, 0.9, count), close)
    there = np.stack([np.cos(angles), np.sin(angles), np.zeros(count)], axis=1)
    along = np.stack([-np.sin(angles), np.cos(angles), np.zeros(count)], axis=1)
    climb = rng.choice([-1, 1], count) * rng.uniform(0.5, 1.0, count)
    angle = (DT * late * climb)[:, None]
    q = np.cos(angle) * there - np.sin(angle) * np.array([0, 0, 1.0])
    u = climb[:, None] * (np.sin(angle) * there + np.cos(angle) * np.array([0, 0, 1.0]))
    return jnp.asarray(q), jax.vmap(S2.from_ambient)(q, u + 0.3 * rng.uniform(-1, 1, (count, 1)) * along)


@pytest.mark.parametrize(
    "name", [pytest.param("field", marks=pytest.mark.slow), pytest.param("ends", marks=pytest.mark.extended)]
)
def test_steps_across_the_equator_are_those_of_the_map(name):
    """Where the frame of the sphere jumps: components change their sign, a step does not notice."""
    starts = about_the_equator()

    def steps(method):
        return jax.jit(jax.vmap(lambda x: method.advance(x, method.begin(x))[0]))(starts)

    taken, expected = (steps(method) for method in both(name, swollen, SPHERE[1]))
    assert np.all(taken.converged)
    across = taken.point[0][:, 2] * starts[0][:, 2] < 0
    assert 200 < np.sum(across) < 350
    assert distance(taken.point, expected.point) <= ROUNDED
    assert float(np.max(taken.residual)) <= 1e-15
    # With velocities that are not carried along to the end, as their components are, it would be 7.3 in the mean.
    assert float(np.mean(taken.iterations)) <= 6.7


@pytest.mark.extended
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("R", [SPHERE[1], gm.ChartMap(S2), gm.theta_map(gm.ProjectionMap(S2), 0.3)])
def test_orbits_on_the_sphere_are_those_of_the_map(name, R):
    method, control = both(name, swollen, R)
    run = method.run(SPHERE[2], 100)
    assert distance(run.points, control.run(SPHERE[2], 100).points) <= ROUNDED
    assert float(np.max(run.residuals)) <= ROUNDED
    heights = np.asarray(run.points[0])[:, 2]
    assert np.sum(heights[1:] * heights[:-1] < 0) >= 2, "across the equator, and back"


@pytest.mark.extended
def test_momenta_are_those_of_the_discrete_lagrangian_on_the_sphere():
    """BM (5.3): FL takes the method on TQ to the variational one."""
    _, R, (q, v) = SPHERE
    momenta = jax.jit(jax.vmap(jax.grad(swollen, argnums=1)))
    run = both("field", swollen, R)[0].run((q, v), 100)
    system = gm.SystemIntegrator(gm.lagrangian_system(swollen, R, DT)).run((q, jax.grad(swollen, argnums=1)(q, v)), 100)
    assert distance((run.points[0], momenta(*run.points)), system.points) <= ROUNDED


def test_velocities_at_the_end_have_the_momenta_of_the_lift():
    """The equation that is added to those of the step, by itself: FL of the end is the end of the lift in T*Q."""
    lagrangian, R, x = LINE
    method = both("field", lagrangian, R)[0]
    lift = method.map

    @jax.jit
    def ends(x):
        end = method(x)
        y, w = lift.inverse((x, end))
        return (end[0], jax.grad(lagrangian, argnums=1)(*end)), lift.momenta(y, w)[1], w - DT * method.field(y)

    found, expected, off = ends(x)
    assert distance(found, expected) <= 1e-15
    assert distance(off, jnp.zeros(2)) <= 1e-15


@pytest.mark.few(1)
@pytest.mark.parametrize("mass", [1e24, 1e-12])
def test_gaps_of_momenta_are_measured_as_velocities(mass):
    """Neither a light nor a heavy body passes for one whose equations are solved, or are not."""
    method = both("field", lambda q, v: mass * (jnp.sum(v * v) / 2 + jnp.cos(q[0])), LINE[1])[0]
    run = method.run(LINE[2], 20)
    light = both("field", lambda q, v: jnp.sum(v * v) / 2 + jnp.cos(q[0]), LINE[1])[0].run(LINE[2], 20)
    assert distance(run.points, light.points) <= 1e-14
    assert float(np.max(run.residuals)) <= 1e-15


# ------------------------------------------------------------------------- derivatives, compositions


def check_derivatives(name, case):
    lagrangian, R, x = case
    M = gm.TangentBundle(R.groupoid.base)

    def derivatives(method):
        def moved(w, dt):
            q, v = method.with_step(dt)(M.retract(x, w))
            return jnp.concatenate([q, v])

        return jax.jit(jax.jacfwd(moved, argnums=(0, 1)))(jnp.zeros(M.dim), jnp.asarray(DT))

    found, expected = (derivatives(method) for method in both(name, lagrangian, R))
    assert distance(found, expected) <= 1e-10
    assert float(jnp.max(jnp.abs(found[1]))) > 0.1


@pytest.mark.few(1)
@pytest.mark.parametrize("name", METHODS)
def test_derivatives_of_a_step_are_those_of_the_map(name):
    check_derivatives(name, LINE)


@pytest.mark.extended
@pytest.mark.parametrize("name", METHODS)
def test_derivatives_of_a_step_on_the_sphere_are_those_of_the_map(name):
    check_derivatives(name, SPHERE)


@pytest.mark.extended
def test_steps_by_lifts_compose():
    """Two maps with steps of different length, the second of which starts where no step of its own has ended."""
    first, second = (
        both("field", relativistic, gm.theta_map(R1, theta), dt) for theta, dt in ((0.0, 0.04), (0.5, 0.06))
    )
    composed, control = (gm.compose(*pair).run(LINE[2], 30) for pair in zip(first, second, strict=True))
    assert distance(composed.points, control.points) <= ROUNDED
