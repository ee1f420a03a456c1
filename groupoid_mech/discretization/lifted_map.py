r"""Lifts of discretization maps: from :math:`Q` to a vector bundle over Q. BM §3, Prop. 5.7."""

import inspect
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import (
    describe,
    name_of,
    require_function,
    require_instances,
    same_structure,
    traced_shape,
)
from groupoid_mech.discretization.discretization_map import DiscretizationMap, manifold_of
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.manifold import Manifold


class LiftedMap(DiscretizationMap):
    r"""A discretization map :math:`R^E: TE \to E \times E` of a vector bundle :math:`\pi: E \to Q` that covers one of Q.

    .. math:: (\pi \times \pi) \circ R^E = R \circ T\pi .
    """

    map: eqx.AbstractVar[DiscretizationMap]
    groupoid: eqx.AbstractVar[PairGroupoid]

    @property
    def manifold(self) -> Manifold:
        r"""The manifold Q, whose map is lifted."""
        return self.map.groupoid.base


def liftable(owner: str, map: Any) -> Manifold:
    """The manifold Q of a map on the pair groupoid of Q; what else is given is refused."""
    return manifold_of(owner, map, "to lift", "lifted_covector and lifted_step")


def require_map(owner: str, map: Any, name: str = "map") -> None:
    """Refuse what is no discretization map."""
    advice = "Make one of a manifold or a groupoid, as theta_map(Sphere(2), 0.5)."
    require_instances(owner, name, (map,), DiscretizationMap, advice)


def require_image(owner: str, F: Any, x: Any, N: Manifold) -> None:
    """Refuse what is no function from points like x to points of N; a function that JAX cannot trace is explained."""
    y, expected = traced_shape(F, x), N.point_like()
    shapes = [[getattr(leaf, "shape", None) for leaf in jax.tree.leaves(tree)] for tree in (y, expected)]
    if not same_structure(y, expected) or shapes[0] != shapes[1]:
        raise ArgumentError(
            f"{owner} needs {name_of(F)}(x) to be a point of {N}, {describe(expected)}; it returns {describe(y)}."
        )


def require_scalar_function(owner: str, function: Any, *arguments: Any) -> None:
    """Refuse what is no real function of such arguments; a function that JAX cannot trace is explained."""
    require_function(function)
    _require_arguments(owner, function, len(arguments))
    value = traced_shape(function, *arguments)
    real = isinstance(value, jax.ShapeDtypeStruct) and jnp.issubdtype(value.dtype, jnp.floating)
    if not isinstance(value, float) and (not real or value.shape != ()):
        given = "q, ·" if len(arguments) == 2 else "·"
        raise ArgumentError(
            f"{owner} needs {name_of(function)}({given}) to be a real number; it returns {describe(value)}."
        )


def _require_arguments(owner: str, function: Any, count: int) -> None:
    """Refuse a function that does not take so many arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions in C do not tell
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        wanted = "two arguments, as H(q, p) or L(q, v)" if count == 2 else "one argument"
        raise ArgumentError(f"{owner} needs a function of {wanted}; {name_of(function)} takes {signature}.") from None
