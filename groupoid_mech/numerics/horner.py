"""Polynomials by Horner's rule."""

from collections.abc import Sequence

import numpy as np
from jax import lax

from groupoid_mech._types import Scalar


def horner(coefficients: Sequence[float], t: Scalar) -> Scalar:
    r"""The value :math:`a_0 + a_1 t + a_2 t^2 + \dots` of a polynomial at a scalar t."""
    value = lax.full_like(t, coefficients[-1])
    for a in reversed(coefficients[:-1]):
        value = lax.add(np.float64(a), lax.mul(t, value))
    return value
