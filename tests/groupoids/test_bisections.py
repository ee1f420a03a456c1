"""Bisections: diffeomorphisms for pair groupoids, elements for Lie groups, a local one through every arrow."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.groupoids.bisection import InverseBisection, ProductBisection, UnitBisection
from groupoid_mech.groupoids.local_bisection import (
    LocalBisection,
    tangent_multiply_by_bisections,
    transverse_directions,
)
from groupoid_mech.groupoids.section_bisection import (
    SectionBisection,
    bisection_of_diffeomorphism,
    bisection_of_element,
)

LINE, PLANE, SPHERE, ROTATIONS = gm.Euclidean(1), gm.Euclidean(2), gm.Sphere(2), gm.SO3()
PAIR, GROUP = gm.PairGroupoid(PLANE), gm.GroupGroupoid(ROTATIONS)
Q, X = jnp.array([0.3, -0.7]), jnp.array([1.1, 0.4])


def close(left, right, tolerance=1e-12):
    leaves = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return all(np.allclose(a, b, rtol=0, atol=tolerance) for a, b in leaves)


def bend(q):
    return q + 0.2 * jnp.sin(q[::-1])


def shear(q):
    return jnp.stack([q[0] + 2 * jnp.tanh(q[1]), 3 * q[1]])


def unshear(q):
    y = q[1] / 3
    return jnp.stack([q[0] - 2 * jnp.tanh(y), y])


BEND, SHEAR = bisection_of_diffeomorphism(PAIR, bend), bisection_of_diffeomorphism(PAIR, shear)


# ------------------------------------------------------------------------ pair groupoids: diffeomorphisms


def test_the_base_map_of_a_diffeomorphism_is_the_diffeomorphism():
    assert close(BEND.base_map(Q), bend(Q))
    assert close(bend(BEND.inverse_base_map(Q)), Q)
    assert close(SHEAR.inverse_base_map(Q), unshear(Q))


def test_left_and_right_actions_of_a_diffeomorphism_move_the_ends():
    assert close(SHEAR.left((Q, X)), (unshear(Q), X))
    assert close(SHEAR.right((Q, X)), (Q, shear(X)))


def test_the_product_of_diffeomorphisms_is_their_composition_in_order():
    assert close(ProductBisection(BEND, SHEAR).base_map(Q), shear(bend(Q)))


def test_the_inverse_bisection_is_the_inverse_diffeomorphism():
    assert close(InverseBisection(SHEAR).base_map(Q), unshear(Q))
    assert close(InverseBisection(InverseBisection(SHEAR)).at_source(Q), SHEAR.at_source(Q))


def test_bisections_form_a_group():
    units, back = UnitBisection(PAIR), InverseBisection(SHEAR)
    to_units = ProductBisection(SHEAR, back), ProductBisection(back, SHEAR)
    to_itself = ProductBisection(SHEAR, units), ProductBisection(units, SHEAR)
    got, expected = jax.jit(
        lambda q: (
            [(B.at_source(q), B.at_target(q)) for B in (*to_units, *to_itself)],
            [(B.at_source(q), B.at_target(q)) for B in (units, units, SHEAR, SHEAR)],
        )
    )(Q)
    assert close(got, expected)


def test_the_target_section_is_differentiated_by_the_implicit_function_theorem():
    slope = jax.jit(jax.jacfwd(BEND.inverse_base_map))(Q)
    expected = jnp.linalg.inv(jax.jacfwd(bend)(BEND.inverse_base_map(Q)))
    assert close(slope, expected)
    assert close(jax.jit(jax.jacrev(BEND.inverse_base_map))(Q), expected)


def test_a_base_map_that_moves_points_far_needs_its_inverse():
    G = gm.PairGroupoid(SPHERE)
    north = jnp.array([0.0, 0.0, 1.0])
    with pytest.raises(gm.NotFiniteError, match="outside of its domain"):
        bisection_of_diffeomorphism(G, lambda q: -q).at_target(north)
    antipodes = bisection_of_diffeomorphism(G, lambda q: -q, inverse=lambda q: -q)
    assert close(antipodes.at_target(north), (-north, north))


# ------------------------------------------------------------------------ Lie groups: elements


def test_bisections_of_a_group_are_elements_and_translations():
    h, g = ROTATIONS.exp(jnp.array([0.1, 0.2, 0.3])), ROTATIONS.exp(jnp.array([-0.5, 0.0, 0.4]))
    B = bisection_of_element(GROUP, h)
    point = jnp.zeros(0)
    assert close(B.at_source(point), h)
    assert close(B.at_target(point), h)
    assert close(B.left(g), h @ g)
    assert close(B.right(g), g @ h)
    assert close(ProductBisection(B, bisection_of_element(GROUP, g)).at_source(point), h @ g)
    assert close(InverseBisection(B).at_source(point), h.T)


def test_the_local_bisection_of_a_group_element_is_the_element():
    h = ROTATIONS.exp(jnp.array([0.1, 0.2, 0.3]))
    assert close(LocalBisection(GROUP, h).left(jnp.eye(3)), h)
    assert transverse_directions(GROUP, h).shape == (3, 0)


# ------------------------------------------------------------------------ local bisections


def test_the_local_bisection_of_the_plane_is_a_translation():
    B = LocalBisection(PAIR, (Q, X))
    assert close(B.base_map(Q + 0.5), X + 0.5)
    assert close(B.at_target(X), (Q, X))


def test_given_directions_set_the_slope_of_the_base_map():
    B = LocalBisection(PAIR, (Q, X), directions=jnp.vstack([jnp.eye(2), jnp.diag(jnp.array([2.0, 3.0]))]))
    assert close(B.base_map(Q + 0.5), X + jnp.array([1.0, 1.5]))


@pytest.mark.extended
def test_the_tangent_of_multiplication_does_not_depend_on_the_bisections():
    G = gm.ActionGroupoid(SPHERE, gm.SO3(tau="cayley"), lambda q, R: R.T @ q)

    @jax.jit
    def three_ways(g, a, v, u):
        h = G.fiber_chart(G.target(g), a)
        w = jnp.concatenate([G.tangent_target(g) @ v, u])
        tilt = 0.3 * jnp.sin(jnp.arange(10.0)).reshape(5, 2)
        tilted = tuple(LocalBisection(G, k, transverse_directions(G, k) + tilt) for k in (g, h))
        return (
            G.tangent_multiply(g, h, v, w),
            tangent_multiply_by_bisections(G, g, h, v, w),
            tangent_multiply_by_bisections(G, g, h, v, w, bisections=tilted),
        )

    g = G.space.random_point(jax.random.key(3))
    a, u = jnp.array([0.3, -0.2, 0.5]), jnp.array([0.4, -0.6, 0.1])
    expected, chosen, tilted = three_ways(g, a, jnp.array([0.3, -0.1, 0.7, 0.2, 0.5]), u)
    assert close(chosen, expected)
    assert close(tilted, expected)


@pytest.mark.extended
def test_a_local_bisection_is_differentiable_in_its_arrow():
    G = gm.PairGroupoid(SPHERE)
    q, x = jnp.array([0.6, 0.0, 0.8]), jnp.array([0.0, 0.6, 0.8])
    nearby = SPHERE.retract(q, jnp.array([0.1, -0.2]))
    v = jnp.array([0.3, 0.4])

    def moved(t):
        return LocalBisection(G, (q, SPHERE.retract(x, t * v))).base_map(nearby)

    step = 1e-5
    values, slopes = jax.jit(jax.vmap(lambda t: jax.jvp(moved, (t,), (1.0,))))(jnp.array([-step, 0.0, step]))
    assert close(slopes[1], (values[2] - values[0]) / (2 * step), tolerance=1e-8)


@pytest.mark.extended
def test_a_batch_of_local_bisections_is_made_with_vmap():
    G = gm.PairGroupoid(SPHERE)
    arrows = jax.vmap(G.space.random_point)(jax.random.split(jax.random.key(0), 5))
    ends = jax.jit(jax.vmap(lambda g: LocalBisection(G, g).base_map(G.source(g))))(arrows)
    assert close(ends, arrows[1])


# ------------------------------------------------------------------------ errors


@pytest.mark.parametrize("rows", [slice(0, 2), slice(2, 4)], ids=["target stays", "source stays"])
def test_directions_along_a_fibre_are_refused_with_their_singular_values(rows):
    directions = jnp.zeros((4, 2)).at[rows].set(jnp.eye(2))
    with pytest.raises(gm.NotTransverseError, match=r"singular values of Tα E .* Leave directions out"):
        LocalBisection(PAIR, (Q, X), directions=directions)


def test_directions_of_the_wrong_shape_are_refused():
    with pytest.raises(gm.ArgumentError, match=r"directions to be an array of shape \(4, 2\)"):
        LocalBisection(PAIR, (Q, X), directions=jnp.eye(4))


def test_directions_that_are_not_finite_are_refused():
    with pytest.raises(gm.ArgumentError, match="directions to be finite"):
        LocalBisection(PAIR, (Q, X), directions=jnp.full((4, 2), jnp.nan))


def test_a_map_that_is_no_section_is_refused_with_the_gap():
    with pytest.raises(gm.ArgumentError, match="section of the source map.*gap is 1"):
        SectionBisection(PAIR, lambda q: (q + 1, q))


def test_a_section_of_the_wrong_shape_is_refused():
    with pytest.raises(gm.ArgumentError, match="to be an arrow of PairGroupoid, a tuple"):
        SectionBisection(PAIR, lambda q: q)


def test_a_section_off_the_groupoid_is_refused():
    with pytest.raises(gm.ArgumentError, match="on the groupoid.*off by 1"):
        SectionBisection(gm.PairGroupoid(SPHERE), lambda q: (q, 2 * q))


def test_a_map_that_is_no_diffeomorphism_is_refused():
    with pytest.raises(gm.NotTransverseError, match="must be a diffeomorphism"):
        bisection_of_diffeomorphism(PAIR, lambda q: q[0] * jnp.ones(2))


def test_a_function_that_cannot_be_traced_is_named():
    with pytest.raises(gm.NotTraceableError, match="jax.numpy"):
        bisection_of_diffeomorphism(PAIR, lambda q: jnp.asarray(np.sin(np.asarray(q))))


def test_the_wrong_groupoid_is_refused():
    with pytest.raises(gm.ArgumentError, match="PairGroupoid"):
        bisection_of_diffeomorphism(GROUP, bend)
    with pytest.raises(gm.ArgumentError, match="GroupGroupoid"):
        bisection_of_element(PAIR, Q)


def test_an_element_off_the_group_is_refused():
    with pytest.raises(gm.OffManifoldError):
        bisection_of_element(GROUP, 2 * jnp.eye(3))


def test_bisections_of_different_groupoids_do_not_multiply():
    with pytest.raises(gm.ArgumentError, match="the same groupoid"):
        ProductBisection(BEND, UnitBisection(gm.PairGroupoid(LINE)))


def test_a_bisection_refuses_what_is_no_point_and_no_arrow():
    with pytest.raises(gm.ArgumentError, match=r"at_source needs q to be"):
        BEND.at_source(jnp.zeros(3))
    with pytest.raises(gm.ArgumentError, match=r"left needs g to be"):
        BEND.left(Q)


def test_the_tangent_of_multiplication_refuses_arrows_that_do_not_compose():
    with pytest.raises(gm.NotComposableError, match="gap"):
        tangent_multiply_by_bisections(PAIR, (Q, X), (Q, X), jnp.zeros(4), jnp.zeros(4))
