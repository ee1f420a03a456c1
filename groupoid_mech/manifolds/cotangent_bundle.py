r"""The cotangent bundle with its canonical forms.

Convention: :math:`\omega = -d\theta = dq \wedge dp`, so that :math:`\{q, p\} = +1`.
"""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Covector, Matrix, Point
from groupoid_mech.manifolds.calculus import structure_functions
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle
from groupoid_mech.numerics.matrix import unit_matrix


@final
class CotangentBundle(VectorBundle):
    r"""The cotangent bundle :math:`T^*M`; a point is ``(x, p)`` with ``p`` the components in the frame at ``x``.

    .. math:: \theta = p_a e^a, \qquad \omega = -d\theta = e^a \wedge dp_a + \tfrac12 p_c C^c_{ab}\, e^a \wedge e^b ,

    with the structure functions :math:`[e_a, e_b] = C^c_{ab} e_c` of the frame of M.

    Args:
        base: The manifold :math:`M`.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> CotangentBundle(Euclidean(1)).symplectic_form((jnp.zeros(1), jnp.ones(1)))
        Array([[ 0.,  1.],
               [-1.,  0.]], dtype=float64)
    """

    base: Manifold
    rank: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, base: Manifold):
        require_instances("CotangentBundle", "base", (base,), Manifold)
        self.base = base
        self.rank = base.dim
        self.dim = 2 * base.dim

    def liouville_form(self, x: Point) -> Covector:
        r"""The components of :math:`\theta = p\,dq` at ``x``."""
        return jnp.concatenate([x[1], jnp.zeros(self.base.dim)])

    def symplectic_form(self, x: Point) -> Matrix:
        r"""The components of :math:`\omega = -d\theta` at ``x``, in blocks :math:`((p_c C^c_{ab}, 1), (-1, 0))`."""
        n = self.base.dim
        twist = jnp.einsum("c,cab->ab", x[1], structure_functions(self.base, x[0]))
        return jnp.block([[twist, unit_matrix(n)], [-unit_matrix(n), jnp.zeros((n, n))]])
