r"""Discrete systems of functions on the algebroid, :math:`A(R^{-1}(g), s)`, with one Newton's method for everything that is sought in a step."""

from groupoid_mech.discretization import inner_point_family, point_and_velocity_family
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily
from groupoid_mech.discretization.inner_point_family import WithInnerPoint
from groupoid_mech.discretization.point_and_velocity_family import WithPointAndVelocity
from groupoid_mech.discretization.searched_inverse import inverse_is_searched
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.discretization.velocity_family import WithVelocity, geodesics_of
from groupoid_mech.mechanics.system import DiscreteSystem


def system_on_algebroid(family: AlgebroidFamily, auxiliary: int = 0) -> DiscreteSystem:
    r"""The discrete system of :math:`A(R^{-1}(g), s)`: where the inverse of R has to be searched, that search is part of the step's.

    Among the unknowns is then the inner point of a θ-map (`WithInnerPoint`), the velocity of a geodesic (`WithVelocity`), or for other
    maps the point and the velocity (`WithPointAndVelocity`).

    Args:
        family: The family.
        auxiliary: The number of its own auxiliary variables s.
    """
    R, G = family.map, family.map.groupoid
    if not inverse_is_searched(R):
        return DiscreteSystem(G, family, auxiliary=auxiliary)
    if isinstance(R, ThetaMap) and not inverse_is_searched(R.retraction):
        inner = WithInnerPoint(family=family, dt=family.dt)
        return DiscreteSystem(G, inner, auxiliary=inner_point_family.number_of_variables(G) + auxiliary)
    if geodesics_of(R) is not None:
        return DiscreteSystem(G, WithVelocity(family=family, dt=family.dt), auxiliary=2 * G.rank + auxiliary)
    found = WithPointAndVelocity(family=family, dt=family.dt)
    return DiscreteSystem(G, found, auxiliary=point_and_velocity_family.number_of_variables(G) + auxiliary)
