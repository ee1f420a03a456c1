"""Motions and the Heisenberg group against geomstats' matrices and against scipy's expm and logm."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import groupoid_mech as gm
import groupoid_mech.interop.geomstats as bridge

CASES = 200
GROUPS = {"SE2": (gm.SE2(), 1), "SE3": (gm.SE3(), 3), "Heisenberg": (gm.Heisenberg(), 0)}


@eqx.filter_jit
def ours(G, xi, eta):
    """Matrices of ξ, exp ξ, the product with exp η, the inverse, and of log exp ξ."""
    g, h = jax.vmap(G.exp)(xi), jax.vmap(G.exp)(eta)
    matrices = jax.vmap(G.matrix)
    return {
        "hat": jax.vmap(G.hat)(xi),
        "exp": matrices(g),
        "other": matrices(h),
        "product": matrices(jax.vmap(G.multiply)(g, h)),
        "inverse": matrices(jax.vmap(G.inverse)(g)),
        "log": jax.vmap(G.hat)(jax.vmap(G.log)(g)),
    }


def draw(G, turns, largest, seed=0):
    """Coordinates whose first ``turns`` entries, the rotation vector, have lengths up to ``largest``."""
    xi = np.random.default_rng(seed).normal(size=(CASES, G.dim))
    if turns:
        lengths = np.linspace(0.0, largest, CASES)[:, None]
        xi[:, :turns] *= lengths / np.linalg.norm(xi[:, :turns], axis=1, keepdims=True)
    return xi


def matrices_of(G, turns, largest):
    found = ours(G, draw(G, turns, largest), draw(G, turns, largest, seed=1))
    return {name: np.array(value) for name, value in found.items()}


@pytest.mark.few(4)
@pytest.mark.parametrize("largest", [1e-6, 3.0], ids=["small", "large"])
@pytest.mark.parametrize(("G", "turns"), GROUPS.values(), ids=GROUPS)
def test_exponential_and_logarithm_against_scipy(G, turns, largest):
    found = matrices_of(G, turns, largest)
    assert np.abs(found["exp"] - scipy.linalg.expm(found["hat"])).max() <= 1e-12
    logs = np.array([scipy.linalg.logm(matrix) for matrix in found["exp"]])
    assert np.abs(found["log"] - logs).max() <= 1e-12
    assert np.abs(found["log"] - found["hat"]).max() <= 1e-12
    assert np.abs(found["product"] - found["exp"] @ found["other"]).max() <= 1e-12
    assert np.abs(found["inverse"] @ found["exp"] - np.eye(found["exp"].shape[-1])).max() <= 1e-12


@pytest.mark.parametrize(("G", "turns"), [GROUPS["SE2"], GROUPS["SE3"]], ids=["SE2", "SE3"])
def test_motions_against_geomstats(G, turns):
    found = matrices_of(G, turns, 3.0)
    space = bridge.to_geomstats(G)
    assert np.abs(found["exp"] - space.exp(found["hat"])).max() <= 1e-12
    assert np.abs(found["log"] - space.log(found["exp"])).max() <= 1e-12
    assert np.abs(found["product"] - space.compose(found["exp"], found["other"])).max() <= 1e-12
    assert np.abs(found["inverse"] - space.inverse(found["exp"])).max() <= 1e-12


def test_the_comparison_can_fail():
    # V(ω) v, not v, is the translation part of exp(ω, v)
    xi = draw(gm.SE3(), 3, 3.0)
    shift = np.array(jax.vmap(gm.SE3().exp)(jnp.asarray(xi))[1])
    assert np.abs(shift - xi[:, 3:]).max() > 0.1
