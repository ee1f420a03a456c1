"""The double pendulum in the plane: two masses on two rods."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.mechanics.increment import IncrementFunction, with_value
from groupoid_mech.mechanics.starts import from_momentum
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers, nonnegative, positive, positive_vector, vector

_TORUS = Torus(2)


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
    """The continuous system: kinetic energy, potential, and the energy in terms of momenta."""

    masses: Vector
    lengths: Vector
    gravity: Scalar

    def inertia(self, q: Point) -> tuple[Scalar, Scalar, Scalar]:
        r"""The entries :math:`M_{11}, M_{12}, M_{22}` of the mass matrix."""
        (m1, m2), (l1, l2) = self.masses, self.lengths
        outer, coupling = m2 * l2**2, m2 * l1 * l2 * jnp.cos(q[1])
        return (m1 + m2) * l1**2 + 2 * coupling + outer, coupling + outer, outer

    def kinetic(self, q: Point, v: Vector) -> Scalar:
        r"""The kinetic energy :math:`T(q, \dot q)`."""
        M11, M12, M22 = self.inertia(q)
        return 0.5 * M11 * v[0] ** 2 + M12 * v[0] * v[1] + 0.5 * M22 * v[1] ** 2

    def potential(self, q: Point) -> Scalar:
        r"""The potential V(q)."""
        (m1, m2), (l1, l2) = self.masses, self.lengths
        return -self.gravity * ((m1 + m2) * l1 * jnp.cos(q[0]) + m2 * l2 * jnp.cos(q[0] + q[1]))

    def momentum(self, q: Point, v: Vector) -> Covector:
        r"""The momentum :math:`M(q)\dot q`."""
        M11, M12, M22 = self.inertia(q)
        return jnp.stack([M11 * v[0] + M12 * v[1], M12 * v[0] + M22 * v[1]])

    def energy(self, q: Point, p: Covector) -> Scalar:
        r"""The energy :math:`\tfrac12 p^T M(q)^{-1} p + V(q)`."""
        M11, M12, M22 = self.inertia(q)
        square = M22 * p[0] ** 2 - 2 * M12 * p[0] * p[1] + M11 * p[1] ** 2
        return 0.5 * square / (M11 * M22 - M12**2) + self.potential(q)


@final
class MidpointLagrangian(IncrementFunction):
    r"""The midpoint rule, with :math:`q_1 - q_0` from the coordinates of the arrow."""

    dt: Scalar
    pendula: TwoPendula

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        d = with_value(a, _TORUS.local(*g))
        middle = g[0] + 0.5 * d
        return self.dt * (self.pendula.kinetic(middle, d / self.dt) - self.pendula.potential(middle))
