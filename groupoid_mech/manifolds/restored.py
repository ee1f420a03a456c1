"""Points put back onto their manifold, which round-off makes them leave in the course of many steps."""

from functools import singledispatch

import jax

from groupoid_mech._types import Point
from groupoid_mech.manifolds.level_set import LevelSet
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.manifolds.vector_bundle import VectorBundle
from groupoid_mech.numerics.with_value import with_value


@singledispatch
def restored(M: Manifold, x: Point) -> Point:
    """The nearest point of M to one that has left it by round-off; as a function of x, the point itself.

    Angles keep their turns. Where every chart leads onto the manifold, however far from it one starts, there is nothing to do.

    Args:
        M: The manifold.
        x: The point.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Sphere
        >>> restored(Sphere(2), jnp.array([0.0, 0.6, 0.8 + 1e-14])).round(12)
        Array([0. , 0.6, 0.8], dtype=float64)
    """
    return with_value(M.project(jax.lax.stop_gradient(x)), x)


@restored.register(Torus)
@restored.register(LevelSet)
def _(M: Manifold, x: Point) -> Point:
    return x


@restored.register
def _(M: VectorBundle, x: Point) -> Point:
    return restored(M.base, x[0]), x[1]


@restored.register
def _(M: ProductManifold, x: Point) -> Point:
    return tuple(restored(factor, part) for factor, part in zip(M.factors, x, strict=True))
