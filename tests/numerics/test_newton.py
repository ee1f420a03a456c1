"""Newton's method: roots at round-off, implicit derivatives of both modes and orders, honest failure."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from groupoid_mech.numerics.newton import newton_root


def root(theta):
    """x³ + θ x = 1, y = x²."""
    return newton_root(lambda z: jnp.stack([z[0] ** 3 + theta * z[0] - 1, z[1] - z[0] ** 2]), jnp.array([1.0, 1.0]))


def test_value():
    x, y = jax.jit(root)(2.0)
    assert abs(x**3 + 2 * x - 1) < 4e-16
    assert abs(y - x * x) < 4e-16


@pytest.mark.parametrize("differentiate", [jax.jacfwd, jax.jacrev])
def test_first_derivative(differentiate):
    x = root(2.0)[0]
    assert abs(jax.jit(differentiate(root))(2.0)[0] + x / (3 * x**2 + 2)) < 1e-15


def test_second_derivative():
    x = root(2.0)[0]
    slope = -x / (3 * x**2 + 2)
    # Differentiate (3x² + θ) x' + x = 0 once more.
    second = -(6 * x * slope**2 + 2 * slope) / (3 * x**2 + 2)
    for outer in (jax.jacfwd, jax.jacrev):
        assert abs(jax.jit(outer(jax.jacfwd(root)))(2.0)[0] - second) < 1e-14


def test_failure_is_nan():
    assert np.all(np.isnan(newton_root(lambda x: x * x + 1, jnp.array([0.5]))))


def test_batches():
    thetas = jnp.linspace(0.5, 3.0, 7)
    xs = jax.jit(jax.vmap(root))(thetas)[:, 0]
    np.testing.assert_allclose(xs**3 + thetas * xs, 1, rtol=1e-15)
