"""Functions that are differentiated forward have the derivatives that they have, in both modes, to higher orders and in what they close over."""

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech.numerics.forward_derivatives import differentiated_forward
from groupoid_mech.numerics.matrix import inverse_matrix


def looped(z, c):
    return jax.lax.scan(lambda y, _: (y + 0.1 * jnp.sin(c * y[::-1]), None), z, None, length=5)[0]


def test_derivatives_to_the_third_order_and_in_constants():
    z, c = jnp.array([0.3, -0.7]), jnp.asarray(1.3)

    def sums(function):
        return lambda z, c: jnp.sum(function(z, c) ** 2)

    plain, forward = sums(looped), sums(lambda z, c: differentiated_forward(lambda z: looped(z, c), z))

    @jax.jit
    def derivatives(z, c):
        return [
            (jax.grad(f, (0, 1))(z, c), jax.jacfwd(jax.grad(f, (0, 1)))(z, c), jax.jacfwd(jax.hessian(f))(z, c))
            for f in (plain, forward)
        ]

    for left, right in zip(*(jax.tree.leaves(part) for part in derivatives(z, c)), strict=True):
        assert np.max(np.abs(left - right)) <= 1e-14
        assert np.max(np.abs(left)) > 1e-3


def test_the_inverse_of_a_matrix_has_the_derivatives_of_one():
    A, B = jnp.array([[0.0, 2.0], [1.0, 0.5]]), jnp.array([[0.3, -0.2], [0.7, 0.1]])

    @jax.jit
    def both(A):
        return [jax.jvp(jax.jacfwd(f), (A,), (B,)) for f in (inverse_matrix, jnp.linalg.inv)]

    for left, right in zip(*(jax.tree.leaves(part) for part in both(A)), strict=True):
        assert np.max(np.abs(left - right)) <= 1e-14
