"""Pictures of orbits show the path, the errors and the residuals that the orbit holds."""

import jax
import jax.numpy as jnp
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


# ------------------------------------------------------------------------------------ all parts of the points


def along(space):
    """An orbit through drawn points of a manifold."""
    points = jax.vmap(space.random_point)(jax.random.split(jax.random.key(3), 6))
    steps = jnp.zeros(5), jnp.zeros(5, int), jnp.ones(5, bool), jnp.arange(1, 6)
    return gm.Orbit(space, jnp.asarray(0.1), points, *steps)


def over(base):
    return along(gm.DualBundle(base, base.dim))


def curves(axes):
    return [line for line in axes.lines if len(data(line)) > 1]


def data(line):
    return np.asarray(line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()).T


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_each_bob_has_its_path():
    orbit = over(gm.ProductManifold(gm.Sphere(2), gm.Sphere(2)))
    figure = gm.plot_orbit(orbit)
    axes = figure.axes[0]
    assert axes.name == "3d"
    assert legend(axes) == ["1", "2"]
    for line, leaf in zip(curves(axes), orbit.points[0], strict=True):
        np.testing.assert_array_equal(data(line), leaf)
    assert figure.get_suptitle() == "orbit over Sphere(2) × Sphere(2), 5 steps"


@pytest.mark.parametrize("group", [gm.SE2(), gm.SE3(), gm.ProductGroup(gm.SE3(), gm.Translations(3))], ids=repr)
def test_motions_are_drawn_by_their_translations(group):
    orbit = over(group)
    axes = gm.plot_orbit(orbit).axes[0]
    points = orbit.points[0]
    wanted = [points[0][1], points[1]] if isinstance(group, gm.ProductGroup) else [points[1]]
    for line, leaf in zip(curves(axes), wanted, strict=True):
        np.testing.assert_array_equal(data(line), leaf)
    assert (axes.get_legend() is None) == (len(wanted) == 1)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("q1", "q2")


def test_other_points_are_drawn_by_all_coordinates_over_time():
    orbit = over(gm.SO3())
    figure = gm.plot_orbit(orbit)
    axes = figure.axes[0]
    assert legend(axes) == [f"q{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
    np.testing.assert_array_equal(data(curves(axes)[5])[:, 1], orbit.points[0][:, 1, 2])
    np.testing.assert_array_equal(data(curves(axes)[5])[:, 0], orbit.times)
    assert figure.get_suptitle().startswith("orbit over SO3,")

    mixed = along(gm.ProductManifold(gm.Euclidean(2), gm.Torus(1)))
    figure = gm.plot_orbit(mixed)
    assert legend(figure.axes[0]) == ["1: x1", "1: x2", "2: x1"]
    np.testing.assert_array_equal(data(curves(figure.axes[0])[2])[:, 1], mixed.points[1][:, 0])
    assert figure.get_suptitle().startswith("orbit in Euclidean(2) × Torus(1),")

    # Nobody reads a legend of a hundred coordinates.
    many = gm.plot_orbit(over(gm.Euclidean(100))).axes[0]
    assert len(curves(many)) == 100
    assert many.get_legend() is None


def test_over_one_point_the_momentum_is_drawn():
    orbit = along(gm.DualBundle(gm.SinglePoint(), 3))
    figure = gm.plot_orbit(orbit)
    np.testing.assert_array_equal(data(curves(figure.axes[0])[0]), orbit.points[1])
    assert figure.axes[0].get_zlabel() == "p3"
    assert figure.get_suptitle().startswith("orbit in R^3,")


# ----------------------------------------------------------------------------------------- refusals


def test_functions_in_the_place_of_a_model_are_refused(pendulum):
    model, orbit = pendulum
    H = model.hamiltonian
    with pytest.raises(gm.ArgumentError, match=r"needs model to be a HamiltonianModel.*observables=\{\"energy\": H\}"):
        gm.plot_orbit(orbit, H)
    for wrong in (H, [H], {"energy": 1.0}):
        with pytest.raises(gm.ArgumentError, match=r"needs observables to be functions by name.*\{\"energy\": H\}"):
            gm.plot_orbit(orbit, observables=wrong)


def test_batches_are_refused(pendulum):
    _, orbit = pendulum
    batch = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), orbit)
    with pytest.raises(gm.ArgumentError, match=r"plot_orbit needs one orbit; got a batch of shape \(2,\).*leaf\[k\]"):
        gm.plot_orbit(batch)
    assert len(gm.plot_orbit(jax.tree.map(lambda leaf: leaf[1], batch)).axes) == 2
