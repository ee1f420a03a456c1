"""Physical parameters as arrays: checked, so that a wrong one is named, and never part of a compiled program."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Array, Scalar, Vector
from groupoid_mech.errors import ArgumentError

Numbers: TypeAlias = Sequence[float] | ArrayLike


def number(owner: str, name: str, value: Any) -> Scalar:
    """A finite real number as an array."""
    return _real(owner, name, value, (), "a finite real number")


def positive(owner: str, name: str, value: Any) -> Scalar:
    """A number > 0 as an array."""
    return _bounded(owner, name, _real(owner, name, value, (), "a number > 0"), "a number > 0", strict=True)


def nonnegative(owner: str, name: str, value: Any) -> Scalar:
    """A number ≥ 0 as an array."""
    return _bounded(owner, name, _real(owner, name, value, (), "a number ≥ 0"), "a number ≥ 0", strict=False)


def vector(owner: str, name: str, value: Any, size: int) -> Vector:
    """A finite vector of the given size as an array."""
    return _real(owner, name, value, (size,), f"a vector of {size} finite real numbers")


def positive_vector(owner: str, name: str, value: Any, size: int) -> Vector:
    """A vector of numbers > 0 as an array."""
    need = f"a vector of {size} numbers > 0"
    return _bounded(owner, name, _real(owner, name, value, (size,), need), need, strict=True)


def inertia_moments(owner: str, value: Any) -> Vector:
    r"""The principal moments of inertia of a rigid body: positive, the largest at most the sum of the others."""
    moments = positive_vector(owner, "inertia", value, 3)
    if is_concrete(moments):
        values = np.asarray(moments)
        if not 2 * np.max(values) <= (1 + 1e-12) * np.sum(values):
            raise ArgumentError(
                f"{owner} needs inertia to be principal moments of a body, the largest at most the sum of the others; got {values}."
            )
    return moments


def _real(owner: str, name: str, value: Any, shape: tuple[int, ...], need: str) -> Array:
    try:
        array = jnp.asarray(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{owner} needs {name} to be {need}; got {value!r}.") from None
    real = jnp.issubdtype(array.dtype, jnp.floating) or jnp.issubdtype(array.dtype, jnp.integer)
    if not real or array.shape != shape or (is_concrete(array) and not bool(np.all(np.isfinite(np.asarray(array))))):
        raise ArgumentError(f"{owner} needs {name} to be {need}; got {value!r}.")
    return array.astype(float)


def _bounded(owner: str, name: str, array: Array, need: str, *, strict: bool) -> Array:
    if is_concrete(array):
        values = np.asarray(array)
        if not np.all(values > 0 if strict else values >= 0):
            raise ArgumentError(f"{owner} needs {name} to be {need}; got {values}.")
    return array
