"""The tangent bundle."""

from typing import final

import equinox as eqx

from groupoid_mech._arguments import require_instances
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle


@final
class TangentBundle(VectorBundle):
    r"""The tangent bundle :math:`TM`; a point is ``(x, v)`` with ``v`` the coordinates in the frame at ``x``.

    Args:
        base: The manifold :math:`M`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean
        >>> TangentBundle(Euclidean(1)).retract((jnp.zeros(1), jnp.ones(1)), jnp.array([1.0, 2.0]))
        (Array([1.], dtype=float64), Array([3.], dtype=float64))
    """

    base: Manifold
    rank: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, base: Manifold):
        require_instances("TangentBundle", "base", (base,), Manifold)
        self.base = base
        self.rank = base.dim
        self.dim = 2 * base.dim
