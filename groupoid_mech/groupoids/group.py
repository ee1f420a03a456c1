"""A Lie group as a groupoid over a point."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.single_point import SinglePoint


@final
class GroupGroupoid(LieGroupoid):
    r"""A Lie group :math:`H \rightrightarrows \{*\}`: every two arrows compose.

    .. math:: \alpha(g) = \beta(g) = *, \qquad c(*, a) = \tau(a) .

    Its algebroid is the Lie algebra, left-trivialized.

    Args:
        group: The Lie group :math:`H`.

    Example:
        >>> from groupoid_mech import Translations
        >>> GroupGroupoid(Translations(2)).multiply(jnp.ones(2), jnp.ones(2))
        Array([2., 2.], dtype=float64)
    """

    group: LieGroup
    base: SinglePoint
    space: LieGroup
    rank: int = eqx.field(static=True)

    def __init__(self, group: LieGroup):
        require_instances("GroupGroupoid", "group", (group,), LieGroup)
        self.group = group
        self.base = SinglePoint()
        self.space = group
        self.rank = group.dim

    def source(self, g: Point) -> Point:
        return jnp.zeros(0)

    def target(self, g: Point) -> Point:
        return jnp.zeros(0)

    def unit(self, q: Point) -> Point:
        return self.group.identity()

    def inverse(self, g: Point) -> Point:
        return self.group.inverse(g)

    def multiply(self, g: Point, h: Point) -> Point:
        return self.group.multiply(g, h)

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        return self.group.from_algebra(a)

    def fiber_local(self, q: Point, g: Point) -> Vector:
        return self.group.to_algebra(g)
