r"""The frame of auxiliary variables while a step is sought.

Auxiliary variables of a family may be components in a frame at a point that depends on the arrow, as momenta in the middle of it. Such a frame may
jump while Newton's method moves the arrow; that at the source of the arrow stays.
"""

from functools import singledispatch
from typing import Any

from groupoid_mech._types import Point, Vector


@singledispatch
def auxiliary_at(family: Any, g: Point, a: Vector, s: Vector) -> Vector:
    r"""The auxiliary variables of a family at an arrow :math:`g = c(q, a)`, from the unknowns s of the step that is sought: the same, unless the
    family says otherwise.

    A step is a solution of :math:`F^-(g, u) = p,\ \partial_uL(g, u) = 0` at :math:`u = u(g, s)`, whatever this function is, if only it is
    invertible in s; solved is :math:`(\partial_su)^T\,\partial_uL = 0`, in the same frame as s. Open for further families:
    ``@auxiliary_at.register`` adds one whose variables are in a frame that jumps.

    Args:
        family: The Lagrangian of the system.
        g: The arrow.
        a: Its fibre coordinates.
        s: The unknowns.
    """
    return s
