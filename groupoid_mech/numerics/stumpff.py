r"""Entire functions behind rotations, exact with all derivatives at zero.

.. math:: c_k(t) = \sum_{j \ge 0} \frac{(-t)^j}{(2j + k)!}, \qquad c_0(\theta^2) = \cos\theta, \quad
    c_1(\theta^2) = \frac{\sin\theta}\theta, \quad c_2(\theta^2) = \frac{1 - \cos\theta}{\theta^2}, \;\dots
    \qquad c_k' = \tfrac12 (k\,c_{k+2} - c_{k+1}).
"""

import math
from fractions import Fraction
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._types import Scalar
from groupoid_mech.numerics.polynomial import polynomial

# Up to which t a polynomial is taken, and its coefficients: as many as leave less than 3e-17 of the value. Those of cos and sin lose digits soon.
_POLYNOMIAL = 9, 10
_SHORT_POLYNOMIAL = 1, 8


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def stumpff(k: int, t: Scalar) -> Scalar:
    r"""Stumpff's function :math:`c_k(t)` for :math:`t \ge 0`.

    A polynomial below t = 9 (1 for k < 2) and the recursion :math:`t\,c_{k+2} = 1/k! - c_k` above keep every digit that
    the closed forms lose; derivatives follow :math:`c_k' = (k\,c_{k+2} - c_{k+1})/2`, so none is lost either.
    """
    return _value(k, t)


@stumpff.defjvp
def _stumpff_jvp(k: int, primals: Any, tangents: Any) -> tuple[Scalar, Scalar]:
    (t,), (t_dot,) = primals, tangents
    return stumpff(k, t), 0.5 * (k * stumpff(k + 2, t) - stumpff(k + 1, t)) * t_dot


# A program of its own: where it is used it is one operation to trace, however many derivatives are taken. A branch, not a selection: at the
# small angles of a time step no sine or cosine is computed, which costs several times the polynomial.
@partial(jax.jit, static_argnums=0)
def _value(k: int, t: Scalar) -> Scalar:
    bound, terms = _POLYNOMIAL if k > 1 else _SHORT_POLYNOMIAL
    coefficients = _economized(k, bound, terms)
    # In batches both are computed, and one is selected: no 0/0 there.
    return jax.lax.cond(
        t <= bound, lambda t: polynomial(coefficients, t), lambda t: _closed(k, jnp.maximum(t, float(bound))), t
    )


@cache
def _economized(k: int, bound: int, terms: int) -> list[float]:
    r"""The coefficients of a polynomial that is :math:`c_k` on [0, bound]: its power series, economized.

    The last power of a longer sum is traded for that multiple of a Chebyshev polynomial that cancels it, again and again, which spreads the
    error evenly: 10 terms reach to t = 9 instead of 14. In rational numbers: none of this rounds.
    """
    zero, powers = Fraction(0), [Fraction((-1) ** j, math.factorial(2 * j + k)) for j in range(terms + 8)]
    chebyshev = [[Fraction(1)], [Fraction(-1), Fraction(2, bound)]]
    while len(chebyshev) < len(powers):
        # On [0, bound], T_{n+1}(u) = 2 u T_n(u) - T_{n-1}(u) with u = 2t/bound - 1.
        before, last = [*chebyshev[-2], zero, zero], [*chebyshev[-1], zero]
        chebyshev.append([4 * a / bound - 2 * b - c for a, b, c in zip([zero, *last], last, before, strict=False)])
    while len(powers) > terms:
        T = chebyshev[len(powers) - 1]
        powers = [a - powers[-1] / T[-1] * b for a, b in zip(powers, T, strict=True)][:-1]
    return [float(a) for a in powers]


def _closed(k: int, t: Scalar) -> Scalar:
    root = jnp.sqrt(t)
    value = jnp.sin(root) / root if k % 2 else jnp.cos(root)
    for j in range(k % 2, k, 2):
        value = (1 / math.factorial(j) - value) / t
    return value
