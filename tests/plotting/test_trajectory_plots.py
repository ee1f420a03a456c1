"""Pictures show what they say: the right panels, the right data."""

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pytest

import groupoid_mech as gm
from tests.mechanics.examples import CONTACT_START, START, contact, particle


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


def test_a_plane_trajectory_has_path_momenta_and_residuals():
    run = particle().simulate(START, 50)
    figure = gm.plot(run)
    assert titles(figure) == ["path", "momentum", "residual of the equations"]
    line = figure.axes[0].lines[0]
    np.testing.assert_array_equal(np.column_stack(line.get_data()), run.base_points)


def test_constraints_are_drawn_where_there_are_some():
    figure = gm.plot(contact().simulate(CONTACT_START, 20, multipliers=jnp.ones(1)))
    assert "constraints" in titles(figure)
    assert figure.axes[0].name == "3d"


def test_a_model_adds_time_energy_and_invariants():
    model = gm.systems.spherical_pendulum()
    run = model.simulate(100)
    figure = gm.plot(run, model)
    assert titles(figure)[2:4] == ["energy: relative error", "invariants: relative error"]
    times = figure.axes[2].lines[0].get_xdata()
    np.testing.assert_allclose(times[-1], 100 * float(model.dt), rtol=1e-12)
    energy = np.asarray(model.energies(run))
    np.testing.assert_allclose(
        figure.axes[2].lines[0].get_ydata(), (energy - energy[0]) / np.max(np.abs(energy)), atol=1e-15
    )


def test_over_a_group_the_momentum_is_the_path():
    model = gm.systems.rigid_body()
    assert titles(gm.plot(model.simulate(50), model))[0] == "path of the momentum"


def test_exact_zeros_are_drawn_too():
    free = gm.DiscreteSystem(gm.PairGroupoid(gm.Euclidean(1)), lambda g: jnp.sum((g[1] - g[0]) ** 2))
    axes = gm.plot(free.simulate((jnp.zeros(1), jnp.zeros(1)), 5)).axes[-1]
    assert np.all(axes.lines[0].get_ydata() > 0)


def test_something_else_than_a_trajectory_is_refused():
    with pytest.raises(gm.ArgumentError, match=r"needs a Trajectory.*array of shape \(3,\)"):
        gm.plot(jnp.zeros(3))
