r"""Families with the inner point of a θ-map among the auxiliary variables: no inverse of the map is sought.

.. math:: L(g; w, \lambda, s) = A(x, v, s) + \langle\lambda, u_0 + \theta v\rangle, \qquad v = u_1 - u_0,

for a function A on AG, with the inner arrow :math:`k = R(\alpha(g), w)` to the point x and the velocities there, :math:`u_0 = R^{-1}(k^{-1})` back
and :math:`u_1 = R^{-1}(k^{-1} g)` on. Where L is stationary, :math:`u_0 = -\theta v` and :math:`u_1 = (1 - \theta) v`: the arrow is
:math:`g = R_\theta(x, v)`.
"""

from typing import Any, final

import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily, carried_from_source, guessed_arrow
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.surveyed_form import halves
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.mechanics.auxiliary_frame import auxiliary_at
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.numerics.matrix import dot


@final
class WithInnerPoint(StepFamily):
    r"""The family :math:`A(x, v, s) + \langle\lambda, u_0 + \theta v\rangle` of a function on AG and a θ-map without closed inverse.

    The same submanifold as that of :math:`A(R_\theta^{-1}(g), s)`, with the auxiliary variables :math:`(w, \lambda, s)` and without a Newton's
    method inside of Newton's method: 7 times as fast for the Cayley map.

    Args:
        family: The family of A, of a θ-map and any length of the step.
        dt: The time step; negative to go back.
    """

    family: AlgebroidFamily
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        R, r = self._map, self._map.groupoid.rank
        w, multiplier, rest = jnp.split(auxiliary[0], [r, 2 * r])
        x, before, after = halves(R.retraction, g, R.groupoid.source(g), w)
        v = after - before
        own = (rest,) if rest.size else ()
        return self._family.value(x, v, *own) + dot(multiplier, before + R.times(v))

    def guess(self, q: Point, p: Covector) -> Vector:
        R = self._map
        v, rest = jnp.split(self._family.guess(q, p), [R.groupoid.rank])
        w = R.times(v)
        # Both parts of the way, as they are at q.
        a = (
            v
            if isinstance(R.retraction, ChartMap)
            else guessed_arrow(R.retraction, q, v - w) - guessed_arrow(R.retraction, q, -w)
        )
        return jnp.concatenate([a, w, jnp.zeros_like(v), rest])

    def adjoint(self) -> StepFamily:
        return WithInnerPoint(family=self.family.adjoint(), dt=self.dt)

    @property
    def _family(self) -> AlgebroidFamily:
        return self.family.with_step(self.dt)

    @property
    def _map(self) -> ThetaMap:
        R: Any = self.family.map
        return R


@auxiliary_at.register
def _(family: WithInnerPoint, g: Point, a: Vector, s: Vector) -> Vector:
    R: Any = family.family.map
    G = R.groupoid
    w, others = jnp.split(s, [G.rank])
    x = halves(R.retraction, g, G.source(g), w)[0]
    return jnp.concatenate([w, carried_from_source(G, g, x, others)])
