r"""The ratio of an angle to its sine: what every logarithm of a rotation or a sphere needs.

.. math:: \operatorname{angle\_ratio}(r^2, c) = \frac{\operatorname{atan2}(r, c)}{r} = \int_c^\infty \frac{dx}{x^2 + r^2}, \qquad r \ge 0,

smooth in :math:`(r^2, c)` for :math:`c > 0`, :math:`r \to 0` included.
"""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._types import Scalar
from groupoid_mech.numerics.polynomial import polynomial

# A sine or cosine below this is round-off: what divides by it has no direction.
ROUND_OFF = 8 * float(jnp.finfo(jnp.float64).eps)

_SERIES_UP_TO = 0.1
_SERIES_TERMS = 20


def angle_ratio(r_squared: Scalar, c: Scalar) -> Scalar:
    r"""``atan2(r, c) / r`` with value and derivatives right at ``r = 0``; not finite at ``r = 0``, ``c ≤ 0``."""
    return _integral(0, jnp.asarray(r_squared), jnp.asarray(c))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _integral(k: int, s: Scalar, c: Scalar) -> Scalar:
    r""":math:`f_k(s, c) = \int_c^\infty (x^2 + s)^{-k-1} dx`, with :math:`\partial_s f_k = -(k + 1) f_{k+1}` and
    :math:`\partial_c f_k = -(c^2 + s)^{-k-1}`: every derivative is one of the family again.

    Near s = 0 by the series in s, elsewhere from the angle by :math:`2 (k + 1)\, s\, f_{k+1} = (2k + 1) f_k - c\,(c^2 + s)^{-k-1}`.
    """
    return _value(k, s, c)


@_integral.defjvp
def _integral_derivative(k: int, primals: Any, tangents: Any) -> tuple[Scalar, Scalar]:
    (s, c), (ds, dc) = primals, tangents
    return _integral(k, s, c), -(k + 1) * _integral(k + 1, s, c) * ds - dc / (c * c + s) ** (k + 1)


# A program of its own: where it is used it is one operation to trace, however many derivatives are taken.
@partial(jax.jit, static_argnums=0)
def _value(k: int, s: Scalar, c: Scalar) -> Scalar:
    near = (c > 0) & (s < _SERIES_UP_TO * c * c)
    c_near = jnp.where(near, c, 1.0)
    t = jnp.where(near, s, 0.0) / (c_near * c_near)
    series = polynomial([math.comb(k + j, j) / (2 * (k + j) + 1) for j in range(_SERIES_TERMS + 2 * k)], -t)
    s_far, c_far = jnp.where(near, 1.0, s), jnp.where(near, 1.0, c)
    r = jnp.sqrt(s_far)
    far, divisor = jnp.arctan2(r, c_far), r
    for j in range(k):
        far = (2 * j + 1) * (far / divisor) - c_far / (c_far * c_far + s_far) ** (j + 1)
        divisor = 2 * (j + 1) * s_far
    # The quotient comes last: XLA copies sums and products into all their uses, but no quotient.
    return jnp.where(near, series, far) / jnp.where(near, c_near ** (2 * k + 1), divisor)
