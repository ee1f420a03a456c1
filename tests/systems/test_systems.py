"""Every named system: residuals, equations, constraints, invariants, energy, points; parameters that do not recompile; bad arguments."""

from contextlib import contextmanager
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

# They compile the same steps.
pytestmark = pytest.mark.xdist_group("systems")

STEPS = 2000
TOLERANCE = 1e-12


class Case(NamedTuple):
    factory: Any
    options: dict
    # The same with other numbers.
    changed: dict
    # How much of its scale the energy may oscillate.
    oscillation: float
    # Whether the motion stays where it is: what leaves takes the error of the energy with it.
    bounded: bool = True


S = gm.systems
CASES = {
    "spherical_pendulum": Case(S.spherical_pendulum, {}, {"dt": 0.02, "mass": 2.0, "position": (0.8, 0.0, 0.6)}, 1e-4),
    "double_pendulum": Case(S.double_pendulum, {}, {"dt": 0.005, "masses": (1.0, 0.5), "angles": (0.3, 2.0)}, 1e-2),
    "kepler": Case(S.kepler, {"eccentricity": 0.6}, {"dt": 0.02, "eccentricity": 0.1, "mass": 3.0}, 1e-3),
    "rigid_body": Case(S.rigid_body, {}, {"dt": 0.01, "inertia": (2.0, 3.0, 4.0)}, 1e-12),
    "rigid_body_cayley": Case(S.rigid_body, {"form": "tau"}, {"form": "tau", "velocity": (1.0, 0.1, 0.2)}, 1e-3),
    "rigid_body_exp": Case(S.rigid_body, {"form": "tau", "tau": "exp"}, {"form": "tau", "tau": "exp", "dt": 0.1}, 1e-3),
    "heavy_top": Case(S.heavy_top, {}, {"dt": 0.02, "inertia": (2.0, 2.0, 1.0), "mass": 2.0}, 1e-3),
    "heavy_top_general": Case(
        S.heavy_top,
        {"inertia": (1.0, 1.3, 0.6), "center": (0.2, 0.1, 0.4)},
        {"inertia": (1.0, 1.4, 0.8), "center": (0.1, 0.1, 0.4), "velocity": (0.0, 0.2, 3.0)},
        1e-3,
    ),
    "elroys_beanie": Case(S.elroys_beanie, {}, {"dt": 0.01, "inertia": (1.0, 3.0), "stiffness": 2.0}, 1e-4),
    "plate_ball": Case(
        S.plate_ball, {}, {"dt": 0.02, "radius": 0.5, "multipliers": (0.1, 0.2, 0.3)}, 1e-4, bounded=False
    ),
    "plate_ball_at_rest": Case(S.plate_ball, {"plate_velocity": 0.0}, {"plate_velocity": 0.2}, 1e-4),
    "chain": Case(
        S.chain,
        {"displacements": (0.3, -0.2, 0.1, 0.4, 0.0, -0.5, 0.2, 0.1)},
        {"dt": 0.05, "alpha": 0.0, "beta": 1.0},
        2e-2,
    ),
    "reorientation": Case(S.reorientation, {}, {"dt": 0.02, "weights": (1.0, 1.5), "velocity": (0.1, 0.9)}, 1e-3),
    "unicycle": Case(S.unicycle, {}, {"dt": 0.02, "multipliers": (-0.4,)}, 2e-3),
    "vehicle": Case(S.vehicle, {}, {"dt": 0.02, "weights": (1.0, 1.0, 1.0, 2.0)}, 2e-3),
    "heisenberg": Case(S.heisenberg, {}, {"dt": 0.02, "multipliers": (-1.5,)}, 1e-12),
}


@pytest.fixture(scope="module", params=CASES)
def run(request):
    case = CASES[request.param]
    model = case.factory(**case.options)
    return case, model, model.simulate(STEPS)


def test_every_step_is_solved(run):
    _, _, trajectory = run
    assert len(trajectory) == STEPS
    assert not trajectory.failure
    assert np.all(trajectory.converged)
    assert np.max(trajectory.residuals) <= TOLERANCE


def test_arrows_satisfy_the_equations(run):
    _, _, trajectory = run
    size = 1 + np.max(np.abs(trajectory.momenta[1:-1]), axis=1)
    defects = np.max(np.abs(trajectory.euler_lagrange_defects()), axis=1)
    assert np.max(defects / size) <= TOLERANCE
    assert np.max(np.abs(trajectory.constraint_values()), initial=0.0) <= TOLERANCE


def test_points_stay_on_their_manifolds(run):
    _, model, trajectory = run
    G = model.system.groupoid
    off = eqx.filter_jit(lambda t: (jax.vmap(G.base.violation)(t.base_points), jax.vmap(G.space.violation)(t.arrows)))
    assert max(float(jnp.max(v)) for v in off(trajectory)) <= TOLERANCE


def test_invariants_are_kept(run):
    _, model, trajectory = run
    for name, values in model.invariant_values(trajectory).items():
        assert np.max(np.abs(values - values[0])) <= TOLERANCE * abs(values[0]), name
    for name, X in model.symmetries.items():
        values = trajectory.noether(X)
        assert np.max(np.abs(values - values[0])) <= TOLERANCE * abs(values[0]), name


def test_energy_oscillates_without_trend(run):
    case, model, trajectory = run
    energies = np.asarray(model.energies(trajectory))
    scale = np.max(np.abs(energies))
    assert np.ptp(energies) <= case.oscillation * scale
    if case.bounded and np.ptp(energies) > TOLERANCE * scale:
        assert trend(energies) <= 0.3


def test_times_count_arrows(run):
    _, model, trajectory = run
    assert model.times(trajectory)[-1] == pytest.approx(STEPS * float(model.dt))


def trend(values):
    """The change of the mean from the first tenth to the last, relative to the range."""
    tenth = len(values) // 10
    return abs(np.mean(values[-tenth:]) - np.mean(values[:tenth])) / np.ptp(values)


def test_a_trend_is_seen():
    t = np.linspace(0, 1, STEPS)
    assert trend(np.sin(1000 * t)) < 0.1
    assert trend(np.sin(1000 * t) + 3 * t) > 0.3


def test_what_is_no_symmetry_is_not_kept():
    pendulum = S.spherical_pendulum()
    sphere = pendulum.system.groupoid.base
    values = pendulum.simulate(STEPS).noether(lambda q: sphere.from_ambient(q, jnp.cross(jnp.array([1.0, 0, 0]), q)))
    assert np.ptp(values) > 1e-3
    general = CASES["heavy_top_general"]
    top = general.factory(**general.options)
    assert list(top.invariants) == ["vertical angular momentum"]
    assert np.ptp(top.simulate(STEPS).momenta[:, 2]) > 1e-3


# ------------------------------------------------------------------------------------ recompilation


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
    trajectory = model.simulate(64)
    jax.block_until_ready((model.energies(trajectory), model.invariant_values(trajectory)))


@pytest.mark.parametrize("name", CASES)
def test_other_parameters_do_not_recompile(name):
    case = CASES[name]
    use(case, case.options)
    with counting_compilations() as count:
        use(case, case.options | case.changed)
    assert count[0] == 0


def test_the_counter_sees_a_compilation():
    with counting_compilations() as count:
        jax.jit(lambda x: x + 1)(jnp.zeros(3))
    assert count[0] > 0


# ------------------------------------------------------------------------------------ bad arguments

FACTORIES = {name: getattr(S, name) for name in S.__all__ if not name.endswith("Model")}


@pytest.mark.parametrize("name", FACTORIES)
@pytest.mark.parametrize("dt", [-0.01, 0.0, float("nan"), float("inf"), (0.1, 0.2), "fast", 1j, None])
def test_a_wrong_step_is_refused(name, dt):
    with pytest.raises(gm.ArgumentError, match=rf"^{name} needs dt to be a number > 0; got "):
        FACTORIES[name](dt=dt)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("spherical_pendulum", {"mass": -1.0}, "needs mass to be a number > 0; got -1.0"),
        ("spherical_pendulum", {"length": 0}, "needs length to be a number > 0; got 0"),
        ("spherical_pendulum", {"gravity": -9.81}, "needs gravity to be a number ≥ 0; got -9.81"),
        ("spherical_pendulum", {"velocity": (1.0, 2.0)}, "needs velocity to be a vector of 3 finite real numbers"),
        ("double_pendulum", {"masses": (1.0, 0.0)}, r"needs masses to be a vector of 2 numbers > 0; got \[1. 0.\]"),
        ("double_pendulum", {"lengths": 1.0}, "needs lengths to be a vector of 2 numbers > 0; got 1.0"),
        ("kepler", {"eccentricity": 1.0}, "needs eccentricity < 1, an ellipse; got 1.0"),
        ("kepler", {"eccentricity": -0.1}, "needs eccentricity to be a number ≥ 0; got -0.1"),
        ("kepler", {"mass": 0.0}, "needs mass to be a number > 0; got 0.0"),
        ("rigid_body", {"inertia": (1.0, 2.0, -1.0)}, r"needs inertia to be a vector of 3 numbers > 0; got \["),
        ("rigid_body", {"inertia": (1.0, 1.0, 3.0)}, "the largest at most the sum of the others; got"),
        ("rigid_body", {"form": "product"}, "needs form to be 'trace' or 'tau'; got 'product'"),
        ("rigid_body", {"tau": "log"}, "needs tau to be 'cayley' or 'exp'; got 'log'"),
        ("heavy_top", {"mass": -2.0}, "needs mass to be a number > 0; got -2.0"),
        ("heavy_top", {"center": (0.0, 1.0)}, "needs center to be a vector of 3 finite real numbers"),
        ("elroys_beanie", {"inertia": (0.0, 1.0)}, "needs inertia to be a vector of 2 numbers > 0"),
        ("plate_ball", {"radius": 0.0}, "needs radius to be a number > 0; got 0.0"),
        ("plate_ball", {"multipliers": (0.0, 0.0)}, "needs multipliers to be a vector of 3 finite real numbers"),
        ("chain", {"particles": 0}, "needs particles to be an integer ≥ 1; got 0"),
        ("chain", {"displacements": (1.0, 2.0)}, "needs displacements to be a vector of 8 finite real numbers"),
        ("chain", {"mass": np.array([1.0, 2.0])}, "needs mass to be a number > 0"),
        ("reorientation", {"weights": (1.0, 2.0, 3.0)}, "needs weights to be a vector of 2 numbers > 0"),
        ("unicycle", {"tau": "log"}, "needs tau to be 'exp' or 'cayley'; got 'log'"),
        ("vehicle", {"velocity": float("nan")}, "needs velocity to be a vector of 4 finite real numbers; got nan"),
    ],
)
def test_a_wrong_argument_is_named(name, options, message):
    with pytest.raises(gm.ArgumentError, match=f"^{name} .*{message}"):
        FACTORIES[name](**options)


@pytest.mark.parametrize(("name", "start"), [("spherical_pendulum", "position"), ("heavy_top", "direction")])
def test_a_start_off_the_sphere_is_refused(name, start):
    with pytest.raises(gm.OffManifoldError, match=f"{name} needs {start} on Sphere; it is off by 1 "):
        FACTORIES[name](**{start: (2.0, 0.0, 0.0)})


def test_a_model_without_energy_says_so():
    model = eqx.tree_at(lambda m: m.energy, S.kepler(), None)
    with pytest.raises(gm.ArgumentError, match="Kepler problem has none"):
        model.energies(model.simulate(1))


def test_models_are_differentiable_and_batched_in_their_parameters():
    def place(attraction):
        return S.kepler(attraction=attraction).simulate(20).base_points[-1, 0]

    k, step = 1.0, 1e-5
    slope = (place(k + step) - place(k - step)) / (2 * step)
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(place)))(jnp.array([0.5, k]))
    assert float(values[1]) == pytest.approx(float(place(k)), abs=1e-14)
    assert float(slopes[1]) == pytest.approx(float(slope), rel=1e-6)
