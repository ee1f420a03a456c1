r"""Vectors at a point of an embedded manifold and the nearest points of the manifold: :math:`y = \operatorname{project}(x + v)`."""

from functools import singledispatch

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Point, Scalar, Vector
from groupoid_mech.groups.heisenberg import Heisenberg
from groupoid_mech.groups.product import ProductGroup
from groupoid_mech.groups.se2 import SE2
from groupoid_mech.groups.se3 import SE3
from groupoid_mech.groups.so2 import SO2
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.groups.translations import Translations
from groupoid_mech.groups.unit_quaternions import UnitQuaternions
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold, split
from groupoid_mech.manifolds.single_point import SinglePoint
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.manifolds.vector_bundle import VectorBundle
from groupoid_mech.numerics.angle import angle_ratio
from groupoid_mech.numerics.matrix import dot, solve, unit_matrix

# Round-off of x + v - y: far below what separates two critical points.
_SLACK = 1e-9
# How near project(x + v) has to be to y: points are given to 1e-8, and the projection magnifies that.
_SAME = 1e-6


@singledispatch
def vector_towards(M: Manifold, x: Point, y: Point) -> Vector:
    r"""The vector v at x with :math:`\operatorname{project}(x + v) = y`; NaN where there is none.

    Elsewhere than in closed form, it is projected to see whether y is reached. Open for further manifolds: ``@vector_towards.register``
    adds one that need not.

    Args:
        M: The manifold.
        x: A point.
        y: Another one.

    Example:
        >>> from groupoid_mech import Torus
        >>> vector_towards(Torus(1), jnp.array([3.0]), jnp.array([-3.0])).round(4)
        Array([0.2832], dtype=float64)
    """
    v = _critical(M, x, y)
    here, there = jax.lax.stop_gradient((jax.tree.map(jnp.add, x, M.to_ambient(x, v)), y))
    gap = jax.tree.map(jnp.subtract, M.project(here), there)
    return jnp.where(_square(gap) <= _SAME**2 * (1 + _square(there)), v, jnp.nan)


# Here of all critical points the nearest alone is as near to x + v as x is. On SO(3): tr(yᵀ(x + v)) is 1 + 2s at the nearest, s² = 1 + |v|², 3 at x
# and at most −1 at others.
@vector_towards.register(Sphere)
@vector_towards.register(UnitQuaternions)
@vector_towards.register(SO2)
@vector_towards.register(SO3)
@vector_towards.register(SE2)
@vector_towards.register(SE3)
def _(M: Manifold, x: Point, y: Point) -> Vector:
    v = _critical(M, x, y)
    # Rotations and translations one by one: a long translation says nothing about a rotation.
    near = jax.tree.map(_is_nearer, x, M.to_ambient(x, v), y)
    return jnp.where(jnp.all(jnp.stack(jax.tree.leaves(near))), v, jnp.nan)


@vector_towards.register(Euclidean)
@vector_towards.register(Torus)
@vector_towards.register(Translations)
@vector_towards.register(SinglePoint)
def _(M: Manifold, x: Point, y: Point) -> Vector:
    return M.local(x, y)


@vector_towards.register
def _(M: Heisenberg, x: Point, y: Point) -> Vector:
    return M.from_ambient(x, y - x)


@vector_towards.register(ProductManifold)
@vector_towards.register(ProductGroup)
def _(M: ProductManifold | ProductGroup, x: Point, y: Point) -> Vector:
    return _whole([vector_towards(*part) for part in zip(M.factors, x, y, strict=True)])


@vector_towards.register
def _(M: VectorBundle, x: Point, y: Point) -> Vector:
    return _whole([vector_towards(M.base, x[0], y[0]), y[1] - x[1]])


@singledispatch
def projected_coordinates(M: Manifold, x: Point, v: Vector) -> Vector:
    r"""The coordinates :math:`\operatorname{local}(x, \operatorname{project}(x + v))` of the point that a vector is projected to.

    Open for further manifolds: ``@projected_coordinates.register`` adds the closed form of one.

    Args:
        M: The manifold.
        x: A point.
        v: A vector there.
    """
    return M.local(x, M.project(jax.tree.map(jnp.add, x, M.to_ambient(x, v))))


# An arc, or a rotation, by arctan |v|.
@projected_coordinates.register
def _(M: Sphere, x: Point, v: Vector) -> Vector:
    return angle_ratio(dot(v, v), jnp.ones(())) * v


@projected_coordinates.register
def _(M: SO3, x: Point, v: Vector) -> Vector:
    square = dot(v, v)
    return v * (angle_ratio(square, jnp.ones(())) if M.tau == "exp" else 2 / (1 + jnp.sqrt(1 + square)))


@projected_coordinates.register(Euclidean)
@projected_coordinates.register(Translations)
def _(M: Manifold, x: Point, v: Vector) -> Vector:
    return v


@projected_coordinates.register
def _(M: ProductManifold, x: Point, v: Vector) -> Vector:
    vectors = split(tuple(factor.dim for factor in M.factors), v)
    return jnp.concatenate([projected_coordinates(*part) for part in zip(M.factors, x, vectors, strict=True)])


def _whole(parts: list[Vector]) -> Vector:
    """The vector of its parts; where one has no value, none has."""
    v = jnp.concatenate(parts)
    return jnp.where(jnp.all(jnp.isfinite(v)), v, jnp.nan)


def _critical(M: Manifold, x: Point, y: Point) -> Vector:
    """The vector v for which y is a critical point of the distance from x + v."""
    columns = jax.vmap(lambda v: M.from_ambient(y, M.to_ambient(x, v)), out_axes=1)(unit_matrix(M.dim))
    return solve(columns, M.from_ambient(y, jax.tree.map(jnp.subtract, y, x)))


def _is_nearer(x: Array, moved: Array, y: Array) -> Array:
    """Whether y is as near to x + v as x is."""
    return _square(x + moved - y) <= (1 + _SLACK) * _square(moved) + _SLACK


def _square(vector: Point) -> Scalar:
    return sum((jnp.sum(leaf * leaf) for leaf in jax.tree.leaves(vector)), jnp.zeros(()))
