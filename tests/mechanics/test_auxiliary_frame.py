"""Steps whose inner point is at the jump of a frame: found in the frame at the source, lost in the frame at the inner point."""

import jax
import jax.numpy as jnp
import numpy as np

import groupoid_mech as gm
from groupoid_mech.mechanics.step import Start, take_step, variation

S2, DT, STARTS = gm.Sphere(2), 0.4, 200
MAP = gm.theta_map(S2, 0.5)


def energy(q, p):
    """Not isotropic in p: the velocity has another direction."""
    x, y, z = S2.to_ambient(q, p)
    return 0.5 * (x * x + 2 * y * y + 3 * z * z) + q[2] + 0.3 * q[0] * q[1]


def test_steps_with_their_middle_at_the_equator_are_found():
    system = gm.hamiltonian_system(energy, MAP, DT)
    G, rng = system.groupoid, np.random.default_rng(5)
    angles, heights = 2 * np.pi * rng.uniform(size=STARTS), 1e-4 * rng.uniform(-1, 1, size=STARTS)
    level = np.sqrt(1 - heights**2)
    middles = jnp.stack([level * np.cos(angles), level * np.sin(angles), heights], axis=1)
    momenta = jnp.asarray(rng.uniform(-0.6, 0.6, size=(STARTS, 2)))

    @jax.jit
    def known_step(x, p):
        """The step with a given middle and momentum there: its start and its end."""
        g = MAP.arrow(x, DT * jax.grad(energy, argnums=1)(x, p))
        return (g[0], variation(G, system.family, g, system.increment(g), p).minus), g[1]

    def step(auxiliary):
        def one(q, p):
            start = Start(q, p, system.first_guess(q, p))
            return take_step(G, system.family, auxiliary, start)[1]

        return jax.jit(jax.vmap(one))

    starts, ends = jax.vmap(known_step)(middles, momenta)
    found = step(system.variables_at)(*starts)
    assert np.all(found.converged)
    assert np.max(np.abs(found.point - ends)) <= 1e-13
    assert np.max(np.abs(found.auxiliary - momenta)) <= 1e-12
    # In the frame at the middle many are not.
    assert np.sum(step(lambda g, a, s: s)(*starts).converged) < 0.9 * STARTS


def test_steps_across_the_equator_are_solved_as_well_as_others():
    """Not only momenta, also equations are in the frame at the source: in that at the middle a kept Jacobian has the wrong sign after a jump,
    and what it left, up to 5e-14, passed for round-off.
    """
    model = gm.systems.spherical_pendulum_hamiltonian()
    q, p = np.array([-0.43108948, -0.9023057, 0.00250847]), np.array([1.5, 2.1])
    orbit = model.integrator().run((jnp.asarray(q / np.linalg.norm(q)), jnp.asarray(p)), 10000)
    assert np.sum(np.diff(np.sign(np.asarray(orbit.points[0])[:, 2])) != 0) > 100
    assert np.max(orbit.residuals) <= 2e-15
