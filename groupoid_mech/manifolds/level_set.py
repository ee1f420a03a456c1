r"""Level sets of submersions, retracted by Newton's method along the normal space.

Convention: the frame is orthonormal in :math:`\ker DF(x)`; ``retract`` moves in the frame, then back along the normals at x.
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    is_concrete,
    name_of,
    require_positive_integer,
    require_vector,
    traced_shape,
)
from groupoid_mech._types import Array, Key, Matrix, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, NotSubmersiveError
from groupoid_mech.manifolds.manifold import ON_MANIFOLD, Manifold
from groupoid_mech.numerics.matrix import complement, complement_and_span, inverse_matrix, matmul, matvec, solve
from groupoid_mech.numerics.newton import newton_root
from groupoid_mech.numerics.quick_jit import quick_jit

_RANK = 1e-9
_RESTORED = 1e-12
_RESTORATIONS = 60
_DRAWS = 20


@final
class LevelSet(Manifold):
    r"""The level set :math:`M = \{x \in R^n : F(x) = 0\}` of a submersion :math:`F: R^n \to R^m`.

    .. math:: \operatorname{retract}(x, \xi) = x + E(x)\xi + N(x)z, \quad F(\cdot) = 0, \qquad
        \operatorname{local}(x, y) = E(x)^T (y - x),

    with :math:`E(x)` an orthonormal basis of :math:`\ker DF(x)`, and :math:`N(x)` one of the normals. The lengths
    :math:`z \in R^m` are found by Newton's method and differentiated by the implicit function theorem. A vector too long to have a point above
    it raises ``NotFiniteError`` (NaN under ``jit``).

    Args:
        function: :math:`F`, any function that JAX can trace; its value is a scalar or a vector of length m < n. An
            Equinox module as function keeps its parameters differentiable.
        ambient_dim: The dimension :math:`n`.
        point: A point near the level set, from which random points are sought; found by search if not given.

    Example:
        >>> ellipse = LevelSet(lambda x: x[0] ** 2 + 4 * x[1] ** 2 - 1, 2)
        >>> ellipse.retract(jnp.array([1.0, 0.0]), jnp.array([0.3])).round(12)
        Array([ 0.8, -0.3], dtype=float64)
    """

    function: Callable[[Array], Array]
    ambient_dim: int = eqx.field(static=True)
    codim: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    point: Array

    def __init__(self, function: Callable[[Array], Array], ambient_dim: int, point: Array | None = None):
        require_positive_integer("LevelSet", "ambient_dim", ambient_dim)
        if point is not None:
            require_vector("LevelSet", "point", point, ambient_dim)
        self.ambient_dim = ambient_dim
        self.codim = _codimension(function, ambient_dim)
        self.dim = ambient_dim - self.codim
        self.function = as_pytree(function)
        self.point = jnp.zeros(ambient_dim) if point is None else jnp.asarray(point)
        if is_concrete((function, point)):
            self.point = _regular_point(self, self.point)

    def retract(self, x: Point, xi: Vector) -> Point:
        moved = self.loose_retraction(x)
        z = newton_root(lambda z: moved(xi, z)[1], jnp.zeros(self.codim))
        return moved(xi, z)[0]

    def local(self, x: Point, y: Point) -> Vector:
        return matvec(self.frame(x).T, y - x)

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return matvec(self.frame(x), xi)

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return matvec(self.frame(x).T, v)

    def project(self, y: Point) -> Point:
        start = self._restore(jax.lax.stop_gradient(y))[0]
        normals = self._jacobian(start)
        multipliers = solve(matmul(normals, normals.T), matvec(normals, jax.lax.stop_gradient(y) - start))

        def stationarity(unknowns: Vector) -> Vector:
            z, c = unknowns[: self.ambient_dim], unknowns[self.ambient_dim :]
            value, pull = jax.vjp(self._value, z)
            return jnp.concatenate([z - y + pull(c)[0], value])

        return newton_root(stationarity, jnp.concatenate([start, multipliers]))[: self.ambient_dim]

    def violation(self, y: Point) -> Scalar:
        value = self._value(y)
        return jnp.sqrt(jnp.sum(value * value))

    def random_point(self, key: Key) -> Point:
        spread = 1 + jnp.max(jnp.abs(self.point))

        def draw(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
            key, _, _, count = state
            key, here = jax.random.split(key)
            y, found = self._restore(self.point + spread * jax.random.normal(here, (self.ambient_dim,)))
            return key, y, found, count + 1

        start = (key, self.point, jnp.asarray(False), jnp.asarray(0))
        _, y, found, _ = jax.lax.while_loop(lambda state: ~state[2] & (state[3] < _DRAWS), draw, start)
        return jnp.where(found, y, self.point)

    def loose_retraction(self, x: Point) -> Callable[[Vector, Vector], tuple[Point, Vector]]:
        r"""The map :math:`(\xi, z) \mapsto (y, f)` to the point :math:`y = x + E\xi + Nz`, and how far it is off the level set,
        :math:`f = (DF(x)\,N)^{-1}F(y)`: z and f are lengths, f = 0 is the equation for z, and :math:`\partial f/\partial z = 1` at x.
        """
        J = self._jacobian(x)
        frame, normals = complement_and_span(J.T)
        lengths = inverse_matrix(matmul(J, normals))

        def moved(xi: Vector, z: Vector) -> tuple[Point, Vector]:
            y = x + matvec(frame, xi) + matvec(normals, z)
            return y, matvec(lengths, self._value(y))

        return moved

    def frame(self, x: Point) -> Matrix:
        r"""The frame :math:`E(x)`: an orthonormal basis of :math:`\ker DF(x)` as columns."""
        return complement(self._jacobian(x).T)

    def _value(self, y: Array) -> Array:
        return jnp.reshape(self.function(y), (self.codim,))

    def _jacobian(self, y: Array) -> Matrix:
        return jax.jacrev(self._value)(y)

    def _restore(self, y: Array) -> tuple[Array, Array]:
        """Gauss–Newton onto the level set by least-norm steps, and whether it arrived."""

        def advance(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            y, _, count = state
            A = self._jacobian(y)
            step = matvec(A.T, solve(matmul(A, A.T), self._value(y)))
            return y - step, jnp.max(jnp.abs(step)) / (1 + jnp.max(jnp.abs(y))), count + 1

        start = (y, jnp.asarray(jnp.inf), jnp.asarray(0))
        unfinished = lambda state: (state[1] > _RESTORED) & (state[2] < _RESTORATIONS)  # noqa: E731
        y, size, _ = jax.lax.while_loop(unfinished, advance, start)
        return y, (size <= _RESTORED) & (self.violation(y) <= ON_MANIFOLD)


def _codimension(function: Any, ambient_dim: int) -> int:
    shape = traced_shape(function, jnp.zeros(ambient_dim))
    fits = isinstance(shape, jax.ShapeDtypeStruct) and jnp.issubdtype(shape.dtype, jnp.floating) and shape.ndim <= 1
    if not fits or not 0 < shape.size < ambient_dim:
        raise ArgumentError(
            f"LevelSet needs function({name_of(function)}) to return a real scalar or a vector of length 1 … "
            f"{ambient_dim - 1} on R^{ambient_dim}; it returns {describe(shape)}."
        )
    return int(shape.size)


def _regular_point(level_set: LevelSet, near: Array) -> Array:
    """A point of the level set; an error if none is found, or if the defining function loses rank there."""
    candidates = near + jnp.concatenate(
        [jnp.zeros((1, near.size)), jax.random.normal(jax.random.key(0), (_DRAWS, near.size))]
    )
    points, jacobians, residuals = map(np.asarray, _survey(level_set, candidates))
    singular = [np.linalg.svd(J, compute_uv=False) for J in np.nan_to_num(jacobians)]
    found = residuals <= ON_MANIFOLD
    if not found.any():
        raise ArgumentError(
            f"LevelSet found no point with {name_of(level_set.function)}(x) = 0 in {candidates.shape[0]} searches; the "
            f"smallest |F| was {np.nanmin(residuals):.3g}. Give a point near the level set: LevelSet(F, n, point=…)."
        )
    for s, J in zip(np.array(singular)[found], jacobians[found], strict=True):
        # Where rank is lost on the level set itself, restoration converges slowly towards DF = 0.
        if not s[-1] > _RANK * max(1.0, s[0]) * 1e4:
            raise NotSubmersiveError(
                f"LevelSet needs {name_of(level_set.function)} to be a submersion on its zero set: DF must have rank "
                f"{level_set.codim}; at a point found its singular values are {s} (DF = {J.tolist()}). "
                f"Remove dependent equations, or define the set by equations with independent gradients."
            )
    return jnp.asarray(points[found][0])


@quick_jit
def _survey(level_set: LevelSet, candidates: Array) -> tuple[Array, Array, Array]:
    """Least-norm Gauss–Newton from each candidate, tolerant of rank loss: points, Jacobians, residuals."""

    def one(y: Array) -> tuple[Array, Array, Array]:
        def advance(y: Array, _: None) -> tuple[Array, None]:
            return y - jnp.linalg.pinv(level_set._jacobian(y), rtol=1e-10) @ level_set._value(y), None

        y, _ = jax.lax.scan(advance, y, length=_RESTORATIONS)
        return y, level_set._jacobian(y), level_set.violation(y)

    return jax.vmap(one)(candidates)
