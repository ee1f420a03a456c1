r"""Hamiltonian systems of a regular Lagrangian as generating families: the principle of Hamilton and Pontryagin.

.. math:: L(g; p, u) = \langle p, v - dt\,u\rangle + dt\;l(x, u), \qquad (x, v) = R^{-1}(g) .
"""

from typing import final

import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily, guessed_arrow
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.lagrangian_lift import velocity_of_momentum
from groupoid_mech.mechanics.discretize import AlgebroidFunction
from groupoid_mech.numerics.matrix import dot


@final
class PontryaginFamily(AlgebroidFamily):
    r"""The family :math:`\langle p, v - dt\,u\rangle + dt\;l(x, u)`, stationary in p and u: :math:`v = dt\,u` and :math:`p = \partial l/\partial u`.

    With the u of the last equation it is that of the Hamiltonian :math:`H = \langle p, u\rangle - l`, whose value would have to be searched
    inside of the step.

    Args:
        map: The discretization map R.
        lagrangian: The function ``l(q, v)`` on AG, regular in v.
        dt: The time step; negative to go back.
    """

    map: DiscretizationMap
    lagrangian: AlgebroidFunction
    dt: Scalar

    def value(self, x: Point, v: Vector, *auxiliary: Vector) -> Scalar:
        p, u = jnp.split(auxiliary[0], 2)
        return dot(p, v - self.dt * u) + self.dt * self.lagrangian(x, u)

    def guess(self, q: Point, p: Covector) -> Vector:
        u = velocity_of_momentum(self.lagrangian, q, p)
        return jnp.concatenate([guessed_arrow(self.map, q, self.dt * u), p, u])

    def adjoint(self) -> AlgebroidFamily:
        return PontryaginFamily(map=self.map.adjoint(), lagrangian=self.lagrangian, dt=self.dt)
