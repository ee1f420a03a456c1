r"""Lifts of discretization maps: Barbero Liñán and Martín de Diego, §3, Prop. 5.7, Cor. 5.8, and Examples 3.11 and 5.4 as they are printed.

The closed forms of the examples are laws: ``groupoid_mech/laws/lift_example_laws.py``.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.discretization.cotangent_lift import (
    CotangentLift,
    cotangent_lift,
    difference_covector,
    lifted_step,
    momenta_of_covector,
    tulczyjew_alpha,
    tulczyjew_alpha_inverse,
)
from groupoid_mech.discretization.lagrangian_lift import LagrangianField, LagrangianLift, LegendreHamiltonian
from groupoid_mech.discretization.retraction import ChartMap, ProjectionMap
from groupoid_mech.discretization.tangent_lift import TangentLift, canonical_involution
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.errors import ArgumentError, NotFiniteError
from groupoid_mech.manifolds.calculus import push_forward

EXACT = 1e-14
# Second derivatives of charts and the solution of a system of equations of size 4 to 8 lie between the two sides.
ROUNDED = 1e-13
WRONG = 1e-3
H = 0.1

R2, R3, S2, SO3 = gm.Euclidean(2), gm.Euclidean(3), gm.Sphere(2), gm.SO3(tau="cayley")
MANIFOLDS = {"S2": S2, "SO3": SO3}


def drawn(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).uniform(-1.0, 1.0, shape))


def unit_vector(seed):
    x = drawn(seed, 3)
    return x / jnp.linalg.norm(x)


def size(tree):
    return max(float(np.max(np.abs(leaf))) for leaf in jax.tree.leaves(tree))


def distance(left, right):
    return size(jax.tree.map(lambda a, b: np.asarray(a) - np.asarray(b), left, right))


def place(M, seed):
    return M.random_point(jax.random.key(seed))


def ambient_velocity(M, x, v, w):
    """The ambient velocity of a vector v at x, for the velocity w of (x, v) in the frame of TM or T*M."""
    return jax.jvp(M.to_ambient, (x, v), (M.to_ambient(x, w[: M.dim]), w[M.dim :]))[1]


# ------------------------------------------------------------------------------------------ κ and α


def surface(M):
    """A surface (t, s) ↦ M with no symmetry in t and s."""
    c = 0.5 * drawn(3, 3, 5)
    start = place(M, 1)

    def point(t, s):
        a = c @ jnp.stack([t, s, t * s, t * t, s * s * t])
        return M.retract(M.retract(start, a[: M.dim]), jnp.sin(a[: M.dim] + 0.3 * t))

    return point


def second_velocity(M, point, inner, outer):
    """The point ∂_outer ∂_inner Φ of TTM."""

    def velocity(t, s):
        directions = {"t": (1.0, 0.0), "s": (0.0, 1.0)}[inner]
        x, moved = jax.jvp(point, (t, s), directions)
        return x, M.from_ambient(x, moved)

    directions = {"t": (1.0, 0.0), "s": (0.0, 1.0)}[outer]
    (x, v), (x_dot, v_dot) = jax.jvp(velocity, (0.3, -0.2), directions)
    return (x, v), jnp.concatenate([M.from_ambient(x, x_dot), v_dot])


@pytest.mark.few(1)
@pytest.mark.parametrize("name", MANIFOLDS)
def test_the_involution_exchanges_derivatives(name):
    M = MANIFOLDS[name]

    @eqx.filter_jit
    def both():
        w = second_velocity(M, surface(M), "s", "t")
        expected = second_velocity(M, surface(M), "t", "s")
        return canonical_involution(M, w), expected, canonical_involution(M, expected), w

    swapped, expected, back, w = both()
    assert distance(swapped, expected) <= ROUNDED
    assert distance(back, w) <= ROUNDED
    # Without the structure functions, or with their other sign, it is not so.
    plain = w[1][M.dim :]
    assert size(plain - expected[1][M.dim :]) > WRONG
    assert size(2 * plain - swapped[1][M.dim :] - expected[1][M.dim :]) > WRONG


@pytest.mark.parametrize("name", MANIFOLDS)
def test_tulczyjew_alpha_is_dual_to_the_involution(name):
    """⟨α(σ̇), κ(γ̇)⟩ = d/dt ⟨σ, γ⟩ for curves σ in T*Q and γ in TQ over one curve."""
    M = MANIFOLDS[name]
    c = drawn(5, 4, M.dim)

    def curves(t):
        q = M.retract(place(M, 2), jnp.sin(c[0] * t) + c[1] * t**2)
        return q, jnp.cos(c[2] + t * c[3]), jnp.sin(c[3] + t * c[1])

    @eqx.filter_jit
    def both():
        (q, p, u), (q_dot, p_dot, u_dot) = jax.jvp(curves, (0.4,), (1.0,))
        v = M.from_ambient(q, q_dot)
        at, covector = alpha = tulczyjew_alpha(M, ((q, p), jnp.concatenate([v, p_dot])))
        other, vector = canonical_involution(M, ((q, u), jnp.concatenate([v, u_dot])))
        rate = jax.jvp(lambda t: jnp.sum(curves(t)[1] * curves(t)[2]), (0.4,), (1.0,))[1]
        return covector @ vector - rate, at, other, tulczyjew_alpha_inverse(M, alpha), (q, p), p_dot - covector[: M.dim]

    gap, at, other, back, start, twist = both()
    assert abs(gap) <= ROUNDED
    assert distance(at, other) <= EXACT
    assert distance(back[0], start) <= EXACT
    assert size(twist) > WRONG


@pytest.mark.few(1)
@pytest.mark.parametrize("name", MANIFOLDS)
def test_tulczyjew_alpha_pulls_the_canonical_form_back_to_that_of_tangent_vectors(name):
    """α*ω_TQ = d_Tω = d(i_Tω), and Φ*ω = pr₂*ω − pr₁*ω."""
    M = MANIFOLDS[name]
    TQ, momenta = gm.TangentBundle(M), gm.CotangentBundle(M)
    domain, codomain = gm.TangentBundle(momenta), gm.CotangentBundle(TQ)

    def contraction(w):
        return jnp.concatenate([w[1] @ momenta.symplectic_form(w[0]), jnp.zeros(2 * M.dim)])

    @eqx.filter_jit
    def both(w):
        J = push_forward(domain, codomain, lambda y: tulczyjew_alpha(M, y), w)
        return J.T @ codomain.symplectic_form(tulczyjew_alpha(M, w)) @ J, gm.exterior_derivative(domain, contraction)(w)

    pulled, form = both(((place(M, 3), drawn(7, M.dim)), drawn(8, 2 * M.dim)))
    assert distance(pulled, form) <= ROUNDED


def test_differences_of_momenta_are_covectors_of_pairs():
    g = ((drawn(1, 2), drawn(2, 2)), (drawn(3, 2), drawn(4, 2)))
    pair, covector = difference_covector(g)
    assert distance(pair, (g[0][0], g[1][0])) == 0
    assert distance(covector, np.concatenate([-g[0][1], g[1][1]])) == 0
    assert distance(momenta_of_covector((pair, covector)), g) == 0


# -------------------------------------------------------------------------------- Prop. 3.2


def skewed(x):
    y = jnp.array([[1.0, 0.2, 0.0], [0.1, 1.3, -0.2], [0.0, 0.3, 0.8]]) @ x
    return y / jnp.linalg.norm(y)


def test_the_lift_of_a_diffeomorphism_is_symplectic():
    bundle = gm.CotangentBundle(S2)

    @eqx.filter_jit
    def both(x, v):
        lifted = cotangent_lift(S2, S2, skewed, x)
        J = push_forward(bundle, bundle, lambda y: cotangent_lift(S2, S2, skewed, y), x)
        moved = push_forward(S2, S2, skewed, x[0]) @ v
        return lifted, J.T @ bundle.symplectic_form(lifted) @ J, bundle.symplectic_form(x), lifted[1] @ moved - x[1] @ v

    x = unit_vector(1), drawn(2, 2)
    lifted, pulled, form, pairing = both(x, drawn(3, 2))
    assert distance(lifted[0], skewed(x[0])) <= EXACT
    assert abs(pairing) <= EXACT
    assert distance(pulled, form) <= ROUNDED


# -------------------------------------------------------------------------------- Prop. 3.5


@pytest.mark.few(1)
@pytest.mark.parametrize("name", MANIFOLDS)
def test_the_tangent_lift_of_the_adjoint(name):
    """In the proof TR*(q, v, q̇, v̇) = (TR²(q, −v, q̇, −v̇), TR¹(q, −v, q̇, −v̇)); (q, v, −q̇, −v̇) is printed."""
    M = MANIFOLDS[name]
    R = ChartMap(M)
    q, v, w = place(M, 4), 0.5 * drawn(2, M.dim), drawn(3, 2 * M.dim)

    @eqx.filter_jit
    def ends(R, v, w):
        """TR at (q, v) along w, as points of TM."""
        points, moved = jax.jvp(R.arrow, (q, v), (M.to_ambient(q, w[: M.dim]), w[M.dim :]))
        return tuple((point, M.from_ambient(point, change)) for point, change in zip(points, moved, strict=True))

    lifted = TangentLift(R.adjoint()).arrow(*canonical_involution(M, ((q, v), w)))
    assert distance(lifted, ends(R.adjoint(), v, w)) <= EXACT
    turned = jnp.concatenate([w[: M.dim], -w[M.dim :]])
    assert distance(lifted, ends(R, -v, turned)[::-1]) <= EXACT
    assert distance(lifted, ends(R, v, -w)[::-1]) > 0.1


# ----------------------------------------------------------------------- Example 3.11: the sphere, by exp


def exp_derivative(x, xi, power):
    """The matrix N of Example 3.11, with ‖ξ‖ to the given power in its second term: 1 as printed, 2 as it should be."""
    n = np.linalg.norm(xi)
    return (
        -np.sin(n) * np.outer(x, xi) / n
        + np.cos(n) * np.outer(xi, xi) / n**power
        + np.sin(n) * (n**2 * np.eye(3) - np.outer(xi, xi)) / n**3
    )


def tangential(x, v):
    return v - x * (x @ v)


@pytest.mark.parametrize(("power", "right"), [(2, True), (1, False)])
def test_tangent_lift_on_the_sphere(power, right):
    x, v, w = unit_vector(1), drawn(2, 2), drawn(3, 4)
    second = (x, v), w
    xi, x_dot = (np.asarray(S2.to_ambient(x, u)) for u in (v, w[:2]))
    xi_dot = np.asarray(ambient_velocity(S2, x, v, w))
    (x0, v0), (x1, v1) = TangentLift(ChartMap(S2)).arrow(*canonical_involution(S2, second))
    n = np.linalg.norm(xi)
    assert distance((x0, x1), (x, np.cos(n) * x + np.sin(n) * xi / n)) <= EXACT
    assert distance(S2.to_ambient(x0, v0), x_dot) <= EXACT
    gap = distance(S2.to_ambient(x1, v1), np.cos(n) * x_dot + exp_derivative(x, xi, power) @ xi_dot)
    assert gap <= EXACT if right else gap > WRONG


# --------------------------------------------------------------- Example 5.4: the sphere, by projection


def projection_derivative(x, y):
    """The matrix C of Example 5.4."""
    c = x @ y
    return c * (np.eye(3) + c * np.outer(y, x) - np.outer(y, y))


def pendulum(q, p):
    return (1 + 0.3 * q[0] * q[1]) * jnp.sum(p**2) / 2 + q[2] + 0.2 * p[0] * q[1]


def test_cotangent_lift_by_projection_without_restriction():
    """As printed, it is no point of TT*S²: p is not tangent at x, and ṗ is not its rate."""
    x, y = unit_vector(1), unit_vector(1) + 0.3 * unit_vector(2)
    y = y / jnp.linalg.norm(y)
    p0, p1 = drawn(3, 2), drawn(4, 2)
    momenta = tuple(np.asarray(S2.to_ambient(point, p)) for point, p in ((x, p0), (y, p1)))
    (_, p), w = CotangentLift(ProjectionMap(S2)).inverse(((x, p0), (y, p1)))
    c, C = np.asarray(x @ y), projection_derivative(np.asarray(x), np.asarray(y))
    printed = -momenta[0] + c * momenta[1], momenta[1] @ C
    assert abs(np.asarray(x) @ printed[1]) > 1e-2
    assert distance(S2.to_ambient(x, p), printed[1]) > 1e-2
    assert distance(ambient_velocity(S2, x, p, w), printed[0]) > 1e-2


def test_method_by_projection_without_restriction():
    """BM Example 5.4 for H = ½|p|², with vectors of R³ as printed: p_{k+1}C = (x_k·x_{k+1}) p_{k+1}, which is not tangent at x_k."""
    x, p0 = unit_vector(1), drawn(3, 2)
    y, p1 = lifted_step(ProjectionMap(S2), lambda q, p: jnp.sum(p**2) / 2, H, x, p0)
    momenta = tuple(np.asarray(S2.to_ambient(point, p)) for point, p in ((x, p0), (y, p1)))
    c, moved = np.asarray(x @ y), momenta[1] @ projection_derivative(np.asarray(x), np.asarray(y))
    assert distance(moved, c * momenta[1]) <= EXACT
    chord = np.asarray(y / c - x)
    assert distance(chord, H * tangential(np.asarray(x), moved)) <= EXACT
    # y/c − x = h p₁C, multiplied by y: 1/c − c = 0. Only a step that does not move solves what is printed.
    assert abs(chord @ np.asarray(y) - H * moved @ np.asarray(y)) == pytest.approx(1 / c - c, abs=EXACT)
    assert 1 / c - c > WRONG
    assert distance(chord, H * moved) > WRONG
    # Of the equation of the momenta, the part along x₀ is no equation on T*S².
    assert distance(-momenta[0] + c * momenta[1], np.zeros(3)) > WRONG


# -------------------------------------------------------------------------- steps on other bundles


class OnBundle(eqx.Module):
    """A function H(q, p) as one of the points (q, p) of the bundle."""

    hamiltonian: object

    def __call__(self, x):
        return self.hamiltonian(*x)


@pytest.mark.extended
def test_step_is_that_of_the_cotangent_lift():
    """(5.1): (R^T*)⁻¹(z₀, z₁) = dt X_H(z) at the point z where it starts."""
    R = ThetaMap(S2, 0.5)
    P = gm.CanonicalPoisson(gm.CotangentBundle(S2))

    @eqx.filter_jit
    def both(x):
        def advance(y, dt):
            return (lifted_step(R, pendulum, dt, *y),) * 2

        back, ends = jax.lax.scan(advance, x, jnp.array([H, -H]))
        z, w = CotangentLift(R).inverse((x, jax.tree.map(lambda leaf: leaf[0], ends)))
        return w, H * P.hamiltonian_field(OnBundle(pendulum))(z), back

    x = unit_vector(1), drawn(3, 2)
    w, field, back = both(x)
    assert distance(w, field) <= EXACT
    assert distance(back, x) <= EXACT  # the midpoint rule is symmetric


def body(q, p):
    return jnp.sum(p**2 / jnp.array([1.0, 2.0, 3.0])) / 2 + 0.1 * p[0] ** 2 * p[1]


def heavy(q, p):
    return jnp.sum(p**2 / jnp.array([1.0, 2.0, 3.0])) / 2 + q[2] + 0.2 * q[0] * p[1]


def turned(q, R):
    return R.T @ q


def _cases():
    top = eqx.filter_jit(lambda: gm.ActionGroupoid(S2, SO3, turned))()
    return {
        "pair(S2)": (ProjectionMap(S2), pendulum, unit_vector(1)),
        "SO3": (ChartMap(gm.GroupGroupoid(SO3)), body, jnp.zeros(0)),
        "S2:SO3": (ChartMap(top), heavy, unit_vector(2)),
    }


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.extended) for name in ("SO3", "pair(S2)", "S2:SO3")],
)
def test_step_is_poisson(name):
    """The step is a Poisson map of A*G, and its derivative at dt = 0 the Hamiltonian field."""
    retraction, hamiltonian, q = _cases()[name]
    R = eqx.filter_jit(lambda: ThetaMap(retraction, 0.3))()
    P = gm.LinearPoisson(gm.GroupoidAlgebroid(R.groupoid))
    x = q, drawn(4, R.groupoid.rank)

    @eqx.filter_jit
    def measure(x):
        M = P.manifold

        def at(dt):
            # One copy of the step in the program, for all of its derivatives.
            def along(w):
                step = jax.jvp(
                    lambda y, t: lifted_step(R, hamiltonian, t, *y), (x, dt), (M.to_ambient(x, w[:-1]), w[-1])
                )
                return step[0], M.from_ambient(*step)

            return jax.vmap(along, out_axes=(None, 1))(jnp.eye(M.dim + 1))

        ends, J = jax.lax.map(at, jnp.array([0.0, H]))
        end = jax.tree.map(lambda leaf: leaf[1], ends)
        moved = J[1, :, :-1] @ P.tensor(x) @ J[1, :, :-1].T
        return moved - P.tensor(end), end, P.hamiltonian_field(OnBundle(hamiltonian))(x) - J[0, :, -1]

    defect, (_, p), rate = measure(x)
    assert size(defect) <= EXACT
    assert size(rate) <= EXACT
    if name == "SO3":
        assert abs(jnp.linalg.norm(p) - jnp.linalg.norm(x[1])) <= EXACT  # the Casimir
    assert distance(p, x[1]) > WRONG


# ------------------------------------------------------------------------- Lagrangians: Prop. 5.7, Cor. 5.8


MASS = jnp.array([[2.0, 0.3], [0.3, 1.0]])


class Natural(eqx.Module):
    """½ vᵀMv − V(q), with a mass that grows with the place."""

    growth: float = 0.0

    def __call__(self, q, v):
        return (1 + self.growth * q[0]) * v @ MASS @ v / 2 - potential(q)


def potential(q):
    return jnp.sum(q**4) / 4 + q[0] * q[1] ** 2


class Relative(eqx.Module):
    """A Lagrangian on TS² that is not quadratic, with a mass that depends on the place and a magnetic term."""

    def __call__(self, q, v):
        mass = 1 + 0.3 * q[0] * q[1]
        return mass * jnp.sum(jnp.array([1.0, 1.3]) * v**2) / 2 + 0.05 * jnp.sum(v**4) + 0.3 * v[0] * q[1] - q[2]


@pytest.mark.parametrize(("theta", "growth", "same"), [(0.5, 0.0, True), (0.0, 0.0, False), (0.5, 0.4, False)])
def test_lagrangian_lift_is_the_tangent_lift(theta, growth, same):
    """Cor. 5.8 holds for the midpoint rule and a constant mass only."""
    R = ThetaMap(R2, theta)
    x, w = (drawn(1, 2), drawn(2, 2)), drawn(3, 4)
    gap = distance(LagrangianLift(R, Natural(growth)).arrow(x, w), TangentLift(R).arrow(x, w))
    assert gap <= EXACT if same else gap > WRONG


def test_lagrangian_field():
    """Γ_L is of second order, and T(FL) Γ_L = X_H∘FL, on the sphere."""
    L, momenta = Relative(), gm.CotangentBundle(S2)
    P = gm.CanonicalPoisson(momenta)

    def legendre(x):
        return x[0], jax.grad(L, argnums=1)(*x)

    @eqx.filter_jit
    def both(x):
        field = LagrangianField(L, S2)(x)
        moved = push_forward(gm.TangentBundle(S2), momenta, legendre, x) @ field
        return field, moved, P.hamiltonian_field(OnBundle(LegendreHamiltonian(L)))(legendre(x))

    x = unit_vector(1), drawn(2, 2)
    field, moved, expected = both(x)
    assert distance(field[:2], x[1]) == 0
    assert distance(moved, expected) <= ROUNDED


def test_hamiltonian_of_a_bounded_velocity():
    """A relativistic particle: H = √(1 + p²), also where Newton's method from v = 0 or v = p leaves the light cone."""
    hamiltonian = LegendreHamiltonian(lambda q, v: -jnp.sqrt(1 - jnp.sum(v**2)))
    for length in (0.1, 1.0, 3.0):
        p = length * jnp.array([0.6, -0.8])
        value, speed = jax.value_and_grad(hamiltonian, argnums=1)(jnp.zeros(2), p)
        energy = np.sqrt(1 + length**2)
        assert distance((value, speed), (energy, p / energy)) <= EXACT


@pytest.mark.extended
def test_lagrangian_method_is_the_hamiltonian_one():
    """(5.3): (R^L)⁻¹ of a step is dt Γ_L where it starts, on the sphere."""
    L, R = Relative(), ThetaMap(S2, 0.3)

    @eqx.filter_jit
    def both(q, v):
        hamiltonian, lift = LegendreHamiltonian(L), LagrangianLift(R, L)
        end = lifted_step(R, hamiltonian, H, q, jax.grad(L, argnums=1)(q, v))
        v1 = jax.grad(hamiltonian, argnums=1)(*end)
        z, w = lift.inverse(((q, v), (end[0], v1)))
        return w, H * LagrangianField(L, S2)(z)

    w, field = both(unit_vector(1), drawn(2, 2))
    assert distance(w, field) <= ROUNDED


# ------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("make", [TangentLift, CotangentLift, lambda R: LagrangianLift(R, Natural())])
def test_only_maps_of_manifolds_are_lifted(make):
    with pytest.raises(ArgumentError, match="PairGroupoid; that of ChartMap is on a GroupGroupoid.*lifted_step"):
        make(ChartMap(gm.GroupGroupoid(SO3)))
    with pytest.raises(ArgumentError, match="needs a discretization map to lift"):
        make(S2)


def test_a_step_that_is_too_long_is_refused():
    """q₁ = q₀ + dt q₁² has no real solution for 4 dt q₀ > 1."""
    with pytest.raises(NotFiniteError, match="Take a shorter dt"):
        lifted_step(ChartMap(R2).adjoint(), lambda q, p: jnp.sum(p * q**2), 1.0, jnp.ones(2), jnp.ones(2))


def test_functions_without_a_number_are_refused():
    with pytest.raises(ArgumentError, match="needs free.*to be a real number; it returns an array of shape"):
        LagrangianLift(ChartMap(R2), free)
    with pytest.raises(ArgumentError, match="needs free.*to be a real number"):
        lifted_step(ChartMap(R2), free, H, jnp.ones(2), jnp.ones(2))
    with pytest.raises(ArgumentError, match="dt to be a number.*jax.vmap"):
        lifted_step(ChartMap(R2), lambda q, p: jnp.sum(p**2), jnp.ones(2), jnp.ones(2), jnp.ones(2))


def free(q, v):
    return v**2


def test_manifolds_of_different_dimension_have_no_diffeomorphism():
    with pytest.raises(ArgumentError, match="same dimension; got 3 and 2"):
        cotangent_lift(R3, R2, lambda x: x[:2], (jnp.ones(3), jnp.ones(3)))
