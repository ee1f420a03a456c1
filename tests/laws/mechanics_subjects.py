"""Discrete systems for the laws, and one with a force that no Lagrangian has."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from laws.symplectic_controls import PLANE_PAIR, PLATE_BALL, TOP

import groupoid_mech as gm

DT = 0.1
ROTATIONS = gm.GroupGroupoid(gm.SO3(tau="cayley"))
CIRCLE_GAUGE = gm.GaugeGroupoid(gm.Euclidean(2), gm.SO2(tau="cayley"))
TIMED = gm.TimeExtended(gm.PairGroupoid(gm.Euclidean(1)))


class Chordal(eqx.Module):
    """A weighted squared distance of an arrow from the unit at its source: regular on every groupoid."""

    groupoid: gm.LieGroupoid
    dt: float = DT

    def __call__(self, g):
        x, e = ravel_pytree(g)[0], ravel_pytree(self.groupoid.unit(self.groupoid.source(g)))[0]
        weights = 1 + 0.3 * jnp.cos(1.0 + jnp.arange(x.size))
        return jnp.sum(weights * (x - e) ** 2) / (2 * self.dt)


class ByIncrement(gm.IncrementFunction):
    """A particle in the plane, with its displacement from the coordinates of the arrow."""

    dt: float = DT

    def at(self, g, a):
        q, r = g
        step = gm.with_value(a, r - q)
        return jnp.sum(jnp.array([1.0, 1.3]) * step**2) / (2 * self.dt) - self.dt * jnp.sum(((q + r) / 2) ** 4) / 4


class Pendulum(eqx.Module):
    """The spherical pendulum."""

    dt: float = DT

    def __call__(self, g):
        q, r = g
        return jnp.sum((r - q) ** 2) / (2 * self.dt) - self.dt * (q[2] + r[2]) / 2


class Pontryagin(eqx.Module):
    """A family in the momentum u: ⟨u, r − q⟩ − dt H(middle, u)."""

    dt: float = DT

    def __call__(self, g, u):
        (q, r), middle = g, (g[0] + g[1]) / 2
        return jnp.sum(u * (r - q)) - self.dt * (jnp.sum(u**2) / 2 + jnp.sum(middle**4) / 4)


class Kinetic(eqx.Module):
    """The kinetic term of a particle, times dt."""

    dt: float = DT

    def __call__(self, g):
        return jnp.sum((g[1] - g[0]) ** 2) / (2 * self.dt)


class Contact(eqx.Module):
    """The non-integrable constraint z' − z = y_middle (x' − x) on pair(R³)."""

    slope: float = 1.0

    def __call__(self, g):
        q, r = g
        return (r[2] - q[2] - self.slope * (q[1] + r[1]) / 2 * (r[0] - q[0]))[None]


class PlateCost(eqx.Module):
    """The cost of the plate-ball problem, MMS §6.2."""

    dt: float = DT

    def __call__(self, g):
        return Kinetic(self.dt)(g[0])


class Rolling(eqx.Module):
    """The constraints of a ball that rolls on a turning plate, MMS (8)."""

    dt: float = DT
    radius: float = 0.5
    turn: float = 0.3
    spin: float = 0.2

    def __call__(self, g):
        (x, y), R = g
        w = jnp.stack([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
        step, middle = y - x, (x + y) / 2
        return jnp.stack(
            [
                step[1] + self.radius * w[0] - self.dt * self.turn * middle[0],
                step[0] - self.radius * w[1] + self.dt * self.turn * middle[1],
                self.dt * self.spin - w[2],
            ]
        )


class TimedParticle(eqx.Module):
    """A particle with its time, MMS §6.3."""

    stiffness: float = 1.0

    def __call__(self, g):
        (t, u), (q, r) = g
        return (jnp.sum((r - q) ** 2) / 2 / (u - t) - self.stiffness * (u - t) * jnp.sum(((q + r) / 2) ** 4))[0]


class FixedStep(eqx.Module):
    """Every step takes the time dt, MMS Example 6.2."""

    dt: float = DT

    def __call__(self, g):
        (t, u), _ = g
        return u - t - self.dt


SPACE_PAIR = gm.PairGroupoid(gm.Euclidean(3))

SYSTEMS = {
    "system on pair(R2)": gm.DiscreteSystem(PLANE_PAIR, ByIncrement()),
    "system on pair(R3), contact": gm.DiscreteSystem(SPACE_PAIR, Kinetic(), Contact()),
    "system on pair(R2), family": gm.DiscreteSystem(PLANE_PAIR, Pontryagin(), auxiliary=2),
    "system on pair(S2)": gm.DiscreteSystem(gm.PairGroupoid(gm.Sphere(2)), Pendulum()),
    "system on SO3": gm.DiscreteSystem(ROTATIONS, Chordal(ROTATIONS)),
    "system on SE3": gm.DiscreteSystem(SE3 := gm.GroupGroupoid(gm.SE3(tau="cayley")), Chordal(SE3)),
    "system on S2:SO3": gm.DiscreteSystem(TOP, Chordal(TOP)),
    "system on gauge": gm.DiscreteSystem(CIRCLE_GAUGE, Chordal(CIRCLE_GAUGE)),
    "system on plate-ball": gm.DiscreteSystem(PLATE_BALL, PlateCost(), Rolling()),
    "system on time(pair(R))": gm.DiscreteSystem(TIMED, Chordal(TIMED)),
    "system on time(pair(R)), fixed step": gm.DiscreteSystem(TIMED, TimedParticle(), FixedStep()),
}

SLOW_SYSTEMS = {
    "system on pair(S2)",
    "system on SE3",
    "system on S2:SO3",
    "system on gauge",
    "system on plate-ball",
    "system on time(pair(R))",
    "system on time(pair(R)), fixed step",
}


@jax.custom_jvp
def pushed(R):
    """The number 0, which says that its differential is the left-invariant form (1, 2, 3): that is closed nowhere."""
    return jnp.zeros(())


@pushed.defjvp
def _push(primals, tangents):
    (R,), (V,) = primals, tangents
    W = R.T @ V
    omega = jnp.stack([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
    return jnp.zeros(()), jnp.array([1.0, 2.0, 3.0]) @ omega


class Forced(eqx.Module):
    """A Lagrangian with a force beside it that is no differential: a discrete Lagrange–d'Alembert system."""

    def __call__(self, R):
        return Chordal(ROTATIONS)(R) + pushed(R)


forced = gm.DiscreteSystem(ROTATIONS, Forced())
