r"""Discretization maps that depend on the time step, :math:`R_{dt}`, at the step of the method that uses them."""

from functools import singledispatch

import equinox as eqx

from groupoid_mech._types import Scalar
from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap
from groupoid_mech.discretization.lifted_map import LiftedMap
from groupoid_mech.discretization.newmark_map import NewmarkMap


@singledispatch
def map_at_step(R: DiscretizationMap, dt: Scalar) -> DiscretizationMap:
    r"""The map :math:`R_{dt}` of a family of maps; most maps do not depend on the time step, and are returned as they are.

    Methods ask for it in every step, so that their map follows ``with_step``, compositions and adjoints. The adjoint of a method,
    :math:`\Phi_{-dt}^{-1}`, is that of the family :math:`(R_{-dt})^*`. Open for further maps: ``@map_at_step.register`` adds one.

    Args:
        R: The discretization map, for any time step.
        dt: The time step, which may be negative.
    """
    return R


@map_at_step.register
def _(R: NewmarkMap, dt: Scalar) -> DiscretizationMap:
    return eqx.tree_at(lambda map: map.dt, R, dt)


@map_at_step.register
def _(R: AdjointMap, dt: Scalar) -> DiscretizationMap:
    return eqx.tree_at(lambda adjoint: adjoint.map, R, map_at_step(R.map, -dt))


@map_at_step.register
def _(R: LiftedMap, dt: Scalar) -> DiscretizationMap:
    return eqx.tree_at(lambda lift: lift.map, R, map_at_step(R.map, dt))
