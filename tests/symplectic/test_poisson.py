"""Poisson manifolds against named values: so(3)*, the heavy top, T*S²; Poisson maps; bad input."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.algebroids.action import ActionAlgebroid
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.algebroids.lie_algebra import LieAlgebra
from groupoid_mech.algebroids.tangent import TangentAlgebroid
from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson
from groupoid_mech.symplectic.cotangent_algebroid import CotangentAlgebroid
from groupoid_mech.symplectic.linear_poisson import LinearPoisson
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold
from groupoid_mech.symplectic.poisson_map import anti_poisson_defect, poisson_defect

S2, SO3 = gm.Sphere(2), gm.SO3()
SPIN = LinearPoisson(LieAlgebra(SO3))
PHASE = CanonicalPoisson(gm.CotangentBundle(gm.Euclidean(1)))
POINT = (jnp.zeros(0), jnp.array([0.7, -0.4, 1.3]))


def momentum(index):
    return lambda x: x[1][index]


def test_brackets_of_angular_momenta():
    """{p₁, p₂} = −p₃ and cyclic."""
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        assert abs(SPIN.bracket(momentum(a), momentum(b))(POINT) + POINT[1][c]) < 1e-15


def test_rigid_body_equations():
    """ṗ = p × ω with ω = ∂H/∂p."""
    inertia = jnp.array([1.0, 2.0, 3.0])
    field = SPIN.hamiltonian_field(lambda x: 0.5 * jnp.sum(x[1] ** 2 / inertia))
    np.testing.assert_allclose(field(POINT), np.cross(POINT[1], POINT[1] / inertia), atol=1e-15)


def test_casimir_of_angular_momenta():
    assert SPIN.casimir_defect(lambda x: jnp.sum(x[1] ** 2), POINT) < 1e-15
    assert SPIN.casimir_defect(momentum(0), POINT) > 0.1


@pytest.mark.parametrize("of_groupoid", [True, False])
def test_casimirs_of_the_heavy_top(of_groupoid):
    """On A*(S² ⋊ SO(3)), the function ⟨p, q⟩ is a Casimir; |q|² is constant already."""
    turn = lambda q, R: R.T @ q  # noqa: E731
    A = GroupoidAlgebroid(gm.ActionGroupoid(S2, SO3, turn)) if of_groupoid else ActionAlgebroid(S2, SO3, turn)
    P = LinearPoisson(A)
    x = P.manifold.random_point(jax.random.key(3))
    assert P.casimir_defect(lambda x: jnp.dot(x[0], x[1]), x) < 1e-14
    assert P.casimir_defect(lambda x: jnp.sum(x[1] ** 2), x) > 1e-2


def test_heavy_top_equations():
    """ṗ = p × ω + m q × χ, q̇ = q × ω for H = p²/2I + m ⟨q, χ⟩."""
    P = LinearPoisson(ActionAlgebroid(S2, SO3, lambda q, R: R.T @ q))
    inertia, chi = jnp.array([1.0, 2.0, 3.0]), jnp.array([0.1, 0.2, 0.9])
    q, p = P.manifold.random_point(jax.random.key(4))
    field = P.hamiltonian_field(lambda x: 0.5 * jnp.sum(x[1] ** 2 / inertia) + jnp.dot(x[0], chi))((q, p))
    q_dot, p_dot = P.manifold.to_ambient((q, p), field)
    np.testing.assert_allclose(q_dot, np.cross(q, p / inertia), atol=1e-14)
    np.testing.assert_allclose(p_dot, np.cross(p, p / inertia) + np.cross(q, chi), atol=1e-14)


def test_casimirs_of_motions():
    """On se(3)*, |p|² and ⟨π, p⟩ of angular momentum π and linear momentum p."""
    P = LinearPoisson(LieAlgebra(gm.SE3()))
    x = P.manifold.random_point(jax.random.key(5))
    constants = np.asarray(LieAlgebra(gm.SE3()).structure(jnp.zeros(0)))
    turns = slice(0, 3) if np.any(constants[:3, :3, :3]) else slice(3, 6)
    shifts = slice(3, 6) if turns == slice(0, 3) else slice(0, 3)
    assert P.casimir_defect(lambda x: jnp.sum(x[1][shifts] ** 2), x) < 1e-14
    assert P.casimir_defect(lambda x: jnp.dot(x[1][turns], x[1][shifts]), x) < 1e-14
    assert P.casimir_defect(lambda x: jnp.sum(x[1][turns] ** 2), x) > 1e-2


def test_canonical_bracket_and_hamilton_equations():
    x = (jnp.array([0.3]), jnp.array([0.8]))
    assert PHASE.bracket(lambda x: x[0][0], momentum(0))(x) == 1.0
    field = PHASE.hamiltonian_field(lambda x: 0.5 * x[1][0] ** 2 - jnp.cos(x[0][0]))
    np.testing.assert_allclose(field(x), [0.8, -np.sin(0.3)], atol=1e-15)


def test_canonical_tensor_inverts_the_symplectic_form():
    M = gm.CotangentBundle(S2)
    x = M.random_point(jax.random.key(6))
    np.testing.assert_allclose(CanonicalPoisson(M).tensor(x) @ M.symplectic_form(x).T, np.eye(4), atol=1e-14)


def test_linear_poisson_of_the_tangent_bundle_is_canonical():
    x = gm.CotangentBundle(S2).random_point(jax.random.key(7))
    linear, canonical = LinearPoisson(TangentAlgebroid(S2)), CanonicalPoisson(gm.CotangentBundle(S2))
    np.testing.assert_array_equal(linear.tensor(x), canonical.tensor(x))
    np.testing.assert_allclose(
        LinearPoisson(GroupoidAlgebroid(gm.PairGroupoid(S2))).tensor(x), linear.tensor(x), atol=1e-14
    )


def test_geodesics_of_the_sphere():
    """H = |p|²/2 turns the point along p, and p stays parallel: in the embedding q̇ = v, v̇ = −|v|² q."""
    P = CanonicalPoisson(gm.CotangentBundle(S2))
    x = P.manifold.random_point(jax.random.key(8))
    field = P.hamiltonian_field(lambda x: 0.5 * jnp.sum(x[1] ** 2))(x)
    velocity = lambda x: S2.to_ambient(x[0], x[1])  # noqa: E731
    _, acceleration = jax.jvp(velocity, (x,), (P.manifold.to_ambient(x, field),))
    np.testing.assert_allclose(acceleration, -jnp.sum(x[1] ** 2) * x[0], atol=1e-14)


def test_jacobiator_vanishes_and_is_seen_where_it_does_not():
    f, g, h = lambda x: x[1][0] ** 2, lambda x: x[1][1] * x[1][2], momentum(2)
    assert abs(SPIN.jacobiator(f, g, h)(POINT)) < 1e-14

    class Twisted(PoissonManifold):
        """On R³ Jacobi's identity says B · curl B = 0 for B = (Π²³, Π³¹, Π¹²); here B = (0, x, 1), and it is 1."""

        manifold: gm.Manifold

        def tensor(self, x):
            zero, one = jnp.zeros(()), jnp.ones(())
            return jnp.stack([zero, one, -x[0], -one, zero, zero, x[0], zero, zero]).reshape(3, 3)

    P = Twisted(gm.Euclidean(3))
    coordinates = [lambda x, i=i: x[i] for i in range(3)]
    assert abs(P.jacobiator(*coordinates)(jnp.array([1.0, 2.0, 3.0]))) == 1.0


def test_cotangent_lifts_of_point_maps_are_poisson():
    """(q, p) ↦ (e^q, e^−q p) is Poisson, (q, p) ↦ (q, −p) anti-Poisson, (q, p) ↦ (q, 2p) neither."""
    x = (jnp.array([0.3]), jnp.array([0.8]))
    assert poisson_defect(PHASE, PHASE, lambda x: (jnp.exp(x[0]), jnp.exp(-x[0]) * x[1]), x) < 1e-15
    assert anti_poisson_defect(PHASE, PHASE, lambda x: (x[0], -x[1]), x) < 1e-15
    double = lambda x: (x[0], 2 * x[1])  # noqa: E731
    assert poisson_defect(PHASE, PHASE, double, x) > 0.1
    assert anti_poisson_defect(PHASE, PHASE, double, x) > 0.1


def test_left_momentum_of_rotations_is_poisson():
    """T*SO(3) → so(3)*, (g, p) ↦ p in the left trivialization is Poisson; the right one, Ad*, anti-Poisson."""
    P = CanonicalPoisson(gm.CotangentBundle(SO3))
    x = P.manifold.random_point(jax.random.key(9))
    assert poisson_defect(P, SPIN, lambda x: (jnp.zeros(0), x[1]), x) < 1e-14
    assert anti_poisson_defect(P, SPIN, lambda x: (jnp.zeros(0), x[0] @ x[1]), x) < 1e-14


def test_coadjoint_action_is_poisson():
    R = SO3.exp(jnp.array([0.2, 0.5, -0.3]))
    assert poisson_defect(SPIN, SPIN, lambda x: (x[0], R @ x[1]), POINT) < 1e-15
    assert anti_poisson_defect(SPIN, SPIN, lambda x: (x[0], -R @ x[1]), POINT) < 1e-15


def test_cotangent_algebroid_of_the_plane():
    """♯dq = ∂_p, ♯dp = −∂_q: the sign of {q, p} = ♯dq[p]."""
    A = CotangentAlgebroid(PHASE)
    np.testing.assert_array_equal(A.anchor((jnp.zeros(1), jnp.zeros(1))), [[0, -1], [1, 0]])


def test_cotangent_algebroid_of_a_symplectic_manifold_is_the_tangent_bundle():
    """♯ carries the Koszul bracket to the bracket of vector fields, and inverts v ↦ ω(v, ·) up to the sign of ♯df = −X_f."""
    M = gm.CotangentBundle(S2)
    A, x = CotangentAlgebroid(CanonicalPoisson(M)), M.random_point(jax.random.key(10))
    np.testing.assert_allclose(A.anchor(x) @ M.symplectic_form(x).T, -np.eye(4), atol=1e-14)


# ------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: x[1], gm.ArgumentError, r"needs f\(x\) to be a real number.*shape \(3,\)"),
        (lambda x: 1, gm.ArgumentError, r"real number"),
        (jnp.zeros(3), gm.ArgumentError, r"needs f to be a function"),
        (lambda x: float(x[1][0]), gm.NotTraceableError, r"cannot be traced"),
    ],
    ids=["vector", "integer", "array", "not traceable"],
)
def test_a_wrong_function_is_named(function, error, message):
    with pytest.raises(error, match=message):
        SPIN.bracket(function, momentum(0))


def test_a_point_elsewhere_is_refused():
    with pytest.raises(gm.ArgumentError, match="shape"):
        SPIN.tensor((jnp.zeros(0), jnp.zeros(2)))
    with pytest.raises(gm.ArgumentError, match="shape"):
        SPIN.bracket(momentum(0), momentum(1))((jnp.zeros(0), jnp.zeros(2)))
    with pytest.raises(gm.ArgumentError, match="poisson_defect needs x"):
        poisson_defect(SPIN, SPIN, lambda x: x, POINT[1])


def test_a_tensor_of_the_wrong_shape_is_named():
    class Careless(PoissonManifold):
        manifold: gm.Manifold
        size: int = eqx.field(static=True)

        def tensor(self, x):
            return jnp.zeros((self.size, self.size))

    with pytest.raises(gm.ArgumentError, match=r"Careless needs tensor\(x\) .* \(2, 2\)"):
        Careless(gm.Euclidean(2), 3).hamiltonian_field(lambda x: x[0])(jnp.zeros(2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: CanonicalPoisson(gm.TangentBundle(S2)),
        lambda: LinearPoisson(S2),
        lambda: CotangentAlgebroid(LieAlgebra(SO3)),
        lambda: poisson_defect(S2, SPIN, lambda x: x, POINT),
        lambda: anti_poisson_defect(SPIN, S2, lambda x: x, POINT),
    ],
)
def test_wrong_parts_are_named(make):
    with pytest.raises(gm.ArgumentError):
        make()
