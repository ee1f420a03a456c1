r"""The linear Poisson structure on the dual of a Lie algebroid.

Convention: :math:`\{q^i, p_a\} = \rho^i_a`, :math:`\{p_a, p_b\} = -C^c_{ab}\,p_c`: canonical on :math:`T^*Q`, the minus
Lie–Poisson bracket on :math:`\mathfrak g^*`. MMS §2.2.
"""

from typing import final

import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Matrix, Point
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.algebroids.dual_bundle import DualBundle, dual_bundle
from groupoid_mech.numerics.matrix import weighted_sum
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold


@final
class LinearPoisson(PoissonManifold):
    r"""The Poisson structure of :math:`A^*`, linear in the fibres, of a Lie algebroid :math:`A \to Q`.

    .. math:: \Pi = \begin{pmatrix} 0 & \rho \\ -\rho^T & -p_c C^c_{ab} \end{pmatrix}, \qquad
        \{\ell_X, \ell_Y\} = -\ell_{[\![X, Y]\!]}, \quad \{f \circ \pi, \ell_X\} = \rho(X)[f] \circ \pi,
        \quad \ell_X(q, p) = p_a X^a(q) .

    Args:
        algebroid: The Lie algebroid :math:`A`.

    Example:
        >>> from groupoid_mech import SO3
        >>> from groupoid_mech.algebroids.lie_algebra import LieAlgebra
        >>> P = LinearPoisson(LieAlgebra(SO3()))
        >>> P.bracket(lambda x: x[1][0], lambda x: x[1][1])((jnp.zeros(0), jnp.array([1.0, 2.0, 3.0])))
        Array(-3., dtype=float64)
    """

    algebroid: LieAlgebroid
    manifold: DualBundle

    def __init__(self, algebroid: LieAlgebroid):
        require_instances("LinearPoisson", "algebroid", (algebroid,), LieAlgebroid)
        self.algebroid = algebroid
        self.manifold = dual_bundle(algebroid)

    def tensor(self, x: Point) -> Matrix:
        q, p = x
        rho = self.algebroid.anchor(q)
        twist = weighted_sum(p, self.algebroid.structure(q))
        n = self.algebroid.base.dim
        return jnp.block([[jnp.zeros((n, n)), rho], [-rho.T, -twist]])
