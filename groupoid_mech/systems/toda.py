"""The periodic lattice of Toda: particles on a ring, joined by exponential springs; integrable."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import require_positive_integer
from groupoid_mech._types import Covector, Matrix, Point, Scalar
from groupoid_mech.discretization.splitting import Separable
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.numerics.matrix import matmul
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel
from groupoid_mech.systems.model import Observable
from groupoid_mech.systems.natural import KineticEnergy, NaturalLagrangian
from groupoid_mech.systems.parameters import Numbers, positive, vector


def toda(
    particles: int = 3,
    dt: ArrayLike = 0.05,
    displacements: Numbers | None = None,
    momentum: Numbers | None = None,
) -> HamiltonianModel:
    r"""The Hamiltonian :math:`H(q, p) = \tfrac12|p|^2 + \sum_{i=1}^n e^{q_i - q_{i+1}}`, :math:`q_{n+1} = q_1`, on :math:`T^*R^n`.

    Its flow keeps the eigenvalues of Flaschka's matrix

    .. math:: L(q, p) = \begin{pmatrix} p_1 & a_1 & & a_n \\ a_1 & p_2 & \ddots & \\ & \ddots & \ddots & a_{n-1} \\
        a_n & & a_{n-1} & p_n \end{pmatrix}, \qquad a_i = e^{(q_i - q_{i+1})/2} ,

    and so the total momentum :math:`\operatorname{tr}L` and :math:`\operatorname{tr}L^3, \dots, \operatorname{tr}L^n`, while
    :math:`\operatorname{tr}L^2 = 2H`.

    Args:
        particles: The number n of particles, at least 3.
        dt: The time step.
        displacements: Where the particles start, relative to their places on the ring; if not given, there.
        momentum: Their momenta at the start; if not given, that of the first is 1 and the others rest.

    Example:
        >>> model = toda()
        >>> sorted(model.invariants)
        ['total momentum', 'tr L^3']
        >>> total = model.invariant_values(model.simulate(100))["total momentum"]
        >>> bool(jnp.max(jnp.abs(total - 1)) < 1e-13)
        True
    """
    owner = "toda"
    require_positive_integer(owner, "particles", particles)
    if particles < 3:
        raise ArgumentError(f"{owner} needs particles to be at least 3; got {particles}.")
    q = jnp.zeros(particles) if displacements is None else vector(owner, "displacements", displacements, particles)
    p = jnp.zeros(particles).at[0].set(1.0) if momentum is None else vector(owner, "momentum", momentum, particles)
    traces: dict[str, Observable] = {f"tr L^{k}": LaxTrace(k) for k in range(3, particles + 1)}
    return HamiltonianModel(
        name="Toda lattice",
        groupoid=PairGroupoid(Euclidean(particles)),
        hamiltonian=Separable(KineticEnergy(jnp.ones(())), toda_potential),
        start=(q, p),
        dt=positive(owner, "dt", dt),
        invariants={"total momentum": total_momentum, **traces},
        lagrangian=NaturalLagrangian(jnp.ones(()), toda_potential),
    )


def toda_potential(q: Point) -> Scalar:
    r"""The potential :math:`\sum_i e^{q_i - q_{i+1}}`."""
    return jnp.sum(jnp.exp(q - jnp.roll(q, -1)))


def lax_matrix(q: Point, p: Covector) -> Matrix:
    """Flaschka's matrix of the periodic lattice."""
    upper = jnp.roll(jnp.diag(jnp.exp((q - jnp.roll(q, -1)) / 2)), 1, axis=1)
    return jnp.diag(p) + upper + upper.T


def total_momentum(q: Point, p: Covector) -> Scalar:
    r"""The total momentum :math:`\sum_i p_i`."""
    return jnp.sum(p)


@final
class LaxTrace(eqx.Module):
    r"""The invariant :math:`\operatorname{tr} L^k` of Flaschka's matrix."""

    power: int = eqx.field(static=True)

    def __call__(self, q: Point, p: Covector) -> Scalar:
        L = lax_matrix(q, p)
        product = L
        for _ in range(self.power - 1):
            product = matmul(product, L)
        return jnp.trace(product)
