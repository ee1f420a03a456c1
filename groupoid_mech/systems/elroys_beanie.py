"""Elroy's beanie: two bodies that turn about one axis, a system with an internal symmetry."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.gauge import GaugeGroupoid
from groupoid_mech.groups.so2 import SO2
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.starts import from_momentum
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.with_value import with_value
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers, nonnegative, number, positive, positive_vector, vector
from groupoid_mech.systems.step_coordinates import step_coordinates

_CIRCLE, _GROUP = Torus(1), SO2()


def elroys_beanie(
    dt: ArrayLike = 0.02,
    inertia: Numbers = (2.0, 1.0),
    stiffness: ArrayLike = 1.0,
    angle: ArrayLike = 1.0,
    velocity: Numbers = (0.0, 0.3),
) -> Model:
    r"""The Lagrangian :math:`\tfrac12 I_1\dot\theta^2 + \tfrac12 I_2(\dot\theta + \dot\psi)^2 - k(1 - \cos\psi)` of two bodies on one axis.

    The angle of the first body is θ, that of the second relative to the first is ψ. Turning both is a symmetry. What is left on
    the gauge groupoid :math:`(P \times P)/SO(2)` of :math:`P = S^1 \times SO(2)` is the arrow :math:`(\psi_0, \psi_1, \Delta\theta)`:

    .. math:: L_d = \frac{I_1}{2\,dt}\Delta\theta^2 + \frac{I_2}{2\,dt}(\Delta\theta + \Delta\psi)^2
        - dt\,k\Bigl(1 - \cos\frac{\psi_0 + \psi_1}2\Bigr), \qquad \Delta\psi = \psi_1 - \psi_0 .

    The total angular momentum :math:`\mu = I_1\dot\theta + I_2(\dot\theta + \dot\psi)` is kept, so that in every step

    .. math:: \Delta\theta = \frac{\mu\,dt}{I_1 + I_2} - \frac{I_2}{I_1 + I_2}\Delta\psi :

    a dynamic phase and a geometric one. With :math:`\mu = 0`, a full turn of the second body against the first turns the first
    by :math:`-2\pi I_2/(I_1 + I_2)`, however it is done.

    Args:
        dt: The time step.
        inertia: The moments :math:`I_1, I_2` about the axis.
        stiffness: The strength k of the spring between the bodies.
        angle: The relative angle ψ at the start.
        velocity: The velocities :math:`(\dot\psi, \dot\theta)` at the start.

    Example:
        >>> model = elroys_beanie(dt=0.02)
        >>> mu = model.invariant_values(model.simulate(100))["total angular momentum"]
        >>> bool(jnp.max(jnp.abs(mu - mu[0])) < 1e-13)
        True
    """
    owner = "elroys_beanie"
    h, moments = positive(owner, "dt", dt), positive_vector(owner, "inertia", inertia, 2)
    k, v = nonnegative(owner, "stiffness", stiffness), vector(owner, "velocity", velocity, 2)
    system = DiscreteSystem(GaugeGroupoid(_CIRCLE, _GROUP), BeanieLagrangian(h, moments, k))
    second = moments[1] * (v[0] + v[1])
    p = jnp.stack([second, moments[0] * v[1] + second])
    return Model(
        name="Elroy's beanie",
        system=system,
        start=from_momentum(system, number(owner, "angle", angle)[None], p, guess=h * v),
        dt=h,
        energy=BeanieEnergy(moments, k),
        invariants={"total angular momentum": total_angular_momentum},
        symmetries={"turning both bodies": turning},
    )


@final
class BeanieLagrangian(IncrementFunction):
    r"""The discrete Lagrangian, with :math:`(\Delta\psi, \Delta\theta)` from the coordinates of the arrow."""

    dt: Scalar
    inertia: Vector
    stiffness: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        start, end, R = g
        relative, first = with_value(a, jnp.concatenate([_CIRCLE.local(start, end), step_coordinates(_GROUP, R)]))
        kinetic = self.inertia[0] * first**2 + self.inertia[1] * (first + relative) ** 2
        return kinetic / (2 * self.dt) - self.dt * self.stiffness * (1 - jnp.cos(start[0] + relative / 2))


@final
class BeanieEnergy(eqx.Module):
    r"""The energy :math:`(\mu - p_\psi)^2/(2 I_1) + p_\psi^2/(2 I_2) + k(1 - \cos\psi)`."""

    inertia: Vector
    stiffness: Scalar

    def __call__(self, q: Point, p: Covector) -> Scalar:
        kinetic = (p[1] - p[0]) ** 2 / (2 * self.inertia[0]) + p[0] ** 2 / (2 * self.inertia[1])
        return kinetic + self.stiffness * (1 - jnp.cos(q[0]))


def turning(q: Point) -> Vector:
    r"""The section :math:`\partial_\theta`."""
    return jnp.array([0.0, 1.0])


def total_angular_momentum(q: Point, p: Covector) -> Scalar:
    r"""The angular momentum μ of both bodies together."""
    return p[1]
