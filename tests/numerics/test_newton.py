"""Newton's method: roots at round-off, implicit derivatives of both modes and orders, honest failure."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from groupoid_mech.numerics.newton import newton_root, newton_solve


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


def parts(x, y, theta):
    return jnp.concatenate([x**3 + theta * x - jnp.sin(y[:1]), y - jnp.stack([x[0] ** 2, theta * x[0] * y[0] - 1])])


def in_parts(theta):
    guess = jnp.array([1.0, 1.0, -1.0])
    return newton_solve(lambda x, y: parts(x, y, theta), guess, jnp.ones_like, cuts=(1,))


def at_once(theta):
    guess = jnp.array([1.0, 1.0, -1.0])
    return newton_solve(lambda z: parts(z[:1], z[1:], theta), guess, jnp.ones_like)


def test_unknowns_in_parts_have_the_same_root_and_derivatives():
    (x, report), (y, other) = jax.jit(in_parts)(2.0), jax.jit(at_once)(2.0)
    assert float(jnp.max(jnp.abs(parts(x[:1], x[1:], 2.0)))) < 4e-16
    assert int(report.iterations) == int(other.iterations)
    np.testing.assert_allclose(x, y, rtol=1e-15)
    for differentiate in (jax.jacfwd, jax.jacrev):
        slopes = (jax.jit(differentiate(lambda theta, f=f: f(theta)[0]))(2.0) for f in (in_parts, at_once))
        np.testing.assert_allclose(*slopes, rtol=1e-14)


def cubic(x, y, theta):
    return jnp.concatenate([x**3 + theta * x - 1, y - jnp.stack([x[0] ** 2, jnp.sin(theta * x[0] * y[0])])])


def root_of_parts(theta, guess, reuse):
    return newton_solve(lambda x, y: cubic(x, y, theta), guess, jnp.ones_like, cuts=(1,), reuse=reuse)


def test_one_jacobian_serves_several_steps():
    """The same root and derivatives; from a near guess two steps by one Jacobian."""
    find = jax.jit(root_of_parts, static_argnums=2)
    guess = jnp.array([1.0, 1.0, 0.5])
    (x, report), (y, _) = find(1.3, guess, True), find(1.3, guess, False)
    assert np.max(np.abs(x - y)) <= 4e-16
    assert report.converged
    for differentiate in (jax.jacfwd, jax.jacrev):
        slope = jax.jit(
            differentiate(lambda theta, guess, reuse: root_of_parts(theta, guess, reuse)[0]), static_argnums=2
        )
        np.testing.assert_allclose(slope(1.3, guess, True), slope(1.3, guess, False), rtol=1e-14)
    near, report = find(1.3, y + 1e-6, True)
    assert np.max(np.abs(near - y)) <= 4e-16
    assert int(report.iterations) == 2


def test_a_jacobian_that_no_longer_fits_is_made_anew():
    far, report = jax.jit(root_of_parts, static_argnums=2)(1.3, jnp.array([30.0, 5.0, 7.0]), True)
    assert report.converged
    assert np.max(np.abs(cubic(far[:1], far[1:], 1.3))) <= 1e-15
    x, report = newton_solve(lambda x: x * x + 1, jnp.array([0.5]), jnp.ones_like, reuse=True)
    assert np.all(np.isnan(x))
    assert not report.converged


def test_derivatives_in_what_limits_depend_on():
    """Limits change the way to the root, not the root: derivatives do not see them."""

    def find(theta):
        return newton_solve(lambda x: x**3 - theta, jnp.array([3.0]), jnp.ones_like, lambda x: 0.2 * theta + 0 * x)[0][
            0
        ]

    assert abs(jax.jit(jax.grad(find))(8.0) - 1 / 12) <= 1e-16
