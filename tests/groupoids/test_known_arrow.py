"""Arrows of known coordinates: two derivatives as those of the fibre chart's inverse, and the way on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.subjects import unchecked

import groupoid_mech as gm
from groupoid_mech.groupoids.known_arrow import carried_between, fiber_local_at, reflected_arrow_at

EXACT = 2e-14
WRONG = 1e-4
S2, SO3 = gm.Sphere(2), gm.SO3()

GROUPOIDS = {
    "pair(S2)": gm.PairGroupoid(S2),
    "SO3": gm.GroupGroupoid(SO3),
    "S2 x| SO3": unchecked(lambda: gm.ActionGroupoid(S2, SO3, lambda q, h: h.T @ q)),
    "gauge(S2, SO3)": gm.GaugeGroupoid(S2, SO3),
    "pair(R2) x SO3": gm.ProductGroupoid(gm.PairGroupoid(gm.Euclidean(2)), gm.GroupGroupoid(SO3)),
    "time": gm.TimeExtended(gm.PairGroupoid(S2)),
}


def gap(a, b):
    return max(float(np.max(np.abs(x - y))) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.extended if name != "pair(S2)" else ()) for name in GROUPOIDS],
)
def test_two_derivatives_and_the_way_on(name):
    G = GROUPOIDS[name]

    @jax.jit
    def compute():
        keys = jax.random.split(jax.random.key(5), 4)
        q = G.base.random_point(keys[0])
        a, b, e = (0.4 * jax.random.uniform(key, (G.rank,), minval=-1.0, maxval=1.0) for key in keys[1:])
        g = G.fiber_chart(q, a)

        def moved(t):
            """The arrow with both ends in motion: c(q, t b)⁻¹ g c(q', t e)."""
            return G.multiply(G.inverse(G.fiber_chart(q, t * b)), G.multiply(g, G.fiber_chart(G.target(g), t * e)))

        def jets(function):
            def slope(t):
                return jax.jvp(lambda t: function(moved(t)), (t,), (jnp.ones(()),))[1]

            zero = jnp.zeros(())
            return function(moved(zero)), slope(zero), jax.jvp(slope, (zero,), (jnp.ones(()),))[1]

        expected = jets(lambda g: G.fiber_local(G.source(g), g))
        on = -G.fiber_local(G.target(g), G.inverse(g))
        others = jets(lambda g: fiber_local_at(G, g, 2 * a))
        return a, expected, jets(lambda g: fiber_local_at(G, g, a)), others, on, reflected_arrow_at(G, g, a)

    a, expected, found, others, on, reflected = compute()
    np.testing.assert_array_equal(found[0], a)
    assert gap(expected, found) <= EXACT
    assert gap(on, reflected) <= EXACT
    assert gap(expected[1], others[1]) > WRONG


BELOW = jnp.array([0.6, 0.8, -1e-10])
UP = S2.from_ambient(BELOW, jnp.array([0.3, -0.2, 1.0]))
# A base point just below the equator, and coordinates of an arrow that leads above it.
ACROSS = {
    "pair(S2)": (BELOW, UP),
    "S2 x| SO3": (BELOW, jnp.array([1.0, 0.5, 0.2])),
    "gauge(S2, SO3)": (BELOW, jnp.concatenate([UP, jnp.array([0.3, -0.5, 0.2])])),
    "time": ((jnp.zeros(1), BELOW), jnp.concatenate([jnp.ones(1), UP])),
}


@pytest.mark.parametrize("name", ACROSS)
def test_covectors_are_carried_across_a_jump_of_the_frame(name):
    """On a short arrow the pairing with the way on is that with the way there; components that stay as they are give another."""
    G, (q, direction), length = GROUPOIDS[name], ACROSS[name], 1e-9

    @jax.jit
    def compute():
        a = length * direction
        mu = jnp.array([1.0, -2.0, 0.5, 3.0, 1.5])[: G.rank]
        g = G.fiber_chart(q, a)
        on = reflected_arrow_at(G, g, a)
        return jnp.sum(mu * a), jnp.sum(carried_between(G, G.source(g), G.target(g), mu) * on), jnp.sum(mu * on)

    before, after, unmoved = (float(value) / length for value in compute())
    assert abs(after - before) <= 10 * length
    # The frame of an action groupoid is that of its group, and does not jump.
    assert (abs(unmoved - before) > 0.1) == (name != "S2 x| SO3")
