"""A million steps: momenta drift like a random walk of round-off, energies have no trend, points stay on their manifolds.

The largest relative drift up to step n, with ε the unit of round-off, stays below 10 (ε/dt) √n and grows like n to a power of at
most 3/4. A linear drift, which a bias in every step gives, has the power 1.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

STEPS, PIECE, STRIDE = 10**6, 10**5, 100
EPS = np.finfo(float).eps
S = gm.systems
# Starts in general position: several, since one random walk says little about its power.
STARTS = 5


def spherical_pendulum(rng):
    q = rng.normal(size=3)
    return S.spherical_pendulum(position=q / np.linalg.norm(q), velocity=2 * rng.normal(size=3)), "angular momentum"


def rigid_body(rng):
    return S.rigid_body(velocity=rng.normal(size=3)), "squared angular momentum"


def heavy_top(rng):
    q = rng.normal(size=3)
    spin = np.array([0.0, 0.0, 5.0]) + rng.normal(size=3)
    return S.heavy_top(direction=q / np.linalg.norm(q), velocity=spin), "vertical angular momentum"


def power(steps, drifts):
    """The power of n in the largest drift up to n, fitted between a thousand steps and all."""
    at = np.geomspace(1000, steps[-1], 13)
    reached = np.interp(at, steps, np.maximum.accumulate(drifts))
    return np.polyfit(np.log(at), np.log(reached), 1)[0]


def test_the_power_tells_a_random_walk_from_a_bias():
    steps = np.arange(0, STEPS + 1, STRIDE)
    walks = np.random.default_rng(0).normal(size=(5, len(steps))).cumsum(axis=1)
    assert power(steps, np.median([np.maximum.accumulate(np.abs(walk)) for walk in walks], axis=0)) <= 0.75
    assert power(steps, steps / STEPS) > 0.95


@eqx.filter_jit
def largest_violation(G, trajectory):
    off = jax.vmap(G.base.violation)(trajectory.base_points), jax.vmap(G.space.violation)(trajectory.arrows)
    return jnp.maximum(jnp.max(off[0]), jnp.max(off[1]))


def run(model, name):
    """Invariant and energy at every kept step of a long run; residuals and points are checked in all steps."""
    values, energies, begin = [], [], model.start
    for _ in range(STEPS // PIECE):
        trajectory = model.system.simulate(begin, PIECE)
        begin = trajectory.end
        assert np.max(trajectory.residuals) <= 1e-12
        assert float(largest_violation(model.system.groupoid, trajectory)) <= 1e-12
        values.append(np.asarray(model.invariant_values(trajectory)[name])[:-1:STRIDE])
        energies.append(np.asarray(model.energies(trajectory))[:-1:STRIDE])
    return np.concatenate(values), np.concatenate(energies)


def vertical_momentum(q, p):
    """The third component of q × E(q) p."""
    x, y, _ = q
    u, v, _ = gm.Sphere(2).to_ambient(q, p)
    return x * v - y * u


def pendulum_method(rng):
    """On T*S²; most of these starts cross the equator, where the frame of the sphere jumps."""
    q = rng.normal(size=3)
    start = jnp.asarray(q / np.linalg.norm(q)), jnp.asarray(rng.normal(size=2))
    return S.spherical_pendulum_hamiltonian().integrator(), start, vertical_momentum


def casimir(q, p):
    return jnp.sum(p * p)


def reduced_body_method(rng):
    """On so(3)*."""
    return S.lie_poisson_rigid_body().integrator(), (jnp.zeros(0), jnp.asarray(rng.normal(size=3))), casimir


def momentum_in_space(R, p):
    return jnp.dot(R[2], p)


def body_method(rng):
    """On T*SO(3)."""
    return S.rigid_body_hamiltonian().integrator(), (jnp.eye(3), jnp.asarray(rng.normal(size=3))), momentum_in_space


def trend(values):
    """The mean of the changes of a quantity, in units of its standard error: of the order of 1 for a random walk, whatever its size."""
    changes = np.diff(values)
    return np.mean(changes) / (np.std(changes) / np.sqrt(len(changes)))


def test_a_trend_stands_out_of_a_random_walk():
    steps = np.random.default_rng(1).normal(size=STEPS // STRIDE)
    assert abs(trend(np.cumsum(steps))) < 3
    assert trend(np.cumsum(steps + 0.1)) > 8


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, id=method.__name__, marks=[run, pytest.mark.xdist_group(f"drift of {method.__name__}")])
        for method, run in (
            (pendulum_method, pytest.mark.long),
            (reduced_body_method, pytest.mark.long),
            (body_method, pytest.mark.extended),
        )
    ],
)
def test_a_million_steps_of_a_method(method):
    """Midpoint methods: momenta walk at random, by about ε√n of the largest momentum, without 1/dt, and have no trend.

    Medians of several starts: the free body moves on a closed curve, where round-off may repeat itself. And no start is far off: what a
    Newton iteration leaves, of one sign in every step, would show as 0.07 ε a step if it were up to ε/8.
    """
    drifts, trends = walks(method, seed=13, starts=4)
    assert np.median(np.max(drifts, axis=1)) <= 2 * EPS * np.sqrt(STEPS)
    assert np.median(np.abs(trends)) <= 3

    drifts, _ = walks(method, seed=2026, starts=6)
    typical = np.median(np.maximum.accumulate(drifts, axis=1), axis=0)
    assert typical[-1] <= 2 * EPS * np.sqrt(STEPS)
    assert power(np.arange(0, STEPS + 1, STRIDE), typical) <= 0.75
    assert np.max(drifts) <= 0.01 * EPS * STEPS


def euler_method(H):
    """Euler's symplectic method on T*S²."""
    return gm.hamiltonian_integrator(H, gm.ChartMap(gm.Sphere(2)), dt=0.05)


def verlet_method(H):
    """Störmer–Verlet on T*S², as for a Hamiltonian that does not split."""
    return gm.stormer_verlet(lambda q, p: H(q, p), gm.Sphere(2), dt=0.02)


@pytest.mark.parametrize("method", [euler_method, verlet_method])
def test_no_step_of_a_retraction_is_biased(method):
    """Momentum changes by ε in a step, this way or that: its mean over 20,000 is 0.01 ε, the hundredfold with coordinates that know less."""
    pendulum = S.spherical_pendulum_hamiltonian()
    orbit = method(pendulum.hamiltonian).run(pendulum.start, 20_000)
    changes = np.diff(np.asarray(orbit.observe(vertical_momentum))) / EPS
    assert np.std(changes) <= 2
    assert abs(np.mean(changes)) <= 0.05


def walks(method, seed, starts):
    """How far the invariant of every start is off at every kept step, relative to the largest momentum; and its trends."""
    rng, drifts, trends = np.random.default_rng(seed), [], []
    for _ in range(starts):
        integrator, start, invariant = method(rng)
        orbit = integrator.run(start, STEPS, save_every=STRIDE)
        assert np.max(orbit.residuals) <= 1e-14
        values, momenta = np.asarray(orbit.observe(invariant)), np.asarray(orbit.points[1])
        scale = np.max(np.linalg.norm(momenta, axis=1)) ** (2 if invariant is casimir else 1)
        drifts.append(np.abs(values - values[0]) / scale)
        trends.append(trend(values))
    largest = np.max(drifts, axis=1) / (EPS * np.sqrt(STEPS))
    print(f"{method.__name__}: drifts {np.round(largest, 2)} ε√n, trends {np.round(trends, 1)} standard errors")
    return np.array(drifts), np.array(trends)


@pytest.mark.long
@pytest.mark.parametrize(
    "system",
    # Each is long and shares nothing with the others: on any worker.
    [
        pytest.param(system, id=system.__name__, marks=pytest.mark.xdist_group(f"drift of {system.__name__}"))
        for system in (spherical_pendulum, rigid_body, heavy_top)
    ],
)
def test_a_million_steps(system):
    steps, rng, walks = np.arange(0, STEPS, STRIDE), np.random.default_rng(20), []
    for _ in range(STARTS):
        model, name = system(rng)
        values, energies = run(model, name)
        walks.append(np.maximum.accumulate(np.abs(values - values[0]) / abs(values[0])))
        assert np.all(walks[-1] <= 10 * EPS / float(model.dt) * np.sqrt(np.maximum(steps, STRIDE)))
        tenth, scale = len(energies) // 10, np.max(np.abs(energies))
        trend = abs(np.mean(energies[-tenth:]) - np.mean(energies[:tenth]))
        assert trend <= 0.1 * np.ptp(energies) or np.ptp(energies) <= 1e-11 * scale
    drift = np.median(walks, axis=0)
    found = power(steps, drift)
    print(f"{name}: {drift[-1]:.2g} = {drift[-1] / (EPS * np.sqrt(STEPS)):.2g} ε√n, like n^{found:.2f}")
    assert found <= 0.75
