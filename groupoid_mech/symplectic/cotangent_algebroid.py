r"""The cotangent bundle of a Poisson manifold as a Lie algebroid, with the Koszul bracket of one-forms.

Convention: the anchor is :math:`\sharp\alpha = \Pi(\alpha, \cdot)`, so that :math:`\sharp df[g] = \{f, g\}` and
:math:`\sharp df = -X_f`. It is this sign that makes ♯ a homomorphism with :math:`[df, dg] = d\{f, g\}`.
"""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Array, Matrix, Point
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.manifolds.calculus import frame_derivatives, structure_functions
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold


@final
class CotangentAlgebroid(LieAlgebroid):
    r"""The cotangent algebroid :math:`T^*P \to P` of a Poisson manifold.

    .. math:: [\alpha, \beta] = L_{\sharp\alpha}\beta - L_{\sharp\beta}\alpha - d(\Pi(\alpha, \beta)), \qquad
        \sharp\alpha = \Pi(\alpha, \cdot) = \Pi^T\alpha, \qquad [df, dg] = d\{f, g\} .

    In the coframe :math:`e^a` dual to a frame with :math:`[e_a, e_b] = F^c_{ab} e_c`, the structure functions are
    :math:`[e^a, e^b] = (e_c[\Pi^{ab}] - \Pi^{ad} F^b_{dc} + \Pi^{bd} F^a_{dc})\, e^c`.

    Args:
        poisson: The Poisson manifold :math:`P`.

    Example:
        >>> from groupoid_mech import SO3
        >>> from groupoid_mech.algebroids.lie_algebra import LieAlgebra
        >>> from groupoid_mech.symplectic.linear_poisson import LinearPoisson
        >>> A = CotangentAlgebroid(LinearPoisson(LieAlgebra(SO3())))
        >>> A.structure((jnp.zeros(0), jnp.zeros(3)))[:, 0, 1] + 0.0  # [dp₁, dp₂] = d{p₁, p₂} = −dp₃
        Array([ 0.,  0., -1.], dtype=float64)
    """

    poisson: PoissonManifold
    base: Manifold
    rank: int = eqx.field(static=True)

    def __init__(self, poisson: PoissonManifold):
        require_instances("CotangentAlgebroid", "poisson", (poisson,), PoissonManifold)
        self.poisson = poisson
        self.base = poisson.manifold
        self.rank = poisson.manifold.dim

    def anchor(self, q: Point) -> Matrix:
        return self.poisson.tensor(q).T

    def structure(self, q: Point) -> Array:
        turn = jnp.einsum("ad,bdc->cab", self.poisson.tensor(q), structure_functions(self.base, q))
        return frame_derivatives(self.base, self.poisson.tensor, q) - turn + jnp.swapaxes(turn, 1, 2)
