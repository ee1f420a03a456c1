"""Maps whose inverse is searched, and Hamiltonians that are: one Newton's method for all that a step seeks, and the same flow."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import depth_of_searches

import groupoid_mech as gm
from groupoid_mech.discretization.hamiltonian_family import HamiltonianFamily
from groupoid_mech.discretization.lagrangian_family import LagrangianFamily
from groupoid_mech.discretization.searched_inverse import inverse_is_searched
from groupoid_mech.groupoids.chart_form import Form

ROUNDED = 1e-12
DT = 0.1
R1, S2 = gm.Euclidean(1), gm.Sphere(2)
# Its chart is a search.
OVAL = gm.LevelSet(lambda x: x[0] ** 2 + 2 * x[1] ** 2 + 0.1 * x[0] ** 3 - 1, 2)
SEARCHED = Form(straight=False, parallel=False)


def uneven(x):
    return jnp.eye(1) * (1.2 + jnp.sin(x[0]))


def swollen(x):
    return (1 + 0.3 * x[0] ** 2) * jnp.eye(2)


LINE = gm.GeodesicMap(R1, uneven, steps=2)
SPHERE = gm.GeodesicMap(S2, swollen, steps=8)
AROUND = gm.GeodesicMap(OVAL, steps=4)


def first(x):
    return jnp.ravel(jax.tree.leaves(x)[0])[0]


def energy(q, p):
    return jnp.sum(p * p) * (1 + 0.3 * jnp.sin(first(q))) / 2 - jnp.cos(first(q))


def lagrangian(q, v):
    return jnp.sum(v * v) / (2 * (1 + 0.3 * jnp.sin(first(q)))) + jnp.cos(first(q))


def relativistic(q, v):
    return -jnp.sqrt(1 - jnp.sum(v * v)) * (1 + 0.1 * jnp.sin(first(q))) + jnp.cos(first(q))


def relativistic_energy(q, p):
    return jnp.sqrt((1 + 0.1 * jnp.sin(first(q))) ** 2 + jnp.sum(p * p)) - jnp.cos(first(q))


def nested(function, R, dt=DT):
    """The system of A(R⁻¹(g), s) itself, with the search for the inverse inside of the family."""
    G, step = R.groupoid, jnp.asarray(dt)
    if function in (lagrangian, relativistic):
        return gm.DiscreteSystem(G, LagrangianFamily(map=R, lagrangian=function, dt=step))
    return gm.DiscreteSystem(G, HamiltonianFamily(map=R, hamiltonian=function, dt=step), auxiliary=G.rank)


def system_of(function, R, dt=DT):
    make = gm.lagrangian_system if function in (lagrangian, relativistic) else gm.hamiltonian_system
    return make(function, R, dt)


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0.0)) for a, b in pairs)


# ------------------------------------------------------------------------- one search in a step


def depth_of_step(make):
    """The depth for one step of a system that is made inside of the program."""
    base = jax.eval_shape(lambda: make(DT).groupoid.base.point_like())

    def step(q, dt):
        system = make(dt)
        return system.step(system.start_at(q, jnp.ones(system.groupoid.rank), jnp.zeros(system.unknowns)))[1]

    q = jax.tree.map(lambda leaf: jnp.full(leaf.shape, 0.3), base)
    return depth_of_searches(jax.make_jaxpr(step)(q, DT))


MAPS = {
    "geodesic": lambda dt: LINE,
    "adjoint": lambda dt: LINE.adjoint(),
    "middle": lambda dt: gm.ThetaMap(LINE, 0.5, form=SEARCHED),
    "newmark": lambda dt: gm.NewmarkMap(R1, 0.25 + 0 * dt, 0.5, dt),
    "lift": lambda dt: gm.CotangentLift(LINE),
    "oval": lambda dt: gm.ThetaMap(OVAL, 0.5, form=SEARCHED),
    "geodesics of an oval": lambda dt: AROUND,
    "end of an oval": lambda dt: gm.ChartMap(OVAL).adjoint(),
    "projections": lambda dt: gm.ThetaMap(gm.ProjectionMap(gm.SO3()), 0.5, form=SEARCHED),
}
# Tracing is the cost.
CASES = [("geodesic", energy), ("newmark", energy)]
FURTHER = [
    *((name, energy) for name in ("adjoint", "middle", "lift", "projections", "geodesics of an oval")),
    *(("oval", function) for function in (energy, lagrangian)),
    *(("geodesic", function) for function in (lagrangian, gm.LegendreHamiltonian(lagrangian))),
]


@pytest.mark.parametrize(
    ("name", "function"), [*CASES, *(pytest.param(*case, marks=pytest.mark.extended) for case in FURTHER)]
)
def test_no_search_is_inside_of_the_search_for_a_step(name, function):
    assert depth_of_step(lambda dt: system_of(function, MAPS[name](dt), dt)) == 1
    assert depth_of_step(lambda dt: nested(function, MAPS[name](dt), dt)) >= 2, "the control"


@pytest.mark.parametrize("name", ["oval", pytest.param("end of an oval", marks=pytest.mark.extended)])
def test_charts_that_are_a_search_are_searched_with_the_step(name):
    """Each of the searches of a step has as many unknowns as its chart, and none is inside of it."""
    R = MAPS[name](DT)
    system = system_of(energy, R)
    begin = system.start_at(OVAL.point, jnp.ones(1))
    assert begin.reference.size == system.unknowns + 1
    assert depth_of_step(lambda dt: system_of(energy, MAPS[name](dt), dt)) == 1


def test_plain_lagrangians_on_level_sets_search_once():
    def make(dt):
        return gm.DiscreteSystem(gm.PairGroupoid(OVAL), lambda g: jnp.sum((g[1] - g[0]) ** 2) / (2 * dt) + first(g))

    assert depth_of_step(make) == 1


def test_hamiltonians_of_lagrangians_are_not_searched():
    R, H = gm.theta_map(R1, 0.5), gm.LegendreHamiltonian(relativistic)
    assert depth_of_step(lambda dt: system_of(H, R, dt)) == 1
    assert depth_of_step(lambda dt: nested(H, R, dt)) == 2, "the control"


def test_which_inverses_are_searched():
    assert [inverse_is_searched(R) for R in (LINE, LINE.adjoint(), gm.TangentLift(LINE))] == [True] * 3
    assert inverse_is_searched(gm.ThetaMap(LINE, 0.5, form=Form(straight=True, parallel=False)))
    closed = gm.ChartMap(S2), gm.ProjectionMap(S2).adjoint(), gm.theta_map(R1, 0.3), gm.CotangentLift(gm.ChartMap(S2))
    assert not any(inverse_is_searched(R) for R in closed)
    assert not inverse_is_searched(gm.LagrangianLift(LINE, lagrangian)), "its arrows are searched as well"


# ------------------------------------------------------------------------- the same flow

LINE_START = jnp.array([0.3]), jnp.array([0.8])
# It crosses the equator, where the frame jumps, in the third step.
SPHERE_START = S2.project(jnp.array([0.6, -0.5, 0.1])), jnp.array([0.4, -0.9])


def check_same_flow(function, R, x, steps):
    """Orbits and other lengths of the step are those of the nested family."""
    method, control = (gm.SystemIntegrator(make(function, R)) for make in (system_of, nested))
    run = method.run(x, steps)
    assert float(np.max(run.residuals)) <= ROUNDED
    assert distance(run.points, control.run(x, steps).points) <= ROUNDED
    ends = [with_either.with_step(0.13).run(x, 1).end for with_either in (method, control)]
    assert distance(*ends) <= ROUNDED
    return run


def check_way_back(function, R, x):
    method = gm.SystemIntegrator(system_of(function, R))
    end = method.run(x, 1).end
    assert distance(method.adjoint().with_step(-DT).run(end, 1).end, x) <= ROUNDED
    assert distance(method.adjoint().with_step(-0.13).run(end, 1).end, x) > 1e-4


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("geodesic", marks=pytest.mark.extended),
        *(pytest.param(name, marks=pytest.mark.extended) for name in ("adjoint", "middle")),
    ],
)
def test_the_flow_is_that_of_the_inverse(name):
    R = MAPS[name](DT)
    run = check_same_flow(energy, R, LINE_START, 20)
    straight = gm.SystemIntegrator(gm.hamiltonian_system(energy, gm.ChartMap(R1), DT))
    assert distance(run.end, straight.run(LINE_START, 20).end) > 1e-4, "another map gives another orbit"


OVAL_START = OVAL.retract(OVAL.point, jnp.array([0.2])), jnp.array([0.8])


@pytest.mark.slow
def test_steps_on_a_level_set_are_those_of_the_map():
    """Once around the oval and more, where the frame turns about: the arrow is R(x, dt ∂H/∂p(x, p)) at the inner point x."""
    R = MAPS["oval"](DT)
    system = system_of(energy, R)
    run = system.simulate(gm.from_momentum(system, *OVAL_START), 80)
    assert float(np.max(run.residuals)) <= 1e-15
    assert float(np.max(np.abs(jax.vmap(OVAL.violation)(run.base_points)))) <= 1e-15
    heights = np.asarray(run.base_points)[:, 0]
    assert heights.min() < -0.5 < 0.5 < heights.max()

    @jax.jit
    def arrows(points, auxiliary):
        def arrow(q, s):
            x, p = OVAL.retract(q, s[:1]), s[-1:]
            return R.arrow(x, DT * jax.grad(energy, argnums=1)(x, p)), s

        return jax.vmap(arrow)(points, auxiliary)

    found, s = arrows(run.base_points[:-1], run.auxiliary)
    assert distance(found, run.arrows) <= 1e-14
    assert distance(arrows(run.base_points[:-1], s.at[:, 0].add(1e-3))[0], run.arrows) > 1e-4, "the control"


@pytest.mark.extended
def test_steps_by_geodesics_of_a_level_set_are_those_of_the_map():
    """The arrow is R(q, dt ∂H/∂p(q, p)); the flow is symplectic, so that derivatives in the point are right too."""
    system = system_of(energy, AROUND)
    run = system.simulate(gm.from_momentum(system, *OVAL_START), 80)
    assert float(np.max(run.residuals)) <= 1e-15
    heights = np.asarray(run.base_points)[:, 0]
    assert heights.min() < -0.5 < 0.5 < heights.max(), "around the oval"
    velocities = jax.vmap(lambda q, p: DT * jax.grad(energy, argnums=1)(q, p))

    @jax.jit
    def ends(points, momenta):
        return jax.vmap(lambda q, v: AROUND.arrow(q, v)[1])(points, velocities(points, momenta))

    momenta = run.auxiliary[:, -1:]
    assert distance(ends(run.base_points[:-1], momenta), run.base_points[1:]) <= 1e-14
    assert distance(ends(run.base_points[:-1], momenta + 1e-3), run.base_points[1:]) > 1e-6, "the control"

    @jax.jit
    def area(x):
        def moved(x):
            q, p = system.hamiltonian_map(OVAL.retract(OVAL_START[0], x[:1]), OVAL_START[1] + x[1:])
            return jnp.concatenate([OVAL.local(jax.lax.stop_gradient(q), q), p])

        return jnp.linalg.det(jax.jacfwd(moved)(x))

    assert abs(float(area(jnp.zeros(2))) - 1) <= 1e-12


@pytest.mark.extended
@pytest.mark.parametrize("function", [energy, lagrangian])
def test_the_flow_on_a_level_set_is_that_of_the_inverse(function):
    check_same_flow(function, MAPS["oval"](DT), OVAL_START, 80)
    check_way_back(function, MAPS["oval"](DT), OVAL_START)


@pytest.mark.slow
def test_a_step_on_a_level_set_is_differentiated_through_its_chart():
    """The flow is symplectic: what the chart searches for depends on the start too."""
    method = gm.SystemIntegrator(system_of(energy, gm.ChartMap(OVAL)))

    def moved(x):
        q, p = method((OVAL.retract(OVAL_START[0], x[:1]), OVAL_START[1] + x[1:]))
        return jnp.concatenate([OVAL.local(jax.lax.stop_gradient(q), q), p])

    # On a curve with an orthonormal frame every area is dq dp.
    assert abs(float(jnp.linalg.det(jax.jit(jax.jacfwd(moved))(jnp.zeros(2)))) - 1) <= 1e-13


@pytest.mark.extended
@pytest.mark.parametrize("function", [energy, lagrangian])
@pytest.mark.parametrize("R", [SPHERE, SPHERE.adjoint(), gm.ThetaMap(SPHERE, 0.3, form=SEARCHED)])
def test_the_flow_is_that_of_the_inverse_on_a_sphere(R, function):
    run = check_same_flow(function, R, SPHERE_START, 10)
    check_way_back(function, R, SPHERE_START)
    heights = np.asarray(run.points[0])[:, 2]
    assert heights.min() < 0 < heights.max(), "on both sides of the equator"


@pytest.mark.extended
@pytest.mark.parametrize("name", ["geodesic", "adjoint", "middle"])
def test_the_adjoint_leads_back(name):
    check_way_back(energy, MAPS[name](DT), LINE_START)


@pytest.mark.extended
def test_steps_by_geodesics_compose():
    parts = [gm.hamiltonian_system(energy, R, dt) for R, dt in ((LINE, 0.04), (LINE.adjoint(), 0.06))]
    composed = gm.SystemIntegrator(gm.compose_systems(*parts))
    successive = gm.compose(*(gm.SystemIntegrator(part) for part in parts))
    assert distance(composed.run(LINE_START, 5).points, successive.run(LINE_START, 5).points) <= ROUNDED


@pytest.mark.extended
def test_steps_on_a_level_set_compose():
    """The point in between is on the level set, though it is searched with the step."""
    R = gm.ChartMap(OVAL)

    def make(dt):
        return [gm.hamiltonian_system(energy, end, part * dt) for end, part in ((R, 0.4), (R.adjoint(), 0.6))]

    assert depth_of_step(lambda dt: gm.compose_systems(*make(dt))) == 1
    composed = gm.SystemIntegrator(gm.compose_systems(*make(DT))).run(OVAL_START, 10)
    successive = gm.compose(*(gm.SystemIntegrator(part) for part in make(DT))).run(OVAL_START, 10)
    assert distance(composed.points, successive.points) <= ROUNDED


def test_hamiltonian_of_a_bounded_velocity_by_velocities():
    """The auxiliary variables are the momenta in the middles, and their velocities."""
    R, x = gm.theta_map(R1, 0.5), (jnp.array([0.2]), jnp.array([3.0]))
    system = gm.hamiltonian_system(gm.LegendreHamiltonian(relativistic), R, DT)
    method = gm.SystemIntegrator(system)
    run = method.run(x, 50)
    closed = gm.SystemIntegrator(gm.hamiltonian_system(relativistic_energy, R, DT))
    assert distance(run.points, closed.run(x, 50).points) <= ROUNDED
    assert distance(method.adjoint().with_step(-DT).run(run.end, 1).end, closed.run(x, 49).end) <= ROUNDED
    trajectory = system.simulate(gm.from_momentum(system, *x), 50)
    assert distance(trajectory.momenta, run.points[1]) <= ROUNDED
    p, u = trajectory.auxiliary[:, 0], trajectory.auxiliary[:, 1]
    middles = (trajectory.base_points[1:] + trajectory.base_points[:-1]) / 2
    slopes = jax.vmap(jax.grad(relativistic, argnums=1))(middles, u[:, None])[:, 0]
    assert distance(p, slopes) <= ROUNDED
    assert distance(DT * u, np.diff(trajectory.base_points[:, 0])) <= ROUNDED
