"""What an energy method searches for: the next point alone, where the inverse of its map is in closed form; else a point and a velocity."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.algebroids.lie_algebra import LieAlgebra
from groupoid_mech.discretization.searched_inverse import inverse_is_searched
from groupoid_mech.manifolds.smooth_chart import chart_coordinates, smooth_retract

DT = 0.1
S2 = gm.Sphere(2)
T_S2 = gm.CotangentBundle(S2)


class OneWay(gm.DiscretizationMap):
    """A map whose inverse nobody knows."""

    map: gm.DiscretizationMap
    groupoid: gm.PairGroupoid

    def __init__(self, map):
        self.map = map
        self.groupoid = map.groupoid

    def arrow(self, x, v):
        return self.map.arrow(x, v)

    def inverse(self, g):
        raise AssertionError("no inverse is to be searched")

    def adjoint(self):
        return OneWay(self.map.adjoint())


@inverse_is_searched.register
def _(R: OneWay) -> bool:
    return True


def heavy(q, p):
    return (1 + 0.3 * q[0]) * jnp.sum(p * p) / 2 + q[2] + 0.2 * q[1] ** 2


def body(q, p):
    return jnp.sum(p * p / jnp.array([1.0, 2.0, 2.5])) / 2 + 0.5 * (p[0] * p[1]) ** 2


# It goes up across the equator, where the frame jumps.
RISING = S2.project(jnp.array([0.6, -0.5, -0.2])), jnp.array([0.4, 1.3])
BUNDLE = gm.CanonicalPoisson(T_S2), heavy, gm.CotangentLift(gm.theta_map(S2, 0.5)), RISING
DUAL = gm.LinearPoisson(LieAlgebra(gm.SO3()))
ALGEBRA = DUAL, body, gm.theta_map(DUAL.manifold, 0.4), (jnp.zeros(0), jnp.array([0.5, 1.2, -0.8]))
CASES = [
    pytest.param(BUNDLE, gm.GonzalezGradient, id="T*S2", marks=pytest.mark.extended),
    pytest.param(ALGEBRA, gm.ItohAbeGradient, id="so3*"),
    pytest.param(BUNDLE, gm.MeanGradient, id="T*S2, mean", marks=pytest.mark.extended),
    pytest.param(BUNDLE, gm.ItohAbeGradient, id="T*S2, axes", marks=pytest.mark.extended),
]


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)) for a, b in pairs)


@pytest.mark.parametrize(("place", "kind"), CASES)
def test_both_ways_find_the_same_steps(place, kind):
    poisson, H, R, x = place
    n = poisson.manifold.dim
    known, searched = (gm.EnergyIntegrator(H, poisson, kind(map), DT) for map in (R, OneWay(R)))
    assert [method.begin(x).reference.size for method in (known, searched)] == [n, 2 * n]
    run = known.run(x, 40)
    assert distance(run.points, searched.run(x, 40).points) <= 1e-12
    assert np.ptp(np.asarray(run.observe(H))) <= 1e-14
    if poisson.manifold is T_S2:
        heights = np.asarray(run.points[0])[:, 2]
        assert heights.min() < 0 < heights.max(), "on both sides of the equator"
    ends = [method.adjoint().with_step(-DT).run(run.end, 1).end for method in (known, searched)]
    assert distance(ends[0], ends[1]) <= 1e-13
    assert distance(ends[0], known.run(x, 39).end) <= 1e-13


@pytest.mark.parametrize("M", [S2, T_S2, gm.TangentBundle(gm.SO3())], ids=repr)
def test_coordinates_of_the_chart_are_known_from_smooth_ones(M):
    @jax.jit
    def both(key):
        x, xi = M.random_point(key), 0.4 * jnp.arange(1.0, M.dim + 1) / M.dim
        y = smooth_retract(M, x, xi)
        return M.local(x, y), chart_coordinates(M, x, y, xi), chart_coordinates(M, x, y, 2 * xi)

    exact, found, other = both(jax.random.key(3))
    assert distance(exact, found) <= 1e-14
    assert distance(exact, other) > 0.1


def test_a_difference_has_the_digits_that_its_values_do_not_have():
    """Of 1 + x² on an arc of length 1e-8: the values are the same number, or one rounding apart."""
    y, v = jnp.array([0.6, 0.0, 0.8]), jnp.array([3e-9, 4e-9])
    way = gm.Displacement.by(gm.theta_map(S2, 0.5), y, v)
    rise = float(jax.jit(lambda: way.difference(lambda x: 1 + x[0] ** 2))())
    expected = float(2 * y[0] * S2.to_ambient(y, v)[0])
    assert abs(rise - expected) <= 1e-15 * abs(expected) + 1e-24
    first, last = way.ends
    assert abs(float((1 + last[0] ** 2) - (1 + first[0] ** 2)) - expected) > 1e-10 * abs(expected), "the control"
