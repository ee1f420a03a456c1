r"""Hamiltonian families with the inner point of a θ-map among the auxiliary variables: no inverse of the map is sought.

.. math:: L(g; w, \lambda_0, \lambda_1) = \langle\lambda_0, u_0\rangle + \langle\lambda_1, u_1\rangle - dt\,H(x, p), \qquad
    p = (1 - \theta)^T\lambda_1 - \theta^T\lambda_0,

with the inner arrow :math:`k = R(\alpha(g), w)` to the point x and the velocities there, :math:`u_0 = R^{-1}(k^{-1})` back and
:math:`u_1 = R^{-1}(k^{-1} g)` on. Where L is stationary, :math:`u_0 = -\theta v` and :math:`u_1 = (1 - \theta) v` with :math:`v = dt\,\partial_pH`.
"""

from typing import final

import jax
import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.cotangent_lift import Hamiltonian
from groupoid_mech.discretization.theta_map import ThetaMap, halves
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.numerics.matrix import dot


@final
class InnerPointFamily(StepFamily):
    r"""The family :math:`\langle\lambda_0, u_0\rangle + \langle\lambda_1, u_1\rangle - dt\,H(x, p)` of a θ-map without closed inverse.

    The same submanifold as that of :math:`\langle p, R_\theta^{-1}(g)\rangle - dt\,H`, with 3 instead of 1 auxiliary vectors and without
    a Newton's method inside of Newton's method: 7 times as fast for the Cayley map.

    Args:
        map: The θ-map.
        hamiltonian: The function ``H(q, p)`` on :math:`A^*G`.
        dt: The time step; negative to go back.
    """

    map: ThetaMap
    hamiltonian: Hamiltonian
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        w, back, on = jnp.split(auxiliary[0], 3)
        x, before, after = halves(self.map.retraction, g, self.map.groupoid.source(g), w)
        p = on - self.map.transposed_times(back + on)
        return dot(back, before) + dot(on, after) - self.dt * self.hamiltonian(x, p)

    def guess(self, q: Point, p: Covector) -> Vector:
        v = self.dt * jax.grad(self.hamiltonian, argnums=1)(q, p)
        return jnp.concatenate([v, self.map.times(v), -p, p])

    def adjoint(self) -> StepFamily:
        return InnerPointFamily(map=self.map.adjoint(), hamiltonian=self.hamiltonian, dt=self.dt)
