r"""Coordinates near a point that stay smooth where frames jump: what an equation is solved in.

On a bundle of tangent vectors or covectors the chart of `VectorBundle` keeps the components in the frame of the base, and a frame of the
sphere jumps somewhere. Here vectors are moved in ambient form instead.

Convention: smooth components of a tangent vector of the bundle are its part in the base and its covariant derivative, `smooth_components`.
"""

from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._types import Covector, Function, Point, Vector
from groupoid_mech.manifolds.calculus import directional_derivative, frame_derivatives, tangential
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle
from groupoid_mech.numerics.matrix import solve, unit_matrix


def smooth_retract(M: Manifold, x: Point, xi: Vector) -> Point:
    r"""The point with coordinates ``xi`` near ``x``.

    .. math:: (x, e), (\xi, \eta) \mapsto (y, P_y\,E(x)(e + \eta)), \qquad y = \operatorname{retract}(x, \xi),

    on a bundle of tangent vectors, with the frame :math:`E(x)` and the projection :math:`P_y` on the tangent space. Elsewhere it is
    ``M.retract``. The derivative at 0 is not the frame of M, but that of `smooth_components`.
    """
    if not has_tangent_fibres(M):
        return M.retract(x, xi)
    bundle: Any = M
    base, n = bundle.base, bundle.base.dim
    y = base.retract(x[0], xi[:n])
    return y, carried(base, x[0], y, x[1] + xi[n:])


def smooth_local(M: Manifold, x: Point, y: Point) -> Vector:
    r"""Coordinates of ``y`` near ``x`` that are 0 exactly at ``x``; not the inverse of `smooth_retract`, but as smooth."""
    if not has_tangent_fibres(M):
        return M.local(x, y)
    base = M.base  # type: ignore[attr-defined]
    return jnp.concatenate([base.local(x[0], y[0]), carried(base, y[0], x[0], y[1]) - x[1]])


def smooth_coordinates(M: Manifold, x: Point, y: Point) -> Vector:
    r"""The coordinates of ``y`` near ``x`` by the inverse of `smooth_retract`: one linear equation of the size of a fibre."""
    if not has_tangent_fibres(M):
        return M.local(x, y)
    base = M.base  # type: ignore[attr-defined]
    columns = jax.vmap(lambda e: carried(base, x[0], y[0], e), out_axes=1)(unit_matrix(base.dim))
    return jnp.concatenate([base.local(x[0], y[0]), solve(columns, y[1]) - x[1]])


def chart_coordinates(M: Manifold, x: Point, y: Point, xi: Vector) -> Vector:
    r"""The coordinates :math:`\operatorname{local}(x, y)` of the point y that is known to be ``smooth_retract(M, x, xi)``: no logarithm is taken."""
    if not has_tangent_fibres(M):
        return xi
    n = M.base.dim  # type: ignore[attr-defined]
    return jnp.concatenate([xi[:n], y[1] - x[1]])


def smooth_components(M: Manifold, x: Point, v: Vector) -> Vector:
    r"""The components of a tangent vector with components ``v`` in the frame of M at ``x`` that do not depend on how the frame turns.

    .. math:: (\xi, \eta) \mapsto (\xi, \eta + \Gamma(\xi)e), \qquad \Gamma(\xi)e = E^T\,D_{E\xi}E\;e ,

    on a bundle of tangent vectors with points ``(x, e)``: the second part is the covariant derivative. Elsewhere they are ``v``.
    """
    return _turned(M, x, v, 1.0)


def frame_components(M: Manifold, x: Point, v: Vector) -> Vector:
    r"""The components in the frame of M at ``x`` of a tangent vector with smooth components ``v``: the inverse of `smooth_components`."""
    return _turned(M, x, v, -1.0)


def smooth_derivatives(M: Manifold, f: Function, x: Point) -> Covector:
    r"""The derivatives of a function at ``x`` along the vectors whose smooth components are 1 and 0: the covector df, dual to `smooth_components`.

    .. math:: \partial_a\,f(\operatorname{retract}(x, \xi))|_{\xi = 0} \quad\text{by } \texttt{smooth\_retract}.
    """
    if not has_tangent_fibres(M):
        return frame_derivatives(M, f, x)
    base, (q, e) = M.base, x  # type: ignore[attr-defined]
    slope, rest = jax.grad(lambda y, added: f((y, carried(base, q, y, e) + added)), argnums=(0, 1))(
        q, jnp.zeros_like(e)
    )
    return jnp.concatenate([tangential(base, q, slope), rest])


def smooth_vector(M: Manifold, x: Point, y: Point, v: Vector) -> Vector:
    r"""The smooth components at ``y`` of a tangent vector of M with smooth components ``v`` at ``x`` near by, carried over in ambient form."""
    if not has_tangent_fibres(M):
        return carried(M, x, y, v)
    base = M.base  # type: ignore[attr-defined]
    return jnp.concatenate([carried(base, x[0], y[0], part) for part in jnp.split(v, 2)])


def has_tangent_fibres(M: Manifold) -> bool:
    """Whether M is a bundle whose fibres have the frame of the base."""
    return isinstance(M, VectorBundle) and M.rank == M.base.dim


def carried(M: Manifold, x: Point, y: Point, v: Vector) -> Vector:
    """The components at y of the vector v at x, projected in the ambient space."""
    return M.from_ambient(y, M.to_ambient(x, v))


def _turned(M: Manifold, x: Point, v: Vector, sign: float) -> Vector:
    if not has_tangent_fibres(M):
        return v
    base, (q, e) = M.base, x  # type: ignore[attr-defined]
    xi, eta = jnp.split(v, 2)
    turn = base.from_ambient(q, directional_derivative(base, lambda y: base.to_ambient(y, e), q, xi))
    return jnp.concatenate([xi, eta + sign * turn])
