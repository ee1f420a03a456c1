"""Lie groupoids beyond their laws: named values, and the errors that bad arrows raise."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.symplectic_controls import TOP

import groupoid_mech as gm

LINE = gm.PairGroupoid(gm.Euclidean(1))
S2PAIR = gm.PairGroupoid(gm.Sphere(2))


def arrow(a, b):
    return jnp.array([float(a)]), jnp.array([float(b)])


def test_pair_groupoid_invariant_fields():
    """←e = ∂/∂q₁ and →e = −∂/∂q₀."""
    np.testing.assert_array_equal(LINE.left_field(arrow(1, 2), jnp.ones(1)), [0.0, 1.0])
    np.testing.assert_array_equal(LINE.right_field(arrow(1, 2), jnp.ones(1)), [-1.0, 0.0])
    np.testing.assert_array_equal(LINE.anchor(jnp.ones(1)), [[1.0]])


def test_group_invariant_fields_are_left_and_right_translations():
    """In the left-trivialized frame ←ξ = ξ and →ξ(g) = Ad_{g⁻¹} ξ."""
    H = gm.SO3()
    G, g, xi = gm.GroupGroupoid(H), H.random_point(jax.random.key(0)), jnp.array([0.3, -0.2, 0.9])
    np.testing.assert_allclose(G.left_field(g, xi), xi, atol=1e-15)
    np.testing.assert_allclose(G.right_field(g, xi), H.adjoint(H.inverse(g)) @ xi, atol=1e-15)


def test_action_groupoid_anchor_is_the_generator():
    """For q·R = Rᵀq the anchor of ω is −ω × q = q × ω, as in the equation of the heavy top."""
    q = gm.Sphere(2).random_point(jax.random.key(1))
    omega = jnp.array([0.4, -1.0, 0.2])
    moved = gm.Sphere(2).to_ambient(q, TOP.anchor(q) @ omega)
    np.testing.assert_allclose(moved, np.cross(q, omega), atol=1e-15)


def test_time_extension():
    G = gm.TimeExtended(LINE)
    step = ((jnp.array([0.0]), jnp.array([0.5])), arrow(1, 2))
    assert G.duration(step) == 0.5
    following = G.fiber_chart(G.target(step), jnp.array([0.25, -1.0]))
    np.testing.assert_allclose(G.duration(G.multiply(step, following)), 0.75)


def test_arrows_that_do_not_meet():
    with pytest.raises(
        gm.NotComposableError,
        match=r"PairGroupoid\.multiply\(g, h\) needs target\(g\) == source\(h\) \(gap 2\).*did you mean multiply\(h, g\)",
    ):
        LINE.multiply(arrow(1, 2), arrow(0, 1))
    with pytest.raises(gm.NotComposableError, match="their ends do not meet"):
        LINE.multiply(arrow(1, 2), arrow(5, 6))
    with pytest.raises(gm.NotComposableError, match=r"fiber_local\(q, g\) needs source\(g\) == q \(gap 3\)"):
        LINE.fiber_local(jnp.array([4.0]), arrow(1, 2))


def test_vectors_that_do_not_meet():
    with pytest.raises(gm.NotComposableError, match=r"needs Tβ v == Tα w \(gap 1\)"):
        LINE.tangent_multiply(arrow(0, 1), arrow(1, 2), jnp.array([0.0, 1.0]), jnp.array([2.0, 0.0]))
    moved = LINE.tangent_multiply(arrow(0, 1), arrow(1, 2), jnp.array([3.0, 1.0]), jnp.array([1.0, 5.0]))
    np.testing.assert_array_equal(moved, [3.0, 5.0])


def test_arrows_off_the_groupoid():
    north = jnp.array([0.0, 0.0, 1.0])
    with pytest.raises(gm.OffManifoldError, match=r"PairGroupoid\.target needs g on ProductManifold; it is off by 1 "):
        S2PAIR.target((north, 2 * north))
    with pytest.raises(gm.OffManifoldError, match=r"PairGroupoid\.unit needs q on Sphere"):
        S2PAIR.unit(2 * north)
    with pytest.raises(gm.ArgumentError, match=r"PairGroupoid\.source needs g to be a tuple"):
        S2PAIR.source(north)
    with pytest.raises(gm.ArgumentError, match=r"PairGroupoid\.fiber_chart needs a to be an array of shape \(2,\)"):
        S2PAIR.fiber_chart(north, jnp.zeros(3))
    with pytest.raises(gm.ArgumentError, match=r"PairGroupoid\.left_field needs a to be"):
        S2PAIR.left_field((north, north), jnp.zeros(3))


def test_checked_sees_through_jit():
    G = gm.Checked(LINE)
    multiply = eqx.filter_jit(lambda g, h: G.multiply(g, h))
    np.testing.assert_array_equal(multiply(arrow(0, 1), arrow(1, 3))[1], [3.0])
    with pytest.raises(Exception, match=r"PairGroupoid\.multiply\(g, h\) needs target\(g\) == source\(h\)"):
        multiply(arrow(0, 1), arrow(2, 3))
    sphere = gm.Checked(S2PAIR)
    with pytest.raises(Exception, match="an arrow off its manifold"):
        eqx.filter_jit(lambda g: sphere.target(g))((jnp.ones(3), jnp.ones(3)))


def test_left_actions_are_refused_with_the_cure():
    with pytest.raises(gm.NotAnActionError, match="It is a left action: give q ↦ h⁻¹ q instead"):
        gm.ActionGroupoid(gm.Sphere(2), gm.SO3(), lambda q, R: R @ q)
    with pytest.raises(gm.NotAnActionError, match="off Sphere by"):
        gm.ActionGroupoid(gm.Sphere(2), gm.SO3(), lambda q, R: 2 * q)
    with pytest.raises(gm.NotAnActionError, match="no left action either"):
        gm.ActionGroupoid(gm.Sphere(2), gm.SO3(), lambda q, R: gm.SO3().exp(R[0]) @ q)


@pytest.mark.parametrize("make", [gm.PairGroupoid, gm.GroupGroupoid, gm.ProductGroupoid, gm.TimeExtended, gm.Checked])
def test_parts_have_the_right_type(make):
    with pytest.raises(gm.ArgumentError, match=f"{make.__name__} needs"):
        make(3)
