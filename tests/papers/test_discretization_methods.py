r"""Methods from discretization maps: Barbero Liñán and Martín de Diego, §4, §5 and §6, and the Runge–Kutta methods they contain.

The schemes are those that the paper prints, solved with numpy by iteration, on nonlinear problems: no equation is solved by the library
on both sides. Single steps are compared from every point of an orbit. The equations of its examples are laws:
``groupoid_mech/laws/field_example_laws.py`` and ``symplectic_example_laws.py``.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson

EXACT = 1e-14
ROUNDED = 1e-13
WRONG = 1e-4
DT = 0.1

R2, S2, SO3 = gm.Euclidean(2), gm.Sphere(2), gm.SO3(tau="cayley")
T_R2 = gm.CotangentBundle(R2)
MASS = np.array([[1.5, 0.3], [0.3, 0.8]])
INVERSE_MASS = np.linalg.inv(MASS)
START = jnp.array([0.7, -0.4]), jnp.array([0.3, 0.5])


def potential(q):
    return 0.5 * q[0] ** 2 + q[1] ** 2 + 0.3 * q[0] ** 2 * q[1] + 0.2 * q[1] ** 4


def slope(q):
    """The gradient of the potential, by hand, for arrays of numpy and of JAX."""
    xp = np if isinstance(q, np.ndarray) else jnp
    return xp.stack([q[0] + 0.6 * q[0] * q[1], 2 * q[1] + 0.3 * q[0] ** 2 + 0.8 * q[1] ** 3])


def wavy(q, p):
    """A Hamiltonian that is not separable."""
    return (1 + 0.3 * q[1]) * p[0] ** 2 / 2 + 0.7 * p[1] ** 2 + 0.2 * p[0] * p[1] * q[0] + potential(q)


def wavy_slopes(q, p):
    """The derivatives of that Hamiltonian by q and by p, by hand."""
    by_q = np.array([0.2 * p[0] * p[1], 0.15 * p[0] ** 2]) + slope(q)
    by_p = np.array([(1 + 0.3 * q[1]) * p[0] + 0.2 * p[1] * q[0], 1.4 * p[1] + 0.2 * p[0] * q[0]])
    return by_q, by_p


SEPARABLE = gm.Separable(lambda p: dot(p, jnp.asarray(INVERSE_MASS) @ p) / 2, potential)


def iterated(f, x):
    """The fixed point of a contraction, to the last digit."""
    for _ in range(60):
        x = f(x)
    assert np.max(np.abs(f(x) - x)) <= 1e-15, "no contraction"
    return x


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)))) for a, b in pairs)


def numbers(tree):
    return jax.tree.map(np.asarray, tree)


def each_step(method, scheme, start=START, steps=20):
    """The largest difference of a step of the method from that of a scheme (x, y) ↦ (x', y'), from every point of an orbit."""
    x, y = numbers(method.run(start, steps).points)
    return max(distance((x[k + 1], y[k + 1]), scheme(x[k], y[k])) for k in range(steps))


def solved(equations):
    """The scheme (x', y') = equations(x, y, x', y'), by iteration."""

    def scheme(x, y):
        n = x.size
        end = iterated(lambda z: np.concatenate(equations(x, y, z[:n], z[n:])), np.concatenate([x, y]))
        return end[:n], end[n:]

    return scheme


# ----------------------------------------------------------------------------- §4.1: Newmark

NEWMARK = [(0.25, 0.5), (0.0, 0.5), (1 / 6, 0.5), (0.3, 0.6), (0.2, 0.6)]


def newmark_force(q, v):
    return -jnp.asarray(INVERSE_MASS) @ slope(q)


def newmark_scheme(beta, gamma, sign=1.0):
    """BM (4.4), for ``sign=1``; else the equations below (4.5), with the sign of the last term as printed."""

    def equations(q, v, q1, v1):
        a, a1 = -INVERSE_MASS @ slope(q), -INVERSE_MASS @ slope(q1)
        new_v = v + DT * ((1 - gamma) * a + gamma * a1)
        if sign > 0:
            return q + DT * v + DT**2 / 2 * ((1 - 2 * beta) * a + 2 * beta * a1), new_v
        extra = DT**2 / 2 * (gamma - 2 * beta)
        return q + DT / 2 * v + extra * a + DT / 2 * v1 + extra * a1, new_v

    return solved(equations)


@pytest.mark.parametrize(("beta", "gamma"), NEWMARK)
def test_newmark(beta, gamma):
    method = gm.EndpointIntegrator(gm.SecondOrderField(newmark_force), gm.newmark_map(R2, beta, gamma, DT), DT)
    assert each_step(method, newmark_scheme(beta, gamma)) <= EXACT
    printed = each_step(method, newmark_scheme(beta, gamma, sign=-1.0))
    assert (printed <= EXACT) if gamma == 2 * beta else (printed > WRONG)
    # Neither do the parameters of another method give the same.
    assert each_step(method, newmark_scheme(beta + 0.1, gamma)) > WRONG
    assert each_step(method, newmark_scheme(beta, gamma + 0.1)) > WRONG


@pytest.mark.parametrize(("beta", "gamma"), NEWMARK)
def test_one_map_of_newmark_is_a_tangent_lift(beta, gamma):
    rng = np.random.default_rng(3)
    x, w = (jnp.asarray(rng.uniform(-1, 1, 2)), jnp.asarray(rng.uniform(-1, 1, 2))), jnp.asarray(rng.uniform(-1, 1, 4))
    R = gm.newmark_map(R2, beta, gamma, DT)
    lifted = gm.TangentLift(gm.theta_map(R2, 0.5))
    gap = distance(R.arrow(x, w), lifted.arrow(x, w))
    assert (gap <= EXACT) if (beta, gamma) == (0.25, 0.5) else (gap > 1e-3)
    # The formula of the map itself.
    (q, v), (q_dot, v_dot) = x, (w[:2], w[2:])
    shift = DT / 2 * (gamma - 2 * beta) * v_dot
    first, second = (q - q_dot / 2 + shift, v - gamma * v_dot), (q + q_dot / 2 + shift, v + (1 - gamma) * v_dot)
    assert distance(R.arrow(x, w), (first, second)) <= EXACT
    assert distance(R.inverse((first, second)), (x, w)) <= EXACT


# -------------------------------------------------------------------------------- Prop. 4.2


def drawn_field(seed, n):
    """A second-order field with a drawn acceleration, quadratic and with a wave."""
    rng = np.random.default_rng(seed)
    A, B, C = (jnp.asarray(rng.uniform(-1, 1, shape)) for shape in ((n, n), (n, n, n), (n, n)))

    def acceleration(q, v):
        x = jnp.ravel(q)[:n]
        return A @ x + jnp.einsum("ijk,j,k->i", B, v, x) + jnp.sin(C @ v)

    return gm.SecondOrderField(acceleration)


@pytest.mark.parametrize("theta", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_theta_maps_of_a_vector_space_give_difference_equations(theta):
    """Three points follow one another: their second difference is the acceleration at their means.

    Only for θ = 0 are the first two those that one started from, as diagram (4.6) has it: Prop. 4.2 is about (4.8).
    """
    R, x = gm.ThetaMap(R2, theta), (jnp.array([0.4, -0.7]), jnp.array([0.5, 0.3]))
    for seed in (1, 2):
        field = drawn_field(seed, 2)
        assert gm.difference_defect(R, field, x) <= EXACT
        pair = R.arrow(*x)
        before, here, again, after = gm.difference_points(R, field, *pair)
        assert distance(here, again) <= EXACT
        q = (1 - theta) ** 2 * before + 2 * theta * (1 - theta) * here + theta**2 * after
        v = (1 - theta) * (here - before) + theta * (after - here)
        assert distance((q, v), x) <= EXACT
        assert distance(after - 2 * here + before, field.acceleration(q, v)) <= EXACT
        gap = distance((before, here), pair)
        assert (gap <= EXACT) if theta == 0 else (gap > 1e-2)


def test_maps_of_the_sphere_give_difference_equations_for_retractions_alone():
    x = S2.project(jnp.array([0.5, 0.4, 0.8])), jnp.array([0.3, -0.5])
    field = drawn_field(3, 2)
    for R in (gm.ChartMap(S2), gm.ProjectionMap(S2)):
        assert gm.difference_defect(R, field, x) <= EXACT
        q0, q1 = R.arrow(*x)
        assert distance(gm.difference_points(R, field, q0, q1)[:3], (q0, q1, q1)) <= EXACT
    assert gm.difference_defect(gm.ThetaMap(S2, 0.3), field, x) > 1e-3


# ----------------------------------------------------------------------------- Remark 5.5


@pytest.fixture(scope="module")
def endpoint_method():
    field = CanonicalPoisson(T_R2).hamiltonian_field(lambda x: wavy(*x))
    return gm.EndpointIntegrator(field, gm.CotangentLift(gm.theta_map(R2, 0.5)), DT)


class Loop(NamedTuple):
    manifold: gm.Manifold
    hamiltonian: object
    points: object


def plane_loop(count):
    t = 2 * np.pi * np.arange(count) / count
    q = np.stack([0.5 + 0.4 * np.cos(t), -0.2 + 0.5 * np.sin(t)], axis=1)
    p = np.stack([0.3 * np.sin(t + 0.4), 0.2 + 0.4 * np.cos(t) * np.sin(t)], axis=1)
    return Loop(R2, wavy, (jnp.asarray(q), jnp.asarray(p)))


def sphere_energy(q, p):
    return (1 + 0.4 * q[0]) * dot(p, p) / 2 + 0.6 * q[1] + q[2] ** 2


def sphere_loop(count):
    """Across the equator: the frame jumps there, but p, in the frame at q, does so with it."""
    t = jnp.asarray(2 * np.pi * np.arange(count) / count)
    shift = jnp.stack([0.4 * jnp.cos(t), 0.4 * jnp.sin(t)], axis=1)
    q = jax.vmap(S2.retract, (None, 0))(S2.project(jnp.array([0.9, 0.3, 0.15])), shift)
    ambient = jnp.stack([0.3 * jnp.sin(t), 0.5 * jnp.cos(t), 0.4 + 0.4 * jnp.sin(2 * t)], axis=1)
    return Loop(S2, sphere_energy, (q, jax.vmap(S2.from_ambient)(q, ambient)))


def body_energy(q, p):
    return dot(p, p / jnp.array([1.0, 1.4, 0.7])) / 2 + 0.8 * (q[2] @ jnp.array([0.2, 0.3, 0.5]))


def body_loop(count):
    t = jnp.asarray(2 * np.pi * np.arange(count) / count)
    shift = jnp.stack([0.4 * jnp.cos(t), 0.4 * jnp.sin(t), 0.3 * jnp.sin(t + 1)], axis=1)
    q = jax.vmap(SO3.retract, (None, 0))(SO3.random_point(jax.random.key(1)), shift)
    p = jnp.stack([0.3 * jnp.sin(t), 0.6 * jnp.cos(t), 0.4 + 0.4 * jnp.sin(t)], axis=1)
    return Loop(SO3, body_energy, (q, p))


@eqx.filter_jit
def batch_step(method, points):
    return jax.vmap(method)(points)


def carried(method, points, steps):
    for _ in range(steps):
        points = batch_step(method, points)
    return points


LOOPS = {"T*R2": plane_loop, "T*S2": sphere_loop, "T*SO3": body_loop}


def midpoint_method(loop):
    return gm.hamiltonian_integrator(loop.hamiltonian, gm.theta_map(loop.manifold, 0.5), DT)


def verlet_method(loop):
    return gm.stormer_verlet(loop.hamiltonian, loop.manifold, DT)


def triple_jump_method(loop):
    return gm.raise_order(midpoint_method(loop), gm.triple_jump(4))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("T*R2", midpoint_method),
        ("T*S2", midpoint_method),
        pytest.param("T*S2", verlet_method, marks=pytest.mark.slow),
        pytest.param("T*S2", triple_jump_method, marks=pytest.mark.extended),
        pytest.param("T*SO3", verlet_method, marks=pytest.mark.slow),
        pytest.param("T*SO3", midpoint_method, marks=pytest.mark.extended),
        pytest.param("T*SO3", triple_jump_method, marks=pytest.mark.extended),
    ],
)
def test_loop_integrals_are_kept(name, make):
    loop = LOOPS[name](96)
    method = make(loop)
    before = gm.poincare_invariant(loop.manifold, loop.points)
    moved = carried(method, loop.points, 10)
    assert distance(moved, loop.points) > 0.1
    assert abs(before) > 0.1
    assert abs(gm.poincare_invariant(loop.manifold, moved) - before) <= 1e-12
    # Half of the points are enough: what is measured is the method.
    thin = jax.tree.map(lambda leaf: leaf[::2], moved)
    assert abs(gm.poincare_invariant(loop.manifold, thin) - before) <= 1e-12


def test_fields_at_both_ends_change_loop_integrals(endpoint_method):
    loop = plane_loop(96)
    before = gm.poincare_invariant(R2, loop.points)
    moved = carried(endpoint_method, loop.points, 10)
    assert abs(gm.poincare_invariant(R2, moved) - before) > 1e-6


@pytest.mark.slow
def test_fields_at_both_ends_change_loop_integrals_on_the_sphere():
    loop = sphere_loop(96)
    field = CanonicalPoisson(gm.CotangentBundle(S2)).hamiltonian_field(lambda x: sphere_energy(*x))
    method = gm.EndpointIntegrator(field, gm.CotangentLift(gm.theta_map(S2, 0.5)), DT)
    moved = carried(method, loop.points, 10)
    before = gm.poincare_invariant(S2, loop.points)
    change = abs(gm.poincare_invariant(S2, moved) - before)
    assert change > 1e-6
    # What changes it is the method, not the number of points.
    thin = jax.tree.map(lambda leaf: leaf[::2], moved)
    assert abs(abs(gm.poincare_invariant(S2, thin) - before) - change) <= 1e-12


# ------------------------------------------------------------------------------ Example 5.9, §5.3


def velocity_scheme(q, v):
    """The two equations of BM Example 5.9."""
    return solved(lambda q, v, q1, v1: (q + DT * (v + v1) / 2, v - DT * INVERSE_MASS @ slope((q + q1) / 2)))(q, v)


def test_the_second_order_equation_of_the_midpoint_rule():
    """BM Example 5.9: twice ∇V; one of the two is printed as V."""
    points = [numbers(START)]
    for _ in range(2):
        points.append(velocity_scheme(*points[-1]))
    q = [place for place, _ in points]
    second, before, after = q[2] - 2 * q[1] + q[0], (q[0] + q[1]) / 2, (q[1] + q[2]) / 2
    assert distance(second, -(DT**2) / 2 * INVERSE_MASS @ (slope(before) + slope(after))) <= EXACT
    assert distance(second, -(DT**2) / 2 * INVERSE_MASS @ (slope(before) + potential(after))) > WRONG


def test_the_velocity_of_the_middle():
    """BM Example 5.9: dt Γ_L in the middle of a step has the part q₁ − q₀, not h(q₁ − q₀) as printed."""
    q0, v0 = START
    q1, v1 = end = jax.tree.map(jnp.asarray, velocity_scheme(*numbers(START)))
    middle, kick = ((q0 + q1) / 2, (v0 + v1) / 2), -DT * jnp.asarray(INVERSE_MASS) @ slope((q0 + q1) / 2)
    tangent = gm.TangentLift(gm.theta_map(R2, 0.5))
    assert distance(tangent.arrow(middle, jnp.concatenate([q1 - q0, kick])), (START, end)) <= EXACT
    assert distance(tangent.arrow(middle, jnp.concatenate([DT * (q1 - q0), kick])), (START, end)) > 1e-2


def sliding(q, v):
    """A Lagrangian that is not quadratic, with a mass that depends on the place and a magnetic term."""
    return (1 + 0.3 * jnp.sin(q[0])) * dot(v, v) / 2 + 0.05 * jnp.sum(v**4) + 0.3 * v[0] * q[1] - potential(q)


def sliding_slopes(q, v):
    by_q = np.array([0.15 * np.cos(q[0]) * (v @ v), 0.3 * v[0]]) - slope(q)
    by_v = (1 + 0.3 * np.sin(q[0])) * v + 0.2 * v**3 + np.array([0.3 * q[1], 0.0])
    return by_q, by_v


@pytest.mark.extended
def test_lagrangian_and_hamiltonian_routes_agree():
    """BM (5.4), (5.5): two generating families, one of them with a Hamiltonian by the Legendre transformation."""
    R = gm.theta_map(R2, 0.3)
    first = gm.SystemIntegrator(gm.lagrangian_system(sliding, R, DT)).run(START, 100)
    second = gm.SystemIntegrator(gm.hamiltonian_system(gm.LegendreHamiltonian(sliding), R, DT)).run(START, 100)
    assert distance(first.points, second.points) <= 1e-12
    assert distance(first.end, START) > 0.1


def sphere_lagrangian(q, v):
    return dot(v, v) / (2 * (1 + 0.4 * q[0])) - 0.6 * q[1] - q[2] ** 2


@pytest.mark.extended
def test_routes_agree_on_the_sphere():
    points = sphere_loop(96).points
    R = gm.theta_map(S2, 0.5)
    first = carried(gm.SystemIntegrator(gm.lagrangian_system(sphere_lagrangian, R, DT)), points, 100)
    second = carried(gm.hamiltonian_integrator(sphere_energy, R, DT), points, 100)
    assert distance(first, second) <= 1e-12
    assert distance(first, points) > 0.1
    assert np.any(np.asarray(first[0][:, 2] * points[0][:, 2]) < 0), "across the equator"


@pytest.mark.extended
def test_the_route_on_velocities_agrees():
    R = gm.theta_map(R2, 0.3)
    q, p = START
    v = jnp.asarray(iterated(lambda v: v + 0.5 * (np.asarray(p) - sliding_slopes(np.asarray(q), v)[1]), np.zeros(2)))
    there = gm.FieldIntegrator(gm.LagrangianField(sliding, R2), gm.LagrangianLift(R, sliding), DT).run((q, v), 100)
    system = gm.SystemIntegrator(gm.lagrangian_system(sliding, R, DT)).run(START, 100)
    momenta = there.observe(jax.grad(sliding, argnums=1))
    assert distance((there.points[0], momenta), system.points) <= 1e-12


# ------------------------------------------------------------------------------ Example 6.1


def test_the_order_of_the_halves():
    """The other order is the other method of Störmer and Verlet."""
    method = gm.stormer_verlet(SEPARABLE, R2, DT)
    first, second = (gm.hamiltonian_integrator(SEPARABLE, gm.theta_map(R2, theta), DT / 2) for theta in (0, 1))
    assert distance(second(first(START)), method(START)) <= EXACT
    assert distance(first(second(START)), method(START)) > WRONG


def test_stormer_verlet_over_a_whole_orbit():
    """100 steps of both, not step by step: an explicit method keeps all digits."""
    q, p = numbers(START)
    textbook = [(q, p)]
    for _ in range(100):
        half = p - DT / 2 * slope(q)
        q = q + DT * INVERSE_MASS @ half
        p = half - DT / 2 * slope(q)
        textbook.append((q, p))
    orbit = gm.stormer_verlet(SEPARABLE, R2, DT).run(START, 100)
    assert distance(orbit.points, tuple(map(np.stack, zip(*textbook, strict=True)))) <= 5e-14


def test_every_step_of_an_orbit_is_that_of_the_textbook():
    """Kick, drift, kick: relative to the size of the points, from the same point in every step."""

    def textbook(q, p, sign=1.0):
        half = p - DT / 2 * slope(q)
        end = q + DT * INVERSE_MASS @ half
        return end, half - sign * DT / 2 * slope(end)

    q, p = numbers(gm.stormer_verlet(SEPARABLE, R2, DT).run(START, 100).points)
    for k in range(100):
        largest = max(np.max(np.abs(q[k])), np.max(np.abs(p[k])))
        assert distance((q[k + 1], p[k + 1]), textbook(q[k], p[k])) <= EXACT * largest
        assert distance((q[k + 1], p[k + 1]), textbook(q[k], p[k], sign=-1.0)) > WRONG


# ----------------------------------------------------------------------------- §6: relations


def left_lagrangian(s):
    """BM §6: L at the first point, over half a step."""
    q0, q1 = s
    return DT / 2 * sliding(q0, (q1 - q0) / (DT / 2))


def right_lagrangian(s):
    q0, q1 = s
    return DT / 2 * sliding(q1, (q1 - q0) / (DT / 2))


def difference_form(ends):
    """Ω₁₂ = pr₂*ω − pr₁*ω."""
    zero = jnp.zeros((4, 4))
    return jnp.block([[-T_R2.symplectic_form(ends[0]), zero], [zero, T_R2.symplectic_form(ends[1])]])


def sum_form(ends):
    """With the wrong sign."""
    return difference_form(ends) * jnp.asarray(np.sign(np.arange(8) - 3.5))


@pytest.mark.extended
def test_composition_of_discrete_lagrangians():
    """The inner node is the auxiliary variable, and runs are those of the two steps one after the other."""
    first, second = (gm.lagrangian_system(sliding, gm.theta_map(R2, theta), DT / 2) for theta in (0, 1))
    inner = gm.compose_systems(first, second)
    run = inner.simulate(gm.from_momentum(inner, *START), 5)
    two = gm.compose(gm.SystemIntegrator(first), gm.SystemIntegrator(second)).run(START, 5)
    assert distance((run.base_points, run.momenta), two.points) <= ROUNDED
    assert distance(START[0] + run.auxiliary[0], gm.SystemIntegrator(first)(START)[0]) <= EXACT


@pytest.mark.extended
def test_composition_of_lagrangian_relations():
    inner = gm.compose_systems(*(gm.lagrangian_system(sliding, gm.theta_map(R2, theta), DT / 2) for theta in (0, 1)))
    run = inner.simulate(gm.from_momentum(inner, *START), 1)
    q0, q1, q2 = START[0], START[0] + run.auxiliary[0], run.base_points[1]
    relations = [gm.generated_relation(R2, R2, L) for L in (left_lagrangian, right_lagrangian)]
    both = gm.compose_relations(*relations, (q0, q1), (q1, q2))

    @eqx.filter_jit
    def measured(w):
        return both(w), both.isotropy(difference_form, w), both.smallest_stretch(w)

    for w in (jnp.zeros(4), 0.05 * jnp.array([1.0, -0.5, 0.7, 0.3])):
        (start, end), isotropy, stretch = measured(w)
        assert distance(inner.hamiltonian_map(*start), end) <= ROUNDED
        assert np.max(np.abs(isotropy)) <= 1e-12
        assert stretch > 0.1
    assert distance(start, START) > 1e-3
    assert both.parameters.dim == 4, "half the dimension of the product"
    assert np.max(np.abs(eqx.filter_jit(both.isotropy)(sum_form, jnp.zeros(4)))) > 1e-2


def test_the_transpose_of_a_relation_is_the_reversed_system():
    system = gm.lagrangian_system(sliding, gm.theta_map(R2, 0.3), DT)
    end = system.hamiltonian_map(*START)
    assert distance(system.reversed().hamiltonian_map(*end), START) <= EXACT
    assert distance(system.reversed().hamiltonian_map(*START), end) > WRONG
    relation = gm.generated_relation(R2, R2, lambda s: system.action(s))
    pair = (START[0], end[0])
    assert distance(relation(pair), (START, end)) <= ROUNDED
    assert distance(relation.transpose()(pair), (end, START)) <= ROUNDED
    isotropy = eqx.filter_jit(relation.transpose().isotropy)(difference_form, pair)
    assert np.max(np.abs(isotropy)) <= 1e-12


def test_stormer_verlet_is_a_half_step_and_a_transposed_one_back():
    """BM §6.1: (L^{h/2} ∘ L^{h/2})† is printed, which is two half steps back; the transposed half must be that of −h/2."""
    half, verlet = gm.hamiltonian_integrator(SEPARABLE, gm.ChartMap(R2), DT / 2), gm.stormer_verlet(SEPARABLE, R2, DT)
    between, end = half(START), verlet(START)
    assert distance(half.with_step(-DT / 2)(end), between) <= EXACT
    assert distance(half(half(end)), START) > WRONG


@pytest.mark.parametrize(
    "name",
    ["T*R2", pytest.param("T*S2", marks=pytest.mark.slow), pytest.param("T*SO3", marks=pytest.mark.extended)],
)
def test_symmetric_maps_give_symmetric_methods(name):
    """BM Def. 6.2, Prop. 6.3: the transpose of the relation of h is that of −h."""
    loop = LOOPS[name](96)
    family = gm.ThetaMap(loop.manifold, 0.5)
    for theta, symmetric in ((0.5, True), (0.3, False)):
        R = eqx.tree_at(lambda R: R.theta, family, jnp.asarray(theta, float))
        method = gm.hamiltonian_integrator(loop.hamiltonian, R, DT)
        off = R.asymmetry(*jax.tree.map(lambda leaf: leaf[0], loop.points))
        back = batch_step(method.with_step(-DT), batch_step(method, loop.points))
        if symmetric:
            assert off <= EXACT
            assert distance(back, loop.points) <= EXACT
        else:
            assert off > 1e-2
            assert distance(back, loop.points) > WRONG


def test_the_transpose_of_a_symmetric_relation():
    for theta, symmetric in ((0.5, True), (0.3, False)):
        system = gm.lagrangian_system(sliding, gm.ThetaMap(R2, theta), DT)
        back = system.reversed().hamiltonian_map(*START)
        gap = distance(back, gm.SystemIntegrator(system).with_step(-DT)(START))
        assert (gap <= EXACT) if symmetric else (gap > WRONG)


# ------------------------------------------------------------- §6.2: Runge–Kutta and splitting


@pytest.mark.parametrize("make", [gm.triple_jump, gm.suzuki, gm.optimized])
def test_weights(make):
    for order in (4, 6, 8):
        if make is gm.optimized and order == 4:
            continue
        gamma = make(order)
        np.testing.assert_allclose(gamma, gamma[::-1], atol=1e-15)
        assert abs(np.sum(gamma) - 1) <= EXACT
        for power in range(3, order, 2):
            assert power_sum(gamma, power) <= EXACT
        assert power_sum(gamma, order + 1) > 1e-6


def power_sum(gamma, power):
    """The sum of powers, relative to that of their sizes."""
    return abs(np.sum(gamma**power)) / np.sum(np.abs(gamma) ** power)


def runge_kutta(A, b, field, y):
    """One step of the Runge–Kutta method of a tableau, the stages by iteration."""
    slopes = iterated(lambda K: np.stack([field(y + DT * row @ K) for row in A]), np.stack([field(y)] * len(b)))
    return y + DT * b @ slopes


def hamiltonian_field(y):
    by_q, by_p = wavy_slopes(y[:2], y[2:])
    return np.concatenate([by_p, -by_q])


@pytest.mark.few(1)
@pytest.mark.parametrize("weights", [gm.triple_jump(4), [0.3, 0.7], gm.suzuki(4)], ids=["triple", "two", "suzuki"])
def test_diagonally_implicit_methods(weights):
    b = np.asarray(weights)
    A = np.tril(np.tile(b, (b.size, 1)), -1) + np.diag(b / 2)
    method = gm.symplectic_dirk(wavy, R2, weights, DT)

    def scheme(q, p):
        end = runge_kutta(A, b, hamiltonian_field, np.concatenate([q, p]))
        return end[:2], end[2:]

    assert each_step(method, scheme, steps=10) <= EXACT
    # Symplectic: b_i a_ij + b_j a_ji = b_i b_j.
    np.testing.assert_allclose(b[:, None] * A + (b[:, None] * A).T, np.outer(b, b), atol=1e-15)
    if b.size == 2:
        swapped = gm.symplectic_dirk(wavy, R2, b[::-1], DT)
        assert each_step(swapped, scheme, steps=3) > 1e-6


@pytest.mark.few(2)
@pytest.mark.parametrize("order", [2, 4, 6])
def test_splittings_are_kicks_and_drifts(order):
    rows = gm.splitting_weights(order)
    np.testing.assert_allclose(rows.sum(axis=0), 1.0, atol=1e-14)

    def scheme(q, p):
        for a, b in rows:
            q = q + a * DT * INVERSE_MASS @ p
            p = p - b * DT * slope(q)
        return q, p

    method = gm.splitting(SEPARABLE, R2, rows, DT)
    assert each_step(method, scheme) <= 2e-15
    kicks_first = method.adjoint()
    assert distance(kicks_first(START), method(START)) <= EXACT, "symmetric"
    assert each_step(gm.splitting(SEPARABLE, R2, rows[::-1], DT), scheme, steps=3) > 1e-6


def test_a_splitting_that_is_not_symmetric():
    """Ruth's method of order 3, drift first: rows as given, in their order."""
    rows = np.array([[1.0, -1 / 24], [-2 / 3, 3 / 4], [2 / 3, 7 / 24]])

    def scheme(q, p):
        for a, b in rows:
            q = q + a * DT * INVERSE_MASS @ p
            p = p - b * DT * slope(q)
        return q, p

    method = gm.splitting(SEPARABLE, R2, rows, DT)
    assert each_step(method, scheme) <= 2e-15
    assert distance(method.adjoint().with_step(-DT)(method(START)), START) <= EXACT
    assert distance(method.with_step(-DT)(method(START)), START) > 1e-5


# ---------------------------------------------------------------------------- explicit methods


def primitives(jaxpr):
    """The names of all primitives of a program, those of inner ones too."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for parameter in jax.tree.leaves(equation.params, is_leaf=lambda p: hasattr(p, "eqns") or hasattr(p, "jaxpr")):
            inner = getattr(parameter, "jaxpr", parameter)
            if hasattr(inner, "eqns"):
                yield from primitives(inner)


def program(method, x):
    return set(primitives(jax.make_jaxpr(lambda x: method.advance(x, method.begin(x))[0].point)(x).jaxpr))


EXPLICIT = {
    "verlet": lambda M, V: gm.stormer_verlet(V, M, DT),
    "euler": lambda M, V: gm.hamiltonian_integrator(V, gm.theta_map(M, 0), DT),
    "adjoint euler": lambda M, V: gm.hamiltonian_integrator(V, gm.theta_map(M, 1), DT),
    "splitting": lambda M, V: gm.splitting(V, M, gm.splitting_weights(4), DT),
    "raised": lambda M, V: gm.raise_order(gm.stormer_verlet(V, M, DT), gm.triple_jump(4)),
}
SPACES = {
    "plane": (R2, START),
    "torus": (gm.Torus(2), START),
    "product": (gm.ProductManifold(gm.Torus(1), gm.Euclidean(1)), ((START[0][:1], START[0][1:]), START[1])),
}
LOOPING = {"while", "custom_linear_solve"}


def flat_energy():
    return gm.Separable(lambda p: dot(p, p) / 2, lambda q: jnp.sum(jnp.cos(jnp.concatenate(jax.tree.leaves(q)))))


@pytest.mark.parametrize("kind", EXPLICIT)
@pytest.mark.parametrize("name", SPACES)
def test_methods_that_can_be_are_explicit(name, kind):
    M, start = SPACES[name]
    method = EXPLICIT[kind](M, flat_energy())
    assert not program(method, start) & LOOPING
    if name == "torus":
        assert np.all(np.asarray(method.run(start, 3).iterations) == 0)


@pytest.mark.parametrize("kind", ["verlet", "splitting"])
def test_on_the_sphere_they_are_not(kind):
    method = EXPLICIT[kind](S2, flat_energy())
    assert "while" in program(method, (jnp.array([0.0, 0.6, 0.8]), START[1]))


def test_a_function_that_is_not_known_to_be_separable_is_solved():
    method = gm.stormer_verlet(lambda q, p: SEPARABLE(q, p), R2, DT)
    assert "while" in program(method, START)
    assert distance(method(START), gm.stormer_verlet(SEPARABLE, R2, DT)(START)) <= EXACT


# ------------------------------------------------------------------------- Gauss and Legendre


def gauss_tableau(stages):
    """The collocation method: a_ij is the integral from 0 to c_i of the polynomial that is 1 at c_j."""
    places, weights = np.polynomial.legendre.leggauss(stages)
    c, powers = (1 + places) / 2, np.arange(1, stages + 1)
    A = (c[:, None] ** powers / powers) @ np.linalg.inv(c[:, None] ** (powers - 1))
    return A, weights / 2


@pytest.mark.parametrize("stages", [1, 2, pytest.param(3, marks=pytest.mark.extended)])
def test_galerkin_methods_are_those_of_gauss(stages):
    A, b = gauss_tableau(stages)

    def natural(q, v):
        return dot(v, v) / 2 - potential(q)

    def field(y):
        return np.concatenate([y[2:], -slope(y[:2])])

    def scheme(A, b):
        def step(q, p):
            end = runge_kutta(A, b, field, np.concatenate([q, p]))
            return end[:2], end[2:]

        return step

    method = gm.SystemIntegrator(gm.galerkin_system(natural, R2, DT, stages=stages))
    assert each_step(method, scheme(A, b), steps=10) <= ROUNDED
    if stages < 3:
        assert each_step(method, scheme(*gauss_tableau(stages + 1)), steps=10) > 1e-8
