"""Morphisms of groupoids: named values, quotients and isomorphisms, functoriality, errors."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.subjects import broken, unchecked

import groupoid_mech as gm
from groupoid_mech.groupoids.canonical_morphisms import (
    action_morphism,
    anchor_morphism,
    gauge_to_product,
    group_morphism,
    identity_morphism,
    pair_to_gauge,
    pair_to_group,
    product_to_gauge,
    projection,
    rotations_to_sphere,
)
from groupoid_mech.groupoids.isomorphism import Isomorphism, sphere_isomorphism
from groupoid_mech.groupoids.morphism import Morphism
from groupoid_mech.laws import laws_for
from groupoid_mech.laws.verify import check_law

PLANE, SPHERE, ROTATIONS, TURNS = gm.Euclidean(2), gm.Sphere(2), gm.SO3(), gm.SO2()
PAIR, GROUP = gm.PairGroupoid(PLANE), gm.GroupGroupoid(gm.Translations(2))
SPHERE_ACTION = unchecked(lambda: gm.ActionGroupoid(SPHERE, ROTATIONS, lambda q, R: R.T @ q))
GAUGE_ENDS = gm.GaugeGroupoid(PLANE, TURNS), gm.ProductGroupoid(PAIR, gm.GroupGroupoid(TURNS))
DIFFERENCE = unchecked(lambda: Morphism(PAIR, GROUP, lambda g: g[1] - g[0]))


def close(left, right, tolerance=1e-12):
    leaves = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return all(np.allclose(a, b, rtol=0, atol=tolerance) for a, b in leaves)


def drawn(G, seed=0):
    return G.space.random_point(jax.random.key(seed))


# ------------------------------------------------------------------------ named values


def test_the_quotient_of_pairs_of_rotations_takes_the_relative_rotation():
    R0, R1 = drawn(gm.PairGroupoid(ROTATIONS))
    Phi = pair_to_group(ROTATIONS)
    assert close(Phi((R0, R1)), R0.T @ R1)
    assert Phi.base_map(R0).shape == (0,)
    assert close(Phi.algebroid_map(R0), jnp.eye(3))
    k = ROTATIONS.exp(jnp.array([0.2, 0.5, -0.1]))
    assert close(Phi((k @ R0, k @ R1)), Phi((R0, R1)))


def test_the_anchor_morphism_has_the_anchor_as_algebroid_map():
    G = SPHERE_ACTION
    g = drawn(G)
    Phi = anchor_morphism(G)
    assert close(Phi(g), (G.source(g), G.target(g)))
    assert close(Phi.algebroid_map(G.source(g)), jax.jit(G.anchor)(G.source(g)))


@pytest.mark.extended
def test_projections_and_the_group_of_an_action():
    P = gm.ProductGroupoid(PAIR, gm.GroupGroupoid(ROTATIONS))
    g = drawn(P)
    assert close(projection(P, 0)(g), g[0])
    assert close(projection(P, 1).algebroid_map(P.source(g)), jnp.hstack([jnp.zeros((3, 2)), jnp.eye(3)]))
    q, R = drawn(SPHERE_ACTION)
    assert close(action_morphism(SPHERE_ACTION)((q, R)), R)


def test_unit_quaternions_cover_the_rotations_twice():
    H = gm.UnitQuaternions()
    cover = group_morphism(H, ROTATIONS, H.adjoint)
    h = drawn(gm.GroupGroupoid(H))
    assert close(cover(h), cover(-h))
    assert close(cover.algebroid_map(jnp.zeros(0)), jnp.eye(3))


def test_rotations_to_the_sphere_forget_turns_about_the_vertical():
    Phi = rotations_to_sphere()
    R0, R1 = drawn(gm.PairGroupoid(ROTATIONS), 4)
    k = ROTATIONS.exp(jnp.array([0.0, 0.0, 0.9]))
    q, R = Phi((R0, R1))
    assert close((q, R), (R0.T @ jnp.array([0.0, 0.0, 1.0]), R0.T @ R1))
    assert close(Phi((k @ R0, k @ R1)), (q, R))
    assert close(Phi.codomain.target((q, R)), Phi.base_map(R1))
    # The algebroid of the quotient is that of the action groupoid: AΦ is one-to-one on each fibre.
    assert np.linalg.matrix_rank(np.asarray(Phi.algebroid_map(R0))) == 3
    assert np.linalg.matrix_rank(np.asarray(Phi.tangent((R0, R1)))) == 5


# ------------------------------------------------------------------------ functoriality, isomorphisms


@pytest.mark.extended
def test_the_gauge_groupoid_of_a_trivial_bundle_is_pairs_times_the_group():
    there, back = gauge_to_product(PLANE, TURNS), product_to_gauge(PLANE, TURNS)
    g = drawn(there.domain)
    assert close(there.then(back)(g), g)
    k = drawn(there.codomain)
    assert close(back.then(there)(k), k)
    q = there.domain.source(g)
    assert close(there.then(back).algebroid_map(q), jnp.eye(3))


@pytest.mark.extended
def test_an_isomorphism_has_inverse_tangents_and_algebroid_maps():
    same = sphere_isomorphism()
    g = drawn(same.domain)
    q, k = same.domain.source(g), same.forward(g)
    assert close(same.backward(k), g)
    assert close(same.forward.base_map(q), q)
    assert close(same.backward.tangent(k) @ same.forward.tangent(g), jnp.eye(5))
    assert close(same.backward.algebroid_map(q) @ same.forward.algebroid_map(q), jnp.eye(3))
    assert close(same.inverse().forward(k), g)


@pytest.mark.extended
def test_classes_of_pairs_of_rotations_are_the_arrows_of_the_sphere():
    """(R₀, R₁) ↦ (R₁ᵀe₃, R₀ᵀR₁) is the quotient by SO(2); followed by the isomorphism it is the one to S² ⋊ SO(3)."""
    same = sphere_isomorphism()
    quotient = Morphism(gm.PairGroupoid(ROTATIONS), same.domain, lambda g: (g[1][2], g[0].T @ g[1]))
    R0, R1 = drawn(quotient.domain, 4)
    turn = ROTATIONS.exp(jnp.array([0.0, 0.0, 0.9]))
    tilt = ROTATIONS.exp(jnp.array([0.1, 0.0, 0.9]))
    assert close(quotient((turn @ R0, turn @ R1)), quotient((R0, R1)))
    assert not close(quotient((tilt @ R0, tilt @ R1)), quotient((R0, R1)))
    assert np.linalg.matrix_rank(np.asarray(quotient.tangent((R0, R1)))) == 5
    assert close(same.forward(quotient((R0, R1))), rotations_to_sphere()((R0, R1)))


def test_the_sphere_gauge_groupoid_transports_and_turns():
    G = gm.SphereGaugeGroupoid()
    east, north = jnp.array([1.0, 0.0, 0.0]), jnp.array([0.0, 0.0, 1.0])
    along = SPHERE.local(north, east)
    x, R = G.fiber_chart(north, jnp.append(along, 0.0))
    assert close(x, east)
    assert close(R, jnp.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))  # about the axis north × east
    assert close(G.fiber_chart(north, jnp.array([0.0, 0.0, 0.3])), (north, ROTATIONS.exp(0.3 * north)))
    # Parallel transport around an octant turns by its area.
    side = jnp.array([0.0, 1.0, 0.0])
    corners = [north, east, side, north]
    sides = [G.fiber_chart(q, jnp.append(SPHERE.local(q, end), 0.0)) for q, end in pairwise(corners)]
    loop = G.multiply(G.multiply(sides[0], sides[1]), sides[2])
    assert close(jnp.abs(G.fiber_local(north, loop)), jnp.array([0.0, 0.0, jnp.pi / 2]))
    with pytest.raises(gm.CutLocusError):
        G.fiber_local(north, (-north, ROTATIONS.exp(jnp.array([jnp.pi, 0.0, 0.0]))))


@pytest.mark.extended
def test_the_law_of_isomorphism_rejects_another_inverse_on_the_sphere():
    """(x, R) ↦ (R x, R) with (q, R) ↦ (q, R) in place of its inverse."""
    same = sphere_isomorphism()
    (law,) = [law for law in laws_for(same) if law.name == "isomorphism"]
    wrong = broken(Morphism, same.codomain, same.domain, same.backward.map, __call__=lambda self, g: g)
    assert check_law(law, Isomorphism(same.forward, wrong), examples=5).worst_defect > 0.1


def test_a_pair_of_morphisms_that_are_not_inverse_is_refused():
    flip_turn = Morphism(*GAUGE_ENDS, lambda g: ((g[0], g[1]), g[2].T))
    with pytest.raises(gm.ArgumentError, match=r"backward\(forward\(g\)\) == g; .* off by"):
        Isomorphism(flip_turn, product_to_gauge(PLANE, TURNS))
    with pytest.raises(gm.ArgumentError, match=r"forward.codomain and backward.domain to be the same groupoid"):
        Isomorphism(pair_to_group(TURNS), identity_morphism(gm.PairGroupoid(TURNS)))


@pytest.mark.extended
def test_algebroid_maps_and_tangents_compose():
    first, second = pair_to_gauge(PLANE, TURNS), gauge_to_product(PLANE, TURNS)
    both = first.then(second)
    g = drawn(first.domain)
    q = first.domain.source(g)
    assert close(both.algebroid_map(q), second.algebroid_map(first.base_map(q)) @ first.algebroid_map(q))
    assert close(both.tangent(g), second.tangent(first(g)) @ first.tangent(g))
    assert close(both.base_map(q), second.base_map(first.base_map(q)))


def test_the_identity_changes_nothing():
    same = identity_morphism(PAIR)
    g = drawn(PAIR)
    assert close(same.then(DIFFERENCE)(g), DIFFERENCE(g))
    assert close(same.tangent(g), jnp.eye(4))


# ------------------------------------------------------------------------ relatedness


def test_related_sections_have_no_defect_and_others_do():
    A = jnp.array([1.0, -2.0])
    q = jnp.array([0.4, 0.1])
    assert close(DIFFERENCE.sections_related(lambda q: A, lambda q: A, q), jnp.zeros(2))
    assert close(DIFFERENCE.sections_related(lambda q: q, lambda q: A, q), q - A)


def test_related_covectors_are_pull_backs():
    g, nu = drawn(PAIR), jnp.array([3.0, 5.0])
    mu = jnp.array([-3.0, -5.0, 3.0, 5.0])
    assert close(DIFFERENCE.pull_back_covector(g, nu), mu)
    assert close(DIFFERENCE.covectors_related(mu, nu, g), jnp.zeros(4))
    assert close(DIFFERENCE.covectors_related(2 * mu, nu, g), mu)


def test_related_momenta_are_pull_backs():
    q, r = jnp.zeros(2), jnp.array([3.0, 5.0])
    assert close(DIFFERENCE.pull_back_momentum(q, r), r)
    assert close(DIFFERENCE.momenta_related(r + 1, r, q), jnp.ones(2))


def test_a_morphism_passes_through_jit_and_vmap():
    arrows = jax.vmap(PAIR.space.random_point)(jax.random.split(jax.random.key(0), 4))
    assert close(jax.jit(jax.vmap(DIFFERENCE))(arrows), arrows[1] - arrows[0])


# ------------------------------------------------------------------------ errors


def test_a_map_that_does_not_respect_products_is_refused_with_the_defect():
    with pytest.raises(gm.NotAMorphismError, match=r"\(g h\) == .* off by"):
        Morphism(PAIR, GROUP, lambda g: (g[1] - g[0]) ** 2)


def test_a_map_that_reverses_products_is_told_the_cure():
    with pytest.raises(gm.NotAMorphismError, match="It reverses products: give g ↦ flip"):
        Morphism(gm.GroupGroupoid(ROTATIONS), gm.GroupGroupoid(ROTATIONS), flip)
    with pytest.raises(gm.NotAMorphismError, match="composable.*It reverses products"):
        Morphism(PAIR, PAIR, PAIR.inverse)


def flip(R):
    return R.T


def test_a_map_that_leaves_the_codomain_is_refused():
    with pytest.raises(gm.NotAMorphismError, match="on GroupGroupoid; .* off by"):
        Morphism(gm.GroupGroupoid(ROTATIONS), gm.GroupGroupoid(ROTATIONS), lambda R: 2 * R)


def test_a_map_whose_values_do_not_compose_is_refused():
    with pytest.raises(gm.NotAMorphismError, match="for composable g, h"):
        Morphism(PAIR, PAIR, lambda g: (g[0], 2 * g[1]))


def test_a_map_with_values_of_another_shape_is_refused():
    with pytest.raises(gm.NotAMorphismError, match=r"an arrow of GroupGroupoid, an array of shape \(2,\)"):
        Morphism(PAIR, GROUP, lambda g: g)


def test_a_map_that_cannot_be_traced_is_named():
    with pytest.raises(gm.NotTraceableError, match="jax.numpy"):
        Morphism(PAIR, GROUP, lambda g: jnp.asarray(np.asarray(g[1]) - np.asarray(g[0])))


def test_a_manifold_is_no_groupoid():
    with pytest.raises(gm.ArgumentError, match="domain"):
        Morphism(PLANE, GROUP, lambda g: g)


def test_morphisms_that_do_not_meet_do_not_compose():
    with pytest.raises(gm.ArgumentError, match="the same groupoid"):
        DIFFERENCE.then(pair_to_group(TURNS))


@pytest.mark.parametrize("k", [2, -1, True, 0.5])
def test_projections_to_no_factor_are_refused(k):
    with pytest.raises(gm.ArgumentError, match="from 0 to 1"):
        projection(gm.ProductGroupoid(PAIR, GROUP), k)


def test_arguments_of_the_wrong_shape_are_refused():
    g = drawn(PAIR)
    with pytest.raises(gm.ArgumentError, match="Morphism needs g to be"):
        DIFFERENCE(g[0])
    with pytest.raises(gm.ArgumentError, match="needs mu to be"):
        DIFFERENCE.pull_back_covector(g, jnp.zeros(3))
    with pytest.raises(gm.ArgumentError, match=r"needs X\(q\) to be"):
        DIFFERENCE.sections_related(lambda q: jnp.zeros(3), lambda q: jnp.zeros(2), g[0])
