r"""Entire functions behind rotations, exact with all derivatives at zero.

.. math:: c_k(t) = \sum_{j \ge 0} \frac{(-t)^j}{(2j + k)!}, \qquad c_0(\theta^2) = \cos\theta, \quad
    c_1(\theta^2) = \frac{\sin\theta}\theta, \quad c_2(\theta^2) = \frac{1 - \cos\theta}{\theta^2}, \;\dots
    \qquad c_k' = \tfrac12 (k\,c_{k+2} - c_{k+1}).
"""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._types import Scalar
from groupoid_mech.numerics.horner import horner

_SERIES_UP_TO = 9.0
_SERIES_TERMS = 18


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def stumpff(k: int, t: Scalar) -> Scalar:
    r"""Stumpff's function :math:`c_k(t)` for :math:`t \ge 0`.

    The power series below t = 9 and the recursion :math:`t\,c_{k+2} = 1/k! - c_k` above keep every digit that
    the closed forms lose; derivatives follow :math:`c_k' = (k\,c_{k+2} - c_{k+1})/2`, so none is lost either.
    """
    return _value(k, t)


@stumpff.defjvp
def _stumpff_jvp(k: int, primals: Any, tangents: Any) -> tuple[Scalar, Scalar]:
    (t,), (t_dot,) = primals, tangents
    return stumpff(k, t), 0.5 * (k * stumpff(k + 2, t) - stumpff(k + 1, t)) * t_dot


# A program of its own: where it is used it is one operation to trace, however many derivatives are taken.
@partial(jax.jit, static_argnums=0)
def _value(k: int, t: Scalar) -> Scalar:
    if k < 2:
        root = jnp.sqrt(t)
        if k == 0:
            return jnp.cos(root)
        return jnp.where(t > 0, jnp.sin(root), 1.0) / jnp.where(t > 0, root, 1.0)
    series = horner([1 / math.factorial(2 * j + k) for j in range(_SERIES_TERMS)], -t)
    far = t > _SERIES_UP_TO
    t = jnp.where(far, t, 1.0)
    closed = _value(k % 2, t)
    for j in range(k % 2, k - 2, 2):
        closed = (1 / math.factorial(j) - closed) / t
    # The quotient comes last, over 1 for the series: XLA copies sums and products into all their uses, but no quotient.
    return jnp.where(far, 1 / math.factorial(k - 2) - closed, series) / t
