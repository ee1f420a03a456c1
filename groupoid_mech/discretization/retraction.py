r"""Retractions: the discretization maps that keep the point, :math:`\alpha(R(x, v)) = x`. BM Def. 2.1."""

from typing import final

import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap, groupoid_of
from groupoid_mech.discretization.projected_vectors import vector_towards
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.manifold import Manifold


@final
class ChartMap(DiscretizationMap):
    r"""The retraction :math:`R(x, v) = c(x, v)` that the fibre chart of a groupoid is.

    On a manifold Q it is :math:`(x, \operatorname{retract}(x, v))`: for spheres and Euclidean spaces the Riemannian exponential, for a Lie
    group H as a manifold :math:`(x, x\,\tau(v))`, with τ = exp or cay. For H as a groupoid over a point it is τ itself.

    Args:
        space: A Lie groupoid, or a manifold for its pair groupoid.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> ChartMap(Euclidean(1)).arrow(jnp.zeros(1), jnp.ones(1))
        (Array([0.], dtype=float64), Array([1.], dtype=float64))
    """

    groupoid: LieGroupoid

    def __init__(self, space: Manifold | LieGroupoid):
        self.groupoid = groupoid_of("ChartMap", space)

    def arrow(self, x: Point, v: Vector) -> Point:
        return self.groupoid.fiber_chart(x, v)

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        x = self.groupoid.source(g)
        return x, self.groupoid.fiber_local(x, g)

    def adjoint(self) -> DiscretizationMap:
        return AdjointMap(self)


@final
class ProjectionMap(DiscretizationMap):
    r"""The retraction :math:`R(x, v) = (x, \operatorname{project}(x + v))` by the nearest point of an embedded manifold.

    .. math:: R^{-1}(x, y) = (x, v), \qquad P_y(x + v - y) = 0,

    with the orthogonal projection :math:`P_y` on :math:`T_yQ`: a linear equation for v, without a value (NaN under ``jit``) where
    y is a critical point of the distance from x + v, but not the nearest (`vector_towards`). On the sphere it is
    :math:`(x, (x + v)/|x + v|)`, BM Example 2.8; on a Lie group of matrices, the polar projection.

    Args:
        manifold: The manifold Q; ``from_ambient`` must project orthogonally, as that of every manifold of the library does.

    Example:
        >>> from groupoid_mech import Sphere
        >>> north = jnp.array([0.0, 0.0, 1.0])
        >>> ProjectionMap(Sphere(2)).arrow(north, jnp.array([1.0, 0.0]))[1].round(6)
        Array([0.707107, 0.      , 0.707107], dtype=float64)
    """

    manifold: Manifold
    groupoid: PairGroupoid

    def __init__(self, manifold: Manifold):
        require_instances("ProjectionMap", "manifold", (manifold,), Manifold)
        self.manifold = manifold
        self.groupoid = PairGroupoid(manifold)

    def arrow(self, x: Point, v: Vector) -> Point:
        moved = jax.tree.map(jnp.add, x, self.manifold.to_ambient(x, v))
        return x, self.manifold.project(moved)

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        x, y = g
        return x, vector_towards(self.manifold, x, y)

    def adjoint(self) -> DiscretizationMap:
        return AdjointMap(self)
