"""One-step methods and their orbits: thinning, files, failures, derivatives, composition, refusals, and the equator of the sphere."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

import groupoid_mech as gm
from groupoid_mech.mechanics import time_loop
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.symplectic.linear_poisson import LinearPoisson

EXACT = 1e-14
DT = 0.1
R1, R2, S2 = gm.Euclidean(1), gm.Euclidean(2), gm.Sphere(2)
T_R1, T_S2 = gm.CotangentBundle(R1), gm.CotangentBundle(S2)
MIDPOINT = gm.theta_map(R1, 0.5)
START = jnp.array([1.0]), jnp.array([0.4])


class Pendulum(eqx.Module):
    strength: jax.Array | float = 1.3

    def __call__(self, q, p):
        return p[0] ** 2 / 2 - self.strength * jnp.cos(q[0])


def separable():
    return gm.Separable(lambda p: p[0] ** 2 / 2 + 0.1 * p[0] ** 4, lambda q: -1.3 * jnp.cos(q[0]))


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0.0)) for a, b in pairs)


@pytest.fixture(scope="module")
def method():
    return gm.hamiltonian_integrator(Pendulum(), MIDPOINT, DT)


@pytest.fixture(scope="module")
def orbit(method):
    return method.run(START, 60)


# ------------------------------------------------------------------------------------- orbits


def test_an_orbit_holds_its_points_and_how_they_were_found(method, orbit):
    assert len(orbit) == 60
    assert orbit.failure == ""
    assert distance(jax.tree.map(lambda leaf: leaf[0], orbit.points), START) == 0
    np.testing.assert_array_equal(orbit.numbers, np.arange(1, 61))
    np.testing.assert_allclose(orbit.times, DT * np.arange(61), rtol=1e-15)
    assert float(np.max(orbit.residuals)) <= EXACT
    assert bool(np.all(orbit.converged))
    assert 1 <= int(np.max(orbit.iterations)) <= 6
    assert distance(orbit.end, jax.tree.map(lambda leaf: leaf[60], orbit.points)) == 0
    first = jax.tree.map(lambda leaf: leaf[1], orbit.points)
    assert distance(method(START), first) <= EXACT


def test_observables_take_points_or_points_and_momenta(orbit):
    q, p = (np.asarray(leaf)[:, 0] for leaf in orbit.points)
    energies = np.asarray(orbit.observe(Pendulum()))
    np.testing.assert_allclose(energies, p**2 / 2 - 1.3 * np.cos(q), atol=1e-15)
    assert 1e-6 < np.ptp(energies) < 1e-2
    turn = gm.FieldIntegrator(lambda x: jnp.array([-x[1], x[0]]), gm.theta_map(R2, 0.5), DT).run(
        jnp.array([1.0, 0.0]), 8
    )
    squares = turn.observe(lambda x: x @ x)
    assert squares.shape == (9,)
    assert distance(squares, np.ones(9)) <= EXACT
    assert turn.end[1] > 0.5, "counterclockwise"


def test_thinning_keeps_every_so_many_points_of_the_same_run(method, orbit):
    thin = method.run(START, 60, save_every=12)
    assert len(thin) == 5
    np.testing.assert_array_equal(thin.numbers, 12 * np.arange(1, 6))
    np.testing.assert_allclose(thin.times, 1.2 * np.arange(6), rtol=1e-15)
    for kept, whole in zip(thin.points, orbit.points, strict=True):
        np.testing.assert_array_equal(kept, whole[::12])
    np.testing.assert_array_equal(thin.residuals, np.asarray(orbit.residuals).reshape(5, 12).max(axis=1))
    np.testing.assert_array_equal(thin.iterations, np.asarray(orbit.iterations).reshape(5, 12).max(axis=1))
    with pytest.raises(gm.ArgumentError, match=r"SystemIntegrator\.run needs steps to be a multiple of save_every"):
        method.run(START, 60, save_every=7)
    with pytest.raises(gm.ArgumentError, match="steps to be an integer ≥ 1"):
        method.run(START, 0)


def test_a_run_goes_on_from_its_end(method, orbit):
    first = method.run(START, 25)
    assert distance(method.run(first.end, 35).end, orbit.end) <= 1e-13


def test_progress_is_reported(method, capsys, monkeypatch):
    monkeypatch.setattr(time_loop, "_ROWS", 4096)
    seen = []
    explicit = gm.stormer_verlet(separable(), R1, DT)
    explicit.run(START, 5000, progress=lambda done, steps: seen.append((done, steps)))
    assert seen == [(4096, 5000), (5000, 5000)]
    explicit.run(START, 5000, progress=True)
    assert "5,000 of 5,000 steps" in capsys.readouterr().err


# -------------------------------------------------------------------------------------- files


def test_a_file_gives_the_orbit_back(orbit, tmp_path):
    path = tmp_path / "orbit.npz"
    orbit.save(path)
    again = gm.load_orbit(path, orbit.space)
    for name in ("points", "residuals", "iterations", "converged", "numbers", "dt", "times"):
        assert distance(getattr(again, name), getattr(orbit, name)) == 0
    assert again.failure == ""
    assert again.space == orbit.space


def test_files_of_something_else_are_refused(orbit, tmp_path):
    path = tmp_path / "orbit.npz"
    orbit.save(path)
    with pytest.raises(gm.ArgumentError, match="written for, DualBundle; got Sphere"):
        gm.load_orbit(path, S2)
    with pytest.raises(
        gm.ArgumentError, match=r"written for, DualBundle\(base=Euclidean\(dim=1\).*got .*Euclidean\(dim=2\)"
    ):
        gm.load_orbit(path, gm.DualBundle(R2, 2))
    with pytest.raises(gm.ArgumentError, match="needs space"):
        gm.load_orbit(path, "R1")
    with pytest.raises(gm.ArgumentError, match="no file"):
        gm.load_orbit(tmp_path / "absent.npz", orbit.space)
    (tmp_path / "text.npz").write_bytes(b"no archive")
    with pytest.raises(gm.ArgumentError, match="not a readable file"):
        gm.load_orbit(tmp_path / "text.npz", orbit.space)
    system = gm.DiscreteSystem(gm.PairGroupoid(R1), lambda g: jnp.sum((g[1] - g[0]) ** 2))
    system.simulate((jnp.zeros(1), jnp.ones(1)), 3).save(tmp_path / "trajectory.npz")
    with pytest.raises(gm.ArgumentError, match="holds a 'trajectory'.*needed a 'orbit'"):
        gm.load_orbit(tmp_path / "trajectory.npz", orbit.space)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("residuals.0"), r"other arrays.*residuals\.0"),
        (lambda arrays: arrays.update(extra=np.zeros(3)), "other arrays.*extra"),
        (lambda arrays: arrays.update({"residuals.0": arrays["residuals.0"][:-1]}), "rows"),
        (lambda arrays: arrays.update({"points.1": arrays["points.1"][:-1]}), "rows"),
        (lambda arrays: arrays.update({"dt.0": np.zeros(0)}), "rows"),
    ],
)
def test_changed_files_are_refused(orbit, tmp_path, change, message):
    path = tmp_path / "orbit.npz"
    orbit.save(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    change(arrays)
    np.savez(path, **arrays)
    with pytest.raises(gm.ArgumentError, match=message):
        gm.load_orbit(path, orbit.space)


# ----------------------------------------------------------------------------------- failures


def runaway(q, p):
    """Its midpoint equation q = q₀ + ... + ¾dt² q² has no solution where 3 q dt² > 1."""
    return p[0] ** 2 / 2 - q[0] ** 3


@pytest.fixture(scope="module")
def failing():
    return gm.hamiltonian_integrator(runaway, MIDPOINT, 0.3)


def test_a_step_that_is_far_too_long_says_so(failing):
    with pytest.raises(
        gm.StepFailed, match=r"step 1 of SystemIntegrator failed .*smaller dt.*the 0 steps before"
    ) as caught:
        failing.with_step(2.0).run(START, 10)
    assert caught.value.step == 1
    assert len(caught.value.trajectory) == 0
    assert distance(caught.value.trajectory.end, START) == 0


def test_a_failed_step_keeps_what_was_computed(failing, tmp_path):
    with pytest.raises(gm.StepFailed, match=r"error\.trajectory") as caught:
        failing.run(START, 1000)
    computed = caught.value.trajectory
    assert len(computed) == caught.value.step - 1 >= 2
    assert isinstance(computed, gm.Orbit)
    assert bool(np.all(np.isfinite(computed.points[1])))
    assert float(np.max(computed.residuals)) <= 1e-12
    flagged = failing.run(START, 1000, throw=False)
    assert flagged.failure == str(caught.value)
    assert distance(flagged.points, computed.points) == 0
    flagged.save(tmp_path / "flagged.npz")
    assert gm.load_orbit(tmp_path / "flagged.npz", flagged.space).failure == flagged.failure


def test_failed_steps_inside_compiled_code_are_nan_and_marked(failing):
    whole = failing.run(START, 1000, throw=False)
    run = jax.jit(lambda x: failing.run(x, 20))(START)
    taken = len(whole)
    assert bool(np.all(run.converged[:taken]))
    assert not bool(run.converged[-1])
    assert distance(jax.tree.map(lambda leaf: leaf[: taken + 1], run.points), whole.points) <= 1e-11
    assert bool(np.all(np.isnan(run.end[1])))


# -------------------------------------------------------------------------------- derivatives


def final_energy(dt, strength, start, steps=20):
    method = gm.SystemIntegrator(gm.hamiltonian_system(Pendulum(strength), MIDPOINT, dt))
    return Pendulum(1.0)(*method.run(start, steps).end)


def test_runs_are_differentiable_forwards_and_backwards():
    """The gradient by dt, by a parameter and by the start against derivatives along directions."""
    arguments = jnp.asarray(DT), jnp.asarray(1.3), START
    rng = np.random.default_rng(5)
    directions = jax.tree.map(lambda leaf: jnp.asarray(rng.uniform(0.5, 1.0, leaf.shape)), arguments)

    @jax.jit
    def both(arguments, directions):
        value, along = jax.jvp(final_energy, arguments, directions)
        return value, along, jax.grad(final_energy, argnums=(0, 1, 2))(*arguments)

    value, along, gradient = both(arguments, directions)
    pairs = zip(jax.tree.leaves(gradient), jax.tree.leaves(directions), strict=True)
    parts = [float(np.sum(np.asarray(a * b))) for a, b in pairs]
    assert sum(parts) == pytest.approx(float(along), rel=1e-11)
    assert min(abs(part) for part in parts) > 1e-3
    method = gm.SystemIntegrator(gm.hamiltonian_system(Pendulum(1.3), MIDPOINT, DT))
    assert distance(value, method.run(START, 20).observe(Pendulum(1.0))[-1]) <= 1e-13


def test_batches_over_steps_parameters_and_starts():
    steps, strengths = jnp.array([0.05, 0.1, 0.2]), jnp.array([0.5, 1.0, 2.0])
    starts = jax.tree.map(lambda leaf: jnp.stack([leaf, 0.5 * leaf, -leaf]), START)
    batch = jax.jit(jax.vmap(final_energy))(steps, strengths, starts)
    single = jax.jit(final_energy)
    for k in range(3):
        start = jax.tree.map(lambda leaf, k=k: leaf[k], starts)
        assert distance(batch[k], single(steps[k], strengths[k], start)) <= 1e-13


# ---------------------------------------------------------------------------- length of a step

traced = []


class Counted(eqx.Module):
    strength: jax.Array

    def __call__(self, q, p):
        traced.append(1)
        return Pendulum(self.strength)(q, p)


class CountedPotential(eqx.Module):
    strength: jax.Array

    def __call__(self, q):
        traced.append(1)
        return -self.strength * jnp.cos(q[0])


def kinetic(p):
    return p[0] ** 2 / 2


MAKERS = {
    "system": lambda k, dt: gm.hamiltonian_integrator(Counted(k), MIDPOINT, dt),
    "verlet": lambda k, dt: gm.stormer_verlet(gm.Separable(kinetic, CountedPotential(k)), R1, dt),
    "split": lambda k, dt: gm.splitting(gm.Separable(kinetic, CountedPotential(k)), R1, gm.splitting_weights(4), dt),
    "raised": lambda k, dt: gm.raise_order(gm.hamiltonian_integrator(Counted(k), MIDPOINT, dt), gm.triple_jump(4)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_steps_and_parameters_are_data(name):
    """Another length of the step is the method made with it, and neither it nor parameters compile anything."""
    make = MAKERS[name]
    first, other = make(jnp.asarray(1.3), DT), make(jnp.asarray(2.0), 0.05)
    end = first.run(START, 3).end
    traced.clear()
    assert distance(first.with_step(0.05).run(START, 7).end, make(jnp.asarray(1.3), 0.05).run(START, 7).end) <= EXACT
    constructed = len(traced)
    traced.clear()
    moved = other.with_step(DT).run(START, 3).end
    first.with_step(-0.2).run(START, 12, save_every=4)
    assert not traced
    assert constructed <= 4, "making a method looks at its function once or twice"
    assert distance(moved, end) > 1e-3
    assert float(first.with_step(0.05).dt) == 0.05


# -------------------------------------------------------------------------------- composition


@pytest.fixture(scope="module")
def euler():
    """Two methods that are not symmetric and do not commute."""
    return [gm.hamiltonian_integrator(separable(), gm.theta_map(R1, theta), dt) for theta, dt in ((0, 0.1), (1, 0.25))]


def test_composition_goes_from_left_to_right(euler):
    first, second = euler
    both = gm.compose(first, second)
    assert both.dt == pytest.approx(0.35, abs=1e-16)
    assert distance(both(START), second(first(START))) == 0
    assert distance(both(START), first(second(START))) > 1e-4
    double = both.with_step(0.7)
    assert distance(double(START), second.with_step(0.5)(first.with_step(0.2)(START))) <= 1e-15


@pytest.mark.parametrize("make", ["composition", "weighted"])
def test_adjoints_of_compositions(euler, make):
    """Φ*_{dt} = Φ_{−dt}⁻¹: the adjoints of the parts, the last one first."""
    if make == "composition":
        method = gm.compose(*euler, euler[0].with_step(0.07))
    else:
        method = gm.WeightedComposition(euler, [[0.4, 0.1], [0.2, 0.8], [0.4, 0.1]], 0.3)
    back = method.adjoint().with_step(-method.dt)
    assert distance(back(method(START)), START) <= EXACT
    assert distance(method.with_step(-method.dt)(method(START)), START) > 1e-4
    assert distance(method.adjoint().adjoint()(START), method(START)) == 0
    assert float(method.adjoint().dt) == float(method.dt)


def test_weights_are_rows_of_steps(euler):
    rows = [[0.4, 0.1], [-0.2, 0.8]]
    method = gm.WeightedComposition(euler, rows, 0.3)
    x = START
    for row in rows:
        for part, weight in zip(euler, row, strict=True):
            x = part.with_step(0.3 * weight)(x)
    assert distance(method(START), x) <= 1e-15
    raised = gm.raise_order(euler[0], [0.25, 0.75])
    assert distance(raised(START), euler[0].with_step(0.075)(euler[0].with_step(0.025)(START))) <= 1e-15


def test_symmetrized_methods_are_symmetric(euler):
    method = gm.symmetrize(euler[0])
    assert float(method.dt) == 0.1
    half = euler[0].with_step(0.05)
    assert distance(method(START), half.adjoint()(half(START))) <= 1e-15
    assert distance(method.with_step(-0.1)(method(START)), START) <= EXACT
    assert distance(euler[0].with_step(-0.1)(euler[0](START)), START) > 1e-4


def test_the_worst_of_all_parts_is_reported(failing):
    both = gm.compose(failing, gm.hamiltonian_integrator(runaway, MIDPOINT, 2.0))
    assert both.run(START, 1, throw=False).failure
    explicit = gm.compose(failing.with_step(0.01), gm.Kick(lambda q: q[0], R1, 0.1))
    run = explicit.run(START, 2)
    assert int(np.min(run.iterations)) >= 1
    assert bool(np.all(run.converged))


# ------------------------------------------------------------------------------------- starts


def test_a_start_from_a_momentum_needs_no_guess():
    system = gm.hamiltonian_system(Pendulum(), MIDPOINT, DT)
    start = gm.from_momentum(system, *START)
    assert distance(start.guess, np.array([DT * 0.4, 0.4])) <= 1e-16
    given = gm.from_momentum(system, *START, guess=jnp.array([0.2, 0.1]))
    assert distance(given.guess, np.array([0.2, 0.1])) == 0
    assert distance(system.simulate(start, 5).momenta, system.simulate(given, 5).momenta) <= EXACT
    lagrangian = gm.lagrangian_system(lambda q, v: v[0] ** 2 + jnp.cos(q[0]), MIDPOINT, DT)
    assert distance(gm.from_momentum(lagrangian, *START).guess, np.array([DT * 0.2])) <= 1e-16


# ------------------------------------------------------------------------------------- a kick


def test_kicks_go_along_the_anchor():
    """On S² ⋊ SO(3), against the Hamiltonian field of the potential on the dual of the algebroid."""
    G = gm.ActionGroupoid(S2, gm.SO3(tau="cayley"), lambda x, A: A.T @ x)

    def potential(x):
        return 0.7 * x[0] + x[2] ** 2

    x = S2.project(jnp.array([0.3, -0.5, 0.6])), jnp.array([0.2, 0.5, -0.3])
    q, p = gm.Kick(potential, G, DT)(x)
    field = LinearPoisson(gm.GroupoidAlgebroid(G)).hamiltonian_field(lambda y: potential(y[0]))(x)
    assert distance(q, x[0]) == 0
    assert distance(field[:2], np.zeros(2)) <= EXACT
    assert distance(p - x[1], DT * field[2:]) <= EXACT
    # A heavy top in its own frame: Γ × dV, and nothing along Γ.
    torque = np.cross(np.asarray(x[0]), np.array([0.7, 0.0, 2 * float(x[0][2])]))
    assert distance(np.abs(p - x[1]), np.abs(DT * torque)) <= EXACT
    assert abs(float(x[0] @ (p - x[1]))) <= EXACT
    assert np.max(np.abs(torque)) > 0.1


# ------------------------------------------------------------------------------------- energy

GRADIENTS = [gm.GonzalezGradient, gm.MeanGradient, gm.ItohAbeGradient]


@pytest.mark.parametrize(
    "kind", GRADIENTS[:1] + [pytest.param(kind, marks=pytest.mark.extended) for kind in GRADIENTS[1:]]
)
def test_a_body_at_rest_stays_at_rest(kind):
    """Where v = 0 the quotients of discrete gradients are 0/0."""
    method = gm.EnergyIntegrator(lambda x: Pendulum()(*x), gm.CanonicalPoisson(T_R1), kind(gm.ThetaMap(T_R1, 0.5)), DT)
    rest = jnp.zeros(1), jnp.zeros(1)
    run = method.run(rest, 3)
    assert distance(run.end, rest) == 0
    assert bool(np.all(run.converged))

    @eqx.filter_jit
    def derivative(x):
        return jax.jacfwd(lambda z: jnp.concatenate(method((z[:1], z[1:]))))(jnp.concatenate(x))

    D = np.asarray(derivative(rest))
    assert np.all(np.isfinite(D))
    moved = method.run(START, 50)
    energies = np.asarray(moved.observe(Pendulum()))
    assert np.ptp(energies) <= 1e-14
    assert distance(moved.end, START) > 0.1


@pytest.mark.extended
def test_energy_is_kept_on_the_dual_of_a_lie_algebra():
    P = LinearPoisson(gm.GroupoidAlgebroid(gm.GroupGroupoid(gm.SO3())))

    def energy(x):
        return dot(x[1], x[1] / jnp.array([1.0, 2.0, 2.5])) / 2 + 0.1 * x[1][0] ** 4

    method = gm.EnergyIntegrator(energy, P, gm.GonzalezGradient(gm.ThetaMap(P.manifold, 0.5)), DT)
    run = method.run((jnp.zeros(0), jnp.array([0.5, 1.2, -0.8])), 1000)
    energies = np.asarray(run.observe(lambda q, p: energy((q, p))))
    assert np.ptp(energies) <= 1e-12
    assert distance(run.end, run.points) > 0.5
    # Over a single point, which has no numbers, the step has a derivative too; it is no Poisson map.
    x = jax.tree.map(lambda leaf: leaf[0], run.points)
    assert 1e-6 < float(eqx.filter_jit(gm.poisson_defect)(P, P, method, x)) < 1e-2


# ----------------------------------------------------------------------- across the equator

TURN = np.asarray(gm.SO3().retract(jnp.eye(3), jnp.array([1.1, 0.3, 0.2])))


class Turning(eqx.Module):
    """The field n × x with n = axis + 0.3 (axis·x) other: a rotation whose axis depends on the place."""

    axis: jax.Array
    other: jax.Array

    def __call__(self, x):
        n = self.axis + 0.3 * dot(self.axis, x) * self.other
        return S2.from_ambient(x, jnp.cross(n, x))


class Heavy(eqx.Module):
    """A spherical pendulum, with a second force: it has the energy alone as an invariant."""

    down: jax.Array
    other: jax.Array

    def __call__(self, q, p):
        return dot(p, p) / 2 + dot(self.down, q) + 0.4 * dot(self.other, q) ** 2


def turned(vectors):
    return jnp.asarray(np.asarray(vectors) @ TURN.T)


def in_space(orbit):
    """The points and momenta as vectors of space, without a frame."""
    if isinstance(orbit.points, tuple):
        q, p = orbit.points
        return q, eqx.filter_jit(jax.vmap(S2.to_ambient))(q, p)
    return orbit.points


def crossings(orbit):
    heights = np.asarray(jax.tree.leaves(orbit.points)[0])[:, 2]
    return int(np.sum(heights[1:] * heights[:-1] < 0))


DOWN, OTHER = jnp.array([0.2, 0.0, 1.0]), jnp.array([0.0, 1.0, 0.4])
POSITION = S2.project(jnp.array([0.9, 0.1, 0.15]))
VELOCITY = jnp.array([-0.15, -0.15, 1.0])


def sphere_start(position, velocity):
    return position, S2.from_ambient(position, velocity)


def test_fields_across_the_equator():
    """A turned problem has the turned orbit, whether or not the frame jumps on its way."""
    R = gm.ThetaMap(S2, 0.3)
    axis, other = jnp.array([0.0, 1.0, 0.1]), jnp.array([0.5, 0.0, 0.3])
    one = gm.FieldIntegrator(Turning(axis, other), R, DT).run(POSITION, 100)
    two = gm.FieldIntegrator(Turning(turned(axis), turned(other)), R, DT).run(turned(POSITION), 100)
    assert distance(turned(one.points), two.points) <= 1e-12
    assert crossings(one) >= 2
    assert crossings(one) != crossings(two) or distance(one.points, two.points) > 0.1


def hamiltonian_method(H):
    return gm.hamiltonian_integrator(H, gm.ThetaMap(S2, 0.5), DT)


@pytest.mark.extended
def test_systems_across_the_equator():
    one = hamiltonian_method(Heavy(DOWN, OTHER)).run(sphere_start(POSITION, VELOCITY), 100)
    two = hamiltonian_method(Heavy(turned(DOWN), turned(OTHER))).run(
        sphere_start(turned(POSITION), turned(VELOCITY)), 100
    )
    assert distance(jax.tree.map(turned, in_space(one)), in_space(two)) <= 1e-11
    assert crossings(one) >= 2


class OfPoint(eqx.Module):
    hamiltonian: Heavy

    def __call__(self, x):
        return self.hamiltonian(*x)


def energy_method(H):
    gradient = gm.GonzalezGradient(gm.CotangentLift(gm.ThetaMap(S2, 0.5)))
    return gm.EnergyIntegrator(OfPoint(H), gm.CanonicalPoisson(T_S2), gradient, DT)


def heavy_end(time):
    """The motion of the body in space, by scipy."""
    down, other = np.asarray(DOWN), np.asarray(OTHER)

    def field(_, state):
        q, v = state[:3], state[3:]
        force = -down - 0.8 * (other @ q) * other
        return np.concatenate([v, force - (force @ q) * q - (v @ v) * q])

    start = sphere_start(POSITION, VELOCITY)
    first = np.concatenate([start[0], S2.to_ambient(*start)])
    return scipy.integrate.solve_ivp(field, (0, time), first, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


@pytest.mark.extended
def test_energy_is_kept_across_the_equator():
    """The metric of the discrete gradient is that of the frame, and jumps with it: energy and order stay."""
    H = Heavy(DOWN, OTHER)
    method, start = energy_method(H), sphere_start(POSITION, VELOCITY)
    run = method.run(start, 1000)
    assert np.ptp(np.asarray(run.observe(H))) <= 1e-12
    assert float(np.max(run.residuals)) <= 1e-13
    assert crossings(run) >= 10
    errors = []
    for steps in (64, 128, 256):
        shorter = method.with_step(4.0 / steps).run(start, steps)
        assert crossings(shorter) >= 1
        errors.append(distance(jnp.concatenate([leaf[-1] for leaf in in_space(shorter)]), heavy_end(4.0)))
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2) <= 0.2), errors


# ----------------------------------------------------------------------------------- refusals


def plain_system():
    return gm.DiscreteSystem(gm.PairGroupoid(R1), lambda g: jnp.sum((g[1] - g[0]) ** 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gm.compose(gm.Kick(jnp.sum, R1, DT), gm.Kick(jnp.sum, R2, DT)), "methods on one manifold"),
        (lambda: gm.compose(gm.Kick(jnp.sum, R1, DT), 3), "methods"),
        (lambda: gm.WeightedComposition([gm.Kick(jnp.sum, R1, DT)], [0.5, 0.5], DT), r"one column .*shape \(2,\)"),
        (lambda: gm.WeightedComposition([gm.Kick(jnp.sum, R1, DT)], [[0.5, 0.5]], DT), r"one column .*shape \(1, 2\)"),
        (lambda: gm.WeightedComposition([gm.Kick(jnp.sum, R1, DT)], np.zeros((0, 1)), DT), "one column"),
        (lambda: gm.raise_order(gm.Kick(jnp.sum, R1, DT), [[0.5], [0.5]]), "a vector of numbers"),
        (lambda: gm.raise_order(gm.Kick(jnp.sum, R1, DT), []), "a vector of numbers"),
        (lambda: gm.triple_jump(5), "order"),
        (lambda: gm.optimized(4), "order"),
        (lambda: gm.splitting_weights(8), "order"),
        (lambda: gm.SystemIntegrator(plain_system()), r"a StepFamily.*hamiltonian_system.*system\.simulate"),
        (lambda: gm.SystemIntegrator("system"), "SystemIntegrator needs system"),
        (lambda: gm.Drift(kinetic, S2, DT), "Drift needs a flat manifold.*hamiltonian_integrator"),
        (lambda: gm.Drift(kinetic, gm.ProductManifold(R1, S2), DT), "Drift needs a flat manifold"),
        (lambda: gm.splitting(Pendulum(), R1, gm.splitting_weights(2), DT), "splitting needs hamiltonian"),
        (lambda: gm.hamiltonian_integrator(Pendulum(), R1, DT), "hamiltonian_integrator needs map"),
        (lambda: gm.hamiltonian_system(lambda q, p: p, MIDPOINT, DT), "to be a real number"),
        (lambda: gm.FieldIntegrator(lambda x: jnp.ones(3), gm.theta_map(R2, 0.5), DT), "the 2 components in the frame"),
        (
            lambda: gm.FieldIntegrator(lambda x: x, gm.theta_map(gm.GroupGroupoid(gm.SO3()), 0.5), DT),
            "of a manifold.*GroupGroupoid.*hamiltonian_integrator",
        ),
        (
            lambda: gm.EnergyIntegrator(
                lambda x: Pendulum()(*x), gm.CanonicalPoisson(T_R1), gm.GonzalezGradient(gm.theta_map(S2, 0)), DT
            ),
            r"a discretization map of the Poisson manifold",
        ),
        (
            lambda: gm.EnergyIntegrator(
                lambda x: Pendulum()(*x), gm.CanonicalPoisson(T_R1), gm.GonzalezGradient(gm.theta_map(R1, 0)), DT
            ),
            r"a discretization map of the Poisson manifold",
        ),
        (lambda: gm.poincare_invariant(R2, (jnp.zeros((2, 2)), jnp.zeros((2, 2)))), "at least 3 points"),
        (lambda: gm.poincare_invariant(R2, (jnp.zeros((8, 2)), jnp.zeros((8, 3)))), "2 components of p"),
        (lambda: gm.galerkin_system(lambda q, v: jnp.sum(v * v), R1, DT, stages=0), "stages to be an integer ≥ 1"),
        (lambda: gm.compose_systems(plain_system(), 1), "compose_systems needs second"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(gm.ArgumentError, match=message):
        make()


def test_a_start_off_the_manifold_is_refused(method):
    with pytest.raises(gm.ArgumentError, match=r"SystemIntegrator\.run"):
        method.run(jnp.ones(1), 3)
    with pytest.raises(gm.OffManifoldError, match="SystemIntegrator needs x on DualBundle; it is off by nan"):
        method((jnp.ones(1), jnp.array([jnp.nan])))


def test_a_few_values_of_the_equations_are_enough_once_the_last_steps_are_known():
    """The guess is extrapolated from ten steps, and the inverse Jacobian kept; the first step, without memory, needs more."""
    model = gm.systems.spherical_pendulum_hamiltonian()
    iterations = np.asarray(model.integrator().run(model.start, 300).iterations)
    assert iterations[0] > 3
    assert np.all(iterations[30:] <= 4)
    # With momenta that are projected from point to point, not carried in parallel, 3.5.
    assert np.mean(iterations[30:]) < 3.2
    # From the momenta of the last step, in the frame where it began, instead of what the family expects: 3.9.
    system = model.integrator().system
    trajectory = system.simulate(gm.from_momentum(system, *model.start), 300)
    np.testing.assert_array_equal(trajectory.iterations, iterations)
