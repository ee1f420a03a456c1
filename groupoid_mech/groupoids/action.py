"""The action groupoid of a right action of a Lie group on a manifold."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._arguments import as_pytree, is_concrete, name_of, require_instances, traced_shape
from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.errors import NotAnActionError
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.drawn_points import drawn_point
from groupoid_mech.manifolds.manifold import ON_MANIFOLD, Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.numerics.quick_jit import quick_jit


@final
class ActionGroupoid(LieGroupoid):
    r"""The action groupoid :math:`Q \rtimes H \rightrightarrows Q` of a right action :math:`(q, h) \mapsto q\cdot h`.

    .. math:: \alpha(q, h) = q, \qquad \beta(q, h) = q \cdot h, \qquad (q, h)(q\cdot h, k) = (q, h k), \qquad
        c(q, a) = (q, \tau(a)) .

    A left action gives a right one by :math:`q \cdot h = h^{-1} q`: on the sphere, ``lambda q, R: R.T @ q``.

    Args:
        base: The manifold :math:`Q`.
        group: The Lie group :math:`H`.
        action: The map :math:`(q, h) \mapsto q \cdot h`.

    Example:
        >>> from groupoid_mech import SO3, Sphere
        >>> G = ActionGroupoid(Sphere(2), SO3(), lambda q, R: R.T @ q)
        >>> north = jnp.array([0.0, 0.0, 1.0])
        >>> G.target((north, SO3().exp(jnp.array([jnp.pi / 2, 0.0, 0.0])))).round(12) + 0.0
        Array([0., 1., 0.], dtype=float64)
    """

    base: Manifold
    group: LieGroup
    action: Callable[[Point, Point], Point]
    space: ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self, base: Manifold, group: LieGroup, action: Callable[[Point, Point], Point]):
        require_instances("ActionGroupoid", "base", (base,), Manifold)
        require_instances("ActionGroupoid", "group", (group,), LieGroup)
        traced_shape(action, base.point_like(), group.point_like())
        self.base = base
        self.group = group
        self.action = as_pytree(action)
        self.space = ProductManifold(base, group)
        self.rank = group.dim
        if is_concrete((base, group, action)):
            _require_right_action(self)

    def source(self, g: Point) -> Point:
        return g[0]

    def target(self, g: Point) -> Point:
        return self.action(g[0], g[1])

    def unit(self, q: Point) -> Point:
        return q, self.group.identity()

    def inverse(self, g: Point) -> Point:
        return self.action(g[0], g[1]), self.group.inverse(g[1])

    def multiply(self, g: Point, h: Point) -> Point:
        return g[0], self.group.multiply(g[1], h[1])

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        return q, self.group.from_algebra(a)

    def fiber_local(self, q: Point, g: Point) -> Vector:
        return self.group.to_algebra(g[1])


def _require_right_action(G: ActionGroupoid) -> None:
    q, h, k = drawn_point(G.base, 0), drawn_point(G.group, 1), drawn_point(G.group, 2)
    right, left, off = (float(value) for value in _action_defects(G, q, h, k))
    owner = f"ActionGroupoid needs {name_of(G.action)} to be a right action, (q·h)·k = q·(h k)"
    if not off <= ON_MANIFOLD:
        raise NotAnActionError(f"{owner}, on the base; q·h is off {type(G.base).__name__} by {off:.3g}.")
    if not right <= ON_MANIFOLD:
        cure = "It is a left action: give q ↦ h⁻¹ q instead." if left <= ON_MANIFOLD else "It is no left action either."
        raise NotAnActionError(f"{owner}; on a drawn example the two sides differ by {right:.3g}. {cure}")


@quick_jit
def _action_defects(G: ActionGroupoid, q: Point, h: Point, k: Point) -> tuple[Scalar, Scalar, Scalar]:
    twice = G.action(G.action(q, h), k)
    unit = point_distance(G.action(q, G.group.identity()), q)
    right = point_distance(twice, G.action(q, G.group.multiply(h, k)))
    left = point_distance(twice, G.action(q, G.group.multiply(k, h)))
    return jnp.maximum(right, unit), jnp.maximum(left, unit), G.base.violation(twice)
