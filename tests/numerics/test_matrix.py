"""Small products and solves against numpy, their derivatives, and what they compile to."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import operations

from groupoid_mech.numerics.matrix import (
    axial,
    complement,
    complement_and_span,
    cross_matrix,
    invert,
    matmul,
    matvec,
    right_inverse,
    solve,
    weighted_sum,
)

RNG = np.random.default_rng(0)


def test_products():
    A, B, x = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 5)), RNG.normal(size=3)
    np.testing.assert_allclose(matmul(A, B), A @ B, rtol=1e-14)
    np.testing.assert_allclose(matvec(A, x), A @ x, rtol=1e-14)


def test_weighted_sums():
    weights, matrices, vectors = RNG.normal(size=3), RNG.normal(size=(3, 2, 4)), RNG.normal(size=(3, 5))
    np.testing.assert_allclose(weighted_sum(weights, matrices), np.einsum("c,cab->ab", weights, matrices), rtol=1e-14)
    np.testing.assert_allclose(weighted_sum(weights, vectors), weights @ vectors, rtol=1e-14)
    np.testing.assert_allclose(weighted_sum(weights, weights), weights @ weights, rtol=1e-14)


def test_cross_matrix_and_axial():
    w, x = RNG.normal(size=(2, 3))
    np.testing.assert_allclose(cross_matrix(w) @ x, np.cross(w, x), rtol=1e-14)
    np.testing.assert_allclose(axial(cross_matrix(w)), w, rtol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12, 13])
def test_solve(n):
    A, b = RNG.normal(size=(20, n, n)), RNG.normal(size=(20, n))
    x = jax.jit(jax.vmap(solve))(A, b)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", A, x), b, atol=1e-11)


def test_one_matrix_and_many_right_hand_sides_are_one_elimination():
    A, B, As = RNG.normal(size=(4, 4)), RNG.normal(size=(7, 4)), RNG.normal(size=(7, 4, 4))
    together = jax.vmap(solve, in_axes=(None, 0))
    np.testing.assert_allclose(jax.jit(together)(A, B), np.linalg.solve(A, B.T).T, rtol=1e-12)
    assert not operations(jax.make_jaxpr(together)(A, B).jaxpr) & {"gather", "scatter"}
    # So in derivatives along many vectors, to any order, and of the transposed equation.
    slope = jax.jit(jax.jacfwd(jax.jacrev(lambda b: jnp.sum(solve(A + jnp.outer(b, b), b) ** 2))))(B[0])
    exact = jax.jit(jax.hessian(lambda b: jnp.sum(jnp.linalg.solve(A + jnp.outer(b, b), b) ** 2)))(B[0])
    np.testing.assert_allclose(slope, exact, rtol=1e-9, atol=1e-9)
    # The control: with a matrix for each the pivots differ.
    apart = jax.vmap(solve, in_axes=(0, None))
    np.testing.assert_allclose(jax.jit(apart)(As, B[0]), [np.linalg.solve(one, B[0]) for one in As], rtol=1e-11)
    assert operations(jax.make_jaxpr(apart)(As, B[0]).jaxpr) & {"gather", "scatter"}


def test_solve_needs_pivots():
    A = jnp.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(jax.jit(solve)(A, jnp.array([1.0, 2.0, 3.0])), [3.0, 1.0, 2.0])
    nearly = jnp.array([[1e-20, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(jax.jit(solve)(nearly, jnp.array([1.0, 2.0])), [1.0, 1.0], rtol=1e-15)


def test_solve_of_a_singular_matrix_is_not_a_number_that_looks_right():
    assert not np.all(np.isfinite(jax.jit(solve)(jnp.ones((2, 2)), jnp.array([1.0, 2.0]))))


@pytest.mark.parametrize("n", [1, 3, 8, 15])
def test_invert(n):
    A = np.random.default_rng(n).normal(size=(n, n))
    np.testing.assert_allclose(jax.jit(invert)(A) @ A, np.eye(n), atol=1e-12)


def test_invert_needs_pivots():
    A = np.array([[0.0, 2.0, 0.0], [1e-20, 1.0, 1.0], [4.0, 0.0, 0.0]])
    np.testing.assert_allclose(jax.jit(invert)(A), np.linalg.inv(A), atol=1e-15)
    assert not np.all(np.isfinite(jax.jit(invert)(np.ones((2, 2)))))


@pytest.mark.parametrize("differentiate", [jax.jacfwd, jax.jacrev])
def test_solve_derivative(differentiate):
    A, b = jnp.asarray(RNG.normal(size=(4, 4))), jnp.asarray(RNG.normal(size=4))
    x, inverse = np.linalg.solve(A, b), np.linalg.inv(A)
    np.testing.assert_allclose(jax.jit(differentiate(lambda b: solve(A, b)))(b), inverse, atol=1e-13)
    expected = -np.einsum("ij,k->ijk", inverse, x)
    np.testing.assert_allclose(jax.jit(differentiate(lambda A: solve(A, b)))(A), expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 3), (2, 5), (3, 3), (7, 8)])
def test_right_inverse(shape):
    B = jnp.asarray(RNG.normal(size=shape))
    np.testing.assert_allclose(jax.jit(right_inverse)(B), np.linalg.pinv(B), atol=1e-12)
    assert right_inverse(B[:0]).shape == (shape[1], 0)


@pytest.mark.few(1)
@pytest.mark.parametrize("differentiate", [jax.jacfwd, jax.jacrev])
def test_right_inverse_derivatives(differentiate):
    B = jnp.asarray(RNG.normal(size=(2, 4)))
    plain = lambda B: B.T @ jnp.linalg.inv(B @ B.T)  # noqa: E731
    np.testing.assert_allclose(*(jax.jit(differentiate(f))(B) for f in (right_inverse, plain)), atol=1e-12)
    twice = [jax.jit(differentiate(lambda B, f=f: jax.jacfwd(f)(B)[0, 0]))(B) for f in (right_inverse, plain)]
    np.testing.assert_allclose(*twice, atol=1e-11)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 1), (3, 2), (5, 2), (4, 3)])
def test_complement(n, m):
    A = RNG.normal(size=(50, n, m))
    E = np.asarray(jax.jit(jax.vmap(complement))(A))
    np.testing.assert_allclose(
        np.einsum("kia,kib->kab", E, E), np.broadcast_to(np.eye(n - m), (50, n - m, n - m)), atol=1e-14
    )
    np.testing.assert_allclose(np.einsum("kia,kib->kab", E, A), 0, atol=1e-14)


def test_complement_of_a_vector_is_oriented():
    compiled = jax.jit(complement)
    for x in RNG.normal(size=(20, 3)):
        E = compiled(x[:, None])
        assert np.linalg.det(np.column_stack([E, x])) > 0


def test_complement_is_smooth_away_from_the_jump():
    x = jnp.array([0.3, -0.5, 0.8])
    derivative = jax.jit(jax.jacfwd(lambda y: complement(y[:, None])))(x)
    assert np.all(np.isfinite(derivative))
    # E(x)ᵀ x = 0 for every x, so its derivative vanishes: DEᵀ x + Eᵀ = 0.
    np.testing.assert_allclose(np.einsum("iaj,i->aj", derivative, x), -jax.jit(complement)(x[:, None]).T, atol=1e-14)


def test_bases_of_complement_and_span():
    A = jnp.asarray(np.random.default_rng(5).normal(size=(5, 2)))
    beside, along = jax.jit(complement_and_span)(A)
    Q = np.concatenate([beside, along], axis=1)
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-15)
    np.testing.assert_allclose(along @ (along.T @ A), A, atol=1e-14)
    assert np.array_equal(beside, jax.jit(complement)(A))
