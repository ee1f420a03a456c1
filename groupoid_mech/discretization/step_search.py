r"""Steps of one-step methods that are a search: what a method remembers of it, so that the next step is found with a few values of its equations.

Convention: unknowns are components in the frame of a manifold at the point where the step begins; from one point to the next they are carried,
since frames may jump.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Point, Scalar, Vector
from groupoid_mech.manifolds.known_coordinates import carried_to
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.smooth_chart import has_tangent_fibres
from groupoid_mech.mechanics.step_memory import StepMemory
from groupoid_mech.numerics.chord import chord_solve

# Unknowns are measured against at least the first of these, and this part of the size of the point: a step of a body at rest has none of its own.
_SMALLEST_INCREMENT = 1e-10
# Not more: with 1e-6 an oscillation of amplitude 1e-9 on so(3)* is left with residuals of 3e-23. Not less: round-off of points, some ε of their
# size, has to stay well below STALL times this.
_SMALLEST_PART = 3e-7
# Increments that shrink towards a point that is no root, as where charts jump, must not pass for a solution; round-off is far below this.
_LARGEST_RESIDUAL = 1e-6


class Found(NamedTuple):
    """What a search has found: the unknowns, other values of the equations there, their largest residual, and how it went."""

    unknowns: Vector
    values: Any
    residual: Array
    iterations: Array
    converged: Array


@final
class StepSearch(eqx.Module):
    r"""What is known about the unknowns of the next step: a reference, how far such references were off, and an inverse Jacobian.

    The equations of a step are solved as those of a `DiscreteSystem` are, by `chord_solve`.

    Args:
        reference: The unknowns, as far as the last step tells.
        memory: How far references were off in the last steps; nothing yet if not given.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> x, dt = jnp.ones(1), 0.1
        >>> implicit_euler = lambda v: (v + dt * (x + v) ** 3, x + v)
        >>> found, known = StepSearch(jnp.zeros(1)).solve(implicit_euler, Euclidean(1), x)
        >>> bool(found.converged), bool(found.residual < 1e-16)
        (True, True)
    """

    reference: Vector
    memory: StepMemory

    def __init__(self, reference: Vector, memory: StepMemory | None = None):
        self.reference = jax.lax.stop_gradient(reference)
        self.memory = StepMemory.blank(jnp.size(reference)) if memory is None else memory

    @property
    def guess(self) -> Vector:
        """The first iterate for the unknowns."""
        return self.reference + self.memory.next_difference()

    def solve(
        self, equations: Callable[[Vector], tuple[Vector, Any]], M: Manifold, x: Point
    ) -> tuple[Found, "StepSearch"]:
        """The root of the equations, all NaN if there is none near, and what is known then: the reference is the root.

        Args:
            equations: The values of the equations, and other values at the same unknowns.
            M: The manifold; the unknowns are tangent vectors of it at x, one after the other, the last of which may be one of its base.
            x: The point where the step begins.
        """
        # Points are rounded relative to their own size: far from the origin no equation can be met more exactly.
        extent = jax.lax.stop_gradient(_size(x))
        least = _SMALLEST_INCREMENT + _SMALLEST_PART * extent

        def sizes(unknowns: Vector) -> Vector:
            vectors = jnp.split(unknowns, list(range(M.dim, unknowns.size, M.dim)))
            return jnp.concatenate([jnp.full_like(v, least + jnp.max(jnp.abs(v))) for v in vectors])

        def kept(unknowns: Vector) -> tuple[Vector, tuple[Vector, Any]]:
            off, values = equations(unknowns)
            return off, (off, values)

        root, (off, values), inverse, report = chord_solve(kept, self.guess, self.memory.inverse, sizes)
        residual = jnp.max(jnp.abs(off))
        converged = report.converged & (residual <= _LARGEST_RESIDUAL * (1 + extent))
        known = StepSearch(root, self.memory.after(root - self.reference, inverse))
        return Found(root, values, residual, report.iterations, converged), known

    def carried(self, M: Manifold, x: Point, y: Point) -> "StepSearch":
        """The same at the next point y, for unknowns that are components in the frame of M at x, one vector after the other."""
        base, start, end = (M.base, x[0], y[0]) if has_tangent_fibres(M) else (M, x, y)  # type: ignore[attr-defined]
        parts = [carried_to(base, start, end, part) for part in self.reference.reshape(-1, base.dim)]
        return StepSearch(jnp.concatenate(parts), self.memory)


def _size(x: Point) -> Scalar:
    """The largest number of a point, without its sign."""
    return jnp.max(jnp.stack([jnp.max(jnp.abs(leaf), initial=0.0) for leaf in jax.tree.leaves(x)]))
