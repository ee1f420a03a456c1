"""Quantities that are known in two ways: one for the value, one for the derivatives."""

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech.numerics.with_value import with_value


def test_the_value_of_one_and_the_derivatives_of_the_other():
    def known(x):
        return with_value({"a": 2.0, "b": jnp.cos(x)}, {"a": jnp.sin(x), "b": x**3})

    x = 0.7
    np.testing.assert_array_equal(known(x)["a"], 2.0)
    np.testing.assert_array_equal(known(x)["b"], jnp.cos(x))
    first, second = jax.jacfwd(known)(x), jax.jacrev(jax.jacfwd(known))(x)
    np.testing.assert_allclose([first["a"], first["b"]], [np.cos(x), 3 * x**2], rtol=1e-15)
    np.testing.assert_allclose([second["a"], second["b"]], [-np.sin(x), 6 * x], rtol=1e-15)


def test_derivatives_of_products_take_the_value():
    slope = jax.grad(lambda x: with_value(5.0, x**2) ** 2)(3.0)
    assert float(slope) == 2 * 5.0 * 6.0


def test_without_derivatives_the_function_is_not_computed():
    program = jax.jit(lambda x: with_value(x, jnp.sin(x))).lower(1.0).compile().as_text()
    assert "sine" not in program
    control = jax.jit(lambda x: x + (jnp.sin(x) - jnp.sin(x) * 1.0)).lower(1.0).compile().as_text()
    assert "sine" in control or "sin" in control


def test_a_number_for_all_entries():
    np.testing.assert_array_equal(with_value(1.0, jnp.zeros(3)), np.ones(3))
    assert float(jax.grad(lambda x: with_value(2, x) ** 2)(1.0)) == 4.0, "a whole number is a number too"
