"""The spherical pendulum: a mass on a rod that swings in space."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.starts import from_momentum
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.numerics.with_value import with_value
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers, nonnegative, positive, vector

_SPHERE = Sphere(2)


def spherical_pendulum(
    dt: ArrayLike = 0.01,
    mass: ArrayLike = 1.0,
    length: ArrayLike = 1.0,
    gravity: ArrayLike = 9.81,
    position: Numbers = (0.6, 0.0, -0.8),
    velocity: Numbers = (0.0, 2.0, 0.0),
) -> Model:
    r"""The Lagrangian :math:`\tfrac12 m\ell^2|\dot q|^2 - m g \ell\, q_3` on the sphere :math:`S^2`.

    .. math:: L_d(q_0, q_1) = \frac{m\ell^2}{2\,dt}|q_1 - q_0|^2 - dt\, m g \ell\,\frac{(q_0 + q_1)_3}2
        \qquad\text{on } S^2 \times S^2 .

    Rotations about the vertical are symmetries: the angular momentum :math:`\langle p, e_3 \times q\rangle` is kept.

    Args:
        dt: The time step.
        mass: The mass m.
        length: The length ℓ of the rod.
        gravity: The acceleration g, downwards along the third axis.
        position: Where the pendulum starts: the unit vector q from the pivot to the mass.
        velocity: Its derivative at the start; the part along the rod is dropped.

    Example:
        >>> model = spherical_pendulum(dt=0.01)
        >>> spin = model.invariant_values(model.simulate(100))["angular momentum"]
        >>> bool(jnp.max(jnp.abs(spin - spin[0])) < 1e-13)
        True
    """
    owner = "spherical_pendulum"
    h, m, ell = positive(owner, "dt", dt), positive(owner, "mass", mass), positive(owner, "length", length)
    inertia, weight = m * ell**2, m * ell * nonnegative(owner, "gravity", gravity)
    system = DiscreteSystem(PairGroupoid(_SPHERE), PendulumLagrangian(h, inertia, weight))
    q = vector(owner, "position", position, 3)
    _SPHERE.check_point(q, owner=owner, name="position")
    v = _SPHERE.from_ambient(q, vector(owner, "velocity", velocity, 3))
    return Model(
        name="spherical pendulum",
        system=system,
        start=from_momentum(system, q, inertia * v, guess=h * v),
        dt=h,
        energy=PendulumEnergy(inertia, weight),
        invariants={"angular momentum": angular_momentum},
        symmetries={"rotation about the vertical": vertical_rotation},
    )


@final
class PendulumLagrangian(IncrementFunction):
    r"""The discrete Lagrangian, with :math:`q_1 - q_0` from the coordinates of the arrow."""

    dt: Scalar
    inertia: Scalar
    weight: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        q0, q1 = g
        d = with_value(_SPHERE.displacement(q0, a), q1 - q0)
        return self.inertia * dot(d, d) / (2 * self.dt) - self.dt * self.weight * (q0[2] + q1[2]) / 2


@final
class PendulumEnergy(eqx.Module):
    r"""The energy :math:`|p|^2/(2 m\ell^2) + m g \ell\, q_3`."""

    inertia: Scalar
    weight: Scalar

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return dot(p, p) / (2 * self.inertia) + self.weight * q[2]


def vertical_rotation(q: Point) -> Vector:
    r"""The field :math:`e_3 \times q` in the frame at q."""
    return _SPHERE.from_ambient(q, jnp.stack([-q[1], q[0], jnp.zeros_like(q[0])]))


def angular_momentum(q: Point, p: Covector) -> Scalar:
    r"""The angular momentum :math:`\langle p, e_3 \times q\rangle` about the vertical."""
    return dot(p, vertical_rotation(q))
