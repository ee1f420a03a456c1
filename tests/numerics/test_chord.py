"""Newton's method with a kept Jacobian: roots at round-off, other values there, implicit derivatives, when the Jacobian is made anew."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from groupoid_mech.numerics.chord import KeptInverse, chord_solve, no_inverse

GUESS = jnp.array([1.0, 1.0, 0.5])


def sizes(x):
    return jnp.ones_like(x)


def equations(z, theta):
    x, y, w = z
    return jnp.stack([x**3 + theta * x - 1, y - x**2, w - jnp.sin(theta * x * y)])


def solve(theta, guess, inverse, limits=None):
    return chord_solve(lambda z: (equations(z, theta), {"cube": z[0] ** 3 * theta}), guess, inverse, sizes, limits)


find = jax.jit(solve)
value = jax.jit(equations)
values = jax.jit(jax.vmap(equations))
slopes = jax.jit(jax.jacfwd(equations))


@pytest.fixture(scope="module")
def kept():
    return find(1.3, GUESS, no_inverse(3))[2]


def test_root_and_values_there():
    x, others, inverse, report = find(1.3, GUESS, no_inverse(3))
    assert report.converged
    assert np.max(np.abs(value(x, 1.3))) <= 4e-16
    assert abs(others["cube"] - 1.3 * x[0] ** 3) <= 2e-16
    exact = np.linalg.inv(slopes(x, 1.3))
    assert inverse.known == 1
    assert np.max(np.abs(inverse.matrix - exact)) < 0.1


def test_derivatives_are_those_of_the_implicit_function():
    """x' = -x / (3x² + θ), and the values move with x and θ; whatever inverse is kept."""
    x = find(1.3, GUESS, no_inverse(3))[0][0]
    slope = -x / (3 * x**2 + 1.3)
    for differentiate in (jax.jacfwd, jax.jacrev):
        both = jax.jit(differentiate(lambda theta, kept: solve(theta, GUESS, kept)[:2]))
        for inverse in (no_inverse(3), KeptInverse(0.5 * jnp.eye(3), jnp.asarray(1.0))):
            dx, dvalues = both(1.3, inverse)
            assert abs(dx[0] - slope) <= 4e-16
            assert abs(dx[1] - 2 * x * slope) <= 4e-16
            assert abs(dvalues["cube"] - (x**3 + 1.3 * 3 * x**2 * slope)) <= 4e-16
    second = jax.jit(jax.jacfwd(jax.jacrev(lambda theta: solve(theta, GUESS, no_inverse(3))[0][0])))(1.3)
    assert abs(second + (6 * x * slope**2 + 2 * slope) / (3 * x**2 + 1.3)) <= 1e-14


def test_a_jacobian_serves_equations_alike(kept):
    """From near guesses the kept inverse is used as it is, and a few values of F are enough."""
    x = find(1.3, GUESS, kept)[0]
    for theta in (1.3, 1.3 + 1e-9, 1.3 + 1e-8):
        y, _, after, report = find(theta, x + 1e-8, kept)
        assert np.max(np.abs(value(y, theta))) <= 4e-16
        assert np.array_equal(after.matrix, kept.matrix)
        assert 3 <= int(report.iterations) <= 5


def test_a_jacobian_that_does_not_fit_is_made_anew(kept):
    """Far away, or where increments do not shrink: the wrong inverse would lead away, or nowhere."""
    far, _, after, report = find(1.3, jnp.array([30.0, 5.0, 7.0]), kept)
    assert report.converged
    assert np.max(np.abs(value(far, 1.3))) <= 1e-15
    assert not np.array_equal(after.matrix, kept.matrix)
    x = find(1.3, GUESS, kept)[0]
    for wrong in (-1.0, 0.5, 1e-3):
        spoiled = KeptInverse(wrong * kept.matrix, kept.known)
        y, _, after, report = find(1.3, x + 1e-4, spoiled)
        assert report.converged
        assert np.max(np.abs(y - x)) <= 4e-16
        assert not np.array_equal(after.matrix, spoiled.matrix)


def test_no_root_is_nan():
    x, y, _, report = chord_solve(lambda x: (x * x + 1, x), jnp.array([0.5]), no_inverse(1), sizes)
    assert np.isnan(x[0])
    assert np.isnan(y[0])
    assert not report.converged


def test_a_singular_jacobian_is_no_root():
    x, _, _, report = chord_solve(
        lambda x: (jnp.full(2, jnp.sum(x) - 1), x), jnp.array([0.5, 0.2]), no_inverse(2), sizes
    )
    assert np.all(np.isnan(x))
    assert not report.converged


def test_batches(kept):
    """Members of a batch need different numbers of iterations."""
    thetas, guesses = jnp.linspace(0.5, 3.0, 7), GUESS + jnp.linspace(0, 10, 7)[:, None]
    x, _, _, report = jax.jit(jax.vmap(solve, in_axes=(0, 0, None)))(thetas, guesses, kept)
    assert np.all(report.converged)
    assert np.max(np.abs(values(x, thetas))) <= 1e-15


def test_a_jacobian_for_one_is_one_for_all(kept):
    """A member that is far away has it made anew, and the one that would do without has it too."""
    root = find(1.3, GUESS, kept)[0]
    near, far = root + 1e-8, jnp.array([30.0, 5.0, 7.0])
    many = jax.jit(jax.vmap(solve, in_axes=(None, 0, None)))
    alone, together = (many(1.3, jnp.stack(guesses), kept) for guesses in ((near, near), (near, far)))
    assert np.array_equal(alone[2].matrix[0], kept.matrix)
    exact = np.linalg.inv(slopes(root, 1.3))
    assert np.max(np.abs(kept.matrix - exact)) > 1e-5
    assert np.max(np.abs(together[2].matrix[0] - exact)) < 1e-7
    assert np.max(np.abs(together[0] - root)) <= 4e-16
    nested = jax.jit(jax.vmap(jax.vmap(solve, in_axes=(None, 0, None)), in_axes=(0, None, None)))
    thetas = jnp.array([1.3, 2.0])
    x = nested(thetas, jnp.stack([near, far]), kept)[0]
    assert np.max(np.abs(jax.vmap(jax.vmap(equations, (0, None)))(x, thetas))) <= 1e-15


def test_limits_change_the_way_not_the_root():
    def limited(theta):
        limits = lambda x: 0.2 * theta + 0 * x  # noqa: E731
        return chord_solve(lambda x: (x**3 - theta, x), jnp.array([3.0]), no_inverse(1), sizes, limits)

    (x, *_, report), (_, *_, free) = (
        jax.jit(limited)(8.0),
        chord_solve(lambda x: (x**3 - 8, x), jnp.array([30.0]), no_inverse(1), sizes),
    )
    assert abs(x[0] - 2) <= 4e-16
    assert report.converged
    assert free.converged
    assert abs(jax.jit(jax.grad(lambda theta: limited(theta)[0][0]))(8.0) - 1 / 12) <= 1e-16


def test_a_poor_inverse_of_many_unknowns_is_made_anew():
    """It takes nine tenths of the increments in every iteration: powers of their sizes must not vanish before it is seen."""
    n = 150
    target = jnp.linspace(0.5, 1.5, n)

    @jax.jit
    def run(inverse):
        return chord_solve(lambda x: (x + 0.1 * x**3 - target, {}), 0.9 * target, inverse, sizes)

    exact = run(no_inverse(n))[0]
    near = jax.jit(lambda inverse: chord_solve(lambda x: (x + 0.1 * x**3 - target, {}), exact + 1e-4, inverse, sizes))
    x, _, _, report = near(KeptInverse(0.1 * jnp.eye(n), jnp.asarray(1.0)))
    assert report.converged
    assert int(report.iterations) <= 6
    assert np.max(np.abs(x - exact)) <= 4e-16
