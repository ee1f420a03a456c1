"""Arrows of known coordinates: two derivatives as those of the fibre chart's inverse, and the way on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.groupoids.known_arrow import fiber_local_at, reflected_arrow_at

EXACT = 2e-14
WRONG = 1e-4
S2, SO3 = gm.Sphere(2), gm.SO3()

GROUPOIDS = {
    "pair(S2)": gm.PairGroupoid(S2),
    "SO3": gm.GroupGroupoid(SO3),
    "S2 x| SO3": gm.ActionGroupoid(S2, SO3, lambda q, h: h.T @ q),
    "gauge(S2, SO3)": gm.GaugeGroupoid(S2, SO3),
    "pair(R2) x SO3": gm.ProductGroupoid(gm.PairGroupoid(gm.Euclidean(2)), gm.GroupGroupoid(SO3)),
    "time": gm.TimeExtended(gm.PairGroupoid(S2)),
}


def gap(a, b):
    return max(float(np.max(np.abs(x - y))) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.extended if name == "time" else ()) for name in GROUPOIDS]
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
