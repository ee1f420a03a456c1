r"""A boundary problem in coordinates: the gradient of the action sum, and the linear equations of its steps.

Unknowns are, in blocks, the auxiliary variables :math:`s_k` of the k-th arrow and the variation :math:`v_k` of its target; Hessians of
neighbouring arrows meet at their common base point, so that the matrix is block-tridiagonal. MMS §5.

What is done once in an iteration is done in numpy: operations of jax.numpy would be programs to compile, again for every number of arrows.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import require_finite, require_like
from groupoid_mech._types import Array, Covector, Point, Vector
from groupoid_mech.mechanics.action_sum import action_terms, vary
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.block_tridiagonal import BlockTridiagonal, solve_blocks, solve_pivoted

LONGEST_VARIATION = 1.0
_ON_CONSTRAINTS = 1e-12
# The second variation counts as zero up to this part of the metric: solutions may form families.
_ZERO = 1e-7


class Look(NamedTuple):
    """A sequence of arrows with its auxiliary variables, and the derivatives of the action there: `Terms` of numpy arrays."""

    arrows: Point
    s: np.ndarray
    terms: Any


class BoundaryProblem:
    """A boundary problem in coordinates: gradients, steps and restorations of sequences of n arrows."""

    def __init__(self, system: DiscreteSystem, n: int, momentum: Vector | None):
        self.system, self.n, self.momentum = system, n, momentum
        self.rank, self.size = system.groupoid.rank, system.family_size()

    def guess(self, auxiliary: Array | None, multipliers: Array | None) -> np.ndarray:
        k, m = self.system.auxiliary, self.system.multipliers
        parts = []
        for name, given, width in (("auxiliary", auxiliary, k), ("multipliers", multipliers, m)):
            value: Any = np.zeros((self.n, width)) if given is None else given
            require_like("solve_boundary", name, value, jax.ShapeDtypeStruct((self.n, width), np.dtype(float)))
            require_finite("solve_boundary", name, value)
            parts.append(np.asarray(value))
        return np.concatenate(parts, axis=1)

    def look(self, arrows: Point, s: np.ndarray) -> Look:
        return Look(arrows, s, jax.tree.map(np.asarray, action_terms(self.system, arrows, jax.device_put(s))))

    def slopes(self, at: Look) -> tuple[np.ndarray, np.ndarray]:
        """The gradient in the base points q_1 … q_n and in the auxiliary variables; a fixed end has no gradient."""
        r, gradients = self.rank, at.terms.gradients
        in_points = gradients[:, r : 2 * r] + np.concatenate([gradients[1:, :r], np.zeros((1, r))])
        in_points[-1] = 0.0 if self.momentum is None else in_points[-1] - np.asarray(self.momentum)
        return in_points, gradients[:, 2 * r :]

    def residual(self, at: Look) -> float:
        in_points, _ = self.slopes(at)
        scale = 1 + np.max(np.abs(at.terms.gradients[:, : 2 * self.rank]))
        return float(np.max(np.abs(in_points)) / scale)

    def off(self, at: Look) -> float:
        return float(np.max(np.abs(at.terms.gradients[:, 2 * self.rank :]), initial=0.0))

    def newton(self, at: Look, shift: float) -> tuple[np.ndarray, np.ndarray, int]:
        """The step in s and in the base points of the Hessian plus ``shift`` times the metric, and the index of that matrix."""
        return self._direction(at, *self.slopes(at), shift=shift, keep=1.0)

    def index_and_nullity(self, at: Look) -> tuple[int, int]:
        """The numbers of negative and of vanishing directions of the second variation."""
        index, with_zeros = self.newton(at, _ZERO)[2], self.newton(at, -_ZERO)[2]
        return index, with_zeros - index

    def deficiency(self, at: Look) -> int:
        """How much rank the constraints miss along all variations: 0 where the admissible sequences form a manifold."""
        m = self.system.multipliers
        if not m:
            return 0
        # Directions in which the constraints move by less than round-off turn positive under this tiny shift of their block.
        slopes = at.terms.hessians[:, 2 * self.rank :, : 2 * self.rank]
        tiny = _ZERO**2 * np.max(slopes**2) / self.n
        zero = np.zeros((self.n, self.rank)), np.zeros((self.n, self.size))
        matrix, rhs = _equations(at.terms.hessians, *zero, 1.0, 0.0, self.rank, self.momentum is not None)
        matrix.diagonal[:, : self.size, : self.size] += tiny * np.eye(self.size)
        return self.n * m - int(_solve(matrix, rhs)[1])

    def shortest(self, at: Look, in_points: np.ndarray, in_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The solution with the metric in place of the Hessian: least changes, and least-squares multipliers."""
        return self._direction(at, in_points, in_s, shift=1.0, keep=0.0)[:2]

    def moved(self, arrows: Point, v: np.ndarray) -> Point:
        return vary(self.system.groupoid, arrows, jax.device_put(np.concatenate([np.zeros((1, self.rank)), v])))

    def bend(self, size: float) -> np.ndarray:
        """A smooth variation in no special direction: two waves along the sequence, zero at the ends."""
        phase = np.pi * np.arange(1, self.n + 1)[:, None] / self.n
        first, second = np.random.default_rng(0).normal(size=(2, self.rank))
        return size * (np.sin(phase) * first + np.sin(2 * phase) * second)

    def restored(self, arrows: Point, s: np.ndarray) -> tuple[Point, float]:
        """A sequence near the given one on the constraints: Gauss–Newton steps of least metric."""
        if not self.system.multipliers:
            return arrows, 0.0
        before, stalled = np.inf, 0
        for _ in range(30):
            at = self.look(arrows, s)
            off = self.off(at)
            stalled = stalled + 1 if off > 0.9 * before else 0
            if not np.isfinite(off) or off <= 1e-15 or (off <= _ON_CONSTRAINTS and off > 0.1 * before) or stalled == 4:
                break
            before = off
            _, v = self.shortest(at, np.zeros((self.n, self.rank)), self.slopes(at)[1])
            if not np.all(np.isfinite(v)):
                break
            arrows = self.moved(arrows, v * min(1.0, LONGEST_VARIATION / max(np.max(np.abs(v)), 1e-300)))
        return arrows, off

    def least_squares_multipliers(self, arrows: Point, s: np.ndarray) -> np.ndarray:
        """The multipliers that bring the gradient nearest to zero, in the metric."""
        if not self.system.multipliers:
            return s
        at = self.look(arrows, np.zeros_like(s))
        in_points, in_s = self.slopes(at)
        found = self.shortest(at, in_points, np.zeros_like(in_s))[0]
        return found if np.all(np.isfinite(found)) else s

    def _direction(
        self, at: Look, in_points: np.ndarray, in_s: np.ndarray, *, shift: float, keep: float
    ) -> tuple[np.ndarray, np.ndarray, int]:
        free = self.momentum is not None
        matrix, rhs = _equations(at.terms.hessians, in_points, in_s, shift, keep, self.rank, free)
        if free and keep:
            last = jax.tree.map(lambda leaf: np.asarray(leaf)[-1], at.arrows)
            moving = np.asarray(_end_jacobian(self.system, last, jax.device_put(at.s[-1])))
            matrix.diagonal[-1, self.size :, self.size :] += moving - _end_block(at.terms.hessians[-1], self.rank)
        z, negative = jax.tree.map(np.asarray, _solve(matrix, rhs))
        if not np.all(np.isfinite(z)):
            z = _pivoted(matrix, rhs)
        # A symmetric matrix with m constraints of full rank has m negative directions of its own.
        return z[:, : self.size], z[:, self.size :], int(negative) - self.n * self.system.multipliers


def _equations(
    hessians: np.ndarray, in_points: np.ndarray, in_s: np.ndarray, shift: float, keep: float, r: int, free: bool
) -> tuple[Any, np.ndarray]:
    """The equations of a step in blocks (s_k, v_k): Hessians of neighbouring arrows meet at their common base point."""
    n, m = hessians.shape[0], hessians.shape[1] - 2 * r
    identity = np.eye(r)
    # The differences of neighbouring variations, and a little of the variations themselves: the metric in which steps are short.
    difference = n * np.block([[identity, -identity], [-identity, identity]]) + np.eye(2 * r) / n
    inside = hessians[:, : 2 * r, : 2 * r]
    scale = np.max(np.abs(inside)) / n if keep > 0 else 1.0
    inside = keep * inside + shift * scale * difference
    bb, eb, ee = inside[:, :r, :r], inside[:, r:, :r], inside[:, r:, r:]
    sb, se, ss = hessians[:, 2 * r :, :r], hessians[:, 2 * r :, r : 2 * r], keep * hessians[:, 2 * r :, 2 * r :]
    at_points = ee + np.concatenate([bb[1:], np.zeros((1, r, r))])
    if not free:
        # The last base point does not move.
        at_points[-1] = identity
        se, eb = _without_last(se), _without_last(eb)
    diagonal = np.block([[ss, se], [np.swapaxes(se, 1, 2), at_points]])
    below = np.concatenate([np.zeros((n, m + r, m)), np.concatenate([sb, eb], axis=1)], axis=2)
    above = np.concatenate([np.swapaxes(below[1:], 1, 2), np.zeros((1, m + r, m + r))])
    matrix: Any = below, diagonal, above
    return BlockTridiagonal(*matrix), -np.concatenate([in_s, in_points], axis=1)


def _without_last(blocks: np.ndarray) -> np.ndarray:
    return np.concatenate([blocks[:-1], np.zeros_like(blocks[-1:])])


@eqx.filter_jit
def _solve(matrix: BlockTridiagonal, rhs: Any) -> tuple[Array, Array]:
    """The solution, and how many eigenvalues of the symmetric matrix are negative."""
    z, pivots = solve_blocks(matrix, rhs)
    return z, jnp.sum(jnp.linalg.eigvalsh(0.5 * (pivots + jnp.swapaxes(pivots, 1, 2))) < 0)


def _pivoted(matrix: BlockTridiagonal, rhs: Any) -> np.ndarray:
    """The solution by banded elimination; NaN where the matrix is singular."""
    try:
        return solve_pivoted(matrix, rhs)
    except (np.linalg.LinAlgError, ValueError):
        return np.full_like(rhs, np.nan)


def _end_block(hessian: np.ndarray, r: int) -> np.ndarray:
    return hessian[r : 2 * r, r : 2 * r]


@eqx.filter_jit
def _end_jacobian(system: DiscreteSystem, g: Point, s: Vector) -> Array:
    """The derivative of the momentum at the end, which is compared in the moving frame: not the Hessian in one chart."""
    G = system.groupoid
    q = G.target(g)

    def momentum(v: Vector) -> Covector:
        h = G.multiply(g, G.fiber_chart(q, v))
        end = G.target(h)
        a = system.increment(g)
        return jax.grad(lambda e: system.family(G.multiply(h, G.fiber_chart(end, e)), a, s))(jnp.zeros(G.rank))

    return jax.jacfwd(momentum)(jnp.zeros(G.rank))
