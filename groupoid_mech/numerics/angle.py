r"""The ratio of an angle to its sine: what every logarithm of a rotation or a sphere needs.

.. math:: \operatorname{angle\_ratio}(r^2, c) = \frac{\operatorname{atan2}(r, c)}{r}, \qquad r \ge 0,

smooth in :math:`(r^2, c)` for :math:`c > 0`, :math:`r \to 0` included.
"""

import jax.numpy as jnp

from groupoid_mech._types import Scalar

# A sine or cosine below this is round-off: what divides by it has no direction.
ROUND_OFF = 8 * float(jnp.finfo(jnp.float64).eps)

_SERIES_UP_TO = 0.1
_SERIES_TERMS = 20


def angle_ratio(r_squared: Scalar, c: Scalar) -> Scalar:
    r"""``atan2(r, c) / r`` with value and derivatives right at ``r = 0``; not finite at ``r = 0``, ``c ≤ 0``."""
    near = (c > 0) & (r_squared < _SERIES_UP_TO * c * c)
    c_near = jnp.where(near, c, 1.0)
    t = jnp.where(near, r_squared, 0.0) / (c_near * c_near)
    series = jnp.zeros_like(t)
    for j in reversed(range(_SERIES_TERMS)):
        series = 1 / (2 * j + 1) - t * series
    r = jnp.sqrt(jnp.where(near, 1.0, r_squared))
    return jnp.where(near, series / c_near, jnp.arctan2(r, jnp.where(near, 1.0, c)) / r)
