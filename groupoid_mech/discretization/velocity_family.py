r"""Families with the velocity of a geodesic among the auxiliary variables: no geodesic between two points is sought.

.. math:: L(g; v, \lambda, s) = A(x, v, s) + \langle\lambda, \operatorname{local}(x, \exp_xv) - \operatorname{local}(x, y)\rangle, \qquad g = (x, y) ,

for a function A on TQ. Where L is stationary in λ, :math:`g = (x, \exp_xv)`.
"""

from typing import Any, final

import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily, carried_from_source
from groupoid_mech.discretization.discretization_map import AdjointMap
from groupoid_mech.discretization.geodesic_map import GeodesicMap
from groupoid_mech.groupoids.known_arrow import fiber_local_at
from groupoid_mech.mechanics.auxiliary_frame import auxiliary_at
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.numerics.matrix import dot


@final
class WithVelocity(StepFamily):
    r"""The family :math:`A(x, v, s) + \langle\lambda, \operatorname{local}(x, \exp_xv) - \operatorname{local}(x, y)\rangle` of a function on TQ
    and a `GeodesicMap`.

    The same submanifold as that of :math:`A(R^{-1}(g), s)`, with the auxiliary variables :math:`(v, \lambda, s)` and without a Newton's
    method inside of Newton's method: `WithPointAndVelocity` with the point where it is. For the adjoint map, :math:`g = (\exp_x(-v), x)`.

    Args:
        family: The family of A, of a `GeodesicMap` or its adjoint, and any length of the step.
        dt: The time step; negative to go back.
    """

    family: AlgebroidFamily
    dt: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        family, R, G = self.family.with_step(self.dt), geodesics_of(self.family.map), self.family.map.groupoid
        v, multiplier, rest = jnp.split(auxiliary[0], [G.rank, 2 * G.rank])
        if isinstance(self.family.map, AdjointMap):
            y, x = g
            off = R.manifold.local(x, y) - R.coordinates(x, -v)
        else:
            x, _ = g
            off = R.coordinates(x, v) - fiber_local_at(G, g, a)
        own = (rest,) if rest.size else ()
        return family.value(x, v, *own) + dot(multiplier, off)

    def guess(self, q: Point, p: Covector) -> Vector:
        v, rest = jnp.split(self.family.with_step(self.dt).guess(q, p), [self.family.map.groupoid.rank])
        return jnp.concatenate([v, v, -p, rest])

    def adjoint(self) -> StepFamily:
        return WithVelocity(family=self.family.adjoint(), dt=self.dt)


def geodesics_of(R: Any) -> Any:
    """The `GeodesicMap` that a map is, or is the adjoint of; nothing, if it is neither."""
    around = R.map if isinstance(R, AdjointMap) else R
    return around if isinstance(around, GeodesicMap) else None


@auxiliary_at.register
def _(family: WithVelocity, g: Point, a: Vector, s: Vector) -> Vector:
    R = family.family.map
    return carried_from_source(R.groupoid, g, R.groupoid.target(g), s) if isinstance(R, AdjointMap) else s
