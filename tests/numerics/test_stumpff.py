"""Stumpff's functions and their derivatives against exact rational sums of the defining series."""

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from groupoid_mech.numerics.stumpff import stumpff

TS = np.concatenate(
    [[0.0], np.logspace(-300, -8, 5), np.logspace(-6, 0, 13), [0.999, 1.001, 2.0, 4.0, 8.999, 9.0, 9.001, 30.0, 39.0]]
)


def exact(k, t, derivative=0):
    """The derivative of given order of Σ (−t)^j / (2j + k)!, summed exactly."""
    total, t = Fraction(0), Fraction(t)
    for j in range(derivative, 60):
        total += (-1) ** j * math.perm(j, derivative) * t ** (j - derivative) / math.factorial(2 * j + k)
    return float(total)


@pytest.mark.few(3)
@pytest.mark.parametrize("k", range(7))
def test_values(k):
    values = jax.jit(jax.vmap(lambda t: stumpff(k, t)))(TS)
    expected = np.array([exact(k, t) for t in TS])
    # cos and sin have zeros: there the error is absolute; all others are compared relative to c_k(0) = 1/k!.
    np.testing.assert_allclose(values, expected, rtol=0, atol=4e-15 / math.factorial(k))


@pytest.mark.few(4)
@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_lose_no_digits(k, order):
    f = lambda t: stumpff(k, t)  # noqa: E731
    for _ in range(order):
        f = jax.grad(f)
    values = jax.jit(jax.vmap(f))(TS)
    expected = np.array([exact(k, t, order) for t in TS])
    scale = math.factorial(order) / math.factorial(2 * order + k)
    # Each derivative adds two to k, and just above the switch each two cost the recursion a factor of a few.
    np.testing.assert_allclose(values, expected, rtol=0, atol=4e-14 * scale)


def test_forward_and_reverse_agree():
    t = jnp.asarray(0.7)
    assert jax.grad(lambda s: stumpff(2, s))(t) == jax.jvp(lambda s: stumpff(2, s), (t,), (1.0,))[1]
