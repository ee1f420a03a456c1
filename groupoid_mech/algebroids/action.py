"""The action algebroid of a right action of a Lie group on a manifold."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Array, Matrix, Point, Vector
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.groupoids.action import ActionGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import unit_matrix


@final
class ActionAlgebroid(LieAlgebroid):
    r"""The action algebroid :math:`Q \rtimes \mathfrak h \to Q` of a right action :math:`(q, h) \mapsto q \cdot h`.

    .. math:: \rho(q)\,\xi = \xi_Q(q) = \tfrac{d}{dt}\, q \cdot \exp(t\xi)|_{t=0}, \qquad
        [\![E_a, E_b]\!] = C^c_{ab} E_c \text{ with the structure constants of } \mathfrak h .

    For a right action :math:`\xi \mapsto \xi_Q` is a homomorphism of Lie algebras.

    Args:
        base: The manifold :math:`Q`.
        group: The Lie group :math:`H`.
        action: The map :math:`(q, h) \mapsto q \cdot h`.

    Example:
        >>> from groupoid_mech import SO2, Euclidean
        >>> A = ActionAlgebroid(Euclidean(2), SO2(), lambda q, R: R.T @ q)
        >>> A.anchor(jnp.array([1.0, 0.0]))
        Array([[ 0.],
               [-1.]], dtype=float64)
    """

    base: Manifold
    group: LieGroup
    action: Callable[[Point, Point], Point]
    rank: int = eqx.field(static=True)

    def __init__(self, base: Manifold, group: LieGroup, action: Callable[[Point, Point], Point]):
        require_instances("ActionAlgebroid", "base", (base,), Manifold)
        require_instances("ActionAlgebroid", "group", (group,), LieGroup)
        self.base = base
        self.group = group
        self.action = ActionGroupoid(base, group, action).action  # refuses what is not a right action
        self.rank = group.dim

    def anchor(self, q: Point) -> Matrix:
        def generator(xi: Vector) -> Vector:
            moved = jax.jvp(lambda b: self.action(q, self.group.exp(b)), (jnp.zeros(self.rank),), (xi,))[1]
            return self.base.from_ambient(q, moved)

        return jax.vmap(generator, out_axes=1)(unit_matrix(self.rank))

    def structure(self, q: Point) -> Array:
        return self.group.structure_constants()
