"""The chain of Fermi, Pasta, Ulam and Tsingou: particles on a line, joined by nonlinear springs."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import require_positive_integer
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.starts import from_momentum
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.numerics.with_value import with_value
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers, number, positive, vector


def chain(
    particles: int = 8,
    dt: ArrayLike = 0.1,
    alpha: ArrayLike = 0.25,
    beta: ArrayLike = 0.0,
    mass: ArrayLike = 1.0,
    amplitude: ArrayLike = 1.0,
    displacements: Numbers | None = None,
    velocity: Numbers | None = None,
) -> Model:
    r"""The Lagrangian :math:`\tfrac12 m|\dot q|^2 - \sum_{i=0}^n V(q_{i+1} - q_i)` of n particles between fixed ends.

    With :math:`q_0 = q_{n+1} = 0`,

    .. math:: V(x) = \tfrac12 x^2 + \tfrac\alpha3 x^3 + \tfrac\beta4 x^4, \qquad
        L_d(q, q') = dt\, L\Bigl(\frac{q + q'}2, \frac{q' - q}{dt}\Bigr) \qquad\text{on } R^n \times R^n .

    Args:
        particles: The number n of particles. A step is one compiled function up to 12, and calls a library solver above.
        dt: The time step.
        alpha: The cubic coefficient α.
        beta: The quartic coefficient β.
        mass: The mass m of each particle.
        amplitude: The chain starts at rest in its lowest mode, :math:`q_i = A\sqrt{2/(n+1)}\,\sin(\pi i/(n+1))`, with this A.
        displacements: Where the particles start, instead.
        velocity: Their velocities at the start, instead of rest.

    Example:
        >>> model = chain(particles=8, dt=0.1)
        >>> energies = model.energies(model.simulate(1000))
        >>> bool(jnp.max(jnp.abs(energies - energies[0])) < 1e-4)
        True
    """
    owner = "chain"
    require_positive_integer(owner, "particles", particles)
    h, m = positive(owner, "dt", dt), positive(owner, "mass", mass)
    springs = Springs(number(owner, "alpha", alpha), number(owner, "beta", beta))
    A = number(owner, "amplitude", amplitude)
    mode = A * jnp.sqrt(2 / (particles + 1)) * jnp.sin(jnp.pi * jnp.arange(1, particles + 1) / (particles + 1))
    q = mode if displacements is None else vector(owner, "displacements", displacements, particles)
    v = jnp.zeros(particles) if velocity is None else vector(owner, "velocity", velocity, particles)
    system = DiscreteSystem(PairGroupoid(Euclidean(particles)), ChainLagrangian(h, m, springs))
    return Model(
        name="chain",
        system=system,
        start=from_momentum(system, q, m * v, guess=h * v),
        dt=h,
        energy=ChainEnergy(m, springs),
        invariants={},
        symmetries={},
    )


@final
class Springs(eqx.Module):
    """The potential of the springs."""

    alpha: Scalar
    beta: Scalar

    def potential(self, q: Vector) -> Scalar:
        r"""The energy :math:`\sum_i V(q_{i+1} - q_i)` of all springs."""
        x = jnp.diff(q, prepend=0.0, append=0.0)
        return jnp.sum(x * x * (1 / 2 + x * (self.alpha / 3 + x * self.beta / 4)))


@final
class ChainLagrangian(IncrementFunction):
    r"""The midpoint rule, with :math:`q' - q` from the coordinates of the arrow."""

    dt: Scalar
    mass: Scalar
    springs: Springs

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        d = with_value(a, g[1] - g[0])
        return self.mass * dot(d, d) / (2 * self.dt) - self.dt * self.springs.potential(g[0] + 0.5 * d)


@final
class ChainEnergy(eqx.Module):
    r"""The energy :math:`|p|^2/(2m) + \sum_i V(q_{i+1} - q_i)`."""

    mass: Scalar
    springs: Springs

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return dot(p, p) / (2 * self.mass) + self.springs.potential(q)
