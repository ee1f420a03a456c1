"""The plate-ball problem: a ball that rolls on a rotating plate along the cheapest path. MMS §6.2."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groupoids.product import ProductGroupoid
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.starts import from_velocity
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import axial, dot
from groupoid_mech.numerics.with_value import with_value
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers, number, positive, vector


def plate_ball(
    dt: ArrayLike = 0.01,
    radius: ArrayLike = 1.0,
    plate_velocity: ArrayLike = 0.1,
    spin: ArrayLike = 0.3,
    position: Numbers = (0.4, -0.2),
    velocity: Numbers = (0.7, 0.4),
    multipliers: Numbers = (0.3, -0.2, 0.1),
) -> Model:
    r"""The cost :math:`\tfrac12(\dot x^2 + \dot y^2)` of rolling a ball on a rotating plate.

    The ball has radius r, spins with velocity c about the vertical and does not slip; the plate rotates with velocity Ω:

    .. math:: \dot y + r\omega_1 = \Omega x, \qquad \dot x - r\omega_2 = -\Omega y, \qquad \omega_3 = c .

    Discretized on :math:`R^2 \times R^2 \times SO(3)`, with arrows :math:`((z_0, z_1), g)`, as in MMS (8):

    .. math:: \hat L = \frac{|z_1 - z_0|^2}{2\,dt}, \qquad
        \varphi^1 = y_1 - y_0 - \tfrac r2\operatorname{tr}(gE_1) - dt\,\Omega\tfrac{x_0 + x_1}2, \qquad
        \varphi^2 = x_1 - x_0 + \tfrac r2\operatorname{tr}(gE_2) + dt\,\Omega\tfrac{y_0 + y_1}2, \qquad
        \varphi^3 = dt\,c + \tfrac12\operatorname{tr}(gE_3) .

    Kept are the length of the momentum of the ball in :math:`so(3)^*` and the moment of the rotations of plane and ball together. On
    a rotating plate extremals leave: far out, where :math:`dt\,\Omega|z| \ge r`, the ball would turn too far for one step.

    Args:
        dt: The time step.
        radius: The radius r of the ball.
        plate_velocity: The angular velocity Ω of the plate.
        spin: The angular velocity c of the ball about the vertical.
        position: The point of contact :math:`z = (x, y)` at the start.
        velocity: Its velocity at the start, in the first order of dt: the first arrow is moved onto N.
        multipliers: The multipliers λ of the first arrow: with the velocity, they choose the extremal.

    Example:
        >>> model = plate_ball(dt=0.01)
        >>> trajectory = model.simulate(100)
        >>> bool(jnp.max(jnp.abs(trajectory.constraint_values())) < 1e-14)
        True
    """
    owner = "plate_ball"
    h, r = positive(owner, "dt", dt), positive(owner, "radius", radius)
    plate, c = number(owner, "plate_velocity", plate_velocity), number(owner, "spin", spin)
    z, v = vector(owner, "position", position, 2), vector(owner, "velocity", velocity, 2)
    rolling = Rolling(r, plate, c)
    G = ProductGroupoid(PairGroupoid(Euclidean(2)), GroupGroupoid(SO3(tau="cayley")))
    system = DiscreteSystem(G, PlanarCost(h), RollingConstraints(h, rolling))
    start = from_velocity(
        system,
        (z, jnp.zeros(0)),
        jnp.concatenate([v, rolling.angular_velocity(z, v)]),
        h,
        multipliers=vector(owner, "multipliers", multipliers, 3),
    )
    return Model(
        name="plate-ball problem",
        system=system,
        start=start,
        dt=h,
        energy=rolling.energy,
        invariants={"squared momentum of the ball": ball_momentum, "angular momentum": angular_momentum},
        symmetries={"rotation of plane and ball": rotation},
    )


@final
class PlanarCost(IncrementFunction):
    r"""The cost :math:`|z_1 - z_0|^2/(2\,dt)`."""

    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        d = _planar_step(g, a)
        return dot(d, d) / (2 * self.dt)


@final
class Rolling(eqx.Module):
    """The continuous problem: radius of the ball, velocities of plate and spin."""

    radius: Scalar
    plate: Scalar
    spin: Scalar

    def angular_velocity(self, z: Vector, v: Vector) -> Vector:
        r"""The angular velocity of the ball that rolls with velocity :math:`\dot z`."""
        return jnp.stack(
            [(self.plate * z[0] - v[1]) / self.radius, (v[0] + self.plate * z[1]) / self.radius, self.spin]
        )

    def energy(self, q: Point, p: Covector) -> Scalar:
        r"""Pontryagin's function :math:`\langle p, (\dot z, \omega)\rangle - \tfrac12|\dot z|^2`, at the velocities that p determines."""
        z, (p_x, p_y, *ball) = q[0], p
        v = jnp.stack([p_x + ball[1] / self.radius, p_y - ball[0] / self.radius])
        momenta = dot(p, jnp.concatenate([v, self.angular_velocity(z, v)]))
        return momenta - 0.5 * dot(v, v)


@final
class RollingConstraints(IncrementFunction):
    r"""The functions :math:`\varphi^1, \varphi^2, \varphi^3` of MMS (8)."""

    dt: Scalar
    rolling: Rolling

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Vector:
        (z0, z1), R = g
        d, middle = _planar_step(g, a), (z0 + z1) / 2
        turn = axial(R)  # tr(R E_i) = −2 turn_i
        r, plate = self.rolling.radius, self.dt * self.rolling.plate
        return jnp.stack(
            [
                d[1] + r * turn[0] - plate * middle[0],
                d[0] - r * turn[1] + plate * middle[1],
                self.dt * self.rolling.spin - turn[2],
            ]
        )


def rotation(q: Point) -> Vector:
    r"""The section :math:`(-y, x, -e_3)`: rotations :math:`(z, g) \mapsto (Sz, SgS^{-1})` of plane and ball."""
    x, y = q[0]
    return jnp.stack([-y, x, jnp.zeros_like(x), jnp.zeros_like(x), -jnp.ones_like(x)])


def angular_momentum(q: Point, p: Covector) -> Scalar:
    r"""The moment :math:`x p_y - y p_x - \mu_3` of the rotations of plane and ball."""
    return dot(p, rotation(q))


def ball_momentum(q: Point, p: Covector) -> Scalar:
    r"""The Casimir function :math:`|\mu|^2` of :math:`so(3)^*`."""
    return dot(p[2:], p[2:])


def _planar_step(g: Point, a: Vector) -> Vector:
    (z0, z1), _ = g
    return with_value(a[:2], z1 - z0)
