"""The gauge (Atiyah) groupoid of a trivial principal bundle."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold


@final
class GaugeGroupoid(LieGroupoid):
    r"""The gauge groupoid :math:`(P \times P)/H \rightrightarrows B` of :math:`P = B \times H` with :math:`k\,(x, h) = (x, k h)`.

    The class of :math:`((x_0, h_0), (x_1, h_1))` is the arrow :math:`(x_0, x_1, h)` with :math:`h = h_0^{-1} h_1`:

    .. math:: \alpha = x_0, \qquad \beta = x_1, \qquad (x_0, x_1, h)(x_1, x_2, k) = (x_0, x_2, h k), \qquad
        c(x, (a, b)) = (x, \operatorname{retract}(x, a), \tau(b)) .

    Args:
        base: The shape space :math:`B`.
        group: The structure group :math:`H`.

    Example:
        >>> from groupoid_mech import SO2, Euclidean
        >>> GaugeGroupoid(Euclidean(2), SO2()).rank
        3
    """

    base: Manifold
    group: LieGroup
    space: ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self, base: Manifold, group: LieGroup):
        require_instances("GaugeGroupoid", "base", (base,), Manifold)
        require_instances("GaugeGroupoid", "group", (group,), LieGroup)
        self.base = base
        self.group = group
        self.space = ProductManifold(base, base, group)
        self.rank = base.dim + group.dim

    def source(self, g: Point) -> Point:
        return g[0]

    def target(self, g: Point) -> Point:
        return g[1]

    def unit(self, q: Point) -> Point:
        return q, q, self.group.identity()

    def inverse(self, g: Point) -> Point:
        return g[1], g[0], self.group.inverse(g[2])

    def multiply(self, g: Point, h: Point) -> Point:
        return g[0], h[1], self.group.multiply(g[2], h[2])

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        n = self.base.dim
        return q, self.base.retract(q, a[:n]), self.group.from_algebra(a[n:])

    def fiber_local(self, q: Point, g: Point) -> Vector:
        return jnp.concatenate([self.base.local(q, g[1]), self.group.to_algebra(g[2])])
