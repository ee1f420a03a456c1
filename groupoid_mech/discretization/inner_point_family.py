r"""Families with the inner point of a θ-map among the auxiliary variables: no inverse of the map is sought.

.. math:: L(g; w, \lambda, s) = A(x, v, s) + \langle\lambda, u_0 + \theta v\rangle, \qquad v = u_1 - u_0,

for a function A on AG, with the inner arrow :math:`k = c(\alpha(g), w)` to the point x and the velocities there, :math:`u_0 = R^{-1}(k^{-1})` back
and :math:`u_1 = R^{-1}(k^{-1} g)` on. Where L is stationary, :math:`u_0 = -\theta v` and :math:`u_1 = (1 - \theta) v`: the arrow is
:math:`g = R_\theta(x, v)`. Where the chart c is a search itself, for numbers z with equations f = 0 (`loose_chart`), z and multipliers ν are
variables too, and :math:`\langle\nu, f\rangle` is added.
"""

from typing import Any, final

import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily, carried_from_source, guessed_arrow
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.surveyed_form import halves
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.loose_chart import loose_chart, searched_by_chart
from groupoid_mech.manifolds.product import split
from groupoid_mech.mechanics.auxiliary_frame import auxiliary_at
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.numerics.matrix import dot


@final
class WithInnerPoint(StepFamily):
    r"""The family :math:`A(x, v, s) + \langle\lambda, u_0 + \theta v\rangle` of a function on AG and a θ-map without closed inverse.

    The same submanifold as that of :math:`A(R_\theta^{-1}(g), s)`, with the auxiliary variables :math:`(w, z, \nu, \lambda, s)` and without a
    Newton's method inside of Newton's method: 7 times as fast for the Cayley map.

    Args:
        family: The family of A, of a θ-map and any length of the step.
        dt: The time step; negative to go back.
    """

    family: AlgebroidFamily
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        R = self._map
        w, z, chart_multiplier, multiplier, rest = _split(R.groupoid, auxiliary[0])
        k, off = loose_chart(R.groupoid, R.groupoid.source(g))(w, z)
        x, before, after = halves(R.retraction, g, k)
        v = after - before
        own = (rest,) if rest.size else ()
        value = self._family.value(x, v, *own) + dot(multiplier, before + R.times(v))
        return value + dot(chart_multiplier, off) if z.size else value

    def guess(self, q: Point, p: Covector) -> Vector:
        R = self._map
        v, rest = jnp.split(self._family.guess(q, p), [R.groupoid.rank])
        w = R.times(v)
        inner = guessed_arrow(R.retraction, q, w)
        # Both parts of the way, as they are at q.
        a = (
            v
            if isinstance(R.retraction, ChartMap)
            else guessed_arrow(R.retraction, q, v - w) - guessed_arrow(R.retraction, q, -w)
        )
        searched = jnp.zeros(2 * searched_by_chart(R.groupoid))
        return jnp.concatenate([a, inner, searched, jnp.zeros_like(v), rest])

    def adjoint(self) -> StepFamily:
        return WithInnerPoint(family=self.family.adjoint(), dt=self.dt)

    @property
    def _family(self) -> AlgebroidFamily:
        return self.family.with_step(self.dt)

    @property
    def _map(self) -> ThetaMap:
        R: Any = self.family.map
        return R


def number_of_variables(G: LieGroupoid) -> int:
    """The number of auxiliary variables beside those of the function A: those of the inner arrow, and multipliers."""
    return 2 * (G.rank + searched_by_chart(G))


@auxiliary_at.register
def _(family: WithInnerPoint, g: Point, a: Vector, s: Vector) -> Vector:
    G = family.family.map.groupoid
    w, z, chart_multiplier, *others = _split(G, s)
    x = G.target(loose_chart(G, G.source(g))(w, z)[0])
    return jnp.concatenate([w, z, chart_multiplier, carried_from_source(G, g, x, jnp.concatenate(others))])


def _split(G: LieGroupoid, s: Vector) -> list[Vector]:
    r, m = G.rank, searched_by_chart(G)
    return split((r, m, m, r, s.size - 2 * (r + m)), s)
