"""Kepler's problem in the plane as a Hamiltonian system."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar
from groupoid_mech.discretization.splitting import Separable
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel
from groupoid_mech.systems.kepler import angular_momentum, perihelion, rotation
from groupoid_mech.systems.natural import KineticEnergy, NaturalLagrangian
from groupoid_mech.systems.parameters import positive


def kepler_hamiltonian(
    dt: ArrayLike = 0.05,
    eccentricity: ArrayLike = 0.3,
    semi_major_axis: ArrayLike = 1.0,
    mass: ArrayLike = 1.0,
    attraction: ArrayLike = 1.0,
) -> HamiltonianModel:
    r"""The Hamiltonian :math:`H(q, p) = \frac{|p|^2}{2m} - \frac k{|q|}` on :math:`T^*R^2`.

    Its flow keeps the angular momentum :math:`\ell = q_1p_2 - q_2p_1` and the vector of Laplace, Runge and Lenz

    .. math:: A = \ell\,(p_2, -p_1) - m k\,q/|q| ,

    which points to the perihelion.

    Args:
        dt: The time step; one revolution takes :math:`2\pi\sqrt{m a^3/k}`.
        eccentricity: The eccentricity :math:`0 \le e < 1` of the ellipse; the planet starts at its perihelion, :math:`(a(1 - e), 0)`.
        semi_major_axis: The larger half axis a of the ellipse.
        mass: The mass m of the planet.
        attraction: The strength k.

    Example:
        >>> model = kepler_hamiltonian(eccentricity=0.6)
        >>> spin = model.invariant_values(model.simulate(100))["angular momentum"]
        >>> bool(jnp.max(jnp.abs(spin - spin[0])) < 1e-13)
        True
    """
    owner = "kepler_hamiltonian"
    h = positive(owner, "dt", dt)
    q, v, m, k = perihelion(owner, eccentricity, semi_major_axis, mass, attraction)
    potential = KeplerPotential(k)
    return HamiltonianModel(
        name="Kepler problem",
        groupoid=PairGroupoid(Euclidean(2)),
        hamiltonian=Separable(KineticEnergy(m), potential),
        start=(q, m * v),
        dt=h,
        invariants={
            "angular momentum": angular_momentum,
            "first Laplace component": LaplaceComponent(m * k, 0),
            "second Laplace component": LaplaceComponent(m * k, 1),
        },
        lagrangian=NaturalLagrangian(m, potential),
    )


@final
class KeplerPotential(eqx.Module):
    r"""The potential :math:`-k/|q|`."""

    attraction: Scalar

    def __call__(self, q: Point) -> Scalar:
        return -self.attraction / jnp.sqrt(dot(q, q))


@final
class LaplaceComponent(eqx.Module):
    r"""A component of the vector :math:`\ell\,(p_2, -p_1) - m k\,q/|q|` of Laplace, Runge and Lenz."""

    strength: Scalar
    component: int = eqx.field(static=True)

    def __call__(self, q: Point, p: Covector) -> Scalar:
        vector = -angular_momentum(q, p) * rotation(p) - self.strength * q / jnp.sqrt(dot(q, q))
        return vector[self.component]
