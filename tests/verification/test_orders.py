"""Order 2, measured on nonlinear problems by halving the step, against the continuous equations written in textbook form.

The reference is scipy's DOP853 at a tolerance of 1e-13.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

import groupoid_mech as gm

# They compile the same steps.
pytestmark = pytest.mark.xdist_group("systems")

S = gm.systems
HALVINGS = 4


def reference(field, start, time):
    done = scipy.integrate.solve_ivp(field, (0.0, time), start, method="DOP853", rtol=1e-13, atol=1e-14)
    assert done.success
    return done.y[:, -1]


def orders(end, exact, time, coarsest):
    """The orders between consecutive halvings; ``end(dt, steps)`` is the computed state at the end."""
    errors = []
    for halving in range(HALVINGS + 1):
        steps = coarsest * 2**halving
        errors.append(np.max(np.abs(end(time / steps, steps) - exact)))
    assert errors[-1] > 1e-10, "the errors are near that of the reference: halve less"
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def assert_second(found):
    assert np.all(np.abs(found - 2) <= 0.2), found


def test_the_measure_tells_first_order_from_second():
    """A method of order 1 and one of order 2 for x' = −x²."""

    def end(second):
        def run(dt, steps):
            x = np.array([1.0])
            for _ in range(steps):
                x = x - dt * (x - second * dt / 2 * x**2) ** 2
            return x

        return run

    assert_second(orders(end(1), 0.5, 1.0, 20))
    assert np.all(np.abs(orders(end(0), 0.5, 1.0, 20) - 1) < 0.2)


def test_spherical_pendulum():
    m, ell, gravity, time = 1.3, 0.7, 9.81, 1.5
    position, velocity = np.array([0.6, 0.0, -0.8]), np.array([0.5, 2.0, 0.375])
    up = np.array([0.0, 0.0, 1.0])

    def field(_, state):
        q, v = state[:3], state[3:]
        return np.concatenate([v, -np.dot(v, v) * q - gravity / ell * (up - np.dot(up, q) * q)])

    def end(dt, steps):
        model = S.spherical_pendulum(dt, m, ell, gravity, position, velocity)
        trajectory = model.simulate(steps)
        q, p = trajectory.base_points[-1], trajectory.momenta[-1]
        return np.concatenate([q, gm.Sphere(2).to_ambient(q, p) / (m * ell**2)])

    exact = reference(field, np.concatenate([position, velocity]), time)
    assert_second(orders(end, exact, time, 50))


@pytest.mark.parametrize("form", ["trace", "tau"])
def test_rigid_body(form):
    """The attitude, which is the product of all arrows, and the momentum in the body."""
    inertia, omega, time = np.array([1.0, 2.0, 2.5]), np.array([0.5, 1.0, -0.7]), 4.0

    def field(_, state):
        R, momentum = state[:9].reshape(3, 3), state[9:]
        w = momentum / inertia
        turn = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(R @ turn).ravel(), np.cross(momentum, w)])

    def end(dt, steps):
        trajectory = S.rigid_body(dt, inertia, omega, form).simulate(steps)
        R = np.eye(3)
        for arrow in np.asarray(trajectory.arrows):
            R = R @ arrow
        return np.concatenate([R.ravel(), trajectory.momenta[-1]])

    exact = reference(field, np.concatenate([np.eye(3).ravel(), inertia * omega]), time)
    assert_second(orders(end, exact, time, 40))


def test_heavy_top():
    """A top without any symmetry but that about the vertical."""
    inertia, m, gravity, center = np.array([1.0, 1.3, 0.6]), 1.2, 9.81, np.array([0.2, 0.1, 0.4])
    up, omega, time = np.array([0.6, 0.0, 0.8]), np.array([0.4, 0.5, 3.0]), 1.5

    def field(_, state):
        vertical, momentum = state[:3], state[3:]
        w = momentum / inertia
        return np.concatenate([np.cross(vertical, w), np.cross(momentum, w) + m * gravity * np.cross(vertical, center)])

    def end(dt, steps):
        trajectory = S.heavy_top(dt, inertia, m, gravity, center, up, omega).simulate(steps)
        return np.concatenate([trajectory.base_points[-1], trajectory.momenta[-1]])

    exact = reference(field, np.concatenate([up, inertia * omega]), time)
    assert_second(orders(end, exact, time, 80))


# A flat base with coordinates q, and an algebra with structure constants C: the Hamiltonian equations of the model's energy.
FLAT = {
    "double_pendulum": (S.double_pendulum, 2, None, 1.0, 80),
    "kepler": (S.kepler, 2, None, 3.0, 100),
    "elroys_beanie": (S.elroys_beanie, 1, gm.SO2(), 3.0, 40),
    "plate_ball": (lambda dt: S.plate_ball(dt, 0.8, 0.5, 0.3, multipliers=(0.6, -0.4, 0.5)), 2, gm.SO3(), 2.0, 40),
    "chain": (lambda dt: S.chain(4, dt, beta=1.0, amplitude=2.0), 4, None, 3.0, 40),
    "reorientation": (S.reorientation, 0, gm.SO3(), 4.0, 40),
    "unicycle": (S.unicycle, 0, gm.SE2(), 3.0, 40),
    "vehicle": (S.vehicle, 0, gm.SE3(), 3.0, 40),
    "heisenberg": (S.heisenberg, 0, gm.Heisenberg(), 3.0, 40),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FLAT)
def test_the_flow_is_that_of_the_energy(name):
    r"""q' = ∂H/∂p, p' = −∂H/∂q along the base and μ' = ad*_ω μ with ω = ∂H/∂μ along the algebra."""
    factory, dim, group, time, coarsest = FLAT[name]
    model = factory(time / coarsest)
    start = jax.tree.leaves(model.start.point)
    q0 = np.asarray(start[0]) if dim else np.zeros(0)
    state = np.concatenate([q0, model.start.momentum])
    C = np.zeros((0, 0, 0)) if group is None else np.asarray(group.structure_constants())

    def point(q):
        return (q, jnp.zeros(0)) if name == "plate_ball" else q

    slopes = jax.jit(jax.grad(lambda x: model.energy(point(x[:dim]), x[dim:])))

    def field(_, state):
        slope, mu = np.asarray(slopes(state)), state[2 * dim :]
        turned = np.einsum("cab,c,a->b", C, mu, slope[2 * dim :])
        return np.concatenate([slope[dim : 2 * dim], -slope[:dim], turned])

    def end(dt, steps):
        system = factory(dt).system
        guess = model.start.guess.at[: system.groupoid.rank].multiply(dt * coarsest / time)
        trajectory = system.simulate(gm.from_momentum(system, model.start.point, model.start.momentum, guess), steps)
        q = jax.tree.leaves(trajectory.base_points)[0][-1] if dim else np.zeros(0)
        return np.concatenate([q, trajectory.momenta[-1]])

    assert_second(orders(end, reference(field, state, time), time, coarsest))
