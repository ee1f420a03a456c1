"""Spheres against geomstats, at angles up to 3: nearer to the antipode its logarithm loses its digits."""

import equinox as eqx
import jax
import numpy as np
import pytest

import groupoid_mech as gm
import groupoid_mech.interop.geomstats as bridge

CASES = 200


@eqx.filter_jit
def ours(M, x, y, xi):
    """(exp of xi, its ambient vector, log of y) at x."""
    end, v = jax.vmap(M.retract)(x, xi), jax.vmap(M.to_ambient)(x, xi)
    return end, v, jax.vmap(M.to_ambient)(x, jax.vmap(M.local)(x, y))


def draw(n, angles):
    """Points x, coordinates xi of the given lengths, and y at those angles from x, by plain trigonometry."""
    rng = np.random.default_rng(n)
    x, v = (rng.normal(size=(CASES, n + 1)) for _ in range(2))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    v -= np.sum(x * v, axis=1, keepdims=True) * x
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    xi = rng.normal(size=(CASES, n))
    xi *= angles[:, None] / np.linalg.norm(xi, axis=1, keepdims=True)
    return x, np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * v, xi


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("largest", [1e-7, 1e-2, 3.0])
def test_exponential_logarithm_and_distance(n, largest):
    M = gm.Sphere(n)
    metric = bridge.to_geomstats(M).metric
    x, y, xi = draw(n, largest * np.linspace(0.01, 1.0, CASES))
    end, v, log = (np.array(part) for part in ours(M, x, y, xi))
    error = {
        "exp": np.abs(end - metric.exp(v, x)).max(),
        "log": np.abs(log - metric.log(y, x)).max(),
        "distance": np.abs(np.linalg.norm(log, axis=1) - metric.dist(x, y)).max(),
    }
    # the arc cosine of geomstats' distance keeps 8 digits at 0
    assert error["exp"] <= 1e-12
    assert error["log"] <= 1e-12
    assert error["distance"] <= (1e-12 if largest > 1 else 5e-8), error


def test_the_comparison_can_fail():
    x, y, _ = draw(2, np.linspace(0.01, 3.0, CASES))
    assert np.abs(bridge.to_geomstats(gm.Sphere(2)).metric.log(y, x) - (y - x)).max() > 0.1
