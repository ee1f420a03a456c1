"""From Lagrangians on the algebroid to discrete systems: rules, orders, the dτ⁻¹ form, and the continuous equations as oracle."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import groupoid_mech as gm

INERTIA = jnp.array([1.0, 2.0, 2.5])
OMEGA = jnp.array([0.3, 1.0, 0.2])
NOWHERE = jnp.zeros(0)


class Body(eqx.Module):
    """The kinetic energy of a rigid body."""

    inertia: jax.Array

    def __call__(self, q, w):
        return jnp.sum(self.inertia * w**2) / 2


class Pendulum(eqx.Module):
    """A plane pendulum in a magnetic field that grows with the angle: nonlinear in position, linear and quadratic in velocity."""

    def __call__(self, q, v):
        return jnp.sum(v**2) / 2 + jnp.cos(q[0]) + 0.3 * jnp.sin(q[0]) * v[0] * q[1] - q[1] ** 4 / 4


PLANE = gm.PairGroupoid(gm.Euclidean(2))


@pytest.mark.parametrize("tau", ["cayley", "exp"])
@pytest.mark.parametrize("rule", ["trapezoid", "left", "right"])
def test_on_a_group_every_rule_is_the_lagrangian_of_the_logarithm(tau, rule):
    H = gm.SO3(tau=tau)
    system = gm.discretize(Body(INERTIA), gm.GroupGroupoid(H), 0.1, rule=rule)
    a = jnp.array([0.1, -0.2, 0.15])
    assert float(abs(system.action(H.from_algebra(a)) - jnp.sum(INERTIA * a**2) / 0.2)) < 1e-14


def curved(q, v):
    first = jnp.ravel(jax.tree.leaves(q)[0])[0] if jax.tree.leaves(q)[0].size else 0.3
    return jnp.sum((1 + jnp.arange(v.size)) * v**2) * (1 + 0.3 * jnp.sin(first)) + 0.2 * v[0] * jnp.cos(first)


def by_definition(G, dt, rule):
    """The rules by logarithms alone, as the docstring of `discretize` has them."""

    def right(g):
        q = G.target(g)
        return dt * curved(q, -G.fiber_local(q, G.inverse(g)) / dt)

    def midpoint(g):
        q = G.source(g)
        half = G.fiber_chart(q, 0.5 * G.fiber_local(q, g))
        x, back = G.target(half), G.inverse(half)
        return dt * curved(x, (G.fiber_local(x, G.multiply(back, g)) - G.fiber_local(x, back)) / dt)

    return {"right": right, "midpoint": midpoint}[rule]


SPHERE = gm.Sphere(2)
GROUPOIDS = {
    "pair(S²)": lambda: gm.PairGroupoid(SPHERE),
    "pair(SO(3))": lambda: gm.PairGroupoid(gm.SO3()),
    "SO(3), Cayley": lambda: gm.GroupGroupoid(gm.SO3(tau="cayley")),
    "S² ⋊ SO(3)": lambda: gm.ActionGroupoid(SPHERE, gm.SO3(), lambda q, h: h.T @ q),
    "S² ⋊ SO(3), Cayley": lambda: gm.ActionGroupoid(SPHERE, gm.SO3(tau="cayley"), lambda q, h: h.T @ q),
    "pair(R²) × SO(3)": lambda: gm.ProductGroupoid(PLANE, gm.GroupGroupoid(gm.SO3())),
    "gauge": lambda: gm.GaugeGroupoid(SPHERE, gm.SO2()),
}
_COMMON = ("pair(S²)", "SO(3), Cayley", "pair(R²) × SO(3)")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", [name if name in _COMMON else pytest.param(name, marks=pytest.mark.extended) for name in GROUPOIDS]
)
@pytest.mark.parametrize("rule", ["right", "midpoint"])
def test_closed_forms_of_rules_are_those_of_their_definition(name, rule):
    """Values and both Legendre transformations, which follow from all first derivatives."""
    G, dt = GROUPOIDS[name](), 0.1
    g = G.fiber_chart(jax.jit(G.base.random_point)(jax.random.key(1)), 0.3 * jnp.cos(1.0 + jnp.arange(G.rank)))
    ours, plain = gm.discretize(curved, G, dt, rule=rule), gm.DiscreteSystem(G, by_definition(G, dt, rule))
    left = gm.discretize(curved, G, dt, rule="left")
    for method in ("action", "legendre_minus", "legendre_plus"):
        values = [np.asarray(getattr(system, method)(g)) for system in (ours, plain, left)]
        np.testing.assert_allclose(values[0], values[1], rtol=1e-12, atol=1e-12)
        if G.base.dim:
            assert np.max(np.abs(values[0] - values[2])) > 1e-5, "another rule"


@pytest.mark.parametrize("tau", ["cayley", "exp"])
def test_the_legendre_maps_are_those_of_the_inverse_derivative_of_tau(tau):
    """F⁺ = (dτ⁻¹_a)* dl, F⁻ = (dτ⁻¹_{−a})* dl at ξ = a/dt, MMS §6.1."""
    H, dt, a = gm.SO3(tau=tau), 0.1, jnp.array([0.1, -0.2, 0.15])
    system = gm.discretize(Body(INERTIA), gm.GroupGroupoid(H), dt)
    momentum = INERTIA * a / dt
    g = H.from_algebra(a)
    np.testing.assert_allclose(system.legendre_plus(g), H.dtau_inverse(a).T @ momentum, rtol=1e-13)
    np.testing.assert_allclose(system.legendre_minus(g), H.dtau_inverse(-a).T @ momentum, rtol=1e-13)
    assert float(jnp.max(jnp.abs(H.dtau_inverse(a).T @ momentum - H.dtau_inverse(-a).T @ momentum))) > 1e-2


def test_rules_on_a_pair_groupoid_are_the_textbook_ones():
    dt, (q, r) = 0.1, (jnp.array([0.4, -0.3]), jnp.array([0.5, 0.1]))
    v, lagrangian = (r - q) / dt, Pendulum()
    expected = {
        "left": dt * lagrangian(q, v),
        "right": dt * lagrangian(r, v),
        "trapezoid": dt * (lagrangian(q, v) + lagrangian(r, v)) / 2,
        "midpoint": dt * lagrangian((q + r) / 2, v),
    }
    for rule, value in expected.items():
        assert float(abs(gm.discretize(lagrangian, PLANE, dt, rule=rule).action((q, r)) - value)) < 1e-15


@pytest.mark.parametrize(("rule", "order"), [("trapezoid", 2), ("midpoint", 2), ("left", 1), ("right", 1)])
def test_orders_on_a_nonlinear_problem(rule, order):
    q, v, time = jnp.array([0.4, -0.3]), jnp.array([0.5, 0.8]), 1.0
    lagrangian = Pendulum()
    exact = _by_scipy(lagrangian, q, v, time)
    p = jax.grad(lagrangian, argnums=1)(q, v)
    errors = []
    for steps in (20, 40, 80, 160, 320):
        system = gm.discretize(lagrangian, PLANE, time / steps, rule=rule)
        errors.append(np.max(np.abs(system.simulate(gm.from_momentum(system, q, p), steps).base_points[-1] - exact)))
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / np.array(errors[1:])), order, atol=0.2)


def _by_scipy(lagrangian, q, v, time):
    momentum = jax.grad(lagrangian, argnums=1)

    @jax.jit
    def rates(z):
        q, v = z[:2], z[2:]
        transport = jax.jvp(lambda q: momentum(q, v), (q,), (v,))[1]
        return jnp.concatenate(
            [v, jnp.linalg.solve(jax.jacfwd(momentum, 1)(q, v), jax.grad(lagrangian)(q, v) - transport)]
        )

    run = solve_ivp(lambda t, z: np.asarray(rates(z)), (0, time), [*q, *v], "DOP853", rtol=1e-13, atol=1e-14)
    return run.y[:2, -1]


def test_constraints_are_discretized_by_the_same_rule():
    H, dt = gm.SO3(tau="cayley"), 0.1
    system = gm.discretize(Body(INERTIA), gm.GroupGroupoid(H), dt, constraints=lambda q, w: w[2:] - 0.5)
    a = jnp.array([0.1, -0.2, 0.15])
    np.testing.assert_allclose(system.constraint_values(H.from_algebra(a)), [0.15 - 0.05], atol=1e-15)


@pytest.fixture(scope="module")
def body_flow():
    G = gm.GroupGroupoid(gm.SO3(tau="cayley"))
    return gm.EulerLagrange(Body(INERTIA), G, substeps=6)


@pytest.mark.extended
def test_the_continuous_equations_on_an_algebroid_are_those_of_euler(body_flow):
    """Π' = Π × ω: an independent integration of the textbook equation."""
    _, _, velocities = body_flow.trajectory(NOWHERE, OMEGA, 0.25, 8)
    inertia = np.asarray(INERTIA)
    exact = solve_ivp(
        lambda t, p: np.cross(p, p / inertia), (0, 2), inertia * OMEGA, "DOP853", rtol=1e-13, atol=1e-14
    ).y[:, -1]
    np.testing.assert_allclose(INERTIA * velocities[-1], exact, atol=1e-11)


@pytest.mark.slow
def test_the_exact_discrete_lagrangian_has_the_momenta_of_the_motion(body_flow):
    """Its Legendre maps are ∂l/∂ξ at the ends, and they are its derivatives along both ends of the arrow."""
    H, dt = gm.SO3(tau="cayley"), 0.25
    arrows, _, velocities = body_flow.trajectory(NOWHERE, OMEGA, dt, 2)
    exact = gm.exact_step(body_flow, arrows[0], dt)
    np.testing.assert_allclose(exact.minus, INERTIA * velocities[0], atol=1e-12)
    np.testing.assert_allclose(exact.plus, INERTIA * velocities[1], atol=1e-12)
    # The discrete Euler–Lagrange equations hold between consecutive pieces of one motion.
    np.testing.assert_allclose(exact.plus, gm.exact_step(body_flow, arrows[1], dt).minus, atol=1e-12)
    quotient = [
        (_moved(body_flow, H, arrows[0], e, dt) - _moved(body_flow, H, arrows[0], -e, dt)) / 2e-4
        for e in 1e-4 * np.eye(3)
    ]
    np.testing.assert_allclose(quotient, exact.plus, atol=1e-7)


def _moved(flow, H, g, e, dt):
    return float(gm.exact_step(flow, H.multiply(g, H.exp(jnp.asarray(e))), dt).action)


@pytest.mark.slow
def test_the_continuous_equations_on_the_sphere_keep_energy_and_agree_with_ambient_ones():
    S2 = gm.Sphere(2)
    q, v = jnp.array([0.6, 0.0, -0.8]), jnp.array([0.5, 1.5])
    flow = gm.EulerLagrange(lambda q, v: jnp.sum(v**2) / 2 - 9.81 * q[2], gm.PairGroupoid(S2))
    _, points, velocities = flow.trajectory(q, v, 0.1, 10)
    energies = jax.jit(jax.vmap(flow.energy))(points, velocities)
    assert float(jnp.ptp(energies)) < 1e-12

    def rates(t, z):
        x, u = z[:3], z[3:]
        force = np.array([0.0, 0.0, -9.81])
        return np.concatenate([u, force - (force @ x + u @ u) * x])

    start = np.concatenate([q, S2.to_ambient(q, v)])
    end = solve_ivp(rates, (0, 1), start, "DOP853", rtol=1e-13, atol=1e-14).y[:3, -1]
    np.testing.assert_allclose(points[-1], end, atol=1e-11)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gm.discretize(Body(INERTIA), PLANE, 0.1), "broadcast|incompatible|shapes"),
        (lambda: gm.discretize(Pendulum(), PLANE, -0.1), r"dt > 0; got -0\.1"),
        (lambda: gm.discretize(Pendulum(), PLANE, 0.1, rule="simpson"), "'trapezoid' or 'midpoint'"),
        (lambda: gm.discretize(lambda q, v: v, PLANE, 0.1), r"to return a number; .*shape \(2,\)"),
        (lambda: gm.discretize(Pendulum(), PLANE, 0.1, constraints=Pendulum()), "to return a vector"),
        (lambda: gm.discretize(Pendulum(), gm.Euclidean(2), 0.1), "LieGroupoid"),
    ],
)
def test_wrong_arguments_say_what_is_needed(call, message):
    with pytest.raises((gm.GroupoidMechError, TypeError, ValueError), match=message):
        call()
