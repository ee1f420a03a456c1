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
from groupoid_mech.numerics.polynomial import polynomial

# Up to which t the power series is taken, and its terms. Those of cos and sin lose digits soon.
_SERIES = 9.0, 18
_SHORT_SERIES = 1.0, 10


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def stumpff(k: int, t: Scalar) -> Scalar:
    r"""Stumpff's function :math:`c_k(t)` for :math:`t \ge 0`.

    The power series below t = 9 (1 for k < 2) and the recursion :math:`t\,c_{k+2} = 1/k! - c_k` above keep every digit that
    the closed forms lose; derivatives follow :math:`c_k' = (k\,c_{k+2} - c_{k+1})/2`, so none is lost either.
    """
    return _value(k, t)


@stumpff.defjvp
def _stumpff_jvp(k: int, primals: Any, tangents: Any) -> tuple[Scalar, Scalar]:
    (t,), (t_dot,) = primals, tangents
    return stumpff(k, t), 0.5 * (k * stumpff(k + 2, t) - stumpff(k + 1, t)) * t_dot


# A program of its own: where it is used it is one operation to trace, however many derivatives are taken. A branch, not a selection: at the
# small angles of a time step no sine or cosine is computed, which costs several times the series.
@partial(jax.jit, static_argnums=0)
def _value(k: int, t: Scalar) -> Scalar:
    bound, terms = _SERIES if k > 1 else _SHORT_SERIES
    coefficients = [1 / math.factorial(2 * j + k) for j in range(terms)]
    # In batches both are computed, and one is selected: no 0/0 there.
    return jax.lax.cond(
        t <= bound, lambda t: polynomial(coefficients, -t), lambda t: _closed(k, jnp.maximum(t, bound)), t
    )


def _closed(k: int, t: Scalar) -> Scalar:
    root = jnp.sqrt(t)
    value = jnp.sin(root) / root if k % 2 else jnp.cos(root)
    for j in range(k % 2, k, 2):
        value = (1 / math.factorial(j) - value) / t
    return value
