"""Vectors of the algebroid as tangent vectors at units: closed forms against the derivative of the fibre chart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.subjects import unchecked

import groupoid_mech as gm
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.unit_tangent import unit_tangent

SPHERE = gm.Sphere(2)
GROUPOIDS = {
    "pair(S2)": gm.PairGroupoid(SPHERE),
    "pair(SO3)": gm.PairGroupoid(gm.SO3()),
    "pair(T2 x R1)": gm.PairGroupoid(gm.ProductManifold(gm.Torus(2), gm.Euclidean(1))),
    "SO3": gm.GroupGroupoid(gm.SO3()),
    "SO3 by cay": gm.GroupGroupoid(gm.SO3(tau="cayley")),
    "SE2": gm.GroupGroupoid(gm.SE2()),
    "unit quaternions": gm.GroupGroupoid(gm.UnitQuaternions()),
    "S2 x SO3": unchecked(lambda: gm.ActionGroupoid(SPHERE, gm.SO3(), lambda q, h: h.T @ q)),
    "gauge": gm.GaugeGroupoid(SPHERE, gm.SO3()),
    "plate-ball": gm.ProductGroupoid(gm.PairGroupoid(gm.Euclidean(2)), gm.GroupGroupoid(gm.SO3(tau="cayley"))),
    "time-extended": gm.TimeExtended(gm.PairGroupoid(SPHERE)),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("name", GROUPOIDS)
def test_closed_forms_are_the_derivative_of_the_chart(name):
    G = GROUPOIDS[name]
    by_autodiff = unit_tangent.dispatch(LieGroupoid)
    assert unit_tangent.dispatch(type(G)) is not by_autodiff

    @jax.jit
    def both(key):
        keys = jax.random.split(key)
        q, a = G.base.random_point(keys[0]), jax.random.normal(keys[1], (G.rank,))
        return unit_tangent(G, q, a), by_autodiff(G, q, a)

    closed, derivative = both(jax.random.key(5))
    assert jax.tree.structure(closed) == jax.tree.structure(derivative)
    for x, y in zip(jax.tree.leaves(closed), jax.tree.leaves(derivative), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-15)
    assert max(float(jnp.max(jnp.abs(leaf), initial=0.0)) for leaf in jax.tree.leaves(closed)) > 0.1


def test_other_groupoids_take_the_derivative_of_their_chart():
    G = gm.CotangentGroupoid(gm.PairGroupoid(gm.Euclidean(1)))
    assert unit_tangent.dispatch(type(G)) is unit_tangent.dispatch(LieGroupoid)
    q, a = (jnp.array([0.3]), jnp.array([0.7])), jnp.array([1.0, -2.0])
    expected = jax.jvp(lambda b: G.fiber_chart(q, b), (jnp.zeros(2),), (a,))[1]
    for x, y in zip(jax.tree.leaves(unit_tangent(G, q, a)), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(x, y)
