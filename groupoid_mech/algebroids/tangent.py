"""The tangent bundle as a Lie algebroid, the case that every other reduces to."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Array, Matrix, Point
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.manifolds.calculus import structure_functions
from groupoid_mech.manifolds.manifold import Manifold


@final
class TangentAlgebroid(LieAlgebroid):
    r"""The tangent bundle :math:`TQ`, with the identity as anchor and the bracket of vector fields.

    .. math:: \rho = \mathrm{id}, \qquad [e_a, e_b] = C^c_{ab}\, e_c \text{ for the frame of } Q .

    Args:
        base: The manifold :math:`Q`.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> A = TangentAlgebroid(Euclidean(2))
        >>> A.bracket(lambda q: jnp.array([1.0, 0.0]), lambda q: jnp.stack([q[1], q[0]]))(jnp.zeros(2))
        Array([0., 1.], dtype=float64)
    """

    base: Manifold
    rank: int = eqx.field(static=True)

    def __init__(self, base: Manifold):
        require_instances("TangentAlgebroid", "base", (base,), Manifold)
        self.base = base
        self.rank = base.dim

    def anchor(self, q: Point) -> Matrix:
        return jnp.eye(self.rank)

    def structure(self, q: Point) -> Array:
        return structure_functions(self.base, q)
