r"""Whether the inverse of a discretization map is in closed form, or has to be searched."""

from functools import singledispatch

from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap
from groupoid_mech.discretization.geodesic_map import GeodesicMap
from groupoid_mech.discretization.lagrangian_lift import LagrangianLift
from groupoid_mech.discretization.lifted_map import LiftedMap
from groupoid_mech.discretization.newmark_map import NewmarkMap
from groupoid_mech.discretization.theta_map import ThetaMap


@singledispatch
def inverse_is_searched(R: DiscretizationMap) -> bool:
    r"""Whether :math:`R^{-1}` is found by Newton's method while R itself is not: then `system_on_algebroid` takes another family.

    Most inverses are in closed form. Open for further maps: ``@inverse_is_searched.register`` adds one whose inverse is not.

    Args:
        R: The discretization map.

    Example:
        >>> from groupoid_mech import Euclidean, GeodesicMap, theta_map
        >>> inverse_is_searched(theta_map(Euclidean(1), 0.5)), inverse_is_searched(GeodesicMap(Euclidean(1)).adjoint())
        (False, True)
    """
    return False


@inverse_is_searched.register
def _(R: GeodesicMap) -> bool:
    return True


@inverse_is_searched.register
def _(R: AdjointMap) -> bool:
    return inverse_is_searched(R.map)


@inverse_is_searched.register
def _(R: ThetaMap) -> bool:
    return not R.form.straight or inverse_is_searched(R.retraction)


@inverse_is_searched.register
def _(R: NewmarkMap) -> bool:
    return not (R.keeps_components and R.form.straight)


@inverse_is_searched.register
def _(R: LiftedMap) -> bool:
    return inverse_is_searched(R.map)


# The Legendre transformation has to be inverted in both directions.
@inverse_is_searched.register
def _(R: LagrangianLift) -> bool:
    return False
