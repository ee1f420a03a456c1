"""Polynomials of one variable, of fixed coefficients."""

from collections.abc import Sequence

from jax import lax

from groupoid_mech._types import Scalar


def polynomial(coefficients: Sequence[float], t: Scalar) -> Scalar:
    r"""The value :math:`a_0 + a_1 t + a_2 t^2 + \dots` of a polynomial at a scalar t.

    By Estrin's rule, neighbours first: :math:`(a_0 + a_1 t) + (a_2 + a_3 t)\,t^2 + \dots` takes half the time of Horner's chain of products.
    """
    values: list[Scalar] = [lax.full_like(t, a) for a in coefficients]
    power = t
    while len(values) > 1:
        pairs = [lax.add(a, lax.mul(b, power)) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
        power = lax.mul(power, power)
    return values[0]
