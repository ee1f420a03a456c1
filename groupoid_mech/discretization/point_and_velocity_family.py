r"""Families with the point and the velocity of an arrow among the auxiliary variables: of the map only R is used, no inverse.

.. math:: L(g; w, v, \lambda, s) = A(x, v, s) + \langle\lambda, \xi(R(x, v)) - \xi(g)\rangle, \qquad x = \operatorname{retract}(\alpha(g), w) ,

for a function A on AG, with the coordinates :math:`\xi = \operatorname{local}(\epsilon(\alpha(g)), \cdot)` of arrows near the unit at the source.
Where L is stationary in λ, :math:`g = R(x, v)`.
"""

from typing import final

import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily, carried_from_source
from groupoid_mech.discretization.map_at_step import map_at_step
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.mechanics.auxiliary_frame import auxiliary_at
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.numerics.matrix import dot


@final
class WithPointAndVelocity(StepFamily):
    r"""The family :math:`A(x, v, s) + \langle\lambda, \xi(R(x, v)) - \xi(g)\rangle` of a function on AG and a map whose inverse is searched.

    The same submanifold as that of :math:`A(R^{-1}(g), s)`, with the auxiliary variables :math:`(w, v, \lambda, s)` and without a Newton's
    method inside of Newton's method.

    Args:
        family: The family of A, of a discretization map and any length of the step.
        dt: The time step; negative to go back.
    """

    family: AlgebroidFamily
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        family = self.family.with_step(self.dt)
        R = map_at_step(family.map, self.dt)
        G = R.groupoid
        w, v, multiplier, rest = _split(G, auxiliary[0])
        q = G.source(g)
        x, unit = G.base.retract(q, w), G.unit(q)
        own = (rest,) if rest.size else ()
        off = G.space.local(unit, R.arrow(x, v)) - G.space.local(unit, g)
        return family.value(x, v, *own) + dot(multiplier, off)

    def guess(self, q: Point, p: Covector) -> Vector:
        family = self.family.with_step(self.dt)
        R = map_at_step(family.map, self.dt)
        G = R.groupoid
        v, rest = jnp.split(family.guess(q, p), [G.rank])
        # As far from q as R leads back from there.
        w = -G.base.local(q, G.source(R.arrow(q, v)))
        return jnp.concatenate([v, w, v, -p @ G.algebroid_projection(q), rest])

    def adjoint(self) -> StepFamily:
        return WithPointAndVelocity(family=self.family.adjoint(), dt=self.dt)


def number_of_variables(G: LieGroupoid) -> int:
    """The number of auxiliary variables beside those of the function A: coordinates of x, the velocity, and multipliers."""
    return G.base.dim + G.rank + G.space.dim


@auxiliary_at.register
def _(family: WithPointAndVelocity, g: Point, a: Vector, s: Vector) -> Vector:
    G = family.family.map.groupoid
    w, v, multiplier, rest = _split(G, s)
    x = G.base.retract(G.source(g), w)
    v, rest = jnp.split(carried_from_source(G, g, x, jnp.concatenate([v, rest])), [G.rank])
    return jnp.concatenate([w, v, multiplier, rest])


def _split(G: LieGroupoid, s: Vector) -> list[Vector]:
    n, r = G.base.dim, G.rank
    return jnp.split(s, [n, n + r, n + r + G.space.dim])
