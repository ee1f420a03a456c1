"""Polynomials of one variable with fixed coefficients."""

from collections.abc import Sequence

from jax import lax

from groupoid_mech._types import Scalar


def polynomial(coefficients: Sequence[float], t: Scalar) -> Scalar:
    r"""The value :math:`a_0 + a_1 t + a_2 t^2 + \dots` of a polynomial of at least two coefficients at a scalar t.

    The constant is added last: for small t there is one rounding, no more than in Horner's rule. The others by Estrin's rule, neighbours
    first, :math:`(a_1 + a_2 t) + (a_3 + a_4 t)\,t^2 + \dots`: half the time of Horner's chain of products.
    """
    first, *values = (lax.full_like(t, a) for a in coefficients)
    power = t
    while len(values) > 1:
        pairs = [lax.add(a, lax.mul(b, power)) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
        power = lax.mul(power, power)
    return lax.add(first, lax.mul(t, values[0]))
