"""The double pendulum in the plane: two masses on two rods."""

from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.starts import from_momentum
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import dot, matvec
from groupoid_mech.numerics.with_value import with_value
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers, nonnegative, positive, positive_vector, vector

_TORUS = Torus(2)
# The angles whose cosines appear, and the velocities of the rods in space.
_ANGLES: Any = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
_RODS: Any = np.array([[1.0, 0.0], [1.0, 1.0]])


def double_pendulum(
    dt: ArrayLike = 0.01,
    masses: Numbers = (1.0, 1.0),
    lengths: Numbers = (1.0, 1.0),
    gravity: ArrayLike = 9.81,
    angles: Numbers = (1.0, 0.5),
    velocity: Numbers = (0.0, 0.0),
) -> Model:
    r"""The Lagrangian :math:`\tfrac12 m_1|\dot x_1|^2 + \tfrac12 m_2|\dot x_2|^2 - V` on the torus of the angles :math:`(\theta_1, \theta_2)`.

    The first angle is that of the first rod with the vertical, the second that of the second rod with the first:

    .. math:: T = \tfrac12(m_1 + m_2)\ell_1^2\dot\theta_1^2 + m_2\ell_1\ell_2\cos\theta_2\,\dot\theta_1(\dot\theta_1 + \dot\theta_2)
        + \tfrac12 m_2\ell_2^2(\dot\theta_1 + \dot\theta_2)^2, \qquad
        V = -(m_1 + m_2) g\ell_1\cos\theta_1 - m_2 g\ell_2\cos(\theta_1 + \theta_2),

    discretized by the midpoint rule:

    .. math:: L_d(q_0, q_1) = dt\, L\Bigl(\frac{q_0 + q_1}2, \frac{q_1 - q_0}{dt}\Bigr) \qquad\text{on } T^2 \times T^2 .

    Args:
        dt: The time step.
        masses: The masses :math:`m_1, m_2`.
        lengths: The lengths :math:`\ell_1, \ell_2` of the rods.
        gravity: The acceleration g.
        angles: The angles at the start; both are 0 when the pendulum hangs.
        velocity: Their derivatives at the start.

    Example:
        >>> model = double_pendulum(dt=0.01)
        >>> energies = model.energies(model.simulate(1000))
        >>> bool(jnp.max(jnp.abs(energies - energies[0])) < 1e-2)
        True
    """
    owner = "double_pendulum"
    h = positive(owner, "dt", dt)
    pendula = TwoPendula(
        positive_vector(owner, "masses", masses, 2),
        positive_vector(owner, "lengths", lengths, 2),
        nonnegative(owner, "gravity", gravity),
    )
    system = DiscreteSystem(PairGroupoid(_TORUS), MidpointLagrangian(h, pendula))
    q, v = vector(owner, "angles", angles, 2), vector(owner, "velocity", velocity, 2)
    return Model(
        name="double pendulum",
        system=system,
        start=from_momentum(system, q, pendula.momentum(q, v), guess=h * v),
        dt=h,
        energy=pendula.energy,
        invariants={},
        symmetries={},
    )


@final
class TwoPendula(eqx.Module):
    r"""The continuous system, in terms of the velocities :math:`w = (\dot\theta_1, \dot\theta_1 + \dot\theta_2)` of the rods in space."""

    masses: Vector
    lengths: Vector
    gravity: Scalar

    def carried(self) -> Vector:
        r"""The masses :math:`m_1 + m_2` and :math:`m_2` that hang on the rods."""
        return jnp.stack([jnp.sum(self.masses), self.masses[1]])

    def coupling(self) -> Scalar:
        r"""The factor :math:`m_2\ell_1\ell_2` of :math:`\cos\theta_2\,w_1w_2`."""
        return self.masses[1] * self.lengths[0] * self.lengths[1]

    def lagrangian(self, q: Point, v: Vector) -> Scalar:
        r"""The Lagrangian :math:`T - V`."""
        cosines, w = jnp.cos(matvec(_ANGLES, q)), matvec(_RODS, v)
        M, ell = self.carried(), self.lengths
        kinetic = 0.5 * dot(M * ell**2, w**2) + self.coupling() * cosines[1] * w[0] * w[1]
        return kinetic + self.gravity * (M[0] * ell[0] * cosines[0] + M[1] * ell[1] * cosines[2])

    def momentum(self, q: Point, v: Vector) -> Covector:
        r"""The momentum :math:`\partial L/\partial\dot q`."""
        w = matvec(_RODS, v)
        rods = self.carried() * self.lengths**2 * w + self.coupling() * jnp.cos(q[1]) * w[::-1]
        return matvec(_RODS.T, rods)

    def energy(self, q: Point, p: Covector) -> Scalar:
        r"""The energy :math:`T + V` in terms of momenta."""
        rods = jnp.stack([p[0] - p[1], p[1]])
        diagonal, off = self.carried() * self.lengths**2, self.coupling() * jnp.cos(q[1])
        square = dot(diagonal[::-1], rods**2) - 2 * off * rods[0] * rods[1]
        return 0.5 * square / (diagonal[0] * diagonal[1] - off**2) - self.lagrangian(q, jnp.zeros(2))


@final
class MidpointLagrangian(IncrementFunction):
    r"""The midpoint rule, with :math:`q_1 - q_0` from the coordinates of the arrow."""

    dt: Scalar
    pendula: TwoPendula

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        d = with_value(a, _TORUS.local(*g))
        middle = g[0] + 0.5 * d
        return self.dt * self.pendula.lagrangian(middle, d / self.dt)
