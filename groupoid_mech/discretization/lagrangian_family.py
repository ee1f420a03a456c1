r"""Lagrangian systems on AG by a discretization map: discrete Lagrangians. BM §5.2, §5.3.

.. math:: L(g) = dt\;l\bigl(x, v/dt\bigr), \qquad (x, v) = R^{-1}(g) .
"""

from typing import final

from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, time_step
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily, guessed_arrow
from groupoid_mech.discretization.algebroid_system import system_on_algebroid
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.lagrangian_lift import velocity_of_momentum
from groupoid_mech.discretization.lifted_map import require_map
from groupoid_mech.mechanics.discretize import AlgebroidFunction, require_lagrangian
from groupoid_mech.mechanics.system import DiscreteSystem, parameters_as_arrays


@final
class LagrangianFamily(AlgebroidFamily):
    r"""The discrete Lagrangian :math:`dt\;l(x, v/dt)` with :math:`(x, v) = R^{-1}(g)`.

    Args:
        map: The discretization map R.
        lagrangian: The function ``l(q, v)`` on AG.
        dt: The time step; negative to go back.
    """

    map: DiscretizationMap
    lagrangian: AlgebroidFunction
    dt: Scalar

    def value(self, x: Point, v: Vector, *auxiliary: Vector) -> Scalar:
        return self.dt * self.lagrangian(x, v / self.dt)

    def guess(self, q: Point, p: Covector) -> Vector:
        return guessed_arrow(self.map, q, self.dt * velocity_of_momentum(self.lagrangian, q, p))

    def adjoint(self) -> AlgebroidFamily:
        return LagrangianFamily(map=self.map.adjoint(), lagrangian=self.lagrangian, dt=self.dt)


def lagrangian_system(lagrangian: AlgebroidFunction, map: DiscretizationMap, dt: ArrayLike) -> DiscreteSystem:
    r"""The discrete system :math:`L(g) = dt\,l(R^{-1}(g)/dt)` of a Lagrangian on AG; BM §5.3.

    For a regular Lagrangian its trajectories are those of `hamiltonian_system` with the Hamiltonian :math:`\langle p, v\rangle - l` and the same
    map; on pair groupoids, BM (5.3)–(5.5). It has no auxiliary variables, except for a map without closed inverse: then these are the
    point, the velocity or both, and multipliers (`WithInnerPoint`, `WithVelocity`, `WithPointAndVelocity`).

    `discretize` has rules of more than one point. Its left, right and midpoint rule are the same as `ChartMap`, its adjoint and the map of
    θ = ½, the last one where the chart runs along geodesics or one-parameter groups. For the Cayley map and θ = ½ they differ, on SO(3) by 1e-4
    for a step of 0.6: `discretize` takes half of the coordinates, this the point from which both ends are equally far.

    Args:
        lagrangian: The function ``l(q, v)``, with ``v`` in the frame of the algebroid at ``q``.
        map: The discretization map.
        dt: The time step, not 0.

    Example:
        >>> import groupoid_mech as gm, jax.numpy as jnp
        >>> pendulum = lagrangian_system(lambda q, v: v[0] ** 2 / 2 + jnp.cos(q[0]), gm.theta_map(gm.Euclidean(1), 0.5), dt=0.1)
        >>> len(pendulum.simulate(gm.from_momentum(pendulum, jnp.ones(1), jnp.zeros(1)), 10))
        10
    """
    require_map("lagrangian_system", map)
    require_lagrangian("lagrangian_system", lagrangian, map.groupoid)
    function = parameters_as_arrays(as_pytree(lagrangian))
    return system_on_algebroid(LagrangianFamily(map=map, lagrangian=function, dt=time_step("lagrangian_system", dt)))
