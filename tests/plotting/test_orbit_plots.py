"""Pictures of orbits show the path, the errors and the residuals that the orbit holds."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import groupoid_mech as gm


@pytest.fixture(scope="module")
def pendulum():
    model = gm.systems.pendulum()
    return model, model.simulate(50)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_phase_plane_energy_and_residuals(pendulum):
    model, orbit = pendulum
    path, errors, residuals = gm.plot_orbit(orbit, model, {"twice": lambda q, p: 2 * q[0]}).axes
    q, p = orbit.points
    np.testing.assert_array_equal(path.lines[0].get_xdata(), q[:, 0])
    np.testing.assert_array_equal(path.lines[0].get_ydata(), p[:, 0])
    drawn = {line.get_label(): line.get_ydata() for line in errors.lines}
    energies = np.asarray(model.energies(orbit))
    np.testing.assert_allclose(drawn["energy"], (energies - energies[0]) / np.max(np.abs(energies)), atol=1e-15)
    assert drawn["twice"][0] == 0
    assert np.ptp(drawn["twice"]) > 0.1
    assert len(residuals.lines[0].get_ydata()) == 50


def test_without_a_model_the_errors_are_left_out(pendulum):
    _, orbit = pendulum
    assert len(gm.plot_orbit(orbit).axes) == 2


def test_points_in_space_are_drawn_in_space():
    orbit = gm.FieldIntegrator(lambda x: np.ones(3) * x, gm.theta_map(gm.Euclidean(3), 0), 0.1).run(np.ones(3), 4)
    assert gm.plot_orbit(orbit).axes[0].name == "3d"


def test_something_else_is_refused():
    with pytest.raises(gm.ArgumentError, match="plot_orbit needs an Orbit"):
        gm.plot_orbit([1, 2, 3])
