"""A law: a stated fact, its source, what is drawn for it, and the size of its failure on an example."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._types import Array, Matrix, Point, Scalar
from groupoid_mech.laws.kinds import APoint, Coordinates, Kind, Within
from groupoid_mech.manifolds.drawn_points import drawn_points
from groupoid_mech.numerics.quick_jit import quick_jit

RANK = 1e-8


@final
@dataclass(frozen=True)
class Law:
    """A fact about every object of some type.

    Args:
        name: In words, as one would cite it.
        statement: The formula.
        source: The item of the papers or of the design that states it.
        subject: The type of object it speaks about.
        draws: The kinds of the drawn data, in the order of the arguments of ``defect``.
        defect: ``(subject, *data) -> scalar``, the relative gap between the two sides; 0 where the law holds.
        tolerance: The largest defect that is round-off.
        applies: Whether it speaks about this object of that type, where its type does not tell.
    """

    name: str
    statement: str
    source: str
    subject: type
    draws: tuple[Kind, ...]
    defect: Callable[..., Scalar]
    tolerance: float = 1e-12
    applies: Callable[[Any], bool] = lambda subject: True

    def sizes(self, subject: Any) -> tuple[int, ...]:
        """How many numbers each drawn object takes on this subject."""
        return tuple(kind.size(subject) for kind in self.draws)

    def examples(self, subject: Any, count: int, seed: int) -> "Examples":
        """``count`` examples, drawn at once."""
        rng = np.random.default_rng(seed)
        seeds = rng.integers(0, 2**31 - 1, (count, len(self.draws)))
        return Examples(seeds, rng.uniform(-1.0, 1.0, (count, sum(self.sizes(subject)))))

    def data(self, subject: Any, examples: "Examples") -> tuple[Any, ...]:
        """The drawn objects of the examples, stacked along a first axis."""
        blocks = np.split(examples.numbers, np.cumsum(self.sizes(subject))[:-1], axis=1)
        return tuple(
            build_batch(kind, subject, examples.seeds[:, position], block)
            for position, (kind, block) in enumerate(zip(self.draws, blocks, strict=True))
        )

    def defects(self, subject: Any, examples: "Examples") -> Array:
        """The defect of each example, all in one compiled call; NaN counts as infinite."""
        return _defects(self.defect, subject, self.data(subject, examples))


class Examples(NamedTuple):
    """Drawn examples of a law: for each, a seed per drawn object and the numbers in [−1, 1] of all of them."""

    seeds: np.ndarray
    numbers: np.ndarray


def build_batch(kind: Kind, subject: Any, seeds: np.ndarray, numbers: np.ndarray) -> Any:
    """The objects of a kind, stacked: compiled once per kind and what it is drawn on, for all laws and subjects that share these."""
    while isinstance(kind, Within):
        subject = kind.inside(subject)
        kind = kind.kind
    if isinstance(kind, Coordinates):
        # Nothing to compile.
        return jax.device_put(kind.scale * numbers)
    manifold = kind.drawn_on(subject)
    points = None if manifold is None else drawn_points(manifold, seeds)
    return points if isinstance(kind, APoint) else _build_batch(kind, subject, points, numbers)


@quick_jit
def _build_batch(kind: Kind, subject: Any, points: Point, numbers: np.ndarray) -> Any:
    rest: list[Any] = []

    def one(drawn: tuple[Point, Array]) -> Any:
        arrays, other = eqx.partition(kind.build(subject, *drawn), eqx.is_array)
        rest.append(other)
        return arrays

    stacked = jax.lax.map(one, (points, numbers))
    return eqx.combine(stacked, rest[0])


@quick_jit
def _defects(defect: Callable[..., Scalar], subject: Any, data: tuple[Any, ...]) -> Array:
    stacked, rest = eqx.partition(data, eqx.is_array)

    def one(row: tuple[Any, ...]) -> Array:
        value = defect(subject, *eqx.combine(row, rest))
        return jnp.where(jnp.isnan(value), jnp.inf, value)

    # One after the other: a program for one example is smaller than one for all of them, and made in less time.
    return jax.lax.map(one, stacked)


def gap(left: Any, right: Any) -> Scalar:
    """The largest difference between two trees of arrays, relative to 1 + their size."""
    pairs = list(zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True))
    difference = jnp.max(jnp.stack([jnp.max(jnp.abs(a - b), initial=0.0) for a, b in pairs]))
    size = jnp.max(jnp.stack([jnp.max(jnp.maximum(jnp.abs(a), jnp.abs(b)), initial=0.0) for a, b in pairs]))
    return difference / (1 + size)


def numerical_rank(A: Matrix) -> Scalar:
    """How many singular values of a matrix are not round-off beside the largest one, or beside 1."""
    singular = jnp.linalg.svd(A, compute_uv=False)
    return jnp.sum(singular > RANK * jnp.maximum(singular[0], 1.0)).astype(float)
