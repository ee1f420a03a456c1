"""Energy methods at all amplitudes, their orders and reversals, the forms of a Hamiltonian, and loop integrals that wind around."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
from programs import operations

import groupoid_mech as gm
from groupoid_mech.algebroids.lie_algebra import LieAlgebra
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.numerics.matrix import cross_matrix, dot

DT = 0.1
S2 = gm.Sphere(2)
T_R1, T_S2 = gm.CotangentBundle(gm.Euclidean(1)), gm.CotangentBundle(S2)
DUAL = gm.LinearPoisson(LieAlgebra(gm.SO3()))
INERTIA = np.array([1.0, 2.0, 2.5])
SIDE = np.array([1.0, 0.0])
GRADIENTS = [gm.GonzalezGradient, gm.MeanGradient, gm.ItohAbeGradient]
AMPLITUDES = [1.0, 1e-3, 1e-6, 1e-9]


class Near(NamedTuple):
    """A Hamiltonian near its equilibrium: starts at an amplitude, the energy above rest without cancellation, and the linear motion."""

    poisson: gm.PoissonManifold
    hamiltonian: object
    start: object
    excess: object
    linear: object


def pendulum(q, p):
    return p[0] ** 2 / 2 - jnp.cos(q[0])


def cosines(frequencies, n):
    """The midpoint rule for an oscillator from rest: it turns by 2 atan(ω dt/2) in a step."""
    turns = 2 * np.arctan(np.asarray(frequencies) * DT / 2)
    return np.cos(np.arange(n + 1)[:, None] * turns)


LINE = Near(
    gm.CanonicalPoisson(T_R1),
    pendulum,
    lambda a: (jnp.array([a]), jnp.zeros(1)),
    lambda q, p: p[:, 0] ** 2 / 2 + 2 * np.sin(q[:, 0] / 2) ** 2,
    lambda q, p, n: (q, q[0] * cosines([1.0], n)),
)


def heavy(q, p):
    """A spherical pendulum with a second force to the side: the energy is its only invariant."""
    return dot(p, p) / 2 + q[2] + 0.2 * dot(jnp.asarray(SIDE), q[:2]) ** 2


def heavy_modes(q, p, n):
    """The modes along the axes: where H is a sum of squares of coordinates all three gradients are that in the middle."""
    return q[:, :2], cosines([np.sqrt(1.4), 1.0], n) * q[0, :2]


SPHERE = Near(
    gm.CanonicalPoisson(T_S2),
    heavy,
    lambda a: (jnp.array([0.6 * np.sin(a), 0.8 * np.sin(a), -np.cos(a)]), jnp.zeros(2)),
    lambda q, p: (
        np.sum(p * p, axis=1) / 2 + np.sum(q[:, :2] ** 2, axis=1) / (1 - q[:, 2]) + 0.2 * (q[:, :2] @ SIDE) ** 2
    ),
    heavy_modes,
)


def body(q, p):
    return dot(p, p / jnp.asarray(INERTIA)) / 2 + 0.5 * (p[0] * p[1]) ** 2


def body_excess(q, p):
    """The energy less |p|²/(2 I₃), of which the Casimir function |p|² is kept by the midpoint."""
    rates = 1 / INERTIA - 1 / INERTIA[2]
    return p**2 @ rates / 2 + 0.5 * (p[:, 0] * p[:, 1]) ** 2


def body_motion(q, p, n):
    """Euler's equations p' = p × ω near the third axis, by Cayley's transform of their matrix."""
    A = np.array([[0, 1 / 2.5 - 1 / 2.0], [1 / 1.0 - 1 / 2.5, 0]])
    step = np.linalg.solve(np.eye(2) - DT / 2 * A, np.eye(2) + DT / 2 * A)
    motion = [p[0, :2]]
    for _ in range(n):
        motion.append(step @ motion[-1])
    return p[:, :2], np.array(motion)


BODY = Near(
    DUAL,
    body,
    lambda a: (jnp.zeros(0), jnp.array([np.sin(a), 0.0, np.cos(a)])),
    body_excess,
    body_motion,
)
PLACES = {"R1": LINE, "so3*": BODY, "T*S2": SPHERE}


@pytest.fixture(scope="module")
def methods():
    """Every method once: its program is compiled for all tests."""
    made = {}

    def make(place, kind):
        if (place, kind) not in made:
            near = PLACES[place]
            gradient = kind(gm.theta_map(near.poisson.manifold, 0.5))
            made[place, kind] = gm.EnergyIntegrator(near.hamiltonian, near.poisson, gradient, DT)
        return made[place, kind]

    return make


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)) for a, b in pairs)


CASES = [
    pytest.param(place, kind, marks=pytest.mark.slow if place == "T*S2" and kind is not gm.GonzalezGradient else ())
    for place in PLACES
    for kind in GRADIENTS
]


# ------------------------------------------------------------------------- at all amplitudes


@pytest.mark.few(3)
@pytest.mark.parametrize(("place", "kind"), CASES)
def test_energy_is_kept_at_all_amplitudes(methods, place, kind):
    """To round-off of the energy above rest: 1e-18 for an amplitude of 1e-9, where the values of H are the same number."""
    near, method = PLACES[place], methods(place, kind)
    for a in AMPLITUDES:
        run = method.run(near.start(a), 1000)
        points = [np.asarray(part) for part in run.points]
        excess = near.excess(*points)
        assert np.ptp(excess) <= 1e-12 * excess[0], a
        # Quotients by short edges have fewer digits, and one edge is always the shortest.
        assert float(np.max(run.residuals)) <= (5e-14 if kind is gm.ItohAbeGradient else 1e-14) * a, a
        found, expected = near.linear(*points, 1000)
        off = np.max(np.abs(found - expected)) / a
        assert off > 1e-2 if a == 1 else off <= 20 * a, a  # the linear motion is right to order a²; 20 a is generous
        assert np.ptp(found) >= a / 2


@pytest.mark.slow
def test_energy_is_kept_on_a_group_of_matrices():
    """Products of rotations leave the group by round-off, which adds up: the energy would be off by 1e-10 in 10,000 steps, growing like n²."""
    G = gm.SO3()
    bundle, inertia = gm.CotangentBundle(G), jnp.array([1.0, 2.0, 3.0])

    def H(R, p):
        return jnp.sum(p * p / inertia) / 2 + R[2, 2] + 0.3 * R[2, 0]

    gradient = gm.GonzalezGradient(gm.theta_map(bundle, 0.5))
    method = gm.EnergyIntegrator(H, gm.CanonicalPoisson(bundle), gradient, dt=0.05)
    run = method.run((jnp.eye(3), jnp.array([1.0, 0.4, 2.0])), 10_000, save_every=10)
    assert np.ptp(np.asarray(run.observe(H))) <= 5e-12
    assert float(bundle.violation(run.end)) <= 5e-15


# What a library computes, or what moves rows about: time loops with one of these are not one native function.
LIBRARY = {"dot_general", "svd", "lu", "qr", "eigh", "gather", "scatter"}


@pytest.mark.parametrize("group", [None, gm.SO3()], ids=["so3*", "T*SO3"])
def test_a_step_calls_no_library(methods, group):
    if group is None:
        method, x = methods("so3*", gm.GonzalezGradient), BODY.start(1.0)
    else:
        bundle = gm.CotangentBundle(group)
        gradient = gm.GonzalezGradient(gm.theta_map(bundle, 0.5))
        method = gm.EnergyIntegrator(lambda R, p: dot(p, p) + R[2, 2], gm.CanonicalPoisson(bundle), gradient, DT)
        x = jnp.eye(3), jnp.ones(3)
        assert "svd" in operations(jax.make_jaxpr(group.project)(x[0]).jaxpr), "the control"
    assert not operations(jax.make_jaxpr(lambda x: method.advance(x, method.begin(x)))(x).jaxpr) & LIBRARY


@pytest.mark.parametrize(("place", "kind"), CASES)
def test_what_is_at_rest_stays(methods, place, kind):
    rest = PLACES[place].start(0.0)
    run = methods(place, kind).run(rest, 1000)
    assert distance(run.end, rest) == 0
    assert float(np.max(run.residuals)) == 0


@pytest.mark.parametrize("kind", GRADIENTS)
def test_far_from_the_origin(methods, kind):
    """A pendulum that has turned 200000 times: its angle is rounded to 1e-10, and the equations of a step with it."""
    for a in (1.0, 1e-3, 0.0):
        run = methods("R1", kind).run((jnp.array([4e5 * np.pi + a]), jnp.zeros(1)), 1000)
        energies = np.asarray(run.observe(pendulum))
        assert np.ptp(energies) <= 1000 * 2.4e-10 * max(a, 1e-9)
        assert np.ptp(np.asarray(run.points[0])) >= a


def test_the_derivative_of_a_small_step_is_that_of_the_linear_motion(methods):
    method = methods("R1", gm.GonzalezGradient)
    z = jnp.array([1e-6, 3e-7])
    D = eqx.filter_jit(jax.jacfwd(lambda z: jnp.concatenate(method((z[:1], z[1:])))))(z)
    A = np.array([[0, 1], [-1, 0]]) * DT / 2
    np.testing.assert_allclose(D, np.linalg.solve(np.eye(2) - A, np.eye(2) + A), atol=1e-11)


class Uncorrected(gm.DiscreteGradient):
    """The gradient in the middle, which knows nothing of the rise."""

    map: gm.DiscretizationMap

    def along(self, H, way):
        return frame_derivatives(self.map.groupoid.base, H, way.point)


def test_without_the_rise_energy_is_lost():
    method = gm.EnergyIntegrator(pendulum, LINE.poisson, Uncorrected(gm.theta_map(T_R1, 0.5)), DT)
    excess = LINE.excess(*(np.asarray(part) for part in method.run(LINE.start(1.0), 1000).points))
    assert np.ptp(excess) > 1e-5


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", GRADIENTS)
@pytest.mark.parametrize("size", [1.0, 1e-2, 1e-4, 1e-8])
def test_more_digits_than_the_values_have(kind, size):
    """For a polynomial H, whose rise is known without cancellation: q² − q'² = (q − q')(q + q')."""
    R2 = gm.Euclidean(2)
    gradient = kind(gm.theta_map(R2, 0.5))
    y, v = jnp.array([0.7, -0.4]), size * jnp.array([0.3, 0.5])
    slope = np.asarray(gradient.at(lambda x: 1 + x[0] ** 2 * x[1], y, v))
    (a, b), (da, db) = np.asarray(y), np.asarray(v)
    rise = 2 * a * b * da + a**2 * db + da**2 * db / 4
    assert abs(slope @ np.asarray(v) - rise) <= 4e-16 * (1 if size == 1 else 2 * size)


# --------------------------------------------------------------------------- orders, reversals


def orders(method, start, time, steps, exact, seen):
    errors = [
        distance(seen(*method.with_step(time / n).run(start, n).end), exact) for n in (steps * 2**k for k in range(5))
    ]
    return np.log2(np.array(errors[:-1]) / errors[1:])


@pytest.mark.parametrize(("kind", "order"), list(zip(GRADIENTS, (2, 2, 1), strict=True)))
def test_orders_on_a_dual_of_a_lie_algebra(methods, kind, order):
    start = jnp.zeros(0), jnp.array([0.5, 1.2, -0.8])

    def field(_, p):
        coupled = p[0] * p[1]
        return np.cross(p, p / INERTIA + coupled * np.array([p[1], p[0], 0]))

    exact = scipy.integrate.solve_ivp(field, (0, 2), start[1], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    found = orders(methods("so3*", kind), start, 2.0, 40, exact, lambda q, p: p)
    assert np.all(np.abs(found - order) <= 0.2), found


def test_order_on_the_bundle_of_a_sphere(methods):
    q, velocity = np.array([0.6, 0.0, -0.8]), np.array([0.4, 0.5, 0.3])
    start = jnp.asarray(q), S2.from_ambient(jnp.asarray(q), jnp.asarray(velocity))
    side = np.array([*SIDE, 0])

    def field(_, state):
        q, v = state[:3], state[3:]
        force = -np.array([0, 0, 1.0]) - 0.4 * (side @ q) * side
        return np.concatenate([v, force - (force @ q) * q - (v @ v) * q])

    first = np.concatenate([q, S2.to_ambient(*start)])
    exact = scipy.integrate.solve_ivp(field, (0, 3), first, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]

    def in_space(q, p):
        return jnp.concatenate([q, S2.to_ambient(q, p)])

    found = orders(methods("T*S2", gm.GonzalezGradient), start, 3.0, 30, exact, in_space)
    assert np.all(np.abs(found - 2) <= 0.2), found


@pytest.mark.parametrize("kind", GRADIENTS)
def test_steps_backwards(methods, kind):
    """Φ*₋ₕ ∘ Φₕ = 1; the symmetric methods are their own adjoint, that of Itoh and Abe is not."""
    method, start = methods("so3*", kind), (jnp.zeros(0), jnp.array([0.5, 1.2, -0.8]))
    there = method.run(start, 20).end
    own = distance(method.with_step(-DT).run(there, 20).end, start)
    if kind is gm.ItohAbeGradient:
        assert own > 1e-4
        assert distance(method.adjoint().with_step(-DT).run(there, 20).end, start) <= 1e-13
    else:
        assert own <= 1e-13
    twice = method.adjoint().adjoint()
    assert jax.tree.structure(twice) == jax.tree.structure(method)


# ------------------------------------------------------------------------- what is taken, what not


class Body(gm.PoissonManifold):
    """The Lie–Poisson structure of the rigid body with points of R³, which are no pairs."""

    manifold: gm.Euclidean = gm.Euclidean(3)

    def tensor(self, x):
        return cross_matrix(x)


class Weighted(eqx.Module):
    strength: float = 2.0

    def __call__(self, q, p, scale=1.0):
        return scale * self.strength * pendulum(q, p)


@pytest.mark.parametrize(
    "H",
    [
        Weighted(),
        lambda x: 2 * pendulum(*x),
        lambda x, k=2.0: k * pendulum(*x),
        lambda q, p, *, k=2.0: k * pendulum(q, p),
        jax.jit(lambda q, p: 2 * pendulum(q, p)),
        jax.tree_util.Partial(lambda k, q, p: k * pendulum(q, p), 2.0),
    ],
)
def test_a_hamiltonian_of_the_point_or_of_its_members(H):
    method = gm.EnergyIntegrator(H, LINE.poisson, gm.GonzalezGradient(gm.theta_map(T_R1, 0.5)), DT)
    x = jnp.array([0.3]), jnp.array([0.7])
    assert float(method.hamiltonian(x)) == 2 * float(pendulum(*x))


def energy_method(H, poisson=LINE.poisson, dt=DT):
    return gm.EnergyIntegrator(H, poisson, gm.GonzalezGradient(gm.theta_map(poisson.manifold, 0.5)), dt)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: energy_method(lambda a, b, c: a), r"H\(q, p\), or H\(x\) of the pair.*\(a, b, c\)"),
        (lambda: energy_method(lambda: 1.0), r"H\(q, p\), or H\(x\)"),
        (lambda: energy_method(pendulum, Body()), "one argument.*no pairs.*pendulum takes"),
        (lambda: energy_method(lambda q, p: p), "real number"),
        (lambda: energy_method(3.0), "a function was needed"),
        (lambda: energy_method(pendulum, dt=0.0), "EnergyIntegrator needs a finite dt"),
        (lambda: energy_method(pendulum, dt=np.nan), "EnergyIntegrator needs a finite dt"),
        (lambda: energy_method(pendulum).with_step(0), "with_step needs a finite dt"),
        (lambda: energy_method(pendulum).with_step([1, 2]), "one number"),
        (lambda: gm.MeanGradient(gm.theta_map(T_R1, 0.5), nodes=0), "nodes to be an integer"),
        (lambda: gm.ItohAbeGradient(T_R1), "ItohAbeGradient needs map"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(gm.ArgumentError, match=message):
        make()


# --------------------------------------------------------------------------------- loop integrals

T = 2 * np.pi * np.arange(48) / 48


def invariant(M, q, p):
    return float(gm.poincare_invariant(M, (jnp.asarray(q), jnp.asarray(p))))


def test_loops_that_wind_around_a_torus():
    """∮ (1 + 0.3 cos t) d(t + 0.2 sin t) = 2.06 π, whichever angles stand for the points."""
    M, q, p = gm.Torus(1), (T + 0.2 * np.sin(T))[:, None], (1 + 0.3 * np.cos(T))[:, None]
    assert abs(invariant(M, T[:, None], np.ones((48, 1))) - 2 * np.pi) <= 1e-12
    rng = np.random.default_rng(0)
    for angles in (q, np.mod(q + 1, 2 * np.pi) - 1, q + 2 * np.pi * rng.integers(-3, 4, q.shape)):
        assert abs(invariant(M, angles, p) - 2.06 * np.pi) <= 1e-12
    assert abs(invariant(M, q[::-1], p[::-1]) + 2.06 * np.pi) <= 1e-12
    # Without winding, as on a line; and with the first angle twice around, the second once back.
    assert abs(invariant(M, 0.5 * np.cos(T)[:, None] + 3, -np.sin(T)[:, None]) - np.pi / 2) <= 1e-12
    both = np.stack([2 * T, -T + 0.1 * np.cos(T)], axis=1)
    momenta = np.stack([1 + np.sin(T), 3 - np.sin(T)], axis=1)
    assert abs(invariant(gm.Torus(2), both, momenta) - (4 - 6 + 0.1) * np.pi) <= 1e-12
    # The control: angles taken for points of a line jump at the end, and their trigonometric polynomial gives 0 instead of 2π.
    assert abs(invariant(gm.Euclidean(1), T[:, None], np.ones((48, 1)))) <= 1e-12


def test_a_loop_on_the_sphere_across_the_jump_of_its_frame():
    """A tilted circle of height h and a covector u with u·q' = (1 + 0.3 cos t)(1 − h²) + const: ∮ = 2π (1 − h²)."""
    tilt, h = np.asarray(gm.SO3().retract(jnp.eye(3), jnp.array([1.1, 0.3, 0.2]))), 0.3
    radius = np.sqrt(1 - h**2)
    circle = np.stack([radius * np.cos(T), radius * np.sin(T), np.full_like(T, h)], axis=1) @ tilt.T
    speed = np.stack([-radius * np.sin(T), radius * np.cos(T), np.zeros_like(T)], axis=1) @ tilt.T
    across = np.cross(circle, speed)  # orthogonal to the speed: no part of the integral
    u = (1 + 0.3 * np.cos(T))[:, None] * speed + np.sin(2 * T)[:, None] * across
    p = jax.vmap(S2.from_ambient)(jnp.asarray(circle), jnp.asarray(u))
    assert np.sum(np.diff(np.sign(circle[:, 2])) != 0) >= 1
    assert abs(invariant(S2, circle, p) - 2 * np.pi * (1 - h**2)) <= 1e-12


def test_a_loop_of_rotations_that_is_not_contractible():
    """g = A exp(t e₃) has the velocity e₃ in the frame, once around in 2π; with exp(cos t e₁) before it, that of a product."""
    G = gm.SO3()
    first = G.exp(jnp.array([0.4, -0.3, 0.9]))
    turns = jax.vmap(lambda t: G.exp(jnp.array([0.0, 0.0, t])))(jnp.asarray(T))
    p = np.stack([np.cos(T), np.sin(T), 0.7 + 0.2 * np.cos(T)], axis=1)
    assert abs(invariant(G, jnp.einsum("ij,njk->nik", first, turns), p) - 1.4 * np.pi) <= 1e-12
    # (exp(s e₁) exp(t e₃))⁻¹ d(…) = s' exp(−t e₃) e₁ + e₃ with s = cos t: −sin t (cos t, −sin t, 0) + e₃.
    nods = jax.vmap(lambda t: G.exp(jnp.array([jnp.cos(t), 0.0, 0.0])))(jnp.asarray(T))
    expected = np.mean(-np.sin(T) * np.cos(T) * p[:, 0] + np.sin(T) ** 2 * p[:, 1] + p[:, 2]) * 2 * np.pi
    assert abs(invariant(G, jnp.einsum("nij,njk->nik", nods, turns), p) - expected) <= 1e-12


def test_a_loop_with_points_too_far_apart_is_refused():
    q = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    with pytest.raises(gm.ArgumentError, match="more points"):
        invariant(S2, q, np.zeros((3, 2)))
