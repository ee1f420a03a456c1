"""Small systems that the tests of mechanics share; parameters are leaves, so that they compile once."""

import equinox as eqx
import jax.numpy as jnp

import groupoid_mech as gm


class Particle(eqx.Module):
    """A particle in R^n in a quartic well, by the midpoint rule."""

    dt: float
    stiffness: float

    def __call__(self, g):
        q, r = g
        middle = (q + r) / 2
        return jnp.sum((r - q) ** 2) / (2 * self.dt) - self.dt * self.stiffness * jnp.sum(middle**2) ** 2 / 4


class ParticleByIncrement(gm.IncrementFunction):
    """The same, with the velocity from the increment."""

    dt: float
    stiffness: float

    def at(self, g, a):
        q, r = g
        step = gm.with_value(a, r - q)
        middle = (q + r) / 2
        return jnp.sum(step**2) / (2 * self.dt) - self.dt * self.stiffness * jnp.sum(middle**2) ** 2 / 4


class HamiltonPontryagin(eqx.Module):
    """The same particle as a family in the momentum u: ⟨u, r − q⟩ − dt H(middle, u)."""

    dt: float
    stiffness: float

    def __call__(self, g, u):
        q, r = g
        middle = (q + r) / 2
        energy = jnp.sum(u**2) / 2 + self.stiffness * jnp.sum(middle**2) ** 2 / 4
        return jnp.sum(u * (r - q)) - self.dt * energy


class RollingConstraint(eqx.Module):
    """A non-integrable constraint on pair(R³): the discrete contact form z' − z = y_middle (x' − x)."""

    def __call__(self, g):
        q, r = g
        return (r[2] - q[2] - (q[1] + r[1]) / 2 * (r[0] - q[0]))[None]


DT = 0.1
PLANE = gm.PairGroupoid(gm.Euclidean(2))
SPACE = gm.PairGroupoid(gm.Euclidean(3))


def particle(stiffness=1.0, dt=DT):
    return gm.DiscreteSystem(PLANE, Particle(dt, stiffness))


def contact(stiffness=1.0, dt=DT):
    return gm.DiscreteSystem(SPACE, Particle(dt, stiffness), RollingConstraint())


START = (jnp.array([1.0, 0.2]), jnp.array([1.0, 0.3]))
CONTACT_START = (jnp.array([0.5, 0.2, 0.1]), jnp.array([0.6, 0.4, 0.1 + 0.3 * 0.1]))
