"""The system of Hénon and Heiles: a star in the field of a galaxy, regular or chaotic as its energy is."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Point, Scalar
from groupoid_mech.discretization.splitting import Separable
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel
from groupoid_mech.systems.natural import KineticEnergy, NaturalLagrangian
from groupoid_mech.systems.parameters import Numbers, number, positive, vector


def henon_heiles(
    dt: ArrayLike = 0.1,
    energy: ArrayLike = 1 / 12,
    section: Numbers = (0.1, 0.0),
    coupling: ArrayLike = 1.0,
) -> HamiltonianModel:
    r"""The Hamiltonian :math:`H(q, p) = \tfrac12|p|^2 + \tfrac12|q|^2 + \lambda\bigl(q_1^2q_2 - \tfrac13q_2^3\bigr)` on :math:`T^*R^2`.

    It starts on Poincaré's section :math:`q_1 = 0,\ p_1 \ge 0`, which is mapped into the plane of :math:`(q_2, p_2)`. The star stays near the
    origin while the energy is at most :math:`1/(6\lambda^2)`: regular nearly everywhere at 1/12, nearly nowhere at 1/6. Besides H nothing
    is kept.

    Args:
        dt: The time step.
        energy: The value of H.
        section: The point :math:`(q_2, p_2)` of the section.
        coupling: The strength λ.

    Example:
        >>> model = henon_heiles(energy=1 / 8)
        >>> energies = model.energies(model.simulate(1000))
        >>> bool(jnp.max(jnp.abs(energies - 1 / 8)) < 1e-3)
        True
    """
    owner = "henon_heiles"
    h, level = positive(owner, "dt", dt), number(owner, "energy", energy)
    q2, p2 = vector(owner, "section", section, 2)
    hamiltonian = Separable(KineticEnergy(jnp.ones(())), HenonHeilesPotential(number(owner, "coupling", coupling)))
    q, p = jnp.stack([jnp.zeros(()), q2]), jnp.stack([jnp.zeros(()), p2])
    rest = level - hamiltonian(q, p)
    if is_concrete(rest) and float(rest) < 0:
        raise ArgumentError(
            f"{owner} needs energy of at least {float(level - rest):.6g} at the point {section} of the section; got {energy}."
        )
    return HamiltonianModel(
        name="Hénon–Heiles system",
        groupoid=PairGroupoid(Euclidean(2)),
        hamiltonian=hamiltonian,
        start=(q, jnp.stack([jnp.sqrt(2 * rest), p2])),
        dt=h,
        invariants={},
        lagrangian=NaturalLagrangian(jnp.ones(()), hamiltonian.potential),
    )


@final
class HenonHeilesPotential(eqx.Module):
    r"""The potential :math:`\tfrac12|q|^2 + \lambda(q_1^2q_2 - \tfrac13q_2^3)`."""

    coupling: Scalar

    def __call__(self, q: Point) -> Scalar:
        return 0.5 * dot(q, q) + self.coupling * (q[0] ** 2 * q[1] - q[1] ** 3 / 3)
