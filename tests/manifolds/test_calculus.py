"""Calculus against textbook formulas: signs, factors and named vector fields; bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

R2, R3, S2, SO3 = gm.Euclidean(2), gm.Euclidean(3), gm.Sphere(2), gm.SO3()
X0 = jnp.array([0.7, -0.4, 1.3])


def test_bracket_of_textbook_fields():
    """[∂_x, x ∂_y] = ∂_y."""
    bracket = gm.lie_bracket(R2, lambda q: jnp.array([1.0, 0.0]), lambda q: jnp.stack([jnp.zeros(()), q[0]]))
    np.testing.assert_array_equal(bracket(jnp.array([2.0, 3.0])), [0.0, 1.0])


def test_bracket_of_rotations_of_the_sphere():
    """The generators X_w(x) = w × x satisfy [X_u, X_w] = −X_{u × w}."""

    def generator(w):
        return lambda x: S2.from_ambient(x, jnp.cross(jnp.array(w), x))

    x = S2.random_point(jax.random.key(0))
    bracket = gm.lie_bracket(S2, generator([1.0, 0, 0]), generator([0, 1.0, 0]))
    np.testing.assert_allclose(bracket(x), -generator([0, 0, 1.0])(x), atol=1e-15)


def test_exterior_derivative_is_the_curl():
    theta = lambda q: jnp.stack([q[1] ** 2, q[0] * q[2], jnp.sin(q[0])])  # noqa: E731
    d = gm.exterior_derivative(R3, theta)(X0)
    x, y, z = X0
    curl = [0 - x, 0 - jnp.cos(x), z - 2 * y]  # (∂_y θ_z − ∂_z θ_y, ∂_z θ_x − ∂_x θ_z, ∂_x θ_y − ∂_y θ_x)
    np.testing.assert_allclose([d[1, 2], d[2, 0], d[0, 1]], curl, atol=1e-15)


def test_exterior_derivative_of_a_two_form_is_the_divergence():
    def omega(q):
        b = jnp.stack([q[0] ** 2, q[1] * q[2], q[2] ** 3])
        return (
            jnp.array([[0, 0, 0], [0, 0, 1], [0, -1, 0]]) * b[0]
            + jnp.array([[0, 0, -1], [0, 0, 0], [1, 0, 0]]) * b[1]
            + jnp.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]]) * b[2]
        )

    x, _, z = X0
    d = gm.exterior_derivative(R3, omega)(X0)
    assert abs(d[0, 1, 2] - (2 * x + z + 3 * z**2)) < 1e-14
    assert abs(d[1, 0, 2] + d[0, 1, 2]) < 1e-14


def test_maurer_cartan():
    """Left-invariant one-forms satisfy dθ(ξ, η) = −θ([ξ, η])."""
    d = gm.exterior_derivative(SO3, lambda g: jnp.array([0.0, 0.0, 1.0]))(SO3.random_point(jax.random.key(1)))
    expected = np.zeros((3, 3))
    expected[0, 1], expected[1, 0] = -1, 1
    np.testing.assert_allclose(d, expected, atol=1e-15)


def test_area_form_of_the_sphere_pulls_back_to_the_plane():
    """In the chart by angles the area is sin(polar angle)."""

    def chart(q):
        return jnp.stack([jnp.sin(q[0]) * jnp.cos(q[1]), jnp.sin(q[0]) * jnp.sin(q[1]), jnp.cos(q[0])])

    area = lambda x: jnp.array([[0.0, 1.0], [-1.0, 0.0]])  # noqa: E731
    pulled = gm.pull_back(R2, S2, chart, area)(jnp.array([1.1, 0.4]))
    np.testing.assert_allclose(pulled, np.sin(1.1) * np.array([[0, 1], [-1, 0]]), atol=1e-15)


def test_push_forward_of_inversion_is_minus_adjoint():
    """T(g ↦ g⁻¹) in left-trivialized frames is −Ad_g."""
    g = SO3.random_point(jax.random.key(2))
    np.testing.assert_allclose(gm.push_forward(SO3, SO3, SO3.inverse, g), -SO3.adjoint(g), atol=1e-15)


def test_lie_derivative_of_a_form_along_a_rotation():
    """L_X (x dy − y dx) = 0 for the rotation X = x ∂_y − y ∂_x, and L_X dx = −dy."""
    rotation = lambda q: jnp.stack([-q[1], q[0]])  # noqa: E731
    q = jnp.array([0.3, 0.9])
    np.testing.assert_allclose(gm.lie_derivative(R2, rotation, rotation)(q), [0, 0], atol=1e-15)
    np.testing.assert_allclose(gm.lie_derivative(R2, rotation, lambda q: jnp.array([1.0, 0.0]))(q), [0, -1])


def test_interior_product_contracts_the_first_slot():
    omega = lambda q: jnp.array([[0.0, 1.0], [-1.0, 0.0]])  # noqa: E731
    np.testing.assert_array_equal(gm.interior_product(R2, lambda q: jnp.array([1.0, 0]), omega)(jnp.zeros(2)), [0, 1])


def test_fields_are_pytrees_that_vary_without_recompiling():
    from groupoid_mech.laws.kinds import A_FIELD

    traces = []

    @jax.jit
    def bracket(X, Y, x):
        traces.append(None)
        return gm.lie_bracket(S2, X, Y)(x)

    x = S2.random_point(jax.random.key(0))
    fields = [A_FIELD.build(S2, None, jnp.full(A_FIELD.size(S2), float(k))) for k in range(3)]
    for X in fields:
        bracket(X, fields[0], x)
    assert len(traces) == 1


def test_bad_functions():
    def with_math(x):
        import math

        return math.sin(x[0])

    with pytest.raises(gm.NotTraceableError, match="with_math cannot be traced by JAX .*jax.numpy"):
        gm.differential(S2, with_math, jnp.array([0.0, 0, 1]))
    with pytest.raises(gm.ArgumentError, match=r"differential needs .* of shape \(\)"):
        gm.differential(S2, lambda x: x, jnp.array([0.0, 0, 1]))
    with pytest.raises(
        gm.ArgumentError, match=r"lie_bracket needs .* of shape \(2,\); it returns an array of shape \(3,\)"
    ):
        gm.lie_bracket(S2, lambda x: x, lambda x: x)
    with pytest.raises(gm.ArgumentError, match="exterior_derivative needs"):
        gm.exterior_derivative(S2, lambda x: jnp.zeros((2, 2, 2)))
    with pytest.raises(gm.ArgumentError, match="real"):
        gm.differential(S2, lambda x: x[0] + 1j, jnp.array([0.0, 0, 1]))
    with pytest.raises(gm.ArgumentError, match="M to be a Manifold"):
        gm.exterior_derivative("S2", lambda x: x[0])
    with pytest.raises(gm.OffManifoldError, match="differential needs x on Sphere"):
        gm.differential(S2, lambda x: x[0], jnp.ones(3))


def test_points_are_checked_where_they_enter():
    X = lambda x: jnp.array([1.0, 0.0])  # noqa: E731
    theta = X
    operators = {
        "lie_bracket": gm.lie_bracket(S2, X, X),
        "lie_derivative": gm.lie_derivative(S2, X, theta),
        "exterior_derivative": gm.exterior_derivative(S2, theta),
        "interior_product": gm.interior_product(S2, X, theta),
        "pull_back": gm.pull_back(S2, S2, lambda x: x, theta),
    }
    for name, operator in operators.items():
        with pytest.raises(gm.OffManifoldError, match=f"{name} needs x on Sphere; it is off by 1 "):
            operator(jnp.array([0.0, 0.0, 2.0]))


def test_maps_must_land_on_their_manifold():
    with pytest.raises(gm.ArgumentError, match="push_forward needs .*<lambda>.*"):
        gm.push_forward(S2, R2, lambda x: x, jnp.array([0.0, 0, 1]))
    with pytest.raises(gm.OffManifoldError):
        gm.push_forward(R3, S2, lambda x: x, jnp.ones(3))
