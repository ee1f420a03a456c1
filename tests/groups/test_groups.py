"""Lie groups beyond their laws: named values, structure constants, accuracy near 0 and π, cut loci."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

AXES = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0, 0.8], [-0.48, 0.6, 0.64], [-1.0, 0, 0], [0, -0.6, -0.8]])
TO_PI = [10.0**-k for k in range(1, 13)]


def test_so3_structure_constants():
    C = gm.SO3().structure_constants()
    assert C[2, 0, 1] == 1  # C_12^3
    epsilon = np.zeros((3, 3, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        epsilon[c, a, b], epsilon[c, b, a] = 1, -1
    np.testing.assert_array_equal(C, epsilon)


@pytest.mark.parametrize(
    ("group", "brackets"),
    [
        (gm.UnitQuaternions(), {(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1}),
        (gm.SE2(), {(0, 1, 2): 1, (0, 2, 1): -1}),
        (gm.Heisenberg(), {(0, 1, 2): 1}),
        (gm.Translations(3), {}),
        (gm.SO2(), {}),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_structure_constants(group, brackets):
    expected = np.zeros((group.dim,) * 3)
    for (a, b, c), value in brackets.items():
        expected[c, a, b], expected[c, b, a] = value, -value
    np.testing.assert_array_equal(group.structure_constants(), expected)


def test_se3_bracket():
    w, v, s, u = np.random.default_rng(0).normal(size=(4, 3))
    bracket = gm.SE3().bracket(jnp.concatenate([w, v]), jnp.concatenate([s, u]))
    np.testing.assert_allclose(bracket, np.concatenate([np.cross(w, s), np.cross(w, u) - np.cross(s, v)]), rtol=1e-14)


def test_quaternions_cover_rotations():
    H, G = gm.UnitQuaternions(), gm.SO3()
    p, q = (H.random_point(jax.random.key(k)) for k in range(2))
    np.testing.assert_allclose(H.adjoint(H.multiply(p, q)), G.multiply(H.adjoint(p), H.adjoint(q)), atol=1e-15)
    xi = jnp.array([0.3, -0.5, 0.7])
    np.testing.assert_allclose(H.adjoint(H.exp(xi)), G.exp(xi), atol=1e-15)


def test_product_group_acts_by_components():
    G = gm.ProductGroup(gm.SO3(), gm.Translations(2))
    R, x = G.exp(jnp.array([0.1, 0.2, 0.3, 4.0, 5.0]))
    np.testing.assert_array_equal(R, gm.SO3().exp(jnp.array([0.1, 0.2, 0.3])))
    np.testing.assert_array_equal(x, [4.0, 5.0])
    assert G.structure_constants().shape == (5, 5, 5)


@eqx.filter_jit
def logs_of_exps(G, vectors):
    return jax.vmap(lambda xi: G.log(G.exp(xi)))(vectors)


@pytest.mark.parametrize("axis", AXES.tolist())
def test_so3_log_close_to_pi(axis):
    vectors = np.array([(np.pi - gap) * np.array(axis) for gap in TO_PI])
    np.testing.assert_allclose(logs_of_exps(gm.SO3(), vectors), vectors, atol=1e-14)


def test_se3_log_close_to_pi():
    vectors = np.array([[*((np.pi - gap) * np.array(axis)), 0.3, -2.0, 1.0] for gap in TO_PI for axis in AXES])
    np.testing.assert_allclose(logs_of_exps(gm.SE3(), vectors), vectors, atol=1e-13)


def test_plane_groups_log_close_to_pi():
    angles = np.array([sign * (np.pi - gap) for gap in TO_PI for sign in (1, -1)])[:, None]
    np.testing.assert_allclose(logs_of_exps(gm.SO2(), angles), angles, atol=1e-14)
    vectors = np.concatenate([angles, np.full((angles.size, 2), [0.5, -1.5])], axis=1)
    np.testing.assert_allclose(logs_of_exps(gm.SE2(), vectors), vectors, atol=1e-14)


def test_quaternion_log_close_to_its_own_cut_locus():
    """The log of unit quaternions reaches rotation vectors up to 2π: past π and up to −1."""
    for edge in (np.pi, 2 * np.pi):
        vectors = np.array([(edge - gap) * np.array(axis) for gap in TO_PI for axis in AXES])
        np.testing.assert_allclose(logs_of_exps(gm.UnitQuaternions(), vectors), vectors, atol=1e-14)


@eqx.filter_jit
def cayley_round_trips(G, elements):
    return jax.vmap(lambda g: G.cayley(G.cayley_inverse(g)))(elements)


@pytest.mark.parametrize("group", [gm.SO2(), gm.SO3(), gm.UnitQuaternions()], ids=lambda G: type(G).__name__)
def test_cayley_close_to_its_cut_locus(group):
    edge = 2 * np.pi if isinstance(group, gm.UnitQuaternions) else np.pi
    axes = AXES if group.dim == 3 else np.array([[1.0], [-1.0]])
    elements = jax.vmap(group.exp)(np.array([(edge - gap) * np.array(axis) for gap in TO_PI for axis in axes]))
    np.testing.assert_allclose(cayley_round_trips(group, elements), elements, atol=1e-14)


@pytest.mark.parametrize("axis", AXES.tolist())
def test_log_of_a_half_turn_is_one_of_its_two_vectors(axis):
    R = 2 * np.outer(axis, axis) - np.eye(3)
    log = np.asarray(gm.SO3().log(jnp.asarray(R)))
    assert abs(np.linalg.norm(log) - np.pi) < 1e-15
    assert log[np.argmax(np.abs(log))] > 0  # the documented choice
    np.testing.assert_allclose(gm.SO3().exp(jnp.asarray(log)), R, atol=1e-15)


@pytest.mark.parametrize(
    ("group", "element"),
    [
        (gm.SO3(), jnp.diag(jnp.array([1.0, -1.0, -1.0]))),
        (gm.SE3(), (jnp.diag(jnp.array([-1.0, -1.0, 1.0])), jnp.ones(3))),
        (gm.SO2(), -jnp.eye(2)),
        (gm.SE2(), (-jnp.eye(2), jnp.ones(2))),
        (gm.UnitQuaternions(), jnp.array([-1.0, 0.0, 0.0, 0.0])),
    ],
    ids=lambda thing: type(thing).__name__ if isinstance(thing, gm.LieGroup) else "",
)
def test_cayley_inverse_has_a_named_error_at_its_cut_locus(group, element):
    with pytest.raises(gm.CutLocusError, match="cayley_inverse"):
        group.cayley_inverse(element)


def test_cut_loci_are_named_at_the_nearest_float_too():
    """exp(π) is a half turn but for round-off: what the inverse Cayley map would return is noise."""
    for group, angle in ((gm.SO3(), np.pi), (gm.UnitQuaternions(), 2 * np.pi)):
        with pytest.raises(gm.CutLocusError):
            group.cayley_inverse(group.exp(jnp.array([angle, 0.0, 0.0])))
    with pytest.raises(gm.CutLocusError):
        gm.SO2().cayley_inverse(gm.SO2().exp(jnp.array([np.pi])))


def test_quaternion_log_has_a_named_error_at_minus_one():
    with pytest.raises(gm.CutLocusError, match=r"UnitQuaternions\.log"):
        gm.UnitQuaternions().log(jnp.array([-1.0, 0.0, 0.0, 0.0]))


SMALL_GROUPS = [gm.SO2(), gm.SO3(), gm.SE2(), gm.SE3(), gm.UnitQuaternions()]


@pytest.mark.parametrize("group", SMALL_GROUPS, ids=lambda G: type(G).__name__)
def test_values_and_gradients_at_zero(group):
    zero, e = jnp.zeros(group.dim), group.identity()

    @jax.jit
    def at_zero():
        round_trip = jax.jacrev(lambda xi: group.log(group.exp(xi)))(zero)
        cayley_trip = jax.jacfwd(lambda xi: group.cayley_inverse(group.cayley(xi)))(zero)
        slope = jax.jacfwd(group.dexp)(zero)
        inverse_slope = jax.jacrev(group.dexp_inverse)(zero)
        return round_trip, cayley_trip, group.dexp(zero), slope, inverse_slope

    round_trip, cayley_trip, dexp, slope, inverse_slope = at_zero()
    np.testing.assert_array_equal(group.log(e), zero)
    np.testing.assert_array_equal(group.cayley_inverse(e), zero)
    np.testing.assert_allclose(round_trip, np.eye(group.dim), atol=1e-15)
    np.testing.assert_allclose(cayley_trip, np.eye(group.dim), atol=1e-15)
    np.testing.assert_array_equal(dexp, np.eye(group.dim))
    # dexp_ξ = I − ½ ad_ξ + …, and its inverse I + ½ ad_ξ + …
    C = np.einsum("cab->cba", group.structure_constants())
    np.testing.assert_allclose(slope, -0.5 * C, atol=1e-15)
    np.testing.assert_allclose(inverse_slope, 0.5 * C, atol=1e-15)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3])
def test_tiny_rotations_keep_all_digits(size):
    xi = jnp.array([0.36, -0.48, 0.8]) * size
    for group in (gm.SO3(), gm.UnitQuaternions()):
        np.testing.assert_allclose(group.log(group.exp(xi)), xi, rtol=1e-12, atol=1e-17 if group.dim == 9 else 1e-16)


def test_random_elements_are_spread():
    """Haar measure on SO(3): the mean matrix vanishes and the angle has density (1 − cos θ)/π."""
    rotations = jax.vmap(gm.SO3().random_point)(jax.random.split(jax.random.key(0), 20000))
    assert np.max(np.abs(np.mean(rotations, axis=0))) < 0.02
    angles = np.linalg.norm(jax.vmap(gm.SO3().log)(rotations), axis=1)
    assert abs(np.mean(angles) - (np.pi / 2 + 2 / np.pi)) < 0.02


def test_projection_onto_rotations_is_the_polar_factor():
    A = np.eye(3) + 0.1 * np.random.default_rng(3).normal(size=(3, 3))
    U, _, Vt = np.linalg.svd(A)
    np.testing.assert_allclose(gm.SO3().project(jnp.asarray(A)), U @ Vt, atol=1e-14)


@pytest.mark.parametrize("cls", [gm.SO2, gm.SO3, gm.SE2, gm.SE3, gm.Heisenberg, gm.UnitQuaternions])
def test_unknown_tau(cls):
    with pytest.raises(ValueError, match=rf"{cls.__name__} needs tau to be 'exp' or 'cayley'; got 'foo'"):
        cls(tau="foo")


def test_unknown_tau_with_more_arguments():
    with pytest.raises(ValueError, match="tau"):
        gm.Translations(2, tau="log")
    with pytest.raises(ValueError, match="tau"):
        gm.ProductGroup(gm.SO3(), tau="Exp")


@pytest.mark.parametrize("call", ["multiply", "log", "exp", "adjoint", "inverse", "dexp"])
def test_bad_elements_and_vectors(call):
    G = gm.SO3()
    good, wrong_shape, off = G.identity(), jnp.eye(4), 2 * jnp.eye(3)
    if call in ("exp", "dexp"):
        with pytest.raises(gm.ArgumentError, match=rf"SO3\.{call} needs xi to be an array of shape \(3,\)"):
            getattr(G, call)(jnp.zeros(4))
        with pytest.raises(gm.ArgumentError, match="finite"):
            getattr(G, call)(jnp.array([jnp.nan, 0, 0]))
        return
    others = (good,) if call == "multiply" else ()
    with pytest.raises(gm.ArgumentError, match=rf"SO3\.{call} needs g to be an array of shape \(3, 3\)"):
        getattr(G, call)(wrong_shape, *others)
    with pytest.raises(gm.OffManifoldError, match=rf"SO3\.{call} needs g on SO3; it is off by"):
        getattr(G, call)(off, *others)


def test_reflections_are_not_rotations():
    with pytest.raises(gm.OffManifoldError):
        gm.SO3().log(jnp.diag(jnp.array([1.0, 1.0, -1.0])))
    with pytest.raises(gm.OffManifoldError):
        gm.SO2().log(jnp.diag(jnp.array([1.0, -1.0])))


def test_product_needs_groups():
    with pytest.raises(gm.ArgumentError, match=r"factors\[1\] to be a LieGroup; got .*Sphere"):
        gm.ProductGroup(gm.SO3(), gm.Sphere(2))
    with pytest.raises(gm.ArgumentError, match="at least one"):
        gm.ProductGroup()


GROUPS = [gm.SO3(), gm.SO3(tau="cayley"), gm.UnitQuaternions(tau="cayley")]
MORE_GROUPS = [gm.SE2(), *(make(tau=tau) for make in (gm.SO2, gm.SE3, gm.Heisenberg) for tau in ("exp", "cayley"))]


@eqx.filter_jit
def slopes_of_coordinates(G, xi, eta, zeta):
    """First and second derivatives of τ⁻¹ along curves g(s, t) of the group, by its closed form and through the logarithm."""

    def curve(s, t):
        return G.multiply(G.from_algebra(xi), G.multiply(G.exp(s * eta), G.exp(t * zeta)))

    found = []
    for coordinates in (G.to_algebra, G.log if G.tau == "exp" else G.cayley_inverse):
        along = jax.jacfwd(lambda s, t, f=coordinates: f(curve(s, t)), argnums=(0, 1))
        found.append((along(0.0, 0.0), jax.jacfwd(along, argnums=(0, 1))(0.0, 0.0)))
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "G",
    [*GROUPS, *(pytest.param(G, marks=pytest.mark.extended) for G in MORE_GROUPS)],
    ids=lambda G: f"{type(G).__name__}-{G.tau}",
)
def test_the_derivative_of_coordinates_in_closed_form(G):
    xi, eta, zeta = 0.4 * jax.random.normal(jax.random.key(5), (3, G.dim))
    closed, through_logarithm = slopes_of_coordinates(G, xi, eta, zeta)
    for a, b in zip(jax.tree.leaves(closed), jax.tree.leaves(through_logarithm), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-14)
    assert max(float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(closed)) > 0.1
