"""The dual of a Lie algebroid as a manifold, the home of momenta."""

from typing import final

import equinox as eqx

from groupoid_mech._arguments import require_instances, require_positive_integer
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle


@final
class DualBundle(VectorBundle):
    r"""The dual bundle :math:`A^* \to Q`; a point is ``(q, p)`` with :math:`p_a = \langle p, e_a(q)\rangle`.

    Args:
        base: The manifold :math:`Q`.
        rank: The rank of :math:`A`.

    Example:
        >>> from groupoid_mech import Sphere
        >>> DualBundle(Sphere(2), 3).dim
        5
    """

    base: Manifold
    rank: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, base: Manifold, rank: int):
        require_instances("DualBundle", "base", (base,), Manifold)
        require_positive_integer("DualBundle", "rank", rank)
        self.base = base
        self.rank = rank
        self.dim = base.dim + rank


def dual_bundle(A: LieAlgebroid) -> DualBundle:
    r"""The bundle :math:`A^*`, in the frame dual to that of :math:`A`."""
    require_instances("dual_bundle", "A", (A,), LieAlgebroid)
    return DualBundle(A.base, A.rank)
