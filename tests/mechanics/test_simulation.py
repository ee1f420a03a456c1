"""The time loop: thinning, resuming, derivatives, batches, failures with what was computed."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.mechanics import time_loop
from groupoid_mech.mechanics.step_memory import StepMemory
from tests.mechanics.examples import CONTACT_START, DT, PLANE, SPACE, START, Particle, contact, particle


@pytest.fixture(scope="module")
def trajectory():
    return particle().simulate(START, 600)


def test_every_step_satisfies_the_equations(trajectory):
    assert float(jnp.max(trajectory.residuals)) < 1e-14
    assert float(jnp.max(jnp.abs(trajectory.euler_lagrange_defects()))) < 1e-13
    assert bool(jnp.all(trajectory.converged))
    assert int(jnp.max(trajectory.iterations)) <= 6
    np.testing.assert_array_equal(trajectory.arrows[0], trajectory.base_points[:-1])
    np.testing.assert_array_equal(trajectory.arrows[1], trajectory.base_points[1:])


def test_the_start_is_kept(trajectory):
    np.testing.assert_allclose(trajectory.arrows[1][0], START[1], atol=1e-15)
    np.testing.assert_allclose(trajectory.momenta[0], particle().legendre_minus(START), rtol=1e-14)


def test_guesses_follow_the_run_with_high_order():
    """The reference of a step, the reflection of the last one, is off by the second order in dt; the guess by one that grows with the memory."""

    def off(dt):
        pendulum = gm.systems.spherical_pendulum(dt=dt)
        end = pendulum.simulate(round(1.6 / dt)).end
        arrow = jax.tree.map(lambda leaf: leaf[0], pendulum.system.simulate(end, 1).arrows)
        a = pendulum.system.groupoid.fiber_local(end.point, arrow)
        return [float(jnp.max(jnp.abs(x - a))) for x in (end.reference, end.guess)]

    errors = np.array([off(dt) for dt in (0.08, 0.04)])
    reference, guess = np.log2(errors[0] / errors[1])
    assert 1.7 < reference < 2.3
    assert guess > 8


def test_a_memory_that_leads_away_is_not_followed():
    """Across a jump the polynomial of the last steps is worse than the last of them alone."""
    memory = StepMemory.blank(1)
    for value in (*[1.0] * 10, 5.0):
        memory = memory.after(jnp.array([value]), memory.inverse)
    assert float(memory.next_difference()[0]) == 5.0
    for value in 0.1 * np.arange(10.0) ** 3:
        memory = memory.after(jnp.array([value]), memory.inverse)
    assert float(memory.next_difference()[0]) == pytest.approx(100.0, abs=1e-10)


def test_constraints_hold_in_every_step():
    run = contact().simulate(CONTACT_START, 500, multipliers=jnp.array([0.5]))
    assert float(jnp.max(jnp.abs(run.constraint_values()))) < 1e-14
    assert float(jnp.max(run.residuals)) < 1e-13
    assert run.multipliers.shape == (500, 1)
    assert float(run.multipliers[0, 0]) == pytest.approx(0.5, abs=1e-13)
    assert float(jnp.max(jnp.abs(run.euler_lagrange_defects()))) < 1e-12


def test_thinning_keeps_every_so_many_arrows_of_the_same_run(trajectory):
    thin = particle().simulate(START, 600, save_every=25)
    assert len(thin) == 24
    np.testing.assert_array_equal(thin.numbers, 25 * np.arange(1, 25))
    np.testing.assert_array_equal(thin.base_points, trajectory.base_points[::25])
    np.testing.assert_array_equal(thin.momenta, trajectory.momenta[::25])
    np.testing.assert_array_equal(thin.arrows[0], trajectory.arrows[0][24::25])
    worst = np.asarray(trajectory.residuals).reshape(24, 25).max(axis=1)
    np.testing.assert_array_equal(thin.residuals, worst)
    np.testing.assert_array_equal(thin.iterations, np.asarray(trajectory.iterations).reshape(24, 25).max(axis=1))
    with pytest.raises(gm.ArgumentError, match="save_every=1"):
        thin.euler_lagrange_defects()


def test_a_run_goes_on_from_its_end_bit_by_bit(trajectory):
    first = particle().simulate(START, 250)
    second = particle().simulate(first.end, 350)
    np.testing.assert_array_equal(second.momenta, trajectory.momenta[250:])
    np.testing.assert_array_equal(second.arrows[1], trajectory.arrows[1][250:])


def test_pieces_of_any_size_give_the_same_run(trajectory, monkeypatch):
    monkeypatch.setattr(time_loop, "_ROWS", 64)
    again = particle().simulate(START, 600)
    np.testing.assert_array_equal(again.momenta, trajectory.momenta)
    thin = particle().simulate(START, 600, save_every=3)
    np.testing.assert_array_equal(thin.momenta, trajectory.momenta[::3])


def test_progress_is_reported(capsys, monkeypatch):
    monkeypatch.setattr(time_loop, "_ROWS", 4096)
    seen = []
    particle().simulate(START, 5000, progress=lambda done, steps: seen.append((done, steps)))
    assert seen[-1] == (5000, 5000)
    assert len(seen) == 2
    particle().simulate(START, 5000, progress=True)
    assert "5,000 of 5,000 steps" in capsys.readouterr().err


def test_one_compilation_serves_runs_of_every_length():
    traces = []

    class Counted(eqx.Module):
        def __call__(self, g):
            traces.append(1)
            return jnp.sum((g[1] - g[0]) ** 2)

    system = gm.DiscreteSystem(PLANE, Counted())
    system.simulate(START, 3)
    traces.clear()
    system.simulate(START, 10)
    system.simulate(START, 12, save_every=4)
    assert not traces


# ------------------------------------------------------------------------------------ derivatives


def end_of(stiffness, q, p, steps=40):
    system = gm.DiscreteSystem(PLANE, Particle(DT, stiffness))
    run = system.simulate(gm.from_momentum(system, q, p), steps)
    return jnp.concatenate([run.base_points[-1], run.momenta[-1]])


def test_the_flow_is_differentiable_forwards_and_backwards():
    """Forward and reverse mode agree with one another and with a difference quotient by Richardson extrapolation."""
    q, p, k = START[0], jnp.array([0.1, 0.9]), 1.3
    forward = jax.jit(jax.jacfwd(end_of, argnums=(0, 1, 2)))(k, q, p)
    backward = jax.jit(jax.jacrev(end_of, argnums=(0, 1, 2)))(k, q, p)
    for one, other in zip(forward, backward, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)

    def quotient(step):
        return (end_of(k + step, q, p) - end_of(k - step, q, p)) / (2 * step)

    np.testing.assert_allclose(forward[0], (4 * quotient(1e-3) - quotient(2e-3)) / 3, rtol=1e-7, atol=1e-9)


def test_the_flow_in_the_plane_is_symplectic():
    """Dᵀ J D = J for the derivative of the flow: it fails if a sign in a Legendre map is wrong."""
    q, p = START[0], jnp.array([0.1, 0.9])
    D = jax.jit(jax.jacfwd(lambda z: end_of(1.3, z[:2], z[2:])))(jnp.concatenate([q, p]))
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(D.T @ J @ D, J, atol=1e-11)


def test_constrained_steps_are_differentiable_in_state_and_multipliers():
    system = contact()

    def end(lam, z):
        run = system.simulate(system.start((z, CONTACT_START[1]), multipliers=lam), 10)
        return jnp.concatenate([run.base_points[-1], run.multipliers[-1]])

    arguments = jnp.array([0.4]), CONTACT_START[0]
    forward = jax.jit(jax.jacfwd(end, argnums=(0, 1)))(*arguments)
    backward = jax.jit(jax.jacrev(end, argnums=(0, 1)))(*arguments)
    for one, other in zip(forward, backward, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    assert float(jnp.max(jnp.abs(forward[0]))) > 1e-3, "the multiplier steers the motion"


def test_batches_over_starts_and_over_systems():
    stiffnesses, q, p = jnp.array([0.5, 1.0, 2.0]), START[0], jnp.array([0.1, 0.9])
    points = jnp.stack([q, 1.1 * q, 1.2 * q])
    batch = jax.jit(jax.vmap(end_of, in_axes=(0, 0, None)))(stiffnesses, points, p)
    for k, z, row in zip(stiffnesses, points, batch, strict=True):
        np.testing.assert_allclose(row, end_of(k, z, p), rtol=1e-12, atol=1e-12)


def test_a_batch_of_trajectories_is_not_taken_for_one():
    q, p = START[0], jnp.array([0.1, 0.9])

    @eqx.filter_jit
    def run(points):
        system = particle()
        return jax.vmap(lambda q: system.simulate(gm.from_momentum(system, q, p), 20))(points)

    def turn(q):
        return jnp.array([-q[1], q[0]])

    batch = run(jnp.stack([q, 1.1 * q, 1.2 * q]))
    assert len(batch) == 20
    for method in (batch.noether, lambda _: batch.euler_lagrange_defects(), lambda _: batch.constraint_values()):
        with pytest.raises(gm.ArgumentError, match=r"this is a batch of shape \(3,\)\. Take one member"):
            method(turn)
    values = jax.vmap(lambda one: one.noether(turn))(batch)
    last = jax.tree.map(lambda leaf: leaf[2], batch)
    assert values.shape == (3, 21)
    np.testing.assert_array_equal(values[2], last.noether(turn))
    assert np.ptp(values[2]) < 1e-14


# --------------------------------------------------------------------------------------- failures


class Root(eqx.Module):
    """A free particle whose potential √(1 − x) ends at x = 1: the particle runs out of its domain."""

    def __call__(self, g):
        q, r = g
        return jnp.sum((r - q) ** 2) / (2 * DT) - DT * jnp.sqrt(1 - (q[0] + r[0]) / 2)


def test_a_failed_step_keeps_what_was_computed():
    system = gm.DiscreteSystem(PLANE, Root())
    start = gm.from_velocity(system, jnp.zeros(2), jnp.array([1.0, 0.0]), DT)
    with pytest.raises(gm.StepFailed, match=r"step \d+ failed .*not finite.*error\.trajectory") as caught:
        system.simulate(start, 1000)
    computed = caught.value.trajectory
    assert len(computed) == caught.value.step - 1 > 5
    assert bool(jnp.all(jnp.isfinite(computed.momenta)))
    assert float(jnp.max(computed.residuals)) < 1e-13
    flagged = system.simulate(start, 1000, throw=False)
    assert flagged.failure == str(caught.value)
    assert len(flagged) == len(computed)
    np.testing.assert_array_equal(flagged.momenta, computed.momenta)
    # The end is the state before the failure, to the last bit: what it remembers too.
    before = system.simulate(start, len(computed))
    for left, right in zip(jax.tree.leaves(flagged.end), jax.tree.leaves(before.end), strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_failure_in_a_thinned_run_names_the_step_and_keeps_whole_strides():
    system = gm.DiscreteSystem(PLANE, Root())
    start = gm.from_velocity(system, jnp.zeros(2), jnp.array([1.0, 0.0]), DT)
    whole = system.simulate(start, 1000, throw=False)
    thin = system.simulate(start, 1000, save_every=4, throw=False)
    assert len(thin) == len(whole) // 4
    assert thin.failure.split(" failed")[0] == whole.failure.split(" failed")[0]
    np.testing.assert_array_equal(thin.momenta[-1], whole.momenta[4 * len(thin)])


def test_failed_steps_inside_compiled_code_are_nan_and_marked():
    system = gm.DiscreteSystem(PLANE, Root())
    start = gm.from_velocity(system, jnp.zeros(2), jnp.array([1.0, 0.0]), DT)
    run = jax.jit(lambda begin: system.simulate(begin, 60))(start)
    assert not bool(run.converged[-1])
    assert bool(jnp.all(jnp.isnan(run.momenta[-1])))
    assert bool(run.converged[0])
    assert bool(jnp.all(jnp.isfinite(run.momenta[5])))


def test_a_singular_lagrangian_is_named_with_its_direction():
    system = gm.DiscreteSystem(PLANE, lambda g: (g[1][0] - g[0][0]) ** 2 + 0.1 * g[0][1])
    with pytest.raises(gm.SingularLagrangianError, match=r"singular there: a2\."):
        system.simulate(START, 10)


def test_dependent_constraints_are_named_with_their_combination():
    constraints = Twice()
    system = gm.DiscreteSystem(SPACE, Particle(DT, 1.0), constraints)
    with pytest.raises(gm.DependentConstraintsError, match=r"dφ1.*dφ2|dφ2.*dφ1"):
        system.simulate(CONTACT_START, 10)


class Twice(eqx.Module):
    """One constraint, and again with a factor."""

    def __call__(self, g):
        q, r = g
        phi = r[2] - q[2] - (q[1] + r[1]) / 2 * (r[0] - q[0])
        return jnp.stack([phi, 2 * phi])


class Washboard(eqx.Module):
    """A particle on a washboard, with steps that jump over its waves."""

    def __call__(self, g):
        q, r = g
        return jnp.sum((r - q) ** 2) / 2 - 10 * jnp.sum(jnp.cos(3 * (q + r)))


def test_a_step_that_is_too_large_says_so():
    with pytest.raises(gm.StepFailed, match=r"too large: take a smaller dt"):
        gm.DiscreteSystem(PLANE, Washboard()).simulate(START, 2000)
