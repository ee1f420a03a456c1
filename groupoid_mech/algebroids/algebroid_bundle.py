"""A Lie algebroid as a manifold, the home of velocities."""

from typing import final

import equinox as eqx

from groupoid_mech._arguments import require_instances
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle


@final
class AlgebroidBundle(VectorBundle):
    r"""The total space of a Lie algebroid :math:`A \to Q`; a point is ``(q, a)``, the vector :math:`a^b e_b(q)`.

    Args:
        algebroid: The Lie algebroid :math:`A`.

    Example:
        >>> from groupoid_mech import Sphere
        >>> from groupoid_mech.algebroids.tangent import TangentAlgebroid
        >>> AlgebroidBundle(TangentAlgebroid(Sphere(2))).dim
        4
    """

    algebroid: LieAlgebroid
    base: Manifold
    rank: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, algebroid: LieAlgebroid):
        require_instances("AlgebroidBundle", "algebroid", (algebroid,), LieAlgebroid)
        self.algebroid = algebroid
        self.base = algebroid.base
        self.rank = algebroid.rank
        self.dim = algebroid.base.dim + algebroid.rank
