r"""Lifts of discretization maps: from :math:`Q` to a vector bundle over Q. BM §3, Prop. 5.7."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import describe, name_of, traced_shape
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


def require_scalar_function(owner: str, function: Any, *arguments: Any) -> None:
    """Refuse what is no real function of such arguments; a function that JAX cannot trace is explained."""
    value = traced_shape(function, *arguments)
    real = isinstance(value, jax.ShapeDtypeStruct) and jnp.issubdtype(value.dtype, jnp.floating)
    if not real or value.shape != ():
        raise ArgumentError(
            f"{owner} needs {name_of(function)}(q, ·) to be a real number; it returns {describe(value)}."
        )
