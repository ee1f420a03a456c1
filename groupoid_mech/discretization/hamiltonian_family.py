r"""Hamiltonian systems on :math:`A^*G` as generating families of a discretization map. BM §5.1.

.. math:: L(g, p) = \langle p, v\rangle - dt\,H(x, p), \qquad (x, v) = R^{-1}(g), \qquad s = p .
"""

from typing import final

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, time_step
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily, guessed_arrow
from groupoid_mech.discretization.algebroid_system import system_on_algebroid
from groupoid_mech.discretization.cotangent_lift import Hamiltonian
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.lagrangian_lift import LegendreHamiltonian
from groupoid_mech.discretization.lifted_map import require_map, require_scalar_function
from groupoid_mech.discretization.pontryagin_family import PontryaginFamily
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.mechanics.explicit_arrow import ExplicitArrow, explicit_arrow
from groupoid_mech.mechanics.system import DiscreteSystem, parameters_as_arrays
from groupoid_mech.numerics.matrix import dot


@final
class HamiltonianFamily(AlgebroidFamily):
    r"""The family :math:`\langle p, v\rangle - dt\,H(x, p)` with :math:`(x, v) = R^{-1}(g)`, stationary in p: :math:`v = dt\,\partial_pH`.

    Args:
        map: The discretization map R.
        hamiltonian: The function ``H(q, p)`` on :math:`A^*G`.
        dt: The time step; negative to go back.
    """

    map: DiscretizationMap
    hamiltonian: Hamiltonian
    dt: Scalar

    def value(self, x: Point, v: Vector, *auxiliary: Vector) -> Scalar:
        (p,) = auxiliary
        return dot(p, v) - self.dt * self.hamiltonian(x, p)

    def guess(self, q: Point, p: Covector) -> Vector:
        v = self.dt * jax.grad(self.hamiltonian, argnums=1)(q, p)
        return jnp.concatenate([guessed_arrow(self.map, q, v), p])

    def adjoint(self) -> AlgebroidFamily:
        return HamiltonianFamily(map=self.map.adjoint(), hamiltonian=self.hamiltonian, dt=self.dt)


@explicit_arrow.register
def _(family: HamiltonianFamily) -> ExplicitArrow | None:
    if not _is_own_velocity(family.map):
        return None
    return lambda q, p: family.dt * jax.grad(family.hamiltonian, argnums=1)(q, p)


def _is_own_velocity(R: DiscretizationMap) -> bool:
    """Whether the arrow :math:`R(q, v)` is c(q, v), from q itself: so are the chart, and θ-maps along one-parameter groups over a single point."""
    if isinstance(R, ThetaMap):
        return R.form.parallel and R.groupoid.base.dim == 0 and _is_own_velocity(R.retraction)
    return isinstance(R, ChartMap)


def hamiltonian_system(hamiltonian: Hamiltonian, map: DiscretizationMap, dt: ArrayLike) -> DiscreteSystem:
    r"""Hamilton's equations on :math:`A^*G`, discretized by a discretization map :math:`R: AG \to G`; BM (5.1), Prop. 5.1.

    .. math:: L(g, p) = \langle p, v\rangle - dt\,H(x, p), \qquad (x, v) = R^{-1}(g) .

    On a pair groupoid its flow is the symplectic integrator :math:`R^{T^*}(dt\,X_H(\gamma)) = (q_0, p_0; q_1, p_1)` of the cotangent lift; on
    a Lie group over a point, a Lie–Poisson integrator. The auxiliary variables of a trajectory are the momenta at the points x. What else a step
    would have to search is among them: before the momenta those of the inverse of R, where it has no closed form (`WithInnerPoint`,
    `WithVelocity`, `WithPointAndVelocity`); after them, for a `LegendreHamiltonian`, the velocities (`PontryaginFamily`).

    Args:
        hamiltonian: The function ``H(q, p)``, with ``p`` in the dual frame of the algebroid at ``q``.
        map: The discretization map R.
        dt: The time step, not 0.

    Example:
        >>> import groupoid_mech as gm
        >>> H = lambda q, p: p[0] ** 2 / 2 - jnp.cos(q[0])
        >>> pendulum = hamiltonian_system(H, gm.theta_map(gm.Euclidean(1), 0.5), dt=0.1)
        >>> trajectory = pendulum.simulate(gm.from_momentum(pendulum, jnp.ones(1), jnp.zeros(1)), 100)
        >>> bool(jnp.max(trajectory.residuals) < 1e-14)
        True
    """
    require_map("hamiltonian_system", map)
    step, r = time_step("hamiltonian_system", dt), map.groupoid.rank
    require_scalar_function("hamiltonian_system", hamiltonian, map.groupoid.base.point_like(), jnp.zeros(r))
    H = parameters_as_arrays(as_pytree(hamiltonian))
    if isinstance(H, LegendreHamiltonian):
        return system_on_algebroid(PontryaginFamily(map=map, lagrangian=H.lagrangian, dt=step), auxiliary=2 * r)
    return system_on_algebroid(HamiltonianFamily(map=map, hamiltonian=H, dt=step), auxiliary=r)
