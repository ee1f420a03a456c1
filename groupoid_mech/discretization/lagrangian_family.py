r"""Lagrangian systems on AG by a discretization map: discrete Lagrangians. BM §5.2, §5.3.

.. math:: L(g) = dt\;l\bigl(x, v/dt\bigr), \qquad (x, v) = R^{-1}(g) .
"""

from typing import final

import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, require_instances
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.known_inverse import inverse_at
from groupoid_mech.discretization.lagrangian_lift import velocity
from groupoid_mech.mechanics.discretize import AlgebroidFunction, require_lagrangian
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.mechanics.system import DiscreteSystem, parameters_as_arrays


@final
class LagrangianFamily(StepFamily):
    r"""The discrete Lagrangian :math:`dt\;l(x, v/dt)` with :math:`(x, v) = R^{-1}(g)`.

    Args:
        map: The discretization map R.
        lagrangian: The function ``l(q, v)`` on AG.
        dt: The time step; negative to go back.
    """

    map: DiscretizationMap
    lagrangian: AlgebroidFunction
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        x, v = inverse_at(self.map, g, a)
        return self.dt * self.lagrangian(x, v / self.dt)

    def guess(self, q: Point, p: Covector) -> Vector:
        return self.dt * velocity(self.lagrangian, q, p, jnp.zeros_like(p))

    def adjoint(self) -> StepFamily:
        return LagrangianFamily(map=self.map.adjoint(), lagrangian=self.lagrangian, dt=self.dt)


def lagrangian_system(lagrangian: AlgebroidFunction, map: DiscretizationMap, dt: ArrayLike) -> DiscreteSystem:
    r"""The discrete system :math:`L(g) = dt\,l(R^{-1}(g)/dt)` of a Lagrangian on AG; BM §5.3.

    For a regular Lagrangian its trajectories are those of `hamiltonian_system` with the Hamiltonian :math:`\langle p, v\rangle - l` and the same
    map; on pair groupoids, BM (5.3)–(5.5). `discretize` has rules of more than one point.

    Args:
        lagrangian: The function ``l(q, v)``, with ``v`` in the frame of the algebroid at ``q``.
        map: The discretization map.
        dt: The time step, not 0.

    Example:
        >>> import groupoid_mech as gm
        >>> pendulum = lagrangian_system(lambda q, v: v[0] ** 2 / 2 + jnp.cos(q[0]), gm.theta_map(gm.Euclidean(1), 0.5), dt=0.1)
        >>> len(pendulum.simulate(gm.from_momentum(pendulum, jnp.ones(1), jnp.zeros(1)), 10))
        10
    """
    require_instances("lagrangian_system", "map", (map,), DiscretizationMap)
    require_lagrangian("lagrangian_system", lagrangian, map.groupoid)
    function = parameters_as_arrays(as_pytree(lagrangian))
    family = LagrangianFamily(map=map, lagrangian=function, dt=jnp.asarray(dt, float))
    return DiscreteSystem(map.groupoid, family)
