"""Coordinates that are known: values from them, derivatives of two orders as those of the logarithm, which is not taken."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.manifolds.known_coordinates import (
    carried_to,
    local_at,
    point_along,
    point_in_the_middle,
    reflected_at,
)
from groupoid_mech.manifolds.manifold import Manifold

EXACT = 2e-14
WRONG = 1e-4

SO3_BY_CAY = gm.SO3(tau="cayley")
PRODUCT = gm.ProductManifold(gm.Sphere(2), gm.SO3(), gm.Euclidean(1))
# Each with whether derivatives are closed forms in ξ, and whether the frame turns on the way.
MANIFOLDS = {
    "T2": (gm.Torus(2), False, False),
    "S2": (gm.Sphere(2), True, True),
    "S3": (gm.Sphere(3), True, True),
    "SO3": (gm.SO3(), True, False),
    "SO3 by cay": (SO3_BY_CAY, True, False),
    "SE2": (gm.SE2(), True, False),
    "S2 x SO3 x R1": (PRODUCT, True, True),
    "ellipsoid": (gm.LevelSet(lambda x: jnp.sum(x * x * jnp.array([1.0, 0.5, 0.25])) - 1, 3), False, True),
}


def ends(M, length):
    """A point, coordinates, the point they lead to, and directions in which the two ends move."""
    keys = jax.random.split(jax.random.key(3), 4)
    x = M.random_point(keys[0])
    xi, u, w = (length * jax.random.uniform(key, (M.dim,), minval=-1.0, maxval=1.0) for key in keys[1:])
    return x, M.retract(x, xi), xi, u, w


def derivatives(M, functions, length=0.4):
    """The values and two derivatives of functions of x, y and ξ along a curve of both ends; and ξ."""

    @jax.jit
    def compute():
        x, y, xi, u, w = ends(M, length)
        zero, one = jnp.zeros(()), jnp.ones(())

        def at(t):
            return [function(M, M.retract(x, t * u), M.retract(y, t * w), xi) for function in functions]

        def slope(t):
            return jax.jvp(at, (t,), (one,))[1]

        return list(zip(at(zero), slope(zero), jax.jvp(slope, (zero,), (one,))[1], strict=True)), xi

    return compute()


def gap(a, b):
    return max(float(np.max(np.abs(x - y))) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def by_logarithm(M, x, y, xi):
    return M.local(x, y)


def the_way_back(M, x, y, xi):
    return -M.local(y, x)


def at_other_coordinates(M, x, y, xi):
    return local_at(M, x, y, 2 * xi)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.extended if name not in ("S2", "SO3 by cay") else ()) for name in MANIFOLDS],
)
def test_two_derivatives_are_those_of_the_logarithm(name):
    """And closed forms take no logarithm: from other coordinates than those of the points they make other derivatives."""
    M, closed, turning = MANIFOLDS[name]
    functions = by_logarithm, local_at, at_other_coordinates, the_way_back, reflected_at
    (expected, found, other, back, on), xi = derivatives(M, functions)
    np.testing.assert_array_equal(found[0], xi)
    assert gap(expected, found) <= EXACT
    assert (gap(expected[1], other[1]) > WRONG) == closed
    assert gap(back[0], on[0]) <= EXACT
    assert (gap(back[0], xi) > WRONG) == turning


@pytest.mark.few(1)
@pytest.mark.parametrize("M", [gm.Sphere(2), gm.SO3()], ids=["S2", "SO3"])
def test_short_ways_keep_their_digits(M):
    (expected, found), xi = derivatives(M, (by_logarithm, local_at), 1e-8)
    np.testing.assert_array_equal(found[0], xi)
    assert 0 < gap(expected[0], found[0]) <= 1e-15
    assert gap(expected[1:], found[1:]) <= EXACT


def a_third(M, x, y, xi):
    return point_along(M, x, y, xi, 0.3)


def half(M, x, y, xi):
    return point_along(M, x, y, xi, 0.5)


def a_third_by_definition(M, x, y, xi):
    return point_along.dispatch(Manifold)(M, x, y, xi, 0.3)


@pytest.mark.extended
def test_points_on_a_great_circle():
    functions = a_third_by_definition, a_third, half, point_in_the_middle
    (expected, found, middle, directly), _ = derivatives(gm.Sphere(2), functions)
    assert gap(expected, found) <= EXACT
    assert gap(middle, directly) <= EXACT
    assert gap(found, middle) > WRONG


@pytest.mark.extended
def test_points_on_the_way_in_a_product():
    """That of every factor; and on a one-parameter group the velocity keeps its coordinates, by the Cayley map it does not."""

    @jax.jit
    def compute():
        x, y, xi, *_ = ends(PRODUCT, 0.4)
        h = SO3_BY_CAY.retract(x[1], xi[2:5])
        z, velocity = a_third(SO3_BY_CAY, x[1], h, xi[2:5])
        cayley = velocity, SO3_BY_CAY.local(z, h) / 0.7
        ways = [f(PRODUCT, x, y, xi) for f in (a_third_by_definition, a_third, half, point_in_the_middle)]
        return ways, cayley, xi

    (expected, found, middle, directly), (velocity, rest), xi = compute()
    assert gap(expected, found) <= EXACT
    assert gap(middle, directly) <= EXACT
    np.testing.assert_array_equal(found[1][2:], xi[2:])
    assert gap(velocity, rest) <= EXACT
    assert gap(velocity, xi[2:5]) > WRONG


@pytest.mark.few(1)
@pytest.mark.parametrize("dim", [2, 3])
def test_vectors_are_carried_along_a_great_circle_in_parallel(dim):
    """Their derivative along the arc has no tangential part, and the velocity of the arc stays one; a projection shortens them."""
    S = gm.Sphere(dim)

    @jax.jit
    def compute():
        x, y, xi, mu, _ = ends(S, 0.9)

        def on_the_way(carry):
            return lambda t: S.to_ambient(S.retract(x, t * xi), carry(S, x, S.retract(x, t * xi), mu))

        def rates(carry):
            return S.from_ambient(S.retract(x, 0.7 * xi), jax.jacfwd(on_the_way(carry))(0.7))

        ways = carried_to, carried_to.dispatch(Manifold)
        lengths = [jnp.linalg.norm(carry(S, x, y, mu)) / jnp.linalg.norm(mu) for carry in ways]
        velocities = [carry(S, x, y, xi) - reflected_at(S, x, y, xi) for carry in ways]
        return [rates(carry) for carry in ways], lengths, velocities

    (rate, projected_rate), (length, projected_length), (velocity, projected_velocity) = compute()
    assert np.max(np.abs(rate)) <= 1e-15
    assert abs(length - 1) <= 1e-15
    assert np.max(np.abs(velocity)) <= 1e-15
    assert np.max(np.abs(projected_rate)) > 1e-3
    assert projected_length < 1 - 1e-3
    assert np.max(np.abs(projected_velocity)) > 1e-3
