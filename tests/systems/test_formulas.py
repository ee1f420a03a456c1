"""The named systems against equations written out by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.systems.step_coordinates import step_coordinates

# They compile the same steps.
pytestmark = pytest.mark.xdist_group("systems")

S = gm.systems
TOLERANCE = 1e-12


def test_double_pendulum_takes_midpoint_steps():
    """With unit masses and lengths, the midpoint equations in the momenta before and after a step."""
    model = S.double_pendulum(dt=0.01, gravity=9.81)
    trajectory = model.simulate(500)
    q, p, h = np.asarray(trajectory.base_points), np.asarray(trajectory.momenta), 0.01
    m, v = (q[1:] + q[:-1]) / 2, (q[1:] - q[:-1]) / h
    s0, s1, s01, c1 = np.sin(m[:, 0]), np.sin(m[:, 1]), np.sin(m[:, 0] + m[:, 1]), np.cos(m[:, 1])
    momentum = np.stack([(3 + 2 * c1) * v[:, 0] + (1 + c1) * v[:, 1], (1 + c1) * v[:, 0] + v[:, 1]], axis=1)
    force = np.stack([-2 * 9.81 * s0 - 9.81 * s01, -s1 * v[:, 0] * (v[:, 0] + v[:, 1]) - 9.81 * s01], axis=1)
    assert np.max(np.abs(momentum - h / 2 * force - p[:-1])) <= TOLERANCE * np.max(np.abs(p))
    assert np.max(np.abs(momentum + h / 2 * force - p[1:])) <= TOLERANCE * np.max(np.abs(p))
    assert np.max(np.abs(momentum + h / 2 * force - p[:-1])) > 1e-3


def test_double_pendulum_has_the_energy_of_its_masses():
    masses, lengths, q, v = np.array([1.2, 0.7]), np.array([0.9, 1.4]), np.array([0.4, -1.1]), np.array([0.8, 0.5])

    def places(q):
        first = lengths[0] * np.array([np.sin(q[0]), -np.cos(q[0])])
        return np.stack([first, first + lengths[1] * np.array([np.sin(q[0] + q[1]), -np.cos(q[0] + q[1])])])

    step = 1e-6
    speeds = (places(q + step * v) - places(q - step * v)) / (2 * step)
    expected = 0.5 * np.sum(masses * np.sum(speeds**2, axis=1)) + 9.81 * np.sum(masses * places(q)[:, 1])
    model = S.double_pendulum(masses=masses, lengths=lengths, angles=q, velocity=v)
    assert float(model.energy(model.start.point, model.start.momentum)) == pytest.approx(expected, rel=1e-8)


def test_kepler_takes_verlet_steps():
    h, m, k = 0.01, 2.0, 3.0
    trajectory = S.kepler(dt=h, mass=m, attraction=k, eccentricity=0.5).simulate(500)
    q, p = np.asarray(trajectory.base_points), np.asarray(trajectory.momenta)

    def force(q):
        return -k * q / np.linalg.norm(q, axis=1, keepdims=True) ** 3

    half = p[:-1] + h / 2 * force(q[:-1])
    assert np.max(np.abs(q[:-1] + h * half / m - q[1:])) <= TOLERANCE
    assert np.max(np.abs(half + h / 2 * force(q[1:]) - p[1:])) <= TOLERANCE


def test_kepler_returns_after_a_period():
    steps = 4000
    m, k, a = 2.0, 3.0, 1.5
    model = S.kepler(2 * np.pi * np.sqrt(m * a**3 / k) / steps, 0.4, a, m, k)
    trajectory = model.simulate(steps)
    assert float(jnp.max(jnp.abs(trajectory.base_points[-1] - trajectory.base_points[0]))) < 1e-4
    assert float(jnp.min(trajectory.base_points[:, 0])) == pytest.approx(-a * 1.4, rel=1e-5)


def test_cayley_rigid_body_takes_the_steps_of_discrete_euler_poincare():
    h, moments = 0.05, np.array([1.0, 2.0, 2.5])
    trajectory = S.rigid_body(dt=h, inertia=moments, form="tau", tau="cayley").simulate(300)
    R, p = np.asarray(trajectory.arrows), np.asarray(trajectory.momenta)
    half = np.linalg.solve(R + np.eye(3), R - np.eye(3))  # cay⁻¹(R)/2, as a matrix
    x = 2 * np.stack([half[:, 2, 1], half[:, 0, 2], half[:, 1, 0]], axis=1)
    X = moments * x
    left = X + np.cross(x, X) / 2 + x * np.sum(x * X, axis=1, keepdims=True) / 4
    assert np.max(np.abs(left - h * p[:-1])) <= TOLERANCE
    assert np.max(np.abs(np.einsum("kji,kj->ki", R, p[:-1]) - p[1:])) <= TOLERANCE


@pytest.mark.parametrize("dt", [0.01, 0.2])
def test_moser_veselov_momentum_is_the_bracket_with_the_moments(dt):
    """M = (R J − J Rᵀ)/dt with J = tr(I)/2 − I, and M ↦ Rᵀ M R."""
    moments = np.array([1.0, 2.0, 2.5])
    trajectory = S.rigid_body(dt=dt, inertia=moments).simulate(300)
    J = np.diag(np.sum(moments) / 2 - moments)
    R, p = np.asarray(trajectory.arrows), np.asarray(trajectory.momenta)
    M = (R @ J - J @ np.swapaxes(R, 1, 2)) / dt
    hat = np.stack([M[:, 2, 1], M[:, 0, 2], M[:, 1, 0]], axis=1)
    assert np.max(np.abs(hat - p[:-1])) <= TOLERANCE
    assert np.max(np.abs(np.einsum("kji,kj->ki", R, p[:-1]) - p[1:])) <= TOLERANCE


def test_elroys_beanie_turns_by_a_dynamic_and_a_geometric_phase():
    h, (first, second) = 0.02, (2.0, 1.0)
    trajectory = S.elroys_beanie(dt=h, inertia=(first, second), angle=1.0).simulate(1000)
    before, after, turns = (np.asarray(part) for part in trajectory.arrows)
    mu = trajectory.momenta[0, 1]
    expected = (mu * h - second * (after - before)[:, 0]) / (first + second)
    assert np.max(np.abs(np.arctan2(turns[:, 1, 0], turns[:, 0, 0]) - expected)) <= TOLERANCE
    # With μ = 0 and relative velocity enough for full turns, the first body turns back by the geometric phase alone.
    free = S.elroys_beanie(dt=h, inertia=(first, second), angle=0.0, velocity=(3.0, -3.0 * second / (first + second)))
    trajectory = free.simulate(1000)
    psi = np.asarray(trajectory.base_points)[:, 0]
    theta = np.cumsum(np.arctan2(trajectory.arrows[2][:, 1, 0], trajectory.arrows[2][:, 0, 0]))
    assert psi[-1] > 4 * np.pi
    assert theta[-1] == pytest.approx(-second / (first + second) * psi[-1], abs=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("particles", [3, 16])
def test_chain_takes_midpoint_steps(particles):
    h, alpha, beta, m = 0.1, 0.25, 0.7, 1.5
    trajectory = S.chain(particles, h, alpha, beta, m, amplitude=2.0).simulate(200)
    q, p = np.asarray(trajectory.base_points), np.asarray(trajectory.momenta)
    middle = np.pad((q[1:] + q[:-1]) / 2, ((0, 0), (1, 1)))
    x = np.diff(middle, axis=1)
    force = np.diff(x + alpha * x**2 + beta * x**3, axis=1)
    velocity = (q[1:] - q[:-1]) / h
    assert np.max(np.abs(m * velocity - h / 2 * force - p[:-1])) <= TOLERANCE
    assert np.max(np.abs(m * velocity + h / 2 * force - p[1:])) <= TOLERANCE


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "group",
    [gm.SO2(), gm.SO3(tau="exp"), gm.SO3(tau="cayley"), gm.SE2(tau="cayley"), gm.SE3(tau="cayley")],
    ids=lambda group: f"{type(group).__name__}-{group.tau}",
)
def test_step_coordinates_are_those_of_the_group(group):
    """Value and two derivatives along the group, as the equations of a step and their Jacobian take them; one more on SO(2)."""
    xi = jnp.linspace(1.0, 2.0, group.dim)
    xi = 2.5 * xi / jnp.linalg.norm(xi) if group.tau == "exp" else xi
    g = group.from_algebra(xi)

    def derivatives(coordinates):
        def near(e):
            return coordinates(group.retract(g, e))

        found = [near, jax.jacfwd(near), jax.jacfwd(jax.jacrev(near))]
        if isinstance(group, gm.SO2):
            found.append(jax.jacfwd(found[-1]))
        return [f(jnp.zeros(group.dim)) for f in found]

    ours, exact = jax.jit(lambda: [derivatives(partial(step_coordinates, group)), derivatives(group.to_algebra)])()
    for one, other in zip(ours, exact, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
