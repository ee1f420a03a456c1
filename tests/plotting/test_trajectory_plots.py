"""Pictures show what they say: the right panels, the right data."""

import jax
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


def test_all_parts_of_the_points_are_drawn():
    """Two bodies in the plane are two paths, a body and an angle are all their coordinates over time."""
    plane = gm.Euclidean(2)

    def free(g):
        pairs = zip(*g, strict=True)
        return sum(jnp.sum((y - x) ** 2) for x, y in pairs)

    def path_of(*factors):
        M = gm.ProductManifold(*factors)
        start = tuple(jnp.zeros(factor.dim) for factor in factors)
        following = tuple(jnp.full(factor.dim, 0.1 * (k + 1)) for k, factor in enumerate(factors))
        run = gm.DiscreteSystem(gm.PairGroupoid(M), free).simulate((start, following), 5)
        return run, gm.plot_path(run)

    run, axes = path_of(plane, plane)
    for part, line in zip(run.base_points, axes.lines[::2], strict=True):
        np.testing.assert_array_equal(np.column_stack(line.get_data()), part)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["1", "2"]
    assert np.max(np.abs(run.base_points[0] - run.base_points[1])) > 0.4

    run, axes = path_of(plane, gm.Torus(1))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["1: q1", "1: q2", "2: q1"]
    np.testing.assert_array_equal(axes.lines[2].get_ydata(), run.base_points[1][:, 0])


def test_a_batch_is_refused():
    run = particle().simulate(START, 5)
    batch = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), run)
    with pytest.raises(gm.ArgumentError, match=r"plot needs one trajectory; this is a batch of shape \(2,\)"):
        gm.plot(batch)


def test_exact_zeros_are_drawn_too():
    free = gm.DiscreteSystem(gm.PairGroupoid(gm.Euclidean(1)), lambda g: jnp.sum((g[1] - g[0]) ** 2))
    axes = gm.plot(free.simulate((jnp.zeros(1), jnp.zeros(1)), 5)).axes[-1]
    assert np.all(axes.lines[0].get_ydata() > 0)


def test_something_else_than_a_trajectory_is_refused():
    with pytest.raises(gm.ArgumentError, match=r"needs a Trajectory.*array of shape \(3,\)"):
        gm.plot(jnp.zeros(3))
