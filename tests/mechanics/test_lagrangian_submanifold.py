"""Σ_L as a Lagrangian submanifold of T*G: covectors, tangents, conormals, affine structure, what is no submanifold."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.mechanics_subjects import forced

import groupoid_mech as gm
from tests.mechanics.examples import CONTACT_START, DT, PLANE, SPACE, START, HamiltonPontryagin, Particle, contact

LAM = jnp.array([0.7])
CONTACT = gm.LagrangianSubmanifold(contact())


def test_the_covector_is_the_differential_of_the_family():
    L, phi = Particle(DT, 1.0), contact().constraints
    first, second = jax.grad(lambda q, r: L((q, r)) + 0.7 * phi((q, r))[0], argnums=(0, 1))(*CONTACT_START)
    np.testing.assert_allclose(CONTACT.covector(CONTACT_START, LAM), jnp.concatenate([first, second]), atol=1e-13)
    np.testing.assert_allclose(CONTACT.legendre_minus(CONTACT_START, LAM), -first, atol=1e-13)
    np.testing.assert_allclose(CONTACT.legendre_plus(CONTACT_START, LAM), second, atol=1e-13)


SYSTEMS = {
    "contact": (contact(), 6),
    "family": (gm.DiscreteSystem(PLANE, HamiltonPontryagin(DT, 1.0), auxiliary=2), 4),
}


@pytest.mark.few(1)
@pytest.mark.parametrize(("system", "dim"), SYSTEMS.values(), ids=SYSTEMS)
def test_sigma_is_lagrangian_at_drawn_points(system, dim):
    Sigma = gm.LagrangianSubmanifold(system)
    arrows, s = Sigma.draw(jax.random.key(1), 20)
    assert s.shape == (20, system.family_size())
    assert Sigma.dim == dim
    tangents, pulled, off = eqx.filter_jit(
        jax.vmap(lambda g, s: (Sigma.tangent(g, s), Sigma.isotropy(g, s), system.stationarity(g, s)))
    )(arrows, s)
    assert tangents.shape == (20, 2 * dim, dim)
    assert np.min(np.linalg.svd(tangents, compute_uv=False)[:, -1]) > 0.1
    np.testing.assert_allclose(pulled, 0, atol=1e-13 * float(jnp.max(jnp.abs(tangents))))
    np.testing.assert_allclose(off, 0, atol=1e-13)


def test_a_force_that_is_no_differential_is_noticed():
    Sigma = gm.LagrangianSubmanifold(forced)
    g = gm.SO3().exp(jnp.array([0.1, 0.2, -0.1]))
    assert float(jnp.max(jnp.abs(Sigma.isotropy(g)))) > 1


@pytest.mark.extended
def test_conormals_move_along_the_fibres():
    C, (q, r) = CONTACT.conormal(CONTACT_START), CONTACT_START
    slope, step = (q[1] + r[1]) / 2, r[0] - q[0]
    np.testing.assert_allclose(C[:, 0], [slope, -step / 2, -1, -slope, -step / 2, 1], atol=1e-15)
    mu, c = CONTACT.covector(CONTACT_START, LAM), jnp.array([-1.3])
    moved = mu + C @ c
    np.testing.assert_allclose(CONTACT.covector(CONTACT_START, CONTACT.add_conormal(LAM, c)), moved, atol=1e-14)
    np.testing.assert_allclose(CONTACT.multipliers_of(CONTACT_START, moved), LAM + c, atol=1e-14)
    np.testing.assert_allclose(CONTACT.violation(CONTACT_START, moved), 0, atol=1e-14)


def test_violations_see_both_the_constraints_and_the_covector():
    mu = CONTACT.covector(CONTACT_START, LAM)
    assert float(jnp.max(jnp.abs(CONTACT.violation(CONTACT_START, mu + jnp.eye(6)[1])))) > 0.1
    above = (CONTACT_START[0], CONTACT_START[1] + jnp.array([0.0, 0.0, 0.25]))
    off = CONTACT.violation(above, CONTACT.covector(above, LAM))
    np.testing.assert_allclose(off[0], 0.25, atol=1e-15)
    np.testing.assert_allclose(off[1:], 0, atol=1e-14)


def test_without_constraints_sigma_is_the_graph_of_the_differential():
    Sigma = gm.LagrangianSubmanifold(gm.DiscreteSystem(PLANE, Particle(DT, 1.0)))
    graph = gm.differential_graph(PLANE.space, Particle(DT, 1.0))
    np.testing.assert_allclose(Sigma.tangent(START), graph.tangent(START), atol=1e-13)
    np.testing.assert_allclose(Sigma.violation(START, graph(START)[1]), 0, atol=1e-13)
    assert Sigma.conormal(START).shape == (4, 0)
    g, s = Sigma.nearest(START)
    assert g is START
    assert s.shape == (0,)


def test_nearest_moves_the_least():
    off = (CONTACT_START[0], CONTACT_START[1] + jnp.array([0.0, 0.0, 0.1]))
    on, s = CONTACT.nearest(off, LAM)
    np.testing.assert_allclose(contact().constraint_values(on), 0, atol=1e-15)
    np.testing.assert_array_equal(s, LAM)
    moved = np.linalg.norm(np.concatenate([on[0] - off[0], on[1] - off[1]]))
    assert 0.06 < moved < 0.1


def test_dependent_constraints_are_named():
    def twice(g):
        q, r = g
        return jnp.stack([r[2] - q[2], 2 * (r[2] - q[2])])

    Sigma = gm.LagrangianSubmanifold(gm.DiscreteSystem(SPACE, Particle(DT, 1.0), twice))
    level = (CONTACT_START[0], CONTACT_START[1].at[2].set(CONTACT_START[0][2]))
    assert Sigma.morse_rank(level) == 1
    assert CONTACT.morse_rank(CONTACT_START, LAM) == 1
    with pytest.raises(gm.NotMorseError, match="rank 2, .*it has rank 1"):
        Sigma.tangent(level)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CONTACT.covector(CONTACT_START, jnp.zeros(2)), r"s to be an array of shape \(1,\)"),
        (lambda: CONTACT.add_conormal(LAM, jnp.zeros(2)), r"c to be an array of shape \(1,\)"),
        (lambda: gm.LagrangianSubmanifold(SYSTEMS["family"][0]).covector(START), "needs s, the 2 auxiliary"),
        (
            lambda: gm.LagrangianSubmanifold(SYSTEMS["family"][0]).violation(START, jnp.zeros(4)),
            "without auxiliary variables; this one has 2",
        ),
        (lambda: gm.LagrangianSubmanifold(PLANE), "to be a DiscreteSystem; got PairGroupoid"),
        (lambda: CONTACT.draw(jax.random.key(0), 0), "count to be an integer ≥ 1"),
    ],
)
def test_wrong_arguments_are_explained(call, message):
    with pytest.raises(gm.ArgumentError, match=message):
        call()
