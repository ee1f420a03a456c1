"""The angle over its sine: values from angles, derivatives from the closed form away from 0 and the series at 0."""

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech.numerics.angle import angle_ratio

ANGLES = np.concatenate([np.logspace(-8, -1, 8), np.linspace(0.2, 3.0, 15), np.pi - np.logspace(-12, -1, 12)])


def test_values():
    r, c = np.sin(ANGLES), np.cos(ANGLES)
    np.testing.assert_allclose(jax.vmap(angle_ratio)(r * r, c), np.arctan2(r, c) / r, rtol=1e-14)


def test_value_and_slope_at_zero():
    value, slope = jax.value_and_grad(angle_ratio)(jnp.asarray(0.0), jnp.asarray(1.0))
    # atan(√s)/√s = 1 − s/3 + …
    assert value == 1
    assert abs(slope + 1 / 3) < 1e-15


def test_slopes_agree_across_the_switch_of_formulas():
    s = np.array([0.0999999, 0.1000001])
    slopes = jax.vmap(jax.grad(angle_ratio))(s, np.ones(2))
    exact = (1 / (1 + s) - np.arctan(np.sqrt(s)) / np.sqrt(s)) / (2 * s)
    np.testing.assert_allclose(slopes, exact, rtol=1e-13)


def test_no_value_at_the_far_end():
    assert not np.isfinite(angle_ratio(jnp.asarray(0.0), jnp.asarray(-1.0)))
