r"""From a second-order field on TQ to a second-order difference equation on Q. BM §4.2."""

import equinox as eqx

from groupoid_mech._types import Point, Scalar, VectorField
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.field_integrator import require_field
from groupoid_mech.discretization.lifted_map import liftable
from groupoid_mech.discretization.tangent_lift import TangentLift
from groupoid_mech.groupoids.groupoid import point_distance
from groupoid_mech.manifolds.tangent_bundle import TangentBundle


def difference_points(map: DiscretizationMap, field: VectorField, q0: Point, q1: Point) -> tuple[Point, ...]:
    r"""The four points :math:`(R \times R) \circ R^T \circ \Gamma \circ R^{-1}(q_0, q_1)` of a second-order field Γ.

    Where the second and the third agree, BM (4.8), they are three points :math:`(q_-, q, q, q_+)` that follow one another by a second-order
    difference equation: for the θ-maps of a Euclidean space (BM Prop. 4.2), and for every retraction. For a retraction
    :math:`(q_-, q) = (q_0, q_1)`; else not, and :math:`q_+` is an implicit function of them. For θ-maps, with a the acceleration,

    .. math:: q_+ - 2q + q_- = a\bigl((1 - \theta)^2 q_- + 2\theta(1 - \theta) q + \theta^2 q_+,\; (1 - \theta)(q - q_-) + \theta(q_+ - q)\bigr) .

    Args:
        map: The discretization map R of Q.
        field: The second-order field Γ on TQ, in the frame of TQ; `SecondOrderField` makes one.
        q0: The first point.
        q1: The second point.
    """
    Q = liftable("difference_points", map)
    gamma = require_field("difference_points", field, TangentBundle(Q))
    map.check_arrow((q0, q1), owner="difference_points", name="(q0, q1)")
    return _points(TangentLift(map), gamma, map.inverse((q0, q1)))


def difference_defect(map: DiscretizationMap, field: VectorField, x: Point) -> Scalar:
    r"""The distance of :math:`R^2(TR^1(\Gamma(x)))` from :math:`R^1(TR^2(\Gamma(x)))`: 0 where BM (4.8) holds.

    Args:
        map: The discretization map R of Q.
        field: The second-order field Γ on TQ.
        x: The point ``(q, v)`` of TQ.
    """
    Q = liftable("difference_defect", map)
    gamma = require_field("difference_defect", field, TangentBundle(Q))
    TangentBundle(Q).check_point(x, owner="difference_defect")
    _, second, third, _ = _points(TangentLift(map), gamma, x)
    return point_distance(second, third)


@eqx.filter_jit
def _points(lift: TangentLift, field: VectorField, x: Point) -> tuple[Point, ...]:
    first, second = lift.arrow(x, field(x))
    return (*lift.map.arrow(*first), *lift.map.arrow(*second))
