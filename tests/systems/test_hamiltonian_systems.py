"""Every named Hamiltonian system: formula, Legendre transform, invariants, long runs, parameters that do not recompile, bad arguments."""

from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.systems.toda import lax_matrix

# They compile the same steps.
pytestmark = pytest.mark.xdist_group("systems")

S = gm.systems
STEPS = 1000
TOLERANCE = 1e-12
UP = np.array([0.0, 0.0, 1.0])
MOMENTS = np.array([1.0, 2.0, 2.5])
AXES = np.array([1.0, 0.8, 0.6])


class Case(NamedTuple):
    factory: Any
    options: dict
    # The same with other numbers.
    changed: dict
    # H at a point q of the base and a momentum p, by hand.
    formula: Any
    # The invariants that the midpoint method keeps, of those of the flow.
    kept: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    # How much the energy may oscillate.
    oscillation: float = 1e-3


def henon_heiles_formula(q, p):
    (x, y), (u, v) = q, p
    return (u * u + v * v + x * x + y * y) / 2 + x * x * y - y**3 / 3


def toda_formula(q, p):
    return (p[0] ** 2 + p[1] ** 2 + p[2] ** 2) / 2 + np.exp(q[0] - q[1]) + np.exp(q[1] - q[2]) + np.exp(q[2] - q[0])


def body_formula(inertia, weight=0.0):
    """The weight is that of a body with its centre of mass on the third axis."""
    return lambda q, p: np.sum(p**2 / inertia) / 2 + weight * (UP @ q @ UP)


SPACE = tuple(f"angular momentum about axis {k}" for k in (1, 2, 3))
TOP = {"inertia": (1.0, 1.0, 0.6), "gravity": 9.81, "velocity": (0.0, 0.5, 4.0), "dt": 0.02}
CASES = {
    "pendulum": Case(
        S.pendulum,
        {"mass": 1.5, "length": 0.8, "gravity": 9.81, "dt": 0.02},
        {"dt": 0.01, "mass": 1.0, "angle": 2.0},
        lambda q, p: p[0] ** 2 / (2 * 1.5 * 0.64) - 1.5 * 9.81 * 0.8 * np.cos(q[0]),
        oscillation=1e-2,
    ),
    "henon_heiles": Case(S.henon_heiles, {}, {"dt": 0.05, "energy": 0.1, "coupling": 0.5}, henon_heiles_formula),
    "toda": Case(S.toda, {}, {"dt": 0.02, "momentum": (0.3, 0.1, 0.2)}, toda_formula, ("total momentum",), ("tr L^3",)),
    "kepler": Case(
        S.kepler_hamiltonian,
        {"mass": 1.2, "attraction": 0.9},
        {"dt": 0.02, "eccentricity": 0.1, "mass": 2.0},
        lambda q, p: (p @ p) / 2.4 - 0.9 / np.hypot(*q),
        ("angular momentum",),
        ("first Laplace component", "second Laplace component"),
    ),
    "spherical_pendulum": Case(
        S.spherical_pendulum_hamiltonian,
        {"mass": 1.3, "length": 0.7},
        {"dt": 0.01, "mass": 2.0, "position": (0.8, 0.0, 0.6)},
        lambda q, p: (p @ p) / (2 * 1.3 * 0.49) + 1.3 * 9.81 * 0.7 * q[2],
        ("angular momentum",),
    ),
    "rigid_body": Case(
        S.rigid_body_hamiltonian, {}, {"dt": 0.02, "inertia": (2.0, 3.0, 4.0)}, body_formula(MOMENTS), SPACE
    ),
    "lagrange_top": Case(
        S.rigid_body_hamiltonian,
        TOP,
        {"inertia": (1.0, 1.2, 0.6)},
        body_formula(np.array(TOP["inertia"]), 9.81 * 0.5),
        (SPACE[2], "axial angular momentum"),
        oscillation=2e-2,
    ),
    "lie_poisson_rigid_body": Case(
        S.lie_poisson_rigid_body,
        {},
        {"dt": 0.02, "velocity": (1.0, 0.1, 0.2)},
        lambda q, p: np.sum(p**2 / MOMENTS) / 2,
        ("squared angular momentum",),
    ),
    "geodesics": Case(
        S.geodesics,
        {},
        {"dt": 0.02, "axes": (1.0, 0.9, 0.5)},
        lambda q, p: (p @ p) / 2,
        lost=("Joachimsthal's function",),
    ),
}
SLOW = {
    "rigid_body_cayley": CASES["rigid_body"]._replace(options={"tau": "cayley"}),
    "lie_poisson_rigid_body_cayley": CASES["lie_poisson_rigid_body"]._replace(options={"tau": "cayley"}),
}
SLOW = {name: case._replace(changed=case.changed | case.options) for name, case in SLOW.items()}
NAMES = [*CASES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


def case_and_model(name):
    case = (CASES | SLOW)[name]
    return case, case.factory(**case.options)


def draws(model, count=6):
    """Points of A*G, stacked."""
    G = model.groupoid

    def draw(key):
        one, two = jax.random.split(key)
        return G.base.random_point(one), jax.random.normal(two, (G.rank,))

    return jax.jit(jax.vmap(draw))(jax.random.split(jax.random.key(3), count))


# --------------------------------------------------------------------------------------- formulas


@pytest.mark.parametrize("name", CASES)
def test_the_hamiltonian_is_the_formula(name):
    case, model = case_and_model(name)
    points = draws(model)
    values = jax.vmap(model.hamiltonian)(*points)
    for q, p, value in zip(*map(np.asarray, points), np.asarray(values), strict=True):
        assert value == pytest.approx(case.formula(q, p), rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_the_lagrangian_is_the_legendre_transform(name):
    _, model = case_and_model(name)

    def gap(q, p):
        v = jax.grad(model.hamiltonian, argnums=1)(q, p)
        energy = p @ v - model.lagrangian(q, v)
        momentum = jax.grad(model.lagrangian, argnums=1)(q, v)
        return jnp.append(momentum - p, energy - model.hamiltonian(q, p))

    assert np.max(np.abs(jax.vmap(gap)(*draws(model)))) <= TOLERANCE


def brackets(model, functions):
    """The largest Poisson bracket of each function with H at drawn points, relative to the sizes of both."""
    P = gm.LinearPoisson(gm.GroupoidAlgebroid(model.groupoid))
    field = P.hamiltonian_field(lambda x: model.hamiltonian(*x))

    def sizes(x):
        rate = P.manifold.to_ambient(x, field(x))
        values, found = jax.jvp(lambda x: jnp.stack([function(*x) for function in functions]), (x,), (rate,))
        return jnp.abs(found) / ((1 + jnp.abs(model.hamiltonian(*x))) * (1 + jnp.abs(values)))

    return np.max(jax.jit(jax.vmap(sizes))(draws(model)), axis=0)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kept or case.lost])
def test_invariants_commute_with_the_hamiltonian(name):
    case, model = case_and_model(name)
    assert set(model.invariants) == {*case.kept, *case.lost}
    invariants = list(model.invariants.values())
    found = brackets(model, [*invariants, lambda q, p: p[0] * invariants[0](q, p)])
    assert np.all(found[:-1] <= TOLERANCE), found
    assert found[-1] > 1e-3


def test_the_bracket_tells_wrong_parameters():
    model, other = S.kepler_hamiltonian(), S.kepler_hamiltonian(attraction=1.1)
    assert np.min(brackets(model, list(other.invariants.values())[1:])) > 1e-3


def test_traces_of_longer_lattices_commute():
    model = S.toda(particles=5)
    assert list(model.invariants) == ["total momentum", "tr L^3", "tr L^4", "tr L^5"]
    assert np.all(brackets(model, list(model.invariants.values())) <= TOLERANCE)


def test_the_eigenvalues_of_the_lattice_move_with_its_traces_alone():
    """The spectrum of Flaschka's matrix along an orbit of high order."""
    model = S.toda()
    method = gm.raise_order(gm.stormer_verlet(model.hamiltonian, model.groupoid, 0.05), gm.optimized(8))
    orbit = model.simulate(200, method)
    spectra = np.linalg.eigvalsh(jax.vmap(lax_matrix)(*orbit.points))
    assert np.max(np.abs(spectra - spectra[0])) <= 1e-11
    assert np.ptp(orbit.points[1][:, 0]) > 0.5


# ------------------------------------------------------------------------------------------- runs


@pytest.fixture(scope="module", params=NAMES)
def run(request):
    case, model = case_and_model(request.param)
    return case, model, model.simulate(STEPS)


def test_every_step_is_solved(run):
    _, model, orbit = run
    assert len(orbit) == STEPS
    assert not orbit.failure
    assert np.max(orbit.residuals) <= TOLERANCE
    assert orbit.times[-1] == pytest.approx(STEPS * float(model.dt))
    off = jax.jit(jax.vmap(model.groupoid.base.violation))(orbit.points[0])
    assert np.max(off) <= TOLERANCE


def test_energy_oscillates_without_trend(run):
    case, model, orbit = run
    energies = np.asarray(model.energies(orbit))
    errors = energies - energies[0]
    first, second = np.max(np.abs(errors[: STEPS // 2])), np.max(np.abs(errors[STEPS // 2 :]))
    assert 1e-7 < first <= case.oscillation
    assert second <= 1.5 * first
    tenth = STEPS // 10
    assert abs(np.mean(errors[-tenth:]) - np.mean(errors[:tenth])) <= 0.4 * np.ptp(errors)


def test_the_midpoint_method_keeps_momenta_and_casimirs(run):
    case, model, orbit = run
    values = model.invariant_values(orbit)
    for name in case.kept:
        assert np.ptp(values[name]) <= TOLERANCE * max(1.0, abs(values[name][0])), name
    for name in case.lost:
        assert 1e-5 < np.ptp(values[name]) < 0.1, name


@pytest.mark.slow
def test_geodesics_of_any_surface():
    """On a curve nothing turns: the speed is constant, and a round takes its length."""
    circle = gm.LevelSet(lambda x: x[0] ** 2 + x[1] ** 2 - 4, 2)
    model = S.geodesics(dt=0.05, surface=circle, position=(2.0, 0.0), velocity=(5.0, 1.0))
    assert not model.invariants
    assert np.abs(model.start[1][0]) == pytest.approx(1.0)
    orbit = model.simulate(100)
    assert np.ptp(np.abs(orbit.points[1])) <= TOLERANCE
    angles = np.unwrap(np.arctan2(orbit.points[0][:, 1], orbit.points[0][:, 0]))
    assert np.ptp(np.diff(angles)) <= TOLERANCE
    assert angles[-1] == pytest.approx(2.5, rel=1e-3)


def test_other_methods_and_steps():
    model = S.henon_heiles()
    explicit = gm.stormer_verlet(model.hamiltonian, model.groupoid, 0.05)
    assert np.all(np.asarray(model.simulate(100, explicit).iterations) == 0)
    assert float(model.integrator(dt=0.01).dt) == 0.01
    assert isinstance(model.integrator(gm.theta_map(model.groupoid, 0)), gm.Composition)


# ---------------------------------------------------------------------------------- recompilation


@contextmanager
def counting_compilations():
    count = [0]

    def listen(event, duration, **_):
        count[0] += event == "/jax/core/compile/backend_compile_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield count
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def use(case, options):
    model = case.factory(**options)
    orbit = model.simulate(STEPS)
    jax.block_until_ready((model.energies(orbit), model.invariant_values(orbit)))


@pytest.mark.parametrize("name", NAMES)
def test_other_parameters_do_not_recompile(name):
    case = (CASES | SLOW)[name]
    use(case, case.options)
    with counting_compilations() as count:
        use(case, case.options | case.changed)
    assert count[0] == 0


# ---------------------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("pendulum", {"mass": 0.0}, "needs mass to be a number > 0; got 0.0"),
        ("pendulum", {"length": -1.0}, "needs length to be a number > 0; got -1.0"),
        ("pendulum", {"gravity": -1.0}, "needs gravity to be a number ≥ 0; got -1.0"),
        ("pendulum", {"angle": "up"}, "needs angle to be a finite real number; got 'up'"),
        ("henon_heiles", {"energy": 0.001}, "needs energy of at least 0.00466667 at the point "),
        ("henon_heiles", {"section": (1.0,)}, "needs section to be a vector of 2 finite real numbers"),
        ("henon_heiles", {"coupling": None}, "needs coupling to be a finite real number; got None"),
        ("toda", {"particles": 2}, "needs particles to be at least 3; got 2"),
        ("toda", {"particles": 3.0}, "needs particles to be an integer ≥ 1; got 3.0"),
        ("toda", {"momentum": (1.0, 2.0)}, "needs momentum to be a vector of 3 finite real numbers"),
        ("toda", {"displacements": 1.0}, "needs displacements to be a vector of 3 finite real numbers"),
        ("kepler_hamiltonian", {"eccentricity": 1.0}, "needs eccentricity < 1, an ellipse; got 1.0"),
        ("kepler_hamiltonian", {"attraction": -1.0}, "needs attraction to be a number > 0; got -1.0"),
        ("spherical_pendulum_hamiltonian", {"mass": -1.0}, "needs mass to be a number > 0; got -1.0"),
        ("spherical_pendulum_hamiltonian", {"position": (2.0, 0.0, 0.0)}, "needs position on Sphere; it is off by 1 "),
        ("rigid_body_hamiltonian", {"inertia": (1.0, 1.0, 3.0)}, "the largest at most the sum of the others; got"),
        ("rigid_body_hamiltonian", {"tau": "log"}, "needs tau to be 'exp' or 'cayley'; got 'log'"),
        ("rigid_body_hamiltonian", {"attitude": "up"}, "needs attitude to be a 3 by 3 rotation matrix; got 'up'"),
        ("rigid_body_hamiltonian", {"attitude": 2 * np.eye(3)}, "needs attitude on SO3; it is off by "),
        ("rigid_body_hamiltonian", {"center": (0.0, 1.0)}, "needs center to be a vector of 3 finite real numbers"),
        ("lie_poisson_rigid_body", {"velocity": 1.0}, "needs velocity to be a vector of 3 finite real numbers"),
        ("lie_poisson_rigid_body", {"tau": "log"}, "needs tau to be 'exp' or 'cayley'; got 'log'"),
        ("geodesics", {"axes": (1.0, 2.0, 0.0)}, r"needs axes to be a vector of 3 numbers > 0; got \[1. 2. 0.\]"),
        ("geodesics", {"position": (2.0, 0.0, 0.0)}, "needs position on LevelSet; it is off by "),
        ("geodesics", {"velocity": (2.0, 0.0)}, "needs velocity to be a vector of 3 finite real numbers"),
        ("geodesics", {"surface": 3}, "needs surface.* to be a LevelSet; got int 3"),
        ("geodesics", {"surface": gm.LevelSet(lambda x: x @ x - 1, 3), "axes": (1, 1, 1)}, "needs axes .* not both"),
    ],
)
def test_a_wrong_argument_is_named(name, options, message):
    with pytest.raises((gm.ArgumentError, gm.OffManifoldError), match=f"^{name} .*{message}"):
        getattr(S, name)(**options)


def test_the_energy_of_another_system_is_not_kept():
    orbit = S.kepler_hamiltonian().simulate(STEPS)
    assert np.ptp(S.kepler_hamiltonian(attraction=1.1).energies(orbit)) > 1e-2


def test_models_are_differentiable_in_their_parameters():
    def place(attraction):
        return S.kepler_hamiltonian(attraction=attraction).simulate(5).end[0][0]

    k, step = 1.0, 1e-5
    slope = (place(k + step) - place(k - step)) / (2 * step)
    assert float(jax.jit(jax.grad(place))(k)) == pytest.approx(float(slope), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("pendulum", "mass", 1.5),
        ("henon_heiles", "coupling", 0.5),
        ("toda", "momentum", (0.3, 0.1, 0.2)),
        ("kepler_hamiltonian", "eccentricity", 0.5),
        ("spherical_pendulum_hamiltonian", "length", 2.0),
        ("rigid_body_hamiltonian", "inertia", (2.0, 2.0, 3.0)),
        ("lie_poisson_rigid_body", "velocity", (1.0, 0.1, 0.2)),
        ("geodesics", "axes", (1.0, 0.9, 0.5)),
    ],
)
def test_models_are_made_inside_jit(name, parameter, value):
    def energy_and_invariants(value):
        model = getattr(S, name)(**{parameter: value})
        values = {key: invariant(*model.start) for key, invariant in model.invariants.items()}
        return model.hamiltonian(*model.start), values

    energy, values = jax.jit(energy_and_invariants)(jnp.asarray(value))
    expected, others = energy_and_invariants(value)
    assert float(energy) == pytest.approx(float(expected), rel=1e-14)
    for key in values:
        assert float(values[key]) == pytest.approx(float(others[key]), rel=1e-13), key
