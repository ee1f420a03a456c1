"""Across the equator, where the frame of the sphere jumps: Newmark's method and discrete gradients know nothing of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.laws.registry import LAWS
from groupoid_mech.laws.verify import check_law
from groupoid_mech.manifolds.calculus import directional_derivative
from groupoid_mech.manifolds.smooth_chart import frame_components, smooth_components, smooth_vector
from groupoid_mech.numerics.matrix import solve

S2, DT, STARTS = gm.Sphere(2), 0.2, 200
TS2, T_S2 = gm.TangentBundle(S2), gm.CotangentBundle(S2)
LIFT = gm.CotangentLift(gm.theta_map(S2, 0.5))
PULL = np.array([0.2, -0.3, -1.0])


class Turned(gm.Manifold):
    """The sphere with a frame that is neither orthonormal nor that of the library."""

    dim: int = 2

    def turn(self, x):
        return jnp.array([[1.0 + 0.3 * x[0], x[1] - x[2]], [0.5 * x[2], 1.2]])

    def retract(self, x, xi):
        return S2.retract(x, self.turn(x) @ xi)

    def local(self, x, y):
        return solve(self.turn(x), S2.local(x, y))

    def to_ambient(self, x, xi):
        return S2.to_ambient(x, self.turn(x) @ xi)

    def from_ambient(self, x, v):
        return solve(self.turn(x), S2.from_ambient(x, v))

    def project(self, y):
        return S2.project(y)

    def violation(self, y):
        return S2.violation(y)

    def random_point(self, key):
        return S2.random_point(key)


# ------------------------------------------------------------------------------------- Newmark


def force(q, u):
    """Gravity, a force that is no constant, and friction; for arrays of numpy and of JAX, with points in the last axis."""
    xp = np if isinstance(q, np.ndarray) else jnp
    return PULL + 0.3 * q[..., [1, 0, 2]] * xp.array([1.0, 1.0, 0.0]) - 0.1 * u


def second_order(Q):
    """The derivative of the components of the velocity: the force, less the turning of the frame."""

    def acceleration(q, v):
        turning = directional_derivative(Q, lambda y: Q.to_ambient(y, v), q, v)
        return Q.from_ambient(q, force(q, Q.to_ambient(q, v)) - turning)

    return gm.SecondOrderField(acceleration)


def newmark(beta=1 / 6, gamma=0.5, Q=S2):
    return gm.EndpointIntegrator(second_order(Q), gm.newmark_map(Q, beta, gamma, DT), DT)


def keeping_components(beta=1 / 6, gamma=0.5):
    """The map that Newmark's was: components of velocities are kept across the jump."""
    return gm.EndpointIntegrator(
        second_order(S2), gm.ThetaMap(TS2, gm.newmark_map(S2, beta, gamma, DT)._theta(), form=(False, False)), DT
    )


def steps(method, Q, q, u):
    """One step from many points with ambient velocities: its ends in the ambient space, and which were found."""

    def one(q, u):
        x = q, Q.from_ambient(q, u)
        taken = method.advance(x, method.begin(x))[0]
        return jnp.concatenate([taken.point[0], Q.to_ambient(*taken.point)]), taken.converged

    ends, found = jax.jit(jax.vmap(one))(jnp.asarray(q), jnp.asarray(u))
    return np.asarray(ends), np.asarray(found)


def flow(q, u, time, count):
    """Runge and Kutta's method in the ambient space: points and velocities together."""

    def field(s):
        q, u = s[..., :3], s[..., 3:]
        f = force(q, u)
        normal = np.sum(f * q + u * u, axis=-1, keepdims=True)
        return np.concatenate([u, f - normal * q], axis=-1)

    s, h = np.concatenate([q, u], axis=-1), time / count
    for _ in range(count):
        a = field(s)
        b = field(s + h / 2 * a)
        c = field(s + h / 2 * b)
        s = s + h / 6 * (a + 2 * b + 2 * c + field(s + h * c))
    return s


def shortly_before_the_equator():
    """Points and velocities that cross the equator after 0.2 to 0.8 of a step, in both directions."""
    rng = np.random.default_rng(5)
    angles = 2 * np.pi * rng.uniform(size=STARTS)
    there = np.stack([np.cos(angles), np.sin(angles), np.zeros(STARTS)], axis=1)
    along, up = np.stack([-np.sin(angles), np.cos(angles), np.zeros(STARTS)], axis=1), np.array([0, 0, 1.0])
    speed = rng.choice([-1, 1], STARTS) * rng.uniform(0.5, 1.5, STARTS)
    late = (DT * rng.uniform(0.2, 0.8, STARTS) * speed)[:, None]
    north = np.sin(late) * there + np.cos(late) * up
    return np.cos(late) * there - np.sin(late) * up, speed[:, None] * north + rng.uniform(-1, 1, (STARTS, 1)) * along


def test_newmark_steps_across_the_equator():
    q, u = shortly_before_the_equator()
    exact = flow(q, u, DT, 10)
    assert np.all(exact[:, 2] * q[:, 2] < 0)
    ends, found = steps(newmark(), S2, q, u)
    assert np.all(found)
    assert np.max(np.abs(ends - exact)) <= 4e-3


@pytest.mark.slow
def test_steps_that_keep_components_are_lost_at_the_equator():
    """The control: most are not found, and others are wrong."""
    q, u = shortly_before_the_equator()
    ends, found = steps(keeping_components(), S2, q, u)
    assert np.sum(found) < 0.6 * STARTS
    assert np.max(np.abs(ends - flow(q, u, DT, 10))[found]) > 0.1


@pytest.mark.extended
def test_newmark_does_not_depend_on_the_frame():
    q, u = shortly_before_the_equator()
    ends, _ = steps(newmark(0.2, 0.6), S2, q, u)
    turned, found = steps(newmark(0.2, 0.6, Turned()), Turned(), q, u)
    assert np.all(found)
    assert np.max(np.abs(ends - turned)) <= 1e-13


@pytest.mark.slow
def test_newmark_runs_across_the_equator_with_its_order():
    q, u = np.array([0.6, 0.0, -0.8]), np.array([0.8, 1.8, 0.6])
    start = jnp.asarray(q), S2.from_ambient(jnp.asarray(q), jnp.asarray(u))
    exact = flow(q, u, 4.0, 8000)
    method = newmark()
    errors = []
    for n in (40, 80, 160, 320, 640):
        orbit = method.with_step(4.0 / n).run(start, n)
        assert np.sum(np.diff(np.sign(orbit.points[0][:, 2])) != 0) == 2
        errors.append(np.max(np.abs(np.concatenate([orbit.end[0], S2.to_ambient(*orbit.end)]) - exact)))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2) <= 0.05), orders
    orbit = method.with_step(0.02).run(start, 5000)
    assert np.sum(np.diff(np.sign(orbit.points[0][:, 2])) != 0) >= 4
    assert float(np.max(orbit.residuals)) <= 1e-14


@pytest.mark.parametrize(
    "name",
    ["discretization_rigidity", "discretization_inverse"]
    + [
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("discretization_zero", "adjoint_by_inversion", "adjoint_discretizes", "adjoint_involutive")
    ],
)
def test_newmark_on_a_sphere_is_a_discretization_map(name):
    law = next(law for law in LAWS if law.name == name)
    assert check_law(law, gm.newmark_map(S2, 0.2, 0.6, DT)).holds


# -------------------------------------------------------------------------- discrete gradients


def energy(q, p):
    """Not isotropic in p, and so written in ambient form."""
    x, y, z = S2.to_ambient(q, p)
    return 0.5 * (x * x + 2 * y * y + 3 * z * z) + q[2] + 0.3 * q[0] * q[1]


def both_sides():
    """A point of T*S² just above the equator, one just below that is the same to 1e-12, and tangent vectors at the first."""
    sides = []
    for height in (1e-13, -1e-13):
        q = S2.project(jnp.array([0.6, 0.8, height]))
        sides.append((q, S2.from_ambient(q, jnp.array([0.4, -0.3, 0.7]))))
    return (*sides, jnp.array([0.1, -0.2, 0.15, 0.05]), jnp.array([0.3, 0.5, -0.4, 0.2]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [gm.GonzalezGradient, gm.ItohAbeGradient])
def test_discrete_gradients_do_not_jump_with_the_frame(kind):
    above, below, v, w = both_sides()
    gradient = kind(LIFT)

    @jax.jit
    def value(y, u):
        v, w = (frame_components(T_S2, y, part) for part in u)
        slope = gradient.at(lambda x: energy(*x), y, v)
        return slope @ w, gradient.defect(lambda x: energy(*x), y, v)

    there = jax.tree.map(lambda part: smooth_vector(T_S2, above, below, smooth_components(T_S2, above, part)), (v, w))
    here = jax.tree.map(lambda part: smooth_components(T_S2, above, part), (v, w))
    (first, rise), (second, other_rise) = value(above, here), value(below, there)
    assert abs(float(first - second)) <= 1e-11
    assert max(abs(float(rise)), abs(float(other_rise))) <= 1e-15
    # The same numbers in the frame on the other side belong to another vector.
    assert abs(float(first - value(below, here)[0])) > 1e-2


@pytest.mark.extended
@pytest.mark.parametrize("kind", [gm.GonzalezGradient, gm.MeanGradient, gm.ItohAbeGradient])
def test_energy_steps_with_their_middle_at_the_equator(kind):
    """All are found, and keep the energy; by the coordinates of Itoh and Abe in the frame at the middle 73 of 200 were."""
    poisson, gradient = gm.CanonicalPoisson(T_S2), kind(LIFT)
    method = gm.EnergyIntegrator(energy, poisson, gradient, DT)
    rng = np.random.default_rng(5)
    angles, heights = (
        2 * np.pi * rng.uniform(size=STARTS),
        rng.uniform(-1, 1, STARTS) * 10 ** rng.uniform(-12, -1, STARTS),
    )
    level = np.sqrt(1 - heights**2)
    middles = jnp.stack([level * np.cos(angles), level * np.sin(angles), heights], axis=1)
    momenta = jnp.asarray(rng.uniform(-0.6, 0.6, (STARTS, 2)))

    @jax.jit
    @jax.vmap
    def known_step(*y):
        """The step with a given middle, by iteration."""
        tensor = poisson.tensor(y)
        v = jax.lax.fori_loop(0, 40, lambda _, v: DT * tensor @ gradient.at(method.hamiltonian, y, v), jnp.zeros(4))
        return LIFT.arrow(y, v)

    @jax.jit
    @jax.vmap
    def step(*x):
        return method.advance(x, method.begin(x))[0]

    starts, ends = known_step(middles, momenta)
    taken = step(*starts)
    assert np.all(taken.converged)
    assert np.max(np.abs(taken.point[0] - ends[0])) <= 1e-12
    assert np.max(np.abs(jax.vmap(energy)(*taken.point) - jax.vmap(energy)(*starts))) <= 1e-14
