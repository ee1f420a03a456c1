"""Paths of points on a manifold: in space or the plane where the points are there, else all coordinates over time."""

from typing import Any

import jax
import numpy as np

from groupoid_mech._types import Point
from groupoid_mech.groups.product import ProductGroup
from groupoid_mech.groups.se2 import SE2
from groupoid_mech.groups.se3 import SE3
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold

_LONGEST_LEGEND = 36


def visible_paths(M: Manifold | None, points: Point) -> list[np.ndarray]:
    """The paths in one plane or in space, one for each factor of a product, of motions those of their translations; none, if the points are of
    another kind.

    Args:
        M: The manifold; nothing for vectors.
        points: Its points, stacked.
    """
    found = [np.asarray(leaf) for leaf in _positions(M, points) if leaf.size]
    return found if {path.shape[1:] for path in found} in ({(2,)}, {(3,)}) else []


def _positions(M: Manifold | None, points: Point) -> list[Any]:
    """The leaves of stacked points, but of motions the translations alone."""
    if isinstance(M, (ProductManifold, ProductGroup)):
        return [leaf for part in zip(M.factors, points, strict=True) for leaf in _positions(*part)]
    return jax.tree.leaves(points[1] if isinstance(M, (SE2, SE3)) else points)


def draw_paths(axes: Any, paths: list[np.ndarray]) -> None:
    """Draw paths with their starts into axes of the same dimension, numbered if there are several."""
    for number, path in enumerate(paths, 1):
        axes.plot(*path.T, linewidth=0.8, label=str(number))
        axes.plot(*path[:1].T, "o", color="black", markersize=4)
    axes.set_aspect("equal")
    _finish(axes, len(paths))


def draw_coordinates(axes: Any, times: np.ndarray, points: Point, letter: str) -> None:
    """Draw all coordinates of stacked points over time, named by the letter and their indices, after the number of the part."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(points) if leaf.size]
    lines = {
        (f"{number}: " if len(leaves) > 1 else "") + letter + "".join(str(i + 1) for i in index): leaf[:, *index]
        for number, leaf in enumerate(leaves, 1)
        for index in np.ndindex(leaf.shape[1:])
    }
    for label, values in lines.items():
        axes.plot(times, values, linewidth=0.8, label=label)
    _finish(axes, len(lines))


def _finish(axes: Any, count: int) -> None:
    if 1 < count <= _LONGEST_LEGEND:
        axes.legend(fontsize="small", ncols=1 + (count - 1) // 12)
