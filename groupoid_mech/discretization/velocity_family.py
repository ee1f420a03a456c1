r"""Families with the velocity of an arrow among the auxiliary variables: of the retraction only R is used, no inverse.

.. math:: L(g; v, \lambda, s) = A(x, v, s) + \langle\lambda, c_x^{-1}(R(x, v)) - c_x^{-1}(g)\rangle, \qquad x = \alpha(g) ,

for a function A on AG, with the fibre coordinates :math:`c_x^{-1}` of arrows from x. Where L is stationary in λ, :math:`g = R(x, v)`.
"""

from typing import final

import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily, carried_from_source
from groupoid_mech.discretization.discretization_map import AdjointMap
from groupoid_mech.groupoids.known_arrow import fiber_local_at
from groupoid_mech.mechanics.auxiliary_frame import auxiliary_at
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.numerics.matrix import dot


@final
class WithVelocity(StepFamily):
    r"""The family :math:`A(x, v, s) + \langle\lambda, c_x^{-1}(R(x, v)) - c_x^{-1}(g)\rangle` of a function on AG and a retraction whose
    inverse is searched.

    The same submanifold as that of :math:`A(R^{-1}(g), s)`, with the auxiliary variables :math:`(v, \lambda, s)` and without a Newton's
    method inside of Newton's method. For the adjoint of a retraction, :math:`x = \beta(g)`, and :math:`g^{-1} = R(x, -v)`.

    Args:
        family: The family of A, of a retraction or the adjoint of one, and any length of the step.
        dt: The time step; negative to go back.
    """

    family: AlgebroidFamily
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        family, R = self.family.with_step(self.dt), self.family.map
        G = R.groupoid
        v, multiplier, rest = jnp.split(auxiliary[0], [G.rank, 2 * G.rank])
        if isinstance(R, AdjointMap):
            x = G.target(g)
            off = G.fiber_local(x, G.inverse(g)) - G.fiber_local(x, R.map.arrow(x, -v))
        else:
            x = G.source(g)
            off = G.fiber_local(x, R.arrow(x, v)) - fiber_local_at(G, g, a)
        own = (rest,) if rest.size else ()
        return family.value(x, v, *own) + dot(multiplier, off)

    def guess(self, q: Point, p: Covector) -> Vector:
        v, rest = jnp.split(self.family.with_step(self.dt).guess(q, p), [self.family.map.groupoid.rank])
        return jnp.concatenate([v, v, -p, rest])

    def adjoint(self) -> StepFamily:
        return WithVelocity(family=self.family.adjoint(), dt=self.dt)


@auxiliary_at.register
def _(family: WithVelocity, g: Point, a: Vector, s: Vector) -> Vector:
    R = family.family.map
    return carried_from_source(R.groupoid, g, R.groupoid.target(g), s) if isinstance(R, AdjointMap) else s
