"""The spherical pendulum as a Hamiltonian system."""

from typing import final

import equinox as eqx
from jax.typing import ArrayLike

from groupoid_mech._types import Point, Scalar
from groupoid_mech.discretization.splitting import Separable
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel
from groupoid_mech.systems.natural import KineticEnergy, NaturalLagrangian
from groupoid_mech.systems.parameters import Numbers, nonnegative, positive, vector
from groupoid_mech.systems.spherical_pendulum import angular_momentum


def spherical_pendulum_hamiltonian(
    dt: ArrayLike = 0.02,
    mass: ArrayLike = 1.0,
    length: ArrayLike = 1.0,
    gravity: ArrayLike = 9.81,
    position: Numbers = (0.6, 0.0, -0.8),
    velocity: Numbers = (0.0, 2.0, 0.0),
) -> HamiltonianModel:
    r"""The Hamiltonian :math:`H(q, p) = \frac{|p|^2}{2m\ell^2} + m g\ell\,q_3` on :math:`T^*S^2`, with p in the orthonormal frame.

    Its flow keeps the angular momentum :math:`\langle p, e_3 \times q\rangle` about the vertical.

    Args:
        dt: The time step.
        mass: The mass m.
        length: The length ℓ of the rod.
        gravity: The acceleration g, downwards along the third axis.
        position: Where the pendulum starts: the unit vector q from the pivot to the mass.
        velocity: Its derivative at the start; the part along the rod is dropped.

    Example:
        >>> model = spherical_pendulum_hamiltonian()
        >>> spin = model.invariant_values(model.simulate(100))["angular momentum"]
        >>> bool(abs(spin - spin[0]).max() < 1e-13)
        True
    """
    owner = "spherical_pendulum_hamiltonian"
    h, m, ell = positive(owner, "dt", dt), positive(owner, "mass", mass), positive(owner, "length", length)
    inertia, weight = m * ell**2, m * ell * nonnegative(owner, "gravity", gravity)
    sphere, potential = Sphere(2), HeightPotential(weight)
    q = vector(owner, "position", position, 3)
    sphere.check_point(q, owner=owner, name="position")
    v = sphere.from_ambient(q, vector(owner, "velocity", velocity, 3))
    return HamiltonianModel(
        name="spherical pendulum",
        groupoid=PairGroupoid(sphere),
        hamiltonian=Separable(KineticEnergy(inertia), potential),
        start=(q, inertia * v),
        dt=h,
        invariants={"angular momentum": angular_momentum},
        lagrangian=NaturalLagrangian(inertia, potential),
    )


@final
class HeightPotential(eqx.Module):
    r"""The potential :math:`w\,q_3` of the weight w = m g ℓ."""

    weight: Scalar

    def __call__(self, q: Point) -> Scalar:
        return self.weight * q[2]
