"""The pendulum in the plane."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._types import Point, Scalar
from groupoid_mech.discretization.splitting import Separable
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel
from groupoid_mech.systems.natural import KineticEnergy, NaturalLagrangian
from groupoid_mech.systems.parameters import nonnegative, number, positive


def pendulum(
    dt: ArrayLike = 0.05,
    mass: ArrayLike = 1.0,
    length: ArrayLike = 1.0,
    gravity: ArrayLike = 1.0,
    angle: ArrayLike = 1.0,
    velocity: ArrayLike = 0.0,
) -> HamiltonianModel:
    r"""The Hamiltonian :math:`H(q, p) = \frac{p^2}{2m\ell^2} - m g\ell\cos q` on :math:`T^*R`.

    The angle q is 0 when the pendulum hangs, and counts turns. Besides H nothing is kept.

    Args:
        dt: The time step; a small swing takes :math:`2\pi\sqrt{\ell/g}`.
        mass: The mass m.
        length: The length ℓ of the rod.
        gravity: The acceleration g.
        angle: The angle q at the start.
        velocity: Its derivative at the start.

    Example:
        >>> model = pendulum(angle=2.0)
        >>> energies = model.energies(model.simulate(1000))
        >>> bool(jnp.max(jnp.abs(energies - energies[0])) < 1e-3)
        True
    """
    owner = "pendulum"
    h, m, ell = positive(owner, "dt", dt), positive(owner, "mass", mass), positive(owner, "length", length)
    inertia, weight = m * ell**2, m * ell * nonnegative(owner, "gravity", gravity)
    q = number(owner, "angle", angle)[None]
    v = number(owner, "velocity", velocity)[None]
    potential = PlanePotential(weight)
    return HamiltonianModel(
        name="pendulum",
        groupoid=PairGroupoid(Euclidean(1)),
        hamiltonian=Separable(KineticEnergy(inertia), potential),
        start=(q, inertia * v),
        dt=h,
        invariants={},
        lagrangian=NaturalLagrangian(inertia, potential),
    )


@final
class PlanePotential(eqx.Module):
    r"""The potential :math:`-w\cos q` of the weight w = m g ℓ."""

    weight: Scalar

    def __call__(self, q: Point) -> Scalar:
        return -self.weight * jnp.cos(q[0])
