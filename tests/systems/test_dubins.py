"""The car of Dubins: elastic curves of given length."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

STEPS = 60


@pytest.mark.extended
def test_the_cheapest_curve_of_given_length_reaches_its_target():
    model = gm.systems.dubins(dt=1 / STEPS, speed=1.5)
    G = model.system.groupoid
    target = G.group.exp(jnp.array([0.8, 1.2, 0.3]))
    found = gm.solve_boundary(model.system, gm.path(G, target, STEPS), target=target)
    assert found.is_minimum
    assert float(found.residual) < 1e-12
    assert float(found.constraint) < 1e-13
    rates = STEPS * jax.vmap(lambda g: G.fiber_local(jnp.zeros(0), g))(found.arrows)
    np.testing.assert_allclose(rates[:, 1], 1.5, rtol=1e-12)
    np.testing.assert_allclose(rates[:, 2], 0, atol=1e-12)
    run = found.simulate()
    np.testing.assert_allclose(run.arrows[0], found.arrows[0], atol=1e-10)


def test_curvatures_obey_the_equation_of_the_elastica():
    """κ'' + κ³/2 + c κ = 0 along a free motion, with c fitted, to second order in dt."""
    defects = []
    for steps in (50, 100, 200):
        model = gm.systems.dubins(dt=4 / steps)
        G = model.system.groupoid
        arrows = model.simulate(steps).arrows
        curvature = np.asarray(jax.vmap(lambda g, G=G: G.fiber_local(jnp.zeros(0), g))(arrows))[:, 0] * steps / 4
        second = (curvature[2:] - 2 * curvature[1:-1] + curvature[:-2]) * (steps / 4) ** 2
        k = curvature[1:-1]
        bent = second + k**3 / 2
        c = -np.sum(bent * k) / np.sum(k * k)
        defects.append(np.max(np.abs(bent + c * k)) / np.max(np.abs(second)))
    orders = np.log2(np.array(defects[:-1]) / np.array(defects[1:]))
    np.testing.assert_allclose(orders, 2, atol=0.2)
    assert defects[-1] < 1e-3


def test_the_momentum_keeps_its_length_and_the_energy_stays():
    model = gm.systems.dubins(dt=0.02)
    run = model.simulate(2000)
    assert float(jnp.max(run.residuals)) < 1e-13
    (length,) = model.invariant_values(run).values()
    assert float(jnp.ptp(length)) < 1e-12
    assert float(jnp.ptp(model.energies(run))) < 1e-3
