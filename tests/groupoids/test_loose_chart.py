"""Charts that are a search, with the search left to the caller: they meet the chart where their equations hold, and nowhere else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.groupoids.loose_chart import loose_chart, searched_by_chart
from groupoid_mech.numerics.newton import newton_root

OVAL = gm.LevelSet(lambda x: 3 * (x[0] ** 2 + 2 * x[1] ** 2 - 1), 2)
# Two equations with gradients of very different size.
CURVE = gm.LevelSet(lambda x: jnp.stack([1e3 * (jnp.sum(x * x) - 1), x[2] - 0.3 * x[0] * x[1]]), 3)
GROUPOIDS = {
    "pair(oval)": (gm.PairGroupoid(OVAL), 1),
    "pair(curve)": (gm.PairGroupoid(CURVE), 2),
    "pair(T*oval)": (gm.PairGroupoid(gm.CotangentBundle(OVAL)), 1),
    "pair(oval × R)": (gm.PairGroupoid(gm.ProductManifold(OVAL, gm.Euclidean(1))), 1),
    "gauge": (gm.GaugeGroupoid(OVAL, gm.SO2()), 1),
    "product": (gm.ProductGroupoid(gm.GroupGroupoid(gm.SO2()), gm.PairGroupoid(OVAL), gm.PairGroupoid(CURVE)), 3),
    "in time": (gm.TimeExtended(gm.PairGroupoid(OVAL)), 1),
    "sphere": (gm.PairGroupoid(gm.Sphere(2)), 0),
    "action": (gm.ActionGroupoid(gm.Sphere(2), gm.SO3(), lambda q, h: h.T @ q), 0),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", GROUPOIDS)
def test_loose_charts_meet_the_chart_where_their_equations_hold(name):
    G, count = GROUPOIDS[name]
    assert searched_by_chart(G) == count
    q, a = G.base.random_point(jax.random.key(1)), 0.1 * (1 + jnp.arange(G.rank) / G.rank)

    @jax.jit
    def solved(q, a):
        chart = loose_chart(G, q)
        c = newton_root(lambda c: chart(a, c)[1], jnp.zeros(count)) if count else jnp.zeros(0)
        off = jax.jacfwd(lambda c: chart(jnp.zeros(G.rank), c)[1])(jnp.zeros(count))
        return c, chart(a, c), G.fiber_chart(q, a), chart(a, c + 0.01), off

    c, (g, f), expected, (elsewhere, away), slope = solved(q, a)
    gaps = [float(jnp.max(jnp.abs(x - y))) for x, y in zip(jax.tree.leaves(g), jax.tree.leaves(expected), strict=True)]
    assert max(gaps) <= 1e-15
    assert float(jnp.max(jnp.abs(f), initial=0.0)) <= 1e-15
    # Lengths in the ambient space, whatever the size of the equations is.
    np.testing.assert_allclose(slope, np.eye(count), atol=1e-12)
    if count:
        assert float(jnp.max(jnp.abs(c))) > 1e-4, "the control: the chart does search"
        assert float(G.space.violation(elsewhere)) > 1e-3
        assert float(jnp.min(jnp.abs(away))) > 1e-3
