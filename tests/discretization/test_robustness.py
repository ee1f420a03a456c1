"""Methods that are asked too much: motions that run away, steps and weights that are wrong, maps that depend on the step, starts of all kinds."""

import itertools
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

import groupoid_mech as gm
from groupoid_mech.discretization.keeps_point import keeps_point
from groupoid_mech.manifolds.known_coordinates import point_along
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import dot

EXACT = 1e-14
DT = 0.1
R1, R2, S2, SO3 = gm.Euclidean(1), gm.Euclidean(2), gm.Sphere(2), gm.SO3()
START = jnp.array([1.0]), jnp.array([0.4])
MIDPOINT = gm.theta_map(R1, 0.5)


def kinetic(p):
    return p[0] ** 2 / 2 + 0.1 * p[0] ** 4


def pendulum():
    return gm.Separable(kinetic, lambda q: -1.3 * jnp.cos(q[0]))


def runaway():
    """q' ~ q²: the exact motion reaches infinity in finite time."""
    return gm.Separable(lambda p: p[0] ** 2 / 2, lambda q: -(q[0] ** 4))


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0.0)) for a, b in pairs)


def orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


# --------------------------------------------------------------------- motions that run away

EXPLICIT = {
    "verlet": lambda H: gm.stormer_verlet(H, R1, DT),
    "euler": lambda H: gm.hamiltonian_integrator(H, gm.theta_map(R1, 0), DT),
    "splitting": lambda H: gm.splitting(H, R1, gm.splitting_weights(4), DT),
}


@pytest.mark.parametrize("name", EXPLICIT)
def test_an_explicit_method_says_that_the_motion_runs_away(name):
    method = EXPLICIT[name](runaway())
    with pytest.raises(gm.StepFailed, match=r"not finite.*explicit.*smaller dt.*error\.trajectory") as caught:
        method.run(START, 1000)
    assert "Newton" not in str(caught.value)
    computed = caught.value.trajectory
    assert len(computed) == caught.value.step - 1 >= 5
    assert all(np.all(np.isfinite(leaf)) for leaf in computed.points)
    assert bool(np.all(computed.converged))
    flagged = method.run(START, 1000, throw=False)
    assert flagged.failure == str(caught.value)
    assert distance(flagged.points, computed.points) == 0
    thin = method.run(START, 1000, save_every=2, throw=False)
    assert len(thin) == len(computed) // 2
    assert distance(thin.points, jax.tree.map(lambda leaf: leaf[: 2 * len(thin) + 1 : 2], computed.points)) == 0
    # The same method on a motion that stays: nothing is refused.
    assert EXPLICIT[name](pendulum()).run(START, 1000).failure == ""


def test_inside_compiled_code_a_point_that_is_not_finite_is_marked():
    method = gm.stormer_verlet(runaway(), R1, DT)
    taken = len(method.run(START, 50, throw=False))
    orbit = jax.jit(lambda x: method.run(x, 50))(START)
    np.testing.assert_array_equal(orbit.converged, np.arange(50) < taken)
    assert not np.all(np.isfinite(orbit.end[0]))


def test_one_step_that_fails_raises():
    tall = jnp.array([1e120]), jnp.array([0.0])
    explicit = gm.stormer_verlet(runaway(), R1, DT)
    with pytest.raises(gm.StepFailed, match=r"step 1 of Composition failed: .*not finite.*explicit") as caught:
        explicit(tall)
    assert caught.value.step == 1
    assert len(caught.value.trajectory) == 0
    assert distance(caught.value.trajectory.end, tall) == 0
    implicit = gm.hamiltonian_integrator(lambda q, p: p[0] ** 2 / 2 - q[0] ** 3, MIDPOINT, 2.0)
    with pytest.raises(
        gm.StepFailed, match=r"step 1 of SystemIntegrator failed after \d+ iterations: Newton's.*smaller dt"
    ):
        implicit(START)
    assert np.all(np.isnan(eqx.filter_jit(implicit)(START)[0])), "inside of jit nothing can be raised"
    assert bool(jnp.all(jnp.isfinite(explicit(START)[0])))


def test_a_potential_without_value_is_a_failure():
    """log q, and a step that leads to q < 0."""
    method = gm.stormer_verlet(gm.Separable(lambda p: p[0] ** 2 / 2, lambda q: -(jnp.log(q[0]) ** 2)), R1, 0.5)
    orbit = method.run((jnp.array([1.0]), jnp.array([-1.5])), 50, throw=False)
    assert "not finite" in orbit.failure
    assert 1 <= len(orbit) < 50
    assert all(np.all(np.isfinite(leaf)) for leaf in orbit.points)


# ------------------------------------------------------------------- maps that depend on the step

PARAMETERS = [(0.25, 0.5), (0.0, 0.5), (1 / 6, 0.5), (0.3, 0.6), (0.2, 0.7)]


def acceleration(q, v):
    return -jnp.sin(q) - 0.3 * q**3 - 0.1 * v


def force(q, v):
    return -jnp.sin(q) - 0.3 * q**3


def newmark(beta, gamma, dt=DT, field=acceleration):
    return gm.EndpointIntegrator(gm.SecondOrderField(field), gm.newmark_map(R1, beta, gamma, dt), dt)


def with_frozen_map(beta, gamma, dt=DT, field=acceleration):
    """The same method with the matrix of one step as a θ-map, which stays when the step changes."""
    mixed = -dt / 2 * (gamma - 2 * beta)
    R = gm.ThetaMap(gm.TangentBundle(R1), jnp.array([[0.5, mixed], [0.0, gamma]]))
    return gm.EndpointIntegrator(gm.SecondOrderField(field), R, dt)


@pytest.mark.parametrize(("beta", "gamma"), PARAMETERS)
def test_the_map_of_newmark_follows_the_step(beta, gamma):
    method = newmark(beta, gamma)
    assert distance(method(START), with_frozen_map(beta, gamma)(START)) <= 1e-15
    moved = with_frozen_map(beta, gamma).with_step(0.25)(START)
    for dt in (0.25, -0.1):
        assert distance(method.with_step(dt)(START), newmark(beta, gamma, dt)(START)) <= 1e-15
    # For γ = 2β the matrix Θ does not depend on dt: there is nothing to follow.
    gap = distance(moved, newmark(beta, gamma, 0.25)(START))
    assert (gap <= 1e-15) if gamma == 2 * beta else (gap > 1e-4)


@pytest.mark.parametrize(("beta", "gamma"), PARAMETERS)
def test_the_adjoint_of_newmark_inverts_it(beta, gamma):
    """Φ*_{dt} = Φ_{−dt}⁻¹ is Newmark's method of 1 − γ and ½ − γ + β; for γ = ½ it is the same method."""
    method = newmark(beta, gamma)
    adjoint = method.adjoint()
    assert distance(adjoint.with_step(-DT)(method(START)), START) <= EXACT
    assert distance(adjoint(START), newmark(0.5 - gamma + beta, 1 - gamma)(START)) <= EXACT
    assert distance(adjoint.adjoint()(START), method(START)) <= EXACT
    gap = distance(adjoint(START), method(START))
    assert (gap <= EXACT) if gamma == 0.5 else (gap > 1e-5)
    R = gm.newmark_map(R1, beta, gamma, DT)
    w = jnp.array([0.3, -0.2])
    backward, forward = R.arrow(START, -w)
    assert distance(R.adjoint().arrow(START, w), (forward, backward)) <= EXACT
    general = gm.EndpointIntegrator(method.field, gm.AdjointMap(R), DT)
    assert distance(general.with_step(0.2)(START), adjoint.with_step(0.2)(START)) <= EXACT


def test_lifts_follow_the_step_of_their_map():
    R = gm.TangentLift(gm.newmark_map(R1, 0.0, 0.5, DT))
    lifted = gm.map_at_step(R, jnp.asarray(0.3))
    assert isinstance(lifted, gm.TangentLift)
    assert float(lifted.map.dt) == 0.3
    assert float(gm.map_at_step(gm.AdjointMap(R.map), jnp.asarray(0.3)).map.dt) == -0.3
    assert gm.map_at_step(MIDPOINT, jnp.asarray(0.3)) is MIDPOINT


def newmark_errors(make, field):
    """The errors of runs of 8, 16, … steps over the time 2, against scipy."""

    def exact(_, y):
        return np.concatenate([y[1:], np.asarray(-np.sin(y[:1]) - 0.3 * y[:1] ** 3)])

    first = np.array([1.0, 0.4])
    end = scipy.integrate.solve_ivp(exact, (0, 2.0), first, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    method = make(field)
    ends = [method.with_step(2.0 / n).run(START, n).end for n in (8, 16, 32, 64)]
    return [distance(jnp.concatenate(x), end) for x in ends]


@pytest.mark.parametrize("beta", [0.25, 1 / 6])
def test_newmark_is_raised_to_order_4(beta):
    raised = newmark_errors(lambda field: gm.raise_order(newmark(beta, 0.5, field=field), gm.triple_jump(4)), force)
    assert np.all(np.abs(orders(raised) - 4) <= 0.2), raised


def test_a_frozen_map_loses_the_order():
    """The control of the two tests around it: the map of the first step for steps of all lengths."""
    frozen = newmark_errors(
        lambda field: gm.raise_order(with_frozen_map(1 / 6, 0.5, field=field), gm.triple_jump(4)), force
    )
    assert np.all(np.abs(orders(frozen) - 1) <= 0.2), frozen


@pytest.mark.parametrize(
    "make", [lambda f: newmark(0.0, 0.5, field=f), lambda f: gm.symmetrize(newmark(0.2, 0.7, field=f))]
)
def test_newmark_of_order_2(make):
    errors = newmark_errors(make, force)
    assert np.all(np.abs(orders(errors) - 2) <= 0.2), errors


# ------------------------------------------------------------------------------ length of a step


def spin(x):
    return jnp.array([-x[1], x[0]])


STEPPED = {
    "hamiltonian_system": lambda dt: gm.SystemIntegrator(gm.hamiltonian_system(pendulum(), MIDPOINT, dt)),
    "hamiltonian_integrator": lambda dt: gm.hamiltonian_integrator(pendulum(), gm.theta_map(R1, 0), dt),
    "stormer_verlet": lambda dt: gm.stormer_verlet(pendulum(), R1, dt),
    "splitting": lambda dt: gm.splitting(pendulum(), R1, gm.splitting_weights(4), dt),
    "symplectic_dirk": lambda dt: gm.symplectic_dirk(pendulum(), R1, [0.3, 0.7], dt),
    "FieldIntegrator": lambda dt: gm.FieldIntegrator(spin, gm.theta_map(R2, 0.5), dt),
    "EndpointIntegrator": lambda dt: gm.EndpointIntegrator(spin, gm.theta_map(R2, 0.5), dt),
    "Kick": lambda dt: gm.Kick(lambda q: jnp.cos(q[0]), R1, dt),
    "Drift": lambda dt: gm.Drift(kinetic, R1, dt),
    "Composition": lambda dt: gm.Composition([gm.Drift(kinetic, R1, DT)], dt),
    "WeightedComposition": lambda dt: gm.WeightedComposition([gm.Drift(kinetic, R1, DT)], [[1.0]], dt),
    "newmark_map": lambda dt: gm.newmark_map(R1, 0.25, 0.5, dt),
}


@pytest.mark.parametrize("name", STEPPED)
def test_a_step_is_a_finite_number_that_is_not_0(name):
    for bad, message in (
        (0.0, "not 0"),
        (np.nan, "finite"),
        (np.inf, "finite"),
        ("long", "a number"),
        ([0.1], "one number"),
    ):
        with pytest.raises(gm.ArgumentError, match=f"{name} needs .*dt.*") as caught:
            STEPPED[name](bad)
        assert message in str(caught.value)
    assert float(STEPPED[name](-0.1).dt) == -0.1


def test_a_step_may_be_traced_and_a_step_of_length_0_stays():
    dts = jnp.array([0.05, 0.1])
    batched = jax.jit(jax.vmap(lambda dt: STEPPED["stormer_verlet"](dt)(START)))
    assert "while" not in str(batched.trace(dts).jaxpr), "explicit inside of compiled code too"
    batch = batched(dts)
    assert distance(jax.tree.map(lambda leaf: leaf[1], batch), STEPPED["stormer_verlet"](0.1)(START)) <= 1e-15
    for name in ("stormer_verlet", "splitting"):
        method = STEPPED[name](DT)
        still = method.with_step(0.0)
        assert distance(still(START), START) == 0
        assert distance(still.with_step(DT)(START), method(START)) <= 1e-15


# ----------------------------------------------------------------------------------- compositions


def euler(dt=DT, theta=0):
    return gm.hamiltonian_integrator(pendulum(), gm.theta_map(R1, theta), dt)


def test_steps_that_sum_up_to_nothing_are_refused():
    for steps in ((0.1, -0.1), (0.1, 0.2, -0.3)):
        with pytest.raises(gm.ArgumentError, match=r"together take some time.*sum up to 0.*adjoint"):
            gm.compose(*(euler(dt) for dt in steps))
    forth = gm.compose(euler(0.1), euler(-0.05, 1))
    assert float(forth.dt) == pytest.approx(0.05, abs=1e-16)
    doubled = euler(-0.1, 1)(euler(0.2)(START))
    assert distance(forth.with_step(0.1)(START), doubled) <= 1e-15
    assert distance(forth.with_step(0.0).with_step(0.1)(START), doubled) <= 1e-15
    assert distance(forth.with_step(0.0).adjoint()(START), START) == 0
    assert distance(forth.with_step(0.1).adjoint().with_step(-0.1)(doubled), START) <= EXACT


def test_weights_are_whole_steps():
    verlet = gm.stormer_verlet(pendulum(), R1, DT)
    for weights in ([0.5, 0.6], [0.5, 0.5 + 1e-10], [np.nan, 1.0]):
        with pytest.raises(gm.ArgumentError, match=r"raise_order needs weights that sum up to 1.*divide"):
            gm.raise_order(verlet, weights)
    with pytest.raises(gm.ArgumentError, match=r"they sum up to 1\.1\."):
        gm.symplectic_dirk(pendulum(), R1, [0.5, 0.6], DT)
    for rows in ([[0.5, 1.0], [0.6, 0.0]], [[0.5, 0.9], [0.5, 0.0]]):
        with pytest.raises(gm.ArgumentError, match="splitting needs weights that sum up to 1"):
            gm.splitting(pendulum(), R1, rows, DT)
    assert float(gm.raise_order(verlet, [0.5, 0.5 + 1e-14]).dt) == DT
    # Weights that are not known yet are taken as they are.
    traced = jax.jit(lambda w: gm.raise_order(verlet, jnp.stack([w, 1 - w]))(START))(0.3)
    assert distance(traced, gm.raise_order(verlet, [0.3, 0.7])(START)) <= 1e-15


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gm.raise_order("verlet", gm.triple_jump(4)), r"raise_order needs method to be an Integrator"),
        (lambda: gm.raise_order(euler(), "four"), "raise_order needs weights to be numbers"),
        (lambda: gm.symplectic_dirk(pendulum(), R1, [[1.0]], DT), "symplectic_dirk needs weights to be a vector"),
        (lambda: gm.splitting(pendulum(), R1, [0.5, 0.5], DT), r"rows of a drift and a kick; got shape \(2,\)"),
        (lambda: gm.splitting(pendulum(), R1, "rows", DT), "splitting needs weights to be numbers"),
        (lambda: gm.splitting(pendulum(), S2, gm.splitting_weights(2), DT, drift_order=3), "2 or 4 or 6 or 8; got 3"),
        (lambda: gm.FieldIntegrator(spin, R2, DT), "FieldIntegrator needs a discretization map of the manifold; got"),
        (lambda: gm.difference_points(R1, spin, *START), "difference_points needs a discretization map"),
        (lambda: gm.newmark_map("R1", 0.25, 0.5, DT), "newmark_map needs manifold"),
    ],
)
def test_what_is_no_method_map_or_weight_is_named(make, message):
    with pytest.raises(gm.ArgumentError, match=message):
        make()


# ------------------------------------------------------------------------------- explicit methods

EULER_MAPS = {
    "θ = 0": (lambda M: gm.ThetaMap(M, 0.0), 0),
    "θ = 1": (lambda M: gm.ThetaMap(M, 1.0), 1),
    "adjoint of θ = 0": (lambda M: gm.ThetaMap(M, 0.0).adjoint(), 1),
    "AdjointMap of θ = 1": (lambda M: gm.AdjointMap(gm.ThetaMap(M, 1.0)), 0),
    "zero matrix": (lambda M: gm.ThetaMap(M, jnp.zeros((1, 1))), 0),
    "unit matrix": (lambda M: gm.ThetaMap(M, jnp.eye(1)), 1),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", EULER_MAPS)
def test_symplectic_euler_is_explicit_however_its_map_was_made(name):
    make, end = EULER_MAPS[name]
    method = gm.hamiltonian_integrator(pendulum(), make(R1), DT)
    assert np.all(np.asarray(method.run(START, 3).iterations) == 0)
    assert distance(method(START), euler(theta=end)(START)) == 0
    assert distance(method(START), euler(theta=1 - end)(START)) > 1e-4


def test_euler_by_equations_is_the_same():
    """A θ that is not known when the method is made: the step is solved for, and the same."""
    H = pendulum()
    step = jax.jit(lambda theta: gm.hamiltonian_integrator(H, gm.ThetaMap(R1, theta), DT)(START))
    for theta in (0.0, 1.0):
        assert distance(step(theta), euler(theta=theta)(START)) <= EXACT
    assert np.all(np.asarray(gm.hamiltonian_integrator(H, gm.ThetaMap(R1, 0.5), DT).run(START, 3).iterations) > 0)


@pytest.mark.parametrize("space", [gm.Translations(1), gm.ProductGroup(gm.Translations(1))], ids=["group", "product"])
def test_translations_are_flat(space):
    wrap = (lambda q: (q,)) if isinstance(space, gm.ProductGroup) else (lambda q: q)
    H = gm.Separable(kinetic, lambda q: -1.3 * jnp.cos(jnp.concatenate(jax.tree.leaves(q))[0]))
    start = wrap(START[0]), START[1]
    for theta in (0, 1):
        method = gm.hamiltonian_integrator(H, gm.theta_map(space, theta), DT)
        assert isinstance(method, gm.Composition)
        assert distance(method(start), euler(theta=theta)(START)) <= 1e-15
    verlet = gm.stormer_verlet(H, space, DT)
    assert np.all(np.asarray(verlet.run(start, 2).iterations) == 0)
    # Over a point there is no q to drift.
    free = gm.Separable(kinetic, lambda q: 0.0 * jnp.sum(q))
    group = gm.hamiltonian_integrator(free, gm.theta_map(gm.GroupGroupoid(gm.Translations(1)), 0), DT)
    assert isinstance(group, gm.SystemIntegrator)


# ----------------------------------------------------------------------------------- order of drifts

INERTIA, CENTER = np.array([1.0, 1.5, 0.6]), np.array([0.3, 0.1, 0.5])
BODY = jnp.eye(3), jnp.asarray(INERTIA * np.array([0.6, 0.5, 0.9]))
TIME = 1.0


def body():
    """A heavy body: a kinetic energy that is not isotropic, so that the midpoint rule does not follow free motion exactly."""
    return gm.Separable(lambda p: dot(p, p / INERTIA) / 2, lambda R: 2.0 * dot(R[2], jnp.asarray(CENTER)))


def body_end():
    def field(_, state):
        R, momentum = state[:9].reshape(3, 3), state[9:]
        w = momentum / INERTIA
        hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(R @ hat).ravel(), np.cross(momentum, w) + 2.0 * np.cross(R[2], CENTER)])

    first = np.concatenate([np.ravel(leaf) for leaf in BODY])
    end = scipy.integrate.solve_ivp(field, (0, TIME), first, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return end[:9].reshape(3, 3), end[9:]


@pytest.mark.few(1)
@pytest.mark.parametrize(("drift_order", "order"), [(4, 4), (2, 2)])
def test_drifts_of_order_4_give_splittings_of_order_4(drift_order, order):
    method = gm.splitting(body(), SO3, gm.splitting_weights(4), DT, drift_order=drift_order)
    exact = body_end()
    errors = [distance(method.with_step(TIME / n).run(BODY, n).end, exact) for n in (4, 8, 16, 32)]
    assert np.all(np.abs(orders(errors) - order) <= 0.2), errors
    assert errors[-1] > 1e-10, "far from round-off"


# ------------------------------------------------------------------------------------ observables


def test_observables_of_a_product_take_the_point():
    """The points of a product are tuples too, but only those of a bundle are (q, p)."""
    M = gm.ProductManifold(R1, R2)
    method = gm.FieldIntegrator(lambda x: jnp.concatenate([jnp.ones(1), spin(x[1])]), gm.theta_map(M, 0.5), DT)
    orbit = method.run((jnp.zeros(1), jnp.array([1.0, 0.0])), 5)
    values = orbit.observe(lambda x: x[0][0] + dot(x[1], x[1]))
    assert distance(values, 1 + DT * np.arange(6)) <= EXACT
    with pytest.raises(TypeError):
        orbit.observe(lambda t, y: t[0])
    bundle = gm.stormer_verlet(pendulum(), R1, DT).run(START, 5)
    assert distance(bundle.observe(lambda q, p: p[0]), bundle.points[1][:, 0]) == 0


# --------------------------------------------------------------------------------- θ as a number

PLACE, V2 = S2.project(jnp.array([0.3, -0.5, 0.6])), jnp.array([0.4, -0.3])


@pytest.mark.parametrize("first", [0.2, 0.8])
def test_a_theta_that_moves_keeps_its_inverse(first):
    """Which half of an arrow is the longer one depends on θ, not on the θ that the map was made with."""
    R = gm.ThetaMap(S2, first)
    for theta in (0.0, 0.3, 1.0):
        moved = eqx.tree_at(lambda R: R.theta, R, jnp.asarray(theta))
        g = moved.arrow(PLACE, V2)
        assert distance(g, (S2.retract(PLACE, -theta * V2), S2.retract(PLACE, (1 - theta) * V2))) <= 1e-15
        assert distance(moved.inverse(g), (PLACE, V2)) <= EXACT
        assert distance(gm.AdjointMap(moved).inverse(g), moved.adjoint().inverse(g)) <= EXACT


def test_a_theta_that_moves_on_a_groupoid():
    """Straight, not parallel, and no chart of a manifold: here the half is chosen by the map itself."""
    G = gm.ProductGroupoid(gm.PairGroupoid(S2), gm.GroupGroupoid(gm.Translations(1)))
    R = gm.ThetaMap(G, 0.8)
    assert R.form == (True, False)
    x, v = (PLACE, jnp.zeros(0)), jnp.array([0.4, -0.3, 0.2])
    inverse = eqx.filter_jit(
        lambda theta: (lambda R: R.inverse(R.arrow(x, v)))(eqx.tree_at(lambda R: R.theta, R, theta))
    )
    for theta in (0.0, 0.3, 1.0):
        assert distance(inverse(jnp.asarray(theta)), (x, v)) <= EXACT


def test_without_closed_form_the_longer_half_is_taken():
    xi = jnp.array([0.7, -0.4])
    y = S2.retract(PLACE, xi)
    for theta in (0.0, 0.4, 0.7, 1.0):
        general = point_along.dispatch(Manifold)(S2, PLACE, y, xi, jnp.asarray(theta))
        assert distance(general, point_along(S2, PLACE, y, xi, jnp.asarray(theta))) <= EXACT


# ------------------------------------------------------------------------- explicit field methods


@final
class Disguised(gm.DiscretizationMap):
    """A map that does not tell that it is a retraction."""

    map: gm.DiscretizationMap
    groupoid: gm.LieGroupoid

    def arrow(self, x, v):
        return self.map.arrow(x, v)

    def inverse(self, g):
        return self.map.inverse(g)

    def adjoint(self):
        return Disguised(self.map.adjoint(), self.groupoid)


SPIN = jnp.array([0.2, -0.4, 0.9])
RETRACTIONS = {
    "chart of R2": (gm.ChartMap(R2), lambda x: jnp.array([-jnp.sin(x[1]), x[0]]), jnp.array([0.3, -0.2])),
    "chart of S2": (gm.ChartMap(S2), lambda x: S2.from_ambient(x, jnp.cross(SPIN, x) + x[0] * SPIN), PLACE),
    "projection": (gm.ProjectionMap(S2), lambda x: S2.from_ambient(x, jnp.cross(SPIN, x) + x[0] * SPIN), PLACE),
    "geodesics": (
        gm.GeodesicMap(S2, lambda x: (2 + x[0]) * jnp.eye(2), steps=8),
        lambda x: S2.from_ambient(x, jnp.cross(SPIN, x)),
        PLACE,
    ),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", RETRACTIONS)
@pytest.mark.parametrize("kind", [gm.FieldIntegrator, gm.EndpointIntegrator])
def test_a_retraction_makes_methods_for_fields_explicit(kind, name):
    R, field, start = RETRACTIONS[name]
    method = kind(field, R, DT)
    orbit = method.run(start, 5)
    assert np.all(np.asarray(orbit.iterations) == 0)
    assert np.all(np.asarray(orbit.residuals) == 0)
    assert "while" not in str(jax.make_jaxpr(lambda x: method.advance(x, method.begin(x))[0])(start))
    assert distance(method(start), R.arrow(start, DT * field(start))[1]) <= 1e-15


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", [gm.FieldIntegrator, gm.EndpointIntegrator])
def test_explicit_methods_for_fields_agree_with_their_equations(kind):
    R, field, start = RETRACTIONS["chart of S2"]
    method = kind(field, R, DT)
    searched = kind(field, Disguised(R, R.groupoid), DT).run(start, 5)
    assert np.min(searched.iterations) > 0, "the control solves equations"
    assert distance(method.run(start, 5).end, searched.end) <= 1e-13
    backward = method.adjoint()
    assert np.min(backward.run(start, 2).iterations) > 0, "the adjoint is implicit Euler"
    assert distance(backward.with_step(-DT)(method(start)), start) <= EXACT
    assert keeps_point(backward.adjoint().map)


# --------------------------------------------------------------- a method composed with its adjoint


@pytest.mark.extended
def test_a_method_and_its_adjoint_make_the_splitting_of_a_separable_hamiltonian():
    H = gm.Separable(
        lambda p: p[0] ** 2 / 2 + p[1] ** 4 / 4 + p[0] * p[1] / 5, lambda q: jnp.cos(q[0]) * q[1] + q[1] ** 4
    )
    start = jnp.array([0.3, -0.4]), jnp.array([0.7, 0.2])
    drift_first = gm.hamiltonian_integrator(H, gm.theta_map(R2, 1), DT)
    for order in (2, 6):
        rows = gm.splitting_weights(order)
        composed = gm.raise_order(drift_first, rows)
        assert composed.weights.shape == (len(rows) - 1, 2)
        assert float(jnp.sum(composed.weights)) == pytest.approx(1.0, abs=1e-14)
        expected = gm.splitting(H, R2, rows, DT).run(start, 20).end
        assert distance(composed.run(start, 20).end, expected) <= 1e-14
        traced = jax.jit(lambda rows: gm.raise_order(drift_first, rows)(start))(rows)
        assert distance(traced, composed(start)) <= 1e-14
    with pytest.raises(gm.ArgumentError, match="raise_order needs weights that sum up to 1"):
        gm.raise_order(drift_first, [[0.5, 1.0], [0.6, 0.0]])


@pytest.mark.parametrize(
    ("M", "start"),
    [
        pytest.param(R2, ([0.3, -0.2], [0.3, 0.2]), id="R2"),
        pytest.param(S2, ([0.3, -0.2, 0.9], [0.3, 0.2]), id="S2", marks=pytest.mark.extended),
    ],
)
def test_a_method_and_its_adjoint_have_the_order_of_the_splitting_without_parts(M, start):
    """A Hamiltonian that is no sum T(p) + V(q)."""

    def H(q, p):
        return (1 + 0.3 * q[0]) * (p @ p) / 2 + jnp.sin(q[-1])

    start = M.project(jnp.array(start[0])), jnp.array(start[1])
    euler = gm.hamiltonian_integrator(H, gm.theta_map(M, 1), DT)
    method = gm.raise_order(euler, gm.splitting_weights(4))
    ends = [method.with_step(2.0 / n).run(start, n).end for n in (8, 16, 32, 64, 128, 256)]
    measured = orders([distance(*pair) for pair in itertools.pairwise(ends)])
    assert len(measured) == 4
    assert np.all(np.abs(measured - 4) < 0.2), measured
    poisson = gm.CanonicalPoisson(gm.CotangentBundle(M))
    assert gm.poisson_defect(poisson, poisson, method, start) <= 1e-13
