"""Whether two groupoids are the same, for objects that are put together from several."""

import jax
import numpy as np

from groupoid_mech._arguments import is_concrete, same_structure
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.groupoid import LieGroupoid


def require_same_groupoid(owner: str, left: str, G: LieGroupoid, right: str, H: LieGroupoid) -> None:
    """Refuse two groupoids that differ in structure or, where values are known, in their parameters."""
    same = same_structure(G, H)
    if same and is_concrete((G, H)):
        pairs = zip(jax.tree.leaves(G), jax.tree.leaves(H), strict=True)
        same = all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)
    if not same:
        raise ArgumentError(
            f"{owner} needs {left} and {right} to be the same groupoid; got {G} and {H}. "
            f"Build the groupoid once and use it for both: functions in it are compared by identity."
        )
