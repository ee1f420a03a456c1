"""Lie algebroids against named values: tangent bundles, so(3), rotations of the sphere; bad input."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.algebroids.action import ActionAlgebroid
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.algebroids.algebroid_bundle import AlgebroidBundle
from groupoid_mech.algebroids.dual_bundle import DualBundle, dual_bundle
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.algebroids.lie_algebra import LieAlgebra
from groupoid_mech.algebroids.tangent import TangentAlgebroid
from groupoid_mech.manifolds.calculus import structure_functions

S2, R2, SO3, SE3 = gm.Sphere(2), gm.Euclidean(2), gm.SO3(), gm.SE3()
Q0 = S2.random_point(jax.random.key(0))
POINT = jnp.zeros(0)
EPSILON = np.zeros((3, 3, 3))
for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    EPSILON[i, j, k], EPSILON[i, k, j] = 1, -1


def turn(q, R):
    return R.T @ q


def test_algebroid_of_the_pair_groupoid_is_the_tangent_bundle():
    A = GroupoidAlgebroid(gm.PairGroupoid(S2))
    np.testing.assert_allclose(A.anchor(Q0), np.eye(2), atol=1e-15)
    np.testing.assert_allclose(A.structure(Q0), structure_functions(S2, Q0), atol=1e-15)
    np.testing.assert_allclose(A.structure(Q0), TangentAlgebroid(S2).structure(Q0), atol=1e-15)


@pytest.mark.parametrize("A", [GroupoidAlgebroid(gm.GroupGroupoid(SO3)), LieAlgebra(SO3)], ids=["A(SO3)", "so3"])
def test_structure_constants_of_rotations(A):
    """[E₁, E₂] = E₃ and cyclic; the anchor has no rows."""
    np.testing.assert_allclose(A.structure(POINT), EPSILON, atol=1e-15)
    assert A.anchor(POINT).shape == (0, 3)


@pytest.mark.parametrize("tau", ["exp", "cayley"])
def test_structure_constants_of_motions_do_not_depend_on_the_retraction(tau):
    A = GroupoidAlgebroid(gm.GroupGroupoid(gm.SE3(tau=tau)))
    np.testing.assert_allclose(A.structure(POINT), LieAlgebra(SE3).structure(POINT), atol=1e-14)


def test_algebroid_of_the_action_groupoid_is_the_action_algebroid():
    """The anchor of ω is q × ω, the structure constants are those of so(3)."""
    A, B = GroupoidAlgebroid(gm.ActionGroupoid(S2, SO3, turn)), ActionAlgebroid(S2, SO3, turn)
    omega = jnp.array([0.3, -0.7, 0.2])
    for algebroid in (A, B):
        moved = S2.to_ambient(Q0, algebroid.anchor(Q0) @ omega)
        np.testing.assert_allclose(moved, np.cross(Q0, omega), atol=1e-15)
        np.testing.assert_allclose(algebroid.structure(Q0), EPSILON, atol=1e-15)


def test_algebroid_of_a_gauge_groupoid_of_a_trivial_bundle_is_a_sum():
    """TB ⊕ h: the anchor is the projection, the structure that of both summands."""
    A = GroupoidAlgebroid(gm.GaugeGroupoid(S2, SO3))
    expected = np.zeros((5, 5, 5))
    expected[:2, :2, :2], expected[2:, 2:, 2:] = structure_functions(S2, Q0), EPSILON
    np.testing.assert_allclose(A.anchor(Q0), np.eye(2, 5), atol=1e-15)
    np.testing.assert_allclose(A.structure(Q0), expected, atol=1e-14)


def test_time_extension_adds_a_commuting_direction():
    A = GroupoidAlgebroid(gm.TimeExtended(gm.GroupGroupoid(SO3)))
    q = (jnp.array([0.4]), POINT)
    expected = np.zeros((4, 4, 4))
    expected[1:, 1:, 1:] = EPSILON
    np.testing.assert_allclose(A.structure(q), expected, atol=1e-15)
    np.testing.assert_allclose(A.anchor(q), [[1, 0, 0, 0]], atol=1e-15)


def test_action_algebroid_of_translations_is_the_tangent_bundle():
    """A simply transitive action: the anchor is an isomorphism, here the identity."""
    A, q = ActionAlgebroid(R2, gm.Translations(2), lambda q, t: q + t), jnp.array([0.5, -1.0])
    np.testing.assert_array_equal(A.anchor(q), TangentAlgebroid(R2).anchor(q))
    np.testing.assert_array_equal(A.structure(q), TangentAlgebroid(R2).structure(q))


def test_bracket_of_vector_fields_is_the_lie_bracket():
    X = lambda q: jnp.stack([q[0] * q[1], q[2]])  # noqa: E731
    Y = lambda q: jnp.stack([q[2] ** 2, q[0] - q[1]])  # noqa: E731
    A = TangentAlgebroid(S2)
    np.testing.assert_allclose(A.bracket(X, Y)(Q0), gm.lie_bracket(S2, X, Y)(Q0), atol=1e-15)
    np.testing.assert_array_equal(A.anchor_field(X)(Q0), X(Q0))


def test_bracket_of_sections_over_the_plane():
    """[∂_x, x ∂_y] = ∂_y."""
    A = TangentAlgebroid(R2)
    bracket = A.bracket(lambda q: jnp.array([1.0, 0.0]), lambda q: jnp.stack([jnp.zeros(()), q[0]]))
    np.testing.assert_array_equal(bracket(jnp.array([2.0, 3.0])), [0.0, 1.0])


def test_sections_are_pytrees_and_batch():
    """One compilation serves all parameters, and brackets batch over base points."""
    A = TangentAlgebroid(R2)
    bracket = A.bracket(lambda q: q, lambda q: jnp.stack([q[1], -q[0]]))  # dilation and rotation commute
    points = jnp.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(jax.vmap(bracket)(points), np.zeros((3, 2)), atol=1e-15)
    assert jax.jit(bracket)(points[0]).shape == (2,)


def test_dual_bundle_and_bundle():
    A = LieAlgebra(SO3)
    assert (dual_bundle(A).dim, dual_bundle(A).rank) == (3, 3)
    bundle = AlgebroidBundle(GroupoidAlgebroid(gm.ActionGroupoid(S2, SO3, turn)))
    q, a = bundle.random_point(jax.random.key(1))
    assert (q.shape, a.shape, bundle.dim) == ((3,), (3,), 5)
    moved = bundle.retract((q, a), jnp.arange(5.0) / 10)
    np.testing.assert_allclose(bundle.local((q, a), moved), np.arange(5.0) / 10, atol=1e-15)


# ------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (lambda q: jnp.zeros(2), r"needs Y\(q\) to be a float vector of length 3, the rank .* shape \(2,\)"),
        (lambda q: jnp.zeros((3, 1)), r"length 3"),
        (lambda q: (q, q), r"length 3"),
        (lambda q: jnp.arange(3), r"length 3"),
        (jnp.zeros(3), r"needs the section Y to be a function of the base point.*lambda q"),
    ],
    ids=["rank", "matrix", "tuple", "integers", "array"],
)
def test_a_wrong_section_is_named(section, message):
    A = LieAlgebra(SO3)
    with pytest.raises(gm.ArgumentError, match=message):
        A.bracket(lambda q: jnp.ones(3), section)


def test_a_section_that_cannot_be_traced_is_named():
    def stubborn(q):
        return jnp.ones(2) if q[0] > 0 else jnp.zeros(2)

    with pytest.raises(gm.NotTraceableError, match="stubborn"):
        TangentAlgebroid(R2).anchor_field(stubborn)


def test_a_point_off_the_base_is_refused():
    A = TangentAlgebroid(S2)
    for call in (A.anchor, A.structure, A.bracket(lambda q: q[:2], lambda q: q[1:])):
        with pytest.raises(gm.OffManifoldError):
            call(jnp.array([1.0, 1.0, 1.0]))


def test_a_fibre_vector_is_checked():
    LieAlgebra(SO3).check_fiber_vector(jnp.ones(3))
    with pytest.raises(gm.ArgumentError, match="shape"):
        LieAlgebra(SO3).check_fiber_vector(jnp.ones(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GroupoidAlgebroid(S2), "groupoid"),
        (lambda: TangentAlgebroid(gm.Sphere), "base"),
        (lambda: LieAlgebra(S2), "group"),
        (lambda: ActionAlgebroid(S2, S2, turn), "group"),
        (lambda: DualBundle(S2, 0), "rank"),
        (lambda: DualBundle(SO3.dim, 1), "base"),
        (lambda: dual_bundle(S2), "A"),
        (lambda: AlgebroidBundle(S2), "algebroid"),
    ],
)
def test_wrong_parts_are_named(make, message):
    with pytest.raises(gm.ArgumentError, match=message):
        make()


def test_a_left_action_is_refused():
    with pytest.raises(gm.NotAnActionError, match="left action"):
        ActionAlgebroid(S2, SO3, lambda q, R: R @ q)


def test_structure_functions_of_the_wrong_shape_are_named():
    """What an implementer writes is checked where it is used."""

    class Careless(LieAlgebroid):
        base: gm.Manifold
        rank: int = eqx.field(static=True)

        def anchor(self, q):
            return jnp.eye(2)

        def structure(self, q):
            return jnp.zeros((2, 2))

    bracket = Careless(R2, 2).bracket(lambda q: q, lambda q: q)
    with pytest.raises(gm.ArgumentError, match=r"Careless needs structure\(q\) .* \(2, 2, 2\)"):
        bracket(jnp.ones(2))
