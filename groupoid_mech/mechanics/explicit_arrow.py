r"""Families whose arrow follows from the auxiliary variables: a step searches for these alone.

.. math:: \partial_sL(c(q, a), s) = 0 \iff a = a(q, s) .
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, TypeAlias

from groupoid_mech._types import Point, Vector

ExplicitArrow: TypeAlias = Callable[[Point, Vector], Vector]


@singledispatch
def explicit_arrow(family: Any) -> ExplicitArrow | None:
    r"""The function :math:`(q, s) \mapsto a` to the fibre coordinates of the arrow from q at which :math:`\partial_sL = 0`; nothing, where these
    equations have to be solved.

    A step then has the equations :math:`F^-(c(q, a(q, s)), s) = p` and the unknowns s, half as many. Open for further families:
    ``@explicit_arrow.register`` adds one; its auxiliary variables must be as many as the rank of the groupoid, in a frame at the source.

    Args:
        family: The Lagrangian of a system.
    """
    return None
