"""Systems with time: fixed, adaptive and prescribed steps, explicit time dependence."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import groupoid_mech as gm

LINE = gm.PairGroupoid(gm.Euclidean(1))
PLANE = gm.PairGroupoid(gm.Euclidean(2))


class Kepler(eqx.Module):
    """The Kepler problem, with a strength that is a parameter."""

    strength: float = 1.0

    def __call__(self, t, q, v):
        return jnp.sum(v**2) / 2 + self.strength / jnp.sqrt(jnp.sum(q**2))


def driven(t, q, v):
    return jnp.sum(v**2) / 2 + jnp.cos(q[0]) + 0.6 * q[0] * jnp.cos(0.7 * t)


def times(t0, t1):
    return jnp.array([t0]), jnp.array([t1])


def apoapsis(eccentricity, h):
    """The first arrow at the far end of an orbit with semi-major axis 1, to second order in h."""
    far, slow = 1 + eccentricity, np.sqrt((1 - eccentricity) / (1 + eccentricity))
    q = jnp.array([far, 0.0])
    return times(0.0, h), (q, q + h * jnp.array([0.0, slow]) - h**2 / 2 * q / far**3)


def test_a_fixed_step_gives_the_motion_without_time():
    """MMS Example 6.2: the equation of time only determines the multiplier."""
    h, (_, arrow) = 0.05, apoapsis(0.3, 0.05)
    with_time = gm.discretize_time(Kepler(), PLANE, step=h).simulate((times(0.0, h), arrow), 100)
    without = gm.discretize(lambda q, v: Kepler()(0.0, q, v), PLANE, h).simulate(arrow, 100)
    np.testing.assert_allclose(with_time.base_points[1], without.base_points, rtol=0, atol=1e-13)
    np.testing.assert_allclose(with_time.momenta[:, 1:], without.momenta, rtol=0, atol=1e-13)
    np.testing.assert_allclose(with_time.base_points[0][:, 0], h * np.arange(101), atol=1e-13)
    # The multiplier takes up the change of the discrete energy: their sum is the conserved momentum of time.
    assert float(jnp.ptp(with_time.momenta[:, 0])) < 1e-12
    assert float(jnp.ptp(with_time.multipliers)) > 1e-5


def test_explicit_time_dependence_has_order_two():
    start, time = np.array([0.2, 0.0]), 4.0
    exact = solve_ivp(
        lambda t, z: [z[1], -np.sin(z[0]) + 0.6 * np.cos(0.7 * t)], (0, time), start, "DOP853", rtol=1e-13, atol=1e-14
    ).y[0, -1]
    errors = []
    for steps in (50, 100, 200, 400, 800):
        h = time / steps
        system = gm.discretize_time(driven, LINE, step=h)
        # The momentum of time only sets the first multiplier.
        guess = jnp.array([h, 0.0, 0.0])
        begin = gm.from_momentum(system, (jnp.zeros(1), jnp.array([0.2])), jnp.array([0.0, 0.0]), guess=guess)
        errors.append(abs(float(system.simulate(begin, steps).base_points[1][-1, 0]) - exact))
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / np.array(errors[1:])), 2, atol=0.2)


@pytest.fixture(scope="module")
def adaptive():
    return gm.discretize_time(Kepler(), PLANE, rule="midpoint")


@pytest.mark.parametrize("eccentricity", [0.2, 0.5, 0.7])
def test_adaptive_steps_conserve_the_discrete_energy(adaptive, eccentricity):
    run = adaptive.simulate(apoapsis(eccentricity, 0.02), 3000)
    energies = gm.discrete_energies(run)
    assert float(jnp.ptp(energies)) < 1e-11
    assert float(jnp.max(run.residuals)) < 1e-12
    (before, after), _ = run.arrows
    steps = np.asarray(after - before)
    assert np.all(steps > 0)
    assert np.max(steps) / np.min(steps) > 1 + 2 * eccentricity, "the step does adapt"
    # The energy is the discrete one of Example 6.1, ⟨∂l/∂ξ, ξ⟩ − l of each step, computed anew.
    (t0, t1), (q, r) = run.arrows
    v, middle = (r - q) / (t1 - t0), (q + r) / 2
    own = jnp.sum(v**2, axis=1) / 2 - 1 / jnp.sqrt(jnp.sum(middle**2, axis=1))
    np.testing.assert_allclose(own, energies[1:], atol=1e-10)
    momentum = run.noether(lambda z: jnp.array([0.0, -z[1][1], z[1][0]]))
    assert float(jnp.ptp(momentum)) < 1e-11


@pytest.mark.parametrize("eccentricity", [0.5, 0.7])
def test_round_off_that_comes_back_is_no_failure(adaptive, eccentricity):
    """Where the energy hardly determines the step, round-off may grow from one value of the equations to the next, and shrink again."""
    for change in range(8):
        run = adaptive.simulate(apoapsis(eccentricity, 0.02 + 1e-9 * change), 3000)
        assert float(jnp.max(run.residuals)) < 1e-14
        assert int(jnp.max(run.iterations)) < 20


def test_where_the_energy_does_not_determine_the_step_the_error_says_so(adaptive):
    free = gm.discretize_time(lambda t, q, v: jnp.sum(v**2) / 2, PLANE)
    with pytest.raises(gm.SingularLagrangianError, match="singular there"):
        free.simulate((times(0.0, 0.1), (jnp.zeros(2), jnp.array([0.1, 0.0]))), 10)
    # Beyond eccentricity √(5/8) the leading term h²(pᵀV''p + |∇V|²) changes its sign along the orbit: there is no step.
    with pytest.raises(gm.StepFailed) as caught:
        adaptive.simulate(apoapsis(0.85, 0.02), 3000)
    assert len(caught.value.trajectory) > 10


def test_a_prescribed_step_keeps_its_function():
    def step(g):
        return 0.05 * (jnp.sum(g[0] ** 2) * jnp.sum(g[1] ** 2)) ** 0.375

    system = gm.discretize_time(Kepler(), PLANE, step=step)
    first = system.project(apoapsis(0.7, 0.05))
    run = system.simulate(first, 1500)
    (before, after), arrows = run.arrows
    np.testing.assert_allclose((after - before)[:, 0], jax.vmap(step)(arrows), atol=1e-12)
    assert float(jnp.max(run.residuals)) < 1e-12
    assert float(jnp.ptp(run.momenta[:, 0])) < 1e-11, "the momentum of time is conserved: nothing depends on time"
    # Computed anew from the arrows alone, with steps from differences of times near 100: those have lost 5 of their digits.
    assert float(jnp.max(jnp.abs(run.euler_lagrange_defects()))) < 1e-8


@pytest.mark.slow
def test_constraints_of_the_motion_join_that_of_the_step():
    H = gm.SO3(tau="cayley")
    inertia = jnp.array([1.0, 2.0, 1.0])
    system = gm.discretize_time(
        lambda t, q, w: jnp.sum(inertia * w**2) / 2, gm.GroupGroupoid(H), step=0.1, constraints=lambda t, q, w: w[2:]
    )
    assert system.multipliers == 2
    first = times(0.0, 0.1), H.cayley(jnp.array([0.06, -0.04, 0.0]))
    run = system.simulate(first, 100, multipliers=jnp.array([0.5, 0.0]))
    assert float(jnp.max(jnp.abs(run.constraint_values()))) < 1e-14
    plain = gm.systems.reorientation(dt=0.1, weights=(1.0, 2.0), velocity=(0.6, -0.4), multipliers=(0.5,)).simulate(100)
    np.testing.assert_allclose(run.arrows[1], plain.arrows, atol=1e-11)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gm.discretize_time(Kepler(), PLANE, step=-0.1), r"step > 0; got -0\.1"),
        (lambda: gm.discretize_time(Kepler(), PLANE, step=lambda g: g[0]), r"step\(g\) to return a number"),
        (lambda: gm.discretize_time(lambda t, q, v: v, PLANE), "to return a number"),
        (lambda: gm.discretize_time(Kepler(), PLANE, rule="left-ish"), "'trapezoid' or"),
        (lambda: gm.discrete_energies(gm.systems.rigid_body().simulate(2)), "TimeExtended"),
    ],
)
def test_wrong_arguments_say_what_is_needed(call, message):
    with pytest.raises(gm.GroupoidMechError, match=message):
        call()
