r"""Which discretization maps are retractions, :math:`\alpha(R(x, v)) = x`, by their construction."""

from functools import singledispatch

from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.geodesic_map import GeodesicMap
from groupoid_mech.discretization.retraction import ChartMap, ProjectionMap


@singledispatch
def keeps_point(R: DiscretizationMap) -> bool:
    r"""Whether a map is a retraction, :math:`R^1(x, v) = x`, by what it is: for every x, v and time step.

    Open for further retractions: ``keeps_point.register(MyMap, lambda R: True)`` adds one.

    Args:
        R: The discretization map.
    """
    return False


@keeps_point.register(ChartMap)
@keeps_point.register(ProjectionMap)
@keeps_point.register(GeodesicMap)
def _(R: DiscretizationMap) -> bool:
    return True
