"""Coordinates that are known: values from them, derivatives of two orders as those of the logarithm, which is not taken."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.manifolds.known_coordinates import local_at, point_along, point_in_the_middle, reflected_at
from groupoid_mech.manifolds.manifold import Manifold

EXACT = 2e-14
WRONG = 1e-4

MANIFOLDS = {
    "R2": gm.Euclidean(2),
    "T2": gm.Torus(2),
    "S2": gm.Sphere(2),
    "S3": gm.Sphere(3),
    "SO3": gm.SO3(),
    "SO3 by cay": gm.SO3(tau="cayley"),
    "SE2": gm.SE2(),
    "H1": gm.Heisenberg(),
    "S2 x SO3 x R1": gm.ProductManifold(gm.Sphere(2), gm.SO3(), gm.Euclidean(1)),
    "ellipsoid": gm.LevelSet(lambda x: jnp.sum(x * x * jnp.array([1.0, 0.5, 0.25]))[None] - 1, ambient_dim=3),
}
STRAIGHT = ("R2", "S2", "S2 x SO3 x R1")


def curve(M, length=0.4):
    """A point, coordinates, and directions in which the two ends move."""
    keys = jax.random.split(jax.random.key(3), 4)
    x = M.random_point(keys[0])
    xi, u, w = (length * jax.random.uniform(key, (M.dim,), minval=-1.0, maxval=1.0) for key in keys[1:])
    return x, M.retract(x, xi), xi, u, w


def derivatives(M, function, length=0.4):
    """The value and two derivatives of a function of x and y along a curve of both."""

    @jax.jit
    def compute():
        x, y, xi, u, w = curve(M, length)

        def at(t):
            return function(M, M.retract(x, t * u), M.retract(y, t * w), xi)

        def slope(t):
            return jax.jvp(at, (t,), (jnp.ones(()),))[1]

        zero = jnp.zeros(())
        return at(zero), slope(zero), jax.jvp(slope, (zero,), (jnp.ones(()),))[1]

    return compute()


def gap(a, b):
    return max(float(np.max(np.abs(x - y))) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def by_logarithm(M, x, y, xi):
    return M.local(x, y)


@pytest.mark.parametrize("name", MANIFOLDS)
def test_two_derivatives_are_those_of_the_logarithm(name):
    M = MANIFOLDS[name]
    expected, found = derivatives(M, by_logarithm), derivatives(M, local_at)
    np.testing.assert_array_equal(found[0], curve(M)[2])
    assert gap(expected, found) <= EXACT


@pytest.mark.parametrize("name", ["S2", "SO3", "S2 x SO3 x R1"])
def test_closed_derivatives_are_made_from_the_given_coordinates(name):
    """Other coordinates than those of the points give other derivatives: the closed forms take no logarithm."""
    M = MANIFOLDS[name]
    expected, found = derivatives(M, by_logarithm), derivatives(M, lambda M, x, y, xi: local_at(M, x, y, 2 * xi))
    assert gap(expected[1], found[1]) > WRONG


@pytest.mark.parametrize("name", ["S2", "SO3"])
def test_short_ways_keep_their_digits(name):
    M = MANIFOLDS[name]
    expected, found = derivatives(M, by_logarithm, 1e-8), derivatives(M, local_at, 1e-8)
    np.testing.assert_array_equal(found[0], curve(M, 1e-8)[2])
    assert 0 < np.max(np.abs(expected[0] - found[0])) <= 1e-15
    assert gap(expected[1:], found[1:]) <= EXACT


@pytest.mark.parametrize("name", MANIFOLDS)
def test_the_way_on(name):
    M = MANIFOLDS[name]
    expected = derivatives(M, lambda M, x, y, xi: -M.local(y, x))[0]
    assert gap(expected, derivatives(M, reflected_at)[0]) <= EXACT
    # On the sphere and the ellipsoid the frame turns on the way, elsewhere the coordinates stay.
    turned = name in ("S2", "S3", "S2 x SO3 x R1", "ellipsoid")
    assert (gap(expected, curve(M)[2]) > WRONG) == turned


@pytest.mark.parametrize("name", STRAIGHT)
def test_points_on_the_way(name):
    M = MANIFOLDS[name]

    def definition(M, x, y, xi):
        return point_along.dispatch(Manifold)(M, x, y, xi, 0.3)

    assert gap(derivatives(M, definition), derivatives(M, lambda *args: point_along(*args, 0.3))) <= EXACT
    middle = derivatives(M, point_in_the_middle)
    assert gap(middle, derivatives(M, lambda *args: point_along(*args, 0.5))) <= EXACT
    assert gap(middle, derivatives(M, definition)) > WRONG


def test_a_point_on_the_way_by_the_cayley_map():
    """cay(θ ξ) is no one-parameter group: the velocity there has other coordinates."""
    M = MANIFOLDS["SO3 by cay"]
    x, y, xi, *_ = curve(M)
    z, velocity = point_along(M, x, y, xi, 0.3)
    assert gap(velocity, M.local(z, y) / 0.7) <= EXACT
    assert gap(velocity, xi) > WRONG
