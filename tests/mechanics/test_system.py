"""The discrete system: Legendre maps with textbook signs, starts, projection, and errors at construction."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from tests.mechanics.examples import (
    CONTACT_START,
    DT,
    PLANE,
    SPACE,
    START,
    HamiltonPontryagin,
    Particle,
    ParticleByIncrement,
    RollingConstraint,
    contact,
    particle,
)


def test_legendre_maps_of_a_pair_groupoid_are_minus_d1_and_plus_d2():
    L, (q, r) = Particle(DT, 1.0), START
    first, second = jax.grad(lambda q, r: L((q, r)), argnums=(0, 1))(q, r)
    np.testing.assert_allclose(particle().legendre_minus(START), -first, rtol=1e-15)
    np.testing.assert_allclose(particle().legendre_plus(START), second, rtol=1e-15)


def test_legendre_maps_of_a_group_are_the_trivialized_differentials():
    """For L(R) = tr(A R): F⁺_a = tr(A R E_a), F⁻_a = tr(A E_a R)."""
    H, A = gm.SO3(), jnp.arange(9.0).reshape(3, 3)
    system = gm.DiscreteSystem(gm.GroupGroupoid(H), lambda R: jnp.trace(A @ R))
    R = H.exp(jnp.array([0.3, -0.2, 0.5]))
    basis = [H.hat(e) for e in jnp.eye(3)]
    np.testing.assert_allclose(system.legendre_plus(R), [jnp.trace(A @ R @ E) for E in basis], atol=1e-13)
    np.testing.assert_allclose(system.legendre_minus(R), [jnp.trace(A @ E @ R) for E in basis], atol=1e-13)


def test_constrained_legendre_maps_add_multiples_of_the_differentials():
    system, lam = contact(), jnp.array([0.7])
    L, phi = Particle(DT, 1.0), RollingConstraint()
    first, second = jax.grad(lambda q, r: L((q, r)) + 0.7 * phi((q, r))[0], argnums=(0, 1))(*CONTACT_START)
    np.testing.assert_allclose(system.legendre_minus(CONTACT_START, lam), -first, atol=1e-14)
    np.testing.assert_allclose(system.legendre_plus(CONTACT_START, lam), second, atol=1e-14)
    np.testing.assert_allclose(system.stationarity(CONTACT_START, lam), phi(CONTACT_START), atol=1e-15)
    assert abs(float(system.action(CONTACT_START, lam) - L(CONTACT_START) - 0.7 * phi(CONTACT_START)[0])) < 1e-15


def test_a_family_in_the_momentum_gives_the_trajectory_of_its_lagrangian():
    """⟨u, v⟩ − dt H(q, u), stationary in u, is the same system as dt L(q, v/dt)."""
    family = gm.DiscreteSystem(PLANE, HamiltonPontryagin(DT, 1.0), auxiliary=2)
    by_family, by_lagrangian = family.simulate(START, 200), particle().simulate(START, 200)
    np.testing.assert_allclose(by_family.base_points, by_lagrangian.base_points, atol=1e-12)
    np.testing.assert_allclose(by_family.momenta, by_lagrangian.momenta, atol=1e-12)
    assert float(jnp.max(by_family.residuals)) < 1e-13


def test_increments_change_no_value_and_no_derivative():
    plain, precise = particle(), gm.DiscreteSystem(PLANE, ParticleByIncrement(DT, 1.0))
    np.testing.assert_allclose(precise.legendre_plus(START), plain.legendre_plus(START), rtol=1e-14)
    np.testing.assert_allclose(precise.legendre_minus(START), plain.legendre_minus(START), rtol=1e-14)
    np.testing.assert_allclose(
        precise.simulate(START, 100).momenta, plain.simulate(START, 100).momenta, atol=1e-12, rtol=0
    )


def test_increments_keep_the_digits_that_differences_lose():
    """At dt = 1e-7 a difference of positions has nine digits, and so has the momentum; from the increment it has all."""
    dt, q, p = 1e-7, jnp.array([1.0, 0.2]), jnp.array([0.3, -0.4])

    def residual(lagrangian):
        return float(jnp.max(gm.DiscreteSystem(PLANE, lagrangian).simulate((q, q + dt * p), 100).residuals))

    assert residual(Particle(dt, 1.0)) > 1e-11
    assert residual(ParticleByIncrement(dt, 1.0)) < 1e-15


def test_the_hamiltonian_map_is_one_step():
    system = particle()
    trajectory = system.simulate(START, 1)
    q, p = system.hamiltonian_map(trajectory.base_points[0], trajectory.momenta[0])
    np.testing.assert_allclose(q, START[1], atol=1e-14)
    np.testing.assert_allclose(p, system.legendre_plus(START), atol=1e-13)


def test_starts_from_momentum_velocity_and_arrow_agree():
    system = particle()
    q, r = START
    by_arrow = system.simulate(START, 50)
    by_momentum = system.simulate(gm.from_momentum(system, q, system.legendre_minus(START)), 50)
    by_velocity = system.simulate(gm.from_velocity(system, q, (r - q) / DT, DT), 50)
    np.testing.assert_allclose(by_momentum.base_points, by_arrow.base_points, atol=1e-13)
    np.testing.assert_allclose(by_velocity.base_points, by_arrow.base_points, atol=1e-13)


def test_the_reversed_system_runs_backwards_with_the_same_momenta():
    system = contact()
    there = system.simulate(CONTACT_START, 100, multipliers=jnp.array([0.4]))
    last = jax.tree.map(lambda leaf: leaf[-1], there.arrows)
    back = system.reversed().simulate(SPACE.inverse(last), 100, multipliers=there.multipliers[-1])
    np.testing.assert_allclose(back.base_points[::-1], there.base_points, atol=1e-11)
    np.testing.assert_allclose(back.momenta[::-1], there.momenta, atol=1e-10)


def test_projection_moves_an_arrow_onto_the_constraints_with_its_source():
    system = contact()
    off = (CONTACT_START[0], CONTACT_START[1] + jnp.array([0.0, 0.1, 0.2]))
    on = system.project(off)
    assert float(jnp.max(jnp.abs(system.constraint_values(on)))) < 1e-15
    np.testing.assert_array_equal(on[0], off[0])
    assert 0 < float(jnp.max(jnp.abs(on[1] - off[1]))) < 0.3


def test_a_velocity_off_the_constraints_is_moved_onto_them():
    system = contact()
    start = gm.from_velocity(system, CONTACT_START[0], jnp.array([1.0, 2.0, 5.0]), DT)
    assert float(jnp.max(system.simulate(start, 20).residuals)) < 1e-13


# ------------------------------------------------------------------------------------ bad input


def numpy_lagrangian(g):
    return float(np.sum(np.asarray(g[1]) ** 2))


def math_lagrangian(g):
    return math.sin(g[0][0])


def branching_lagrangian(g):
    return jnp.sum(g[1]) if g[0][0] > 0 else jnp.sum(g[0])


@pytest.mark.parametrize("function", [numpy_lagrangian, math_lagrangian, branching_lagrangian])
def test_a_lagrangian_that_cannot_be_traced_is_named(function):
    with pytest.raises(gm.NotTraceableError, match=rf"{function.__name__}.*jax\.numpy.*jnp\.where"):
        gm.DiscreteSystem(PLANE, function)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((PLANE, lambda g: g[0]), r"shape \(\); .*shape \(2,\)"),
        ((PLANE, lambda g: (g[0][0], g[1][0])), "one array of floats"),
        ((PLANE, lambda g: jnp.sum(g[0]) > 0), "one array of floats"),
        ((PLANE, 3.0), "function of an arrow; got float 3.0"),
        ((gm.Euclidean(2), Particle(DT, 1.0)), "to be a LieGroupoid; got Euclidean"),
        ((PLANE, Particle(DT, 1.0), lambda g: jnp.sum(g[0])), r"jnp\.stack"),
        ((PLANE, Particle(DT, 1.0), lambda g: jnp.concatenate([g[0], g[1], g[0]])), r"at most .*\(4\)"),
        ((PLANE, Particle(DT, 1.0), None, -1), "integer ≥ 0; got -1"),
        ((PLANE, HamiltonPontryagin(DT, 1.0), None, 1.5), "integer ≥ 0; got 1.5"),
    ],
)
def test_a_wrong_construction_says_what_is_needed(arguments, message):
    with pytest.raises(gm.ArgumentError, match=message):
        gm.DiscreteSystem(*arguments)


def test_starts_off_the_constraints_are_refused_with_the_cure():
    off = (CONTACT_START[0], CONTACT_START[1] + 0.1)
    with pytest.raises(gm.OffConstraintsError, match=r"off by 0\.\d+ .*system\.project"):
        contact().simulate(off, 10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.simulate(START, 0), "steps to be an integer ≥ 1; got 0"),
        (lambda s: s.simulate(START, 2.5), "steps to be an integer"),
        (lambda s: s.simulate(START, 10, save_every=3), "multiple of save_every.*steps=10, save_every=3"),
        (lambda s: s.simulate((jnp.zeros(2), jnp.zeros(3)), 10), "shape"),
        (lambda s: s.simulate(START, 10, multipliers=jnp.ones(1)), "multipliers"),
        (lambda s: s.simulate((START[0], jnp.array([jnp.nan, 0.0])), 10), "off by nan"),
        (lambda s: gm.from_velocity(s, START[0], jnp.ones(2), -0.1), r"dt > 0; got -0\.1.*reversed"),
        (lambda s: gm.from_momentum(s, START[0], jnp.ones(3)), "p to be an array of shape"),
        (lambda s: s.simulate(gm.from_momentum(s, *START), 10, multipliers=jnp.zeros(0)), "a Start has its own"),
    ],
)
def test_wrong_calls_say_what_is_needed(call, message):
    with pytest.raises(gm.GroupoidMechError, match=message):
        call(particle())


def test_parameters_given_as_floats_do_not_recompile():
    traces = []

    class Counted(eqx.Module):
        stiffness: float

        def __call__(self, g):
            traces.append(1)
            return jnp.sum((g[1] - g[0]) ** 2) - self.stiffness * jnp.sum(g[0] ** 2)

    gm.DiscreteSystem(PLANE, Counted(0.1)).simulate(START, 5)
    construction = len(traces)
    traces.clear()
    gm.DiscreteSystem(PLANE, Counted(0.2)).simulate(START, 7)
    assert len(traces) <= 1 < construction, "only the construction traces the Lagrangian again"


def test_limits_shorten_newton_steps_and_are_checked():
    """F⁻ = d² − 1 = 0 has the roots ±1. From d = −0.2 and with p = 0, Newton goes to −1, in shorter steps if they are limited."""
    line = gm.PairGroupoid(gm.Euclidean(1))

    def cubic(g):
        d = (g[1] - g[0])[0]
        return d**3 / 3 - d

    def tenth(x):
        return jnp.full_like(x, 0.1)

    plain, limited = (gm.DiscreteSystem(line, cubic, limits=limits) for limits in (None, tenth))
    starts = [gm.from_momentum(s, jnp.zeros(1), jnp.zeros(1), guess=jnp.array([-0.2])) for s in (plain, limited)]
    runs = [s.simulate(start, 1) for s, start in zip((plain, limited), starts, strict=True)]
    assert [float(run.base_points[-1, 0]) for run in runs] == pytest.approx([-1.0, -1.0], abs=1e-13)
    assert int(runs[1].iterations[0]) > int(runs[0].iterations[0])
    with pytest.raises(gm.ArgumentError, match=r"limits to return 1 numbers.*shape \(2,\)"):
        gm.DiscreteSystem(line, cubic, limits=lambda x: jnp.ones(2))
