"""A Lie algebra as a Lie algebroid over a point."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Array, Matrix, Point
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.single_point import SinglePoint


@final
class LieAlgebra(LieAlgebroid):
    r"""The Lie algebra :math:`\mathfrak h \to \{*\}` of a Lie group, that of its left-invariant fields.

    .. math:: \rho = 0, \qquad [E_a, E_b] = C^c_{ab} E_c .

    Args:
        group: The Lie group :math:`H`.

    Example:
        >>> from groupoid_mech import SO3
        >>> bracket = LieAlgebra(SO3()).bracket(lambda q: jnp.eye(3)[0], lambda q: jnp.eye(3)[1])
        >>> bracket(jnp.zeros(0))
        Array([0., 0., 1.], dtype=float64)
    """

    group: LieGroup
    base: SinglePoint
    rank: int = eqx.field(static=True)

    def __init__(self, group: LieGroup):
        require_instances("LieAlgebra", "group", (group,), LieGroup)
        self.group = group
        self.base = SinglePoint()
        self.rank = group.dim

    def anchor(self, q: Point) -> Matrix:
        return jnp.zeros((0, self.rank))

    def structure(self, q: Point) -> Array:
        return self.group.structure_constants()
