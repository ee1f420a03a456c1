"""Points drawn for checks: by programs that are compiled once per manifold, for all that is checked on it."""

from typing import Any

import jax
import numpy as np

from groupoid_mech._types import Point
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle
from groupoid_mech.numerics.quick_jit import quick_jit

# So many points for every check.
FEW = 8
# So many at a time: another number would be another program.
_PIECE = 20


def a_few_points(M: Manifold) -> Point:
    """The same `FEW` points of a manifold in every call, stacked: those that checks look at."""
    return jax.tree.map(np.asarray, drawn_points(M, np.arange(FEW)))


def drawn_point(M: Manifold, number: int) -> Point:
    """One of `a_few_points`, by its number."""
    return jax.tree.map(lambda leaf: leaf[number], a_few_points(M))


def drawn_points(M: Manifold, seeds: np.ndarray) -> Point:
    """Points of a manifold by its ``random_point``, one for each seed, stacked; those of a product by its factors, those of a vector bundle by
    base and fibre.

    To make random numbers takes most of the time to compile a check: half a second for that of an action on a sphere, a twentieth without.

    Args:
        M: The manifold.
        seeds: Integers, shape (n,), from 0 to 2³¹ - 1.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> drawn_points(ProductManifold(Euclidean(2), Euclidean(1)), np.arange(4))[1].shape
        (4, 1)
    """
    if isinstance(M, ProductManifold):
        return tuple(drawn_points(factor, _others(seeds, number)) for number, factor in enumerate(M.factors))
    if isinstance(M, VectorBundle) and M.rank:
        return drawn_points(ProductManifold(M.base, Euclidean(M.rank)), seeds)
    pieces = np.resize(seeds, (-(-len(seeds) // _PIECE), _PIECE))
    drawn = [jax.tree.map(np.asarray, _drawn_points(M, piece)) for piece in pieces]
    return jax.device_put(jax.tree.map(lambda *leaves: np.concatenate(leaves)[: len(seeds)], *drawn))


def _others(seeds: np.ndarray, number: int) -> np.ndarray:
    """Other seeds for every number, the same for the same."""
    return np.asarray([np.random.SeedSequence([int(seed), number]).generate_state(1)[0] >> 1 for seed in seeds])


@quick_jit
def _drawn_points(M: Manifold, seeds: Any) -> Point:
    return jax.lax.map(lambda seed: M.random_point(jax.random.key(seed)), seeds)
