r"""The canonical Poisson structure of a cotangent bundle.

Convention: :math:`\omega = dq \wedge dp`, :math:`\{q, p\} = +1`, :math:`i_{X_H}\omega = dH`.
"""

from typing import final

import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Matrix, Point
from groupoid_mech.manifolds.calculus import structure_functions
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.numerics.matrix import unit_matrix, weighted_sum
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold


@final
class CanonicalPoisson(PoissonManifold):
    r"""The Poisson structure of :math:`T^*Q`, the inverse of its symplectic form.

    .. math:: \Pi = \omega^{-T} = \begin{pmatrix} 0 & 1 \\ -1 & -p_c C^c_{ab} \end{pmatrix}, \qquad
        \{q^i, p_a\} = e_a^i, \quad \{p_a, p_b\} = -C^c_{ab}\, p_c ,

    with the structure functions :math:`[e_a, e_b] = C^c_{ab} e_c` of the frame of Q.

    Args:
        manifold: The cotangent bundle :math:`T^*Q`.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> P = CanonicalPoisson(CotangentBundle(Euclidean(1)))
        >>> P.bracket(lambda x: x[0][0], lambda x: x[1][0])((jnp.zeros(1), jnp.ones(1)))
        Array(1., dtype=float64)
    """

    manifold: CotangentBundle

    def __init__(self, manifold: CotangentBundle):
        require_instances("CanonicalPoisson", "manifold", (manifold,), CotangentBundle)
        self.manifold = manifold

    def tensor(self, x: Point) -> Matrix:
        n = self.manifold.base.dim
        twist = weighted_sum(x[1], structure_functions(self.manifold.base, x[0]))
        return jnp.block([[jnp.zeros((n, n)), unit_matrix(n)], [-unit_matrix(n), -twist]])
