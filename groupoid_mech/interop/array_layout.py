"""Points and tangent vectors as single arrays, in the layout of libraries that know no tuples and no frames.

Convention: motions are homogeneous matrices, angles are points on circles; factors of a product are stacked
if their arrays have one shape, else flattened and concatenated. Batches have leading axes, which broadcast.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import describe, require_finite, same_structure
from groupoid_mech._types import Array, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, OffManifoldError
from groupoid_mech.groups.affine import affine_group_matrix
from groupoid_mech.groups.heisenberg import Heisenberg
from groupoid_mech.groups.product import ProductGroup
from groupoid_mech.groups.se2 import SE2
from groupoid_mech.groups.se3 import SE3
from groupoid_mech.groups.so2 import SO2
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.groups.translations import Translations
from groupoid_mech.groups.unit_quaternions import UnitQuaternions
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import ON_MANIFOLD, Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.manifolds.torus import Torus


@dataclass(frozen=True)
class ArrayLayout:
    """``encode(M, x)`` writes a point as one array, ``decode(M, p)`` reads it; both are differentiable."""

    encode: Callable[[Any, Point], Array] = lambda M, x: x
    decode: Callable[[Any, Array], Point] = lambda M, p: p


def _join(M: ProductManifold | ProductGroup, x: Point) -> Array:
    parts = [encode(factor, part) for factor, part in zip(M.factors, x, strict=True)]
    if len({part.shape for part in parts}) == 1:
        return jnp.stack(parts)
    return jnp.concatenate([part.ravel() for part in parts])


def _separate(M: ProductManifold | ProductGroup, p: Array) -> Point:
    shapes = [array_like(factor).shape for factor in M.factors]
    ends = [int(end) for end in np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]]
    parts = zip(M.factors, jnp.split(p.ravel(), ends), shapes, strict=True)
    return tuple(decode(factor, part.reshape(shape)) for factor, part, shape in parts)


_AS_IS = ArrayLayout()
_HOMOGENEOUS = ArrayLayout(lambda M, x: affine_group_matrix(x), lambda M, p: (p[:-1, :-1], p[:-1, -1]))
_JOINED = ArrayLayout(_join, _separate)
_CIRCLES = ArrayLayout(
    lambda M, x: jnp.stack([jnp.cos(x), jnp.sin(x)], axis=-1), lambda M, p: jnp.arctan2(p[:, 1], p[:, 0])
)

LAYOUTS: dict[type[Manifold], ArrayLayout] = {
    **dict.fromkeys((Euclidean, Sphere, SO2, SO3, Heisenberg, Translations, UnitQuaternions), _AS_IS),
    **dict.fromkeys((SE2, SE3), _HOMOGENEOUS),
    **dict.fromkeys((ProductManifold, ProductGroup), _JOINED),
    Torus: _CIRCLES,
}


def encode(M: Manifold, x: Point) -> Array:
    """One point as one array."""
    return LAYOUTS[type(M)].encode(M, x)


def decode(M: Manifold, p: Array) -> Point:
    """The point that an array stands for."""
    return LAYOUTS[type(M)].decode(M, p)


def array_like(M: Manifold) -> jax.ShapeDtypeStruct:
    """Shape and dtype of the array of a point."""
    return eqx.filter_eval_shape(encode, M, M.point_like())


def encode_points(owner: str, M: Manifold, x: Point) -> Array:
    """A point, or a batch of points, of ``M`` as an array."""
    p, off = _batched(owner, _encode_point, M, x=(x, M.point_like()))
    _require_on(owner, "x", M, off)
    return p


def decode_points(owner: str, M: Manifold, p: Array | np.ndarray) -> Point:
    """The point or points of ``M`` that an array stands for."""
    x, off = _batched(owner, _decode_point, M, p=(p, array_like(M)))
    _require_on(owner, "p", M, off)
    return x


def encode_vectors(owner: str, M: Manifold, x: Point, xi: Vector) -> Array:
    """Frame coordinates at ``x`` as the tangent vectors of the arrays."""
    require_finite(owner, "xi", xi)
    v, off = _batched(owner, _encode_vector, M, x=(x, M.point_like()), xi=(xi, _coordinates(M)))
    _require_on(owner, "x", M, off)
    return v


def decode_vectors(owner: str, M: Manifold, x: Point, v: Array | np.ndarray) -> Vector:
    """Tangent vectors of the arrays in frame coordinates at ``x``; what is not tangent is refused."""
    xi, off, tilt = _batched(owner, _decode_vector, M, x=(x, M.point_like()), v=(v, array_like(M)))
    _require_on(owner, "x", M, off)
    if not bool(jnp.all(tilt <= ON_MANIFOLD)):
        raise ArgumentError(
            f"{owner} needs v tangent to {type(M).__name__} at x; it is off by {float(jnp.max(tilt)):.3g} of "
            f"its size (allowed {ON_MANIFOLD:g}). Project it to the tangent space first."
        )
    return xi


def _coordinates(M: Manifold) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((M.dim,), jnp.zeros(0).dtype)


def _encode_point(M: Manifold, x: Point) -> tuple[Array, Scalar]:
    return encode(M, x), M.violation(x)


def _decode_point(M: Manifold, p: Array) -> tuple[Point, Scalar]:
    x = decode(M, p)
    return x, jnp.maximum(M.violation(x), jnp.max(jnp.abs(encode(M, x) - p)))


def _encode_vector(M: Manifold, x: Point, xi: Vector) -> tuple[Array, Scalar]:
    return jax.jvp(lambda y: encode(M, y), (x,), (M.to_ambient(x, xi),))[1], M.violation(x)


def _decode_vector(M: Manifold, x: Point, v: Array) -> tuple[Vector, Scalar, Scalar]:
    xi = M.from_ambient(x, jax.jvp(lambda p: decode(M, p), (encode(M, x),), (v,))[1])
    tangent, off = _encode_vector(M, x, xi)
    return xi, off, jnp.max(jnp.abs(tangent - v)) / jnp.maximum(1.0, jnp.max(jnp.abs(v)))


def _batched(owner: str, kernel: Callable[..., Any], M: Manifold, **arguments: tuple[Any, Any]) -> Any:
    """Map the kernel over the leading axes of the arguments, each given with what one element looks like."""
    leads = [leading_axes(owner, name, value, like) for name, (value, like) in arguments.items()]
    try:
        lead = np.broadcast_shapes(*leads)
    except ValueError:
        shapes = " and ".join(f"{name} {axes}" for name, axes in zip(arguments, leads, strict=True))
        raise ArgumentError(f"{owner} needs leading axes that broadcast; got {shapes}.") from None

    return _mapped(kernel, M, lead, tuple(leads), tuple(value for value, _ in arguments.values()))


@eqx.filter_jit
def _mapped(
    kernel: Callable[..., Any], M: Manifold, lead: tuple[int, ...], leads: tuple[tuple[int, ...], ...], values: Any
) -> Any:
    """The kernel of all elements, of which each argument has its own leading axes, to be broadcast to ``lead``: in one program."""

    def flat(value: Any, own: tuple[int, ...]) -> Any:
        shapes = [(leaf, leaf.shape[len(own) :]) for leaf in jax.tree.leaves(value)]
        leaves = [jnp.broadcast_to(leaf, lead + shape).reshape(-1, *shape) for leaf, shape in shapes]
        return jax.tree.unflatten(jax.tree.structure(value), leaves)

    stacked = [flat(value, own) for value, own in zip(values, leads, strict=True)]
    results = jax.vmap(lambda *one: kernel(M, *one))(*stacked)
    return jax.tree.map(lambda leaf: leaf.reshape(lead + leaf.shape[1:]), results)


def leading_axes(owner: str, name: str, value: Any, like: Any) -> tuple[int, ...]:
    """The leading axes of an element or a batch of elements; anything else is refused."""
    leaves, wants = jax.tree.leaves(value), jax.tree.leaves(like)
    fits = same_structure(value, like) and all(isinstance(leaf, (jax.Array, np.ndarray)) for leaf in leaves)
    lead = leaves[0].shape[: max(0, leaves[0].ndim - len(wants[0].shape))] if fits else ()
    pairs = list(zip(leaves, wants, strict=True)) if fits else []
    if not fits or any(leaf.shape != lead + want.shape or leaf.dtype != want.dtype for leaf, want in pairs):
        raise ArgumentError(
            f"{owner} needs {name} to be {describe(like)}, or a batch of those with the same leading axes; "
            f"got {describe(value)}. Lists become arrays with jnp.array."
        )
    return lead


def _require_on(owner: str, name: str, M: Manifold, off: Array) -> None:
    if not bool(jnp.all(off <= ON_MANIFOLD)):
        worst = int(jnp.argmax(jnp.where(jnp.isnan(off), jnp.inf, off)))
        which = f"{name} (number {worst} of {off.size})" if off.ndim else name
        raise OffManifoldError(
            f"{owner} needs {name} on {type(M).__name__}; {which} is off by {float(off.ravel()[worst]):.3g} "
            f"(allowed {ON_MANIFOLD:g}). Project it onto the manifold."
        )
