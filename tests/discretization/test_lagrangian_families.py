"""Discrete Lagrangians of discretization maps: inner points instead of a search, bounded velocities, compositions, middles of steps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.discretization.composed_family import ComposedFamily
from groupoid_mech.discretization.lagrangian_family import LagrangianFamily
from groupoid_mech.discretization.lagrangian_lift import velocity, velocity_of_momentum
from groupoid_mech.symplectic.linear_poisson import LinearPoisson

ROUNDED = 1e-12
DT = 0.1
R1, R2, S2 = gm.Euclidean(1), gm.Euclidean(2), gm.Sphere(2)
INERTIA = jnp.array([1.0, 2.0, 2.5])
POINT = S2.project(jnp.array([0.3, -0.5, 0.6])), jnp.array([0.4, -0.3])
SPIN = jnp.zeros(0), jnp.array([1.0, 0.5, -2.0])


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0.0)) for a, b in pairs)


def body(q, w):
    return jnp.sum(INERTIA * w * w) / 2 + 0.3 * w[0]


def body_energy(q, p):
    w = (p - jnp.array([0.3, 0.0, 0.0])) / INERTIA
    return jnp.sum(INERTIA * w * w) / 2


def particle(q, v):
    return jnp.sum(v * v) / (2 * (1 + 0.4 * q[0])) - 0.6 * q[1] - q[2] ** 2


def particle_energy(q, p):
    return (1 + 0.4 * q[0]) * jnp.sum(p * p) / 2 + 0.6 * q[1] + q[2] ** 2


def step(method, x):
    """One step, by the program that longer runs are compiled to."""
    return method.run(x, 1).end


def there_and_back(method, x):
    """How far the adjoint step of the length −dt leads away from where a step began."""
    return distance(step(method.adjoint().with_step(-method.dt), step(method, x)), x)


# ------------------------------------------------------------------------- inner points instead of a search


def half_turn(theta):
    """The action by R⁻¹ in closed form, for the Cayley map and θ = ½: twice the coordinates of half of the rotation."""
    group = gm.SO3(tau="cayley")

    def action(g):
        v = 2 * group.cayley_inverse(group.exp(0.5 * group.log(g)))
        return DT * body(jnp.zeros(0), v / DT)

    return gm.ThetaMap(gm.GroupGroupoid(group), theta), action


def chord(theta):
    """The action by R⁻¹ in closed form, for the projection and θ = ½: the tangent at the middle of the arc, as far as both ends."""

    def action(g):
        x, y = g
        z = (x + y) / jnp.sqrt(jnp.sum((x + y) ** 2))
        return DT * particle(z, S2.from_ambient(z, (y - x) / (z @ y)) / DT)

    return gm.ThetaMap(gm.ProjectionMap(S2), theta), action


INNER = {"cayley": (half_turn, body, body_energy, SPIN), "projection": (chord, particle, particle_energy, POINT)}


@pytest.mark.parametrize(
    "name", [pytest.param("cayley", marks=pytest.mark.extended), pytest.param("projection", marks=pytest.mark.extended)]
)
def test_an_inner_point_takes_the_place_of_a_search(name):
    """The orbit is that of the action dt l(R⁻¹(g)/dt) and that of the Hamiltonian."""
    make, lagrangian, hamiltonian, x = INNER[name]
    R, action = make(0.5)
    G, system = R.groupoid, gm.lagrangian_system(lagrangian, R, DT)
    method = gm.SystemIntegrator(system)
    assert system.auxiliary == 2 * G.rank
    run = method.run(x, 40)
    assert float(np.max(run.residuals)) <= ROUNDED
    plain = gm.DiscreteSystem(G, action)
    guess = system.first_guess(*x)[: G.rank]
    assert distance(plain.simulate(gm.from_momentum(plain, *x, guess), 40).momenta, run.points[1]) <= ROUNDED
    by_energy = gm.SystemIntegrator(gm.hamiltonian_system(hamiltonian, R, DT)).run(x, 40)
    assert distance(by_energy.points, run.points) <= ROUNDED
    other = gm.SystemIntegrator(gm.lagrangian_system(lagrangian, gm.ThetaMap(R.retraction, 0.2, form=R.form), DT))
    assert distance(other.run(x, 40).end, run.end) > 1e-4
    if name == "cayley":
        # Starts from an arrow find the inner point.
        v = jnp.linspace(0.5, 1.0, G.rank)
        momentum = plain.legendre_minus(G.fiber_chart(x[0], DT * v))
        assert distance(gm.from_velocity(system, x[0], v, DT).momentum, momentum) <= ROUNDED
    else:
        # On a group with commuting halves, θ and 1 − θ are the same: there every method is symmetric.
        assert there_and_back(other, x) <= ROUNDED
        assert distance(step(other.with_step(-DT), step(other, x)), x) > 1e-4


@pytest.mark.extended
@pytest.mark.parametrize("name", INNER)
def test_a_step_with_an_inner_point_is_a_poisson_map(name):
    make, lagrangian, _, x = INNER[name]
    system = gm.lagrangian_system(lagrangian, make(0.3)[0], DT)
    P = LinearPoisson(gm.GroupoidAlgebroid(system.groupoid))
    assert jax.jit(lambda y: gm.poisson_defect(P, P, lambda z: system.hamiltonian_map(*z), y))(x) <= ROUNDED
    assert gm.poisson_defect(P, P, lambda y: (y[0], 1.01 * y[1]), x) > 1e-3


# ------------------------------------------------------------------------- bounded velocities


def relativistic(q, v):
    return -jnp.sqrt(1 - jnp.sum(v * v)) + jnp.cos(q[0])


def relativistic_energy(q, p):
    return jnp.sqrt(1 + jnp.sum(p * p)) - jnp.cos(q[0])


def test_velocity_of_a_momentum_below_a_bound():
    found = jax.jit(jax.vmap(lambda p: velocity_of_momentum(relativistic, jnp.zeros(2), p)))
    p = jnp.outer(jnp.array([0.0, 0.1, 3.0, 30.0, 1e4]), jnp.array([0.6, -0.8]))
    exact = p / jnp.sqrt(1 + jnp.sum(p * p, axis=1, keepdims=True))
    assert distance(found(p), exact) <= 1e-15
    assert np.isnan(np.asarray(velocity(relativistic, jnp.zeros(2), p[2], jnp.zeros(2)))).all(), "Newton's method alone"


@pytest.mark.extended
def test_discrete_lagrangians_of_a_bounded_velocity():
    x, R = (jnp.array([0.2]), jnp.array([3.0])), gm.theta_map(R1, 0.5)
    run = gm.SystemIntegrator(gm.lagrangian_system(relativistic, R, DT)).run(x, 50)
    expected = gm.SystemIntegrator(gm.hamiltonian_system(relativistic_energy, R, DT)).run(x, 50)
    assert distance(run.points, expected.points) <= ROUNDED
    galerkin = gm.SystemIntegrator(gm.galerkin_system(relativistic, R1, DT, stages=2)).run(x, 50)
    errors = [np.ptp(np.asarray(orbit.observe(relativistic_energy))) for orbit in (run, galerkin)]
    assert errors[1] <= 1e-6 < 1e-5 < errors[0]
    assert float(np.max(galerkin.residuals)) <= ROUNDED


# ------------------------------------------------------------------------- compositions


@pytest.fixture(scope="module")
def halves():
    """On the sphere, a step of each end of the arrow, of different lengths."""
    return [gm.lagrangian_system(particle, gm.theta_map(S2, theta), dt) for theta, dt in ((0, 0.03), (1, 0.07))]


@pytest.mark.extended
def test_a_composition_of_steps_is_a_step(halves):
    method = gm.SystemIntegrator(gm.compose_systems(*halves))
    assert abs(float(method.dt) - 0.1) <= 1e-16
    run = method.run(POINT, 10)
    assert float(np.max(run.residuals)) <= ROUNDED
    successive = gm.compose(*(gm.SystemIntegrator(half) for half in halves))
    assert distance(run.points, successive.run(POINT, 10).points) <= ROUNDED
    assert distance(step(method.with_step(0.2), POINT), step(successive.with_step(0.2), POINT)) <= ROUNDED
    assert there_and_back(method, POINT) <= ROUNDED
    assert distance(step(method.with_step(-0.1), step(method, POINT)), POINT) > 1e-4


@pytest.mark.extended
def test_half_a_step_from_each_end_is_symmetric_and_of_order_two(halves):
    equal = [gm.SystemIntegrator(half).with_step(0.05).system for half in halves]
    order = {}
    for name, parts in (("equal", equal), ("different", halves)):
        method = gm.SystemIntegrator(gm.compose_systems(*parts))
        ends = [method.with_step(0.8 / n).run(POINT, n).end for n in (8, 16, 32)]
        order[name] = np.log2(distance(ends[0], ends[1]) / distance(ends[1], ends[2]))
        back = distance(step(method.with_step(-0.1), step(method.with_step(0.1), POINT)), POINT)
        assert (back <= ROUNDED) == (name == "equal")
    assert abs(order["equal"] - 2) <= 0.1
    assert abs(order["different"] - 1) <= 0.2


def test_compositions_that_are_no_steps(halves):
    plain = gm.DiscreteSystem(gm.PairGroupoid(S2), lambda g: jnp.sum((g[1] - g[0]) ** 2))
    back = gm.SystemIntegrator(halves[0]).with_step(-halves[0].lagrangian.dt).system
    for pair in ((halves[0], plain), (plain, halves[1]), (halves[0], back)):
        composed = gm.compose_systems(*pair)
        assert isinstance(composed.lagrangian, ComposedFamily)
        with pytest.raises(gm.ArgumentError, match="SystemIntegrator needs a system of a StepFamily"):
            gm.SystemIntegrator(composed)


# ------------------------------------------------------------------------- rules of one point and maps


def actions(G, lagrangian, g):
    """The values of both discrete Lagrangians at an arrow, by the left, right and midpoint rule."""
    maps = {"left": gm.ChartMap(G), "right": gm.ChartMap(G).adjoint(), "midpoint": gm.theta_map(G, 0.5)}
    pairs = [
        (
            gm.discretize(lagrangian, G, DT, rule=rule),
            gm.DiscreteSystem(G, LagrangianFamily(map=R, lagrangian=lagrangian, dt=jnp.asarray(DT))),
        )
        for rule, R in maps.items()
    ]

    @jax.jit
    def values(g):
        return [[system.family(g, system.increment(g), jnp.zeros(0)) for system in pair] for pair in pairs]

    return np.array(values(g))


def pair_lagrangian(q, v):
    first = q.reshape(-1)[0]
    return (1 + 0.3 * first) * jnp.sum(v * v) / 2 + 0.2 * v[0] * v[1] ** 2 - jnp.sin(first)


SPACES = {
    "plane": (gm.PairGroupoid(R2), pair_lagrangian),
    "sphere": (gm.PairGroupoid(S2), pair_lagrangian),
    "rotations": (gm.PairGroupoid(gm.SO3()), pair_lagrangian),
    "exponential": (gm.GroupGroupoid(gm.SO3()), body),
    "cayley": (gm.GroupGroupoid(gm.SO3(tau="cayley")), body),
    "cayley_rotations": (gm.PairGroupoid(gm.SO3(tau="cayley")), pair_lagrangian),
}


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("sphere", "cayley_rotations") else pytest.param(name, marks=pytest.mark.extended)
        for name in SPACES
    ],
)
def test_rules_of_one_point_are_maps_where_the_chart_is_straight(name):
    G, lagrangian = SPACES[name]
    q = G.base.random_point(jax.random.key(3))
    v = jnp.array([0.9, -0.6, 0.7])[: G.rank]
    by_rule, by_map = actions(G, lagrangian, G.fiber_chart(q, 0.5 * v)).T
    off = np.abs(by_rule - by_map)
    assert np.max(off[:2]) <= 1e-13
    if "cayley" in name:
        # Half of the coordinates is not the middle of the rotation.
        assert 1e-5 < off[2] < 1e-2
    else:
        assert off[2] <= 1e-13
    if isinstance(G, gm.PairGroupoid):
        assert np.min(np.abs(np.diff(by_rule))) > 1e-4, "the rules differ among themselves"


# ------------------------------------------------------------------------- Galerkin methods

CURVED = {
    "sphere": (gm.PairGroupoid(S2), particle, POINT),
    "exponential": (gm.GroupGroupoid(gm.SO3()), body, SPIN),
    "cayley": (gm.GroupGroupoid(gm.SO3(tau="cayley")), body, SPIN),
}


@pytest.mark.parametrize(
    "name", ["cayley", *(pytest.param(name, marks=pytest.mark.extended) for name in ("sphere", "exponential"))]
)
def test_galerkin_methods_are_symmetric_on_curved_spaces(name):
    """Coordinates at the middle of the step are the same for the step back; where the middle has to be found, it is an auxiliary variable."""
    G, lagrangian, x = CURVED[name]
    system = gm.galerkin_system(lagrangian, G, 0.2, stages=2)
    assert system.auxiliary == G.rank * (3 if name == "cayley" else 1)
    method = gm.SystemIntegrator(system)
    assert there_and_back(method, x) <= ROUNDED
    end = step(method, x)
    assert distance(step(method.with_step(-0.2), end), x) <= ROUNDED
    assert distance(step(method.adjoint(), x), end) <= ROUNDED
    assert distance(step(method.with_step(-0.19), end), x) > 1e-3


# ------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("dt", [float("nan"), float("inf"), 0.0, jnp.ones(2), "a tenth"])
def test_time_steps_that_are_none_are_refused(dt):
    makers = {
        "lagrangian_system": lambda: gm.lagrangian_system(relativistic, gm.ChartMap(R1), dt),
        "galerkin_system": lambda: gm.galerkin_system(relativistic, R1, dt, stages=2),
        "discretize": lambda: gm.discretize(relativistic, gm.PairGroupoid(R1), dt),
    }
    for owner, make in makers.items():
        with pytest.raises(gm.ArgumentError, match=rf"^{owner} needs .*dt"):
            make()
