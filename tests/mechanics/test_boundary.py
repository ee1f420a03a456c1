"""Boundary problems: solutions against closed forms and initial-value problems, minima and saddles, ends, errors."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.groupoids.groupoid import point_distance
from groupoid_mech.mechanics.boundary_problem import BoundaryProblem
from groupoid_mech.numerics.block_tridiagonal import BlockTridiagonal, solve_blocks, solve_pivoted
from tests.mechanics.examples import DT, PLANE, SPACE, HamiltonPontryagin, Particle, RollingConstraint, particle
from tests.mechanics.test_simulation import Twice

LINE = gm.PairGroupoid(gm.Euclidean(1))


class Oscillator(eqx.Module):
    """A harmonic oscillator of frequency 1, trapezoidal."""

    dt: float

    def __call__(self, g):
        q, r = g
        return jnp.sum((r - q) ** 2) / (2 * self.dt) - self.dt * jnp.sum(q**2 + r**2) / 4


def segment(target, n=40):
    return gm.path(PLANE, (jnp.array([1.0, 0.2]), jnp.array(target)), n)


@pytest.fixture(scope="module")
def solution():
    """In the quartic well, over a time in which the action still has a minimum."""
    return gm.solve_boundary(particle(dt=0.02), segment([-0.3, 0.8]))


def test_a_solution_satisfies_the_equations_between_its_ends(solution):
    assert float(solution.residual) < 1e-13
    before, after = (
        jax.tree.map(lambda leaf: leaf[:-1], solution.arrows),
        jax.tree.map(lambda leaf: leaf[1:], solution.arrows),
    )
    defects = jax.vmap(solution.system.legendre_plus)(before) - jax.vmap(solution.system.legendre_minus)(after)
    assert float(jnp.max(jnp.abs(defects))) < 1e-12
    np.testing.assert_array_equal(solution.arrows[0][0], [1.0, 0.2])
    np.testing.assert_allclose(solution.arrows[1][-1], [-0.3, 0.8], rtol=1e-15)
    assert solution.is_minimum


def test_a_solution_is_retraced_by_the_initial_value_problem(solution):
    run = solution.simulate()
    np.testing.assert_allclose(run.base_points[1:], solution.arrows[1], atol=1e-11)


def test_the_cost_is_least_among_neighbours(solution):
    """Variations with fixed ends raise the cost in second order, so it is a minimum and not only critical."""
    n = len(solution.arrows[0])
    for seed in range(5):
        v = jnp.asarray(np.random.default_rng(seed).normal(size=(n + 1, 2))).at[jnp.array([0, n])].set(0.0)
        costs = [gm.action_sum(solution.system, gm.vary(PLANE, solution.arrows, t * v)) for t in (-1e-4, 1e-4)]
        assert min(map(float, costs)) > float(solution.cost)
        assert abs(float(costs[0] - costs[1])) < 1e-3 * abs(float(costs[0] - solution.cost))


def test_the_oscillator_follows_its_closed_form():
    """The discrete solution is A cos(k θ) + B sin(k θ) with cos θ = 1 − dt²/2, whatever the number of steps."""
    n, dt = 50, 0.02
    found = gm.solve_boundary(gm.DiscreteSystem(LINE, Oscillator(dt)), gm.path(LINE, (jnp.ones(1), jnp.zeros(1)), n))
    theta = np.arccos(1 - dt**2 / 2)
    exact = np.sin((n - np.arange(1, n + 1)) * theta) / np.sin(n * theta)
    np.testing.assert_allclose(found.arrows[1][:, 0], exact, atol=1e-13)


@pytest.mark.parametrize(("time", "conjugate_points"), [(2.0, 0), (4.0, 1), (7.0, 2)])
def test_each_conjugate_point_adds_one_to_the_index(time, conjugate_points):
    """Of the oscillator they come every half period: at π, 2π, …"""
    system = gm.DiscreteSystem(LINE, Oscillator(time / 40))
    found = gm.solve_boundary(system, gm.path(LINE, (jnp.ones(1), jnp.ones(1)), 40), goal="critical")
    assert found.index == conjugate_points
    assert found.is_minimum == (conjugate_points == 0)
    assert float(found.residual) < 1e-12


def test_at_a_conjugate_point_the_second_variation_has_a_kernel():
    """Over n steps with sin(n θ) = 0, cos θ = 1 − dt²/2, all solutions from the origin meet again: a family of them."""
    n = 20
    dt = float(np.sqrt(2 - 2 * np.cos(np.pi / n)))
    found = gm.solve_boundary(gm.DiscreteSystem(LINE, Oscillator(dt)), gm.path(LINE, (jnp.zeros(1), jnp.zeros(1)), n))
    assert (found.index, found.nullity) == (0, 1)
    assert gm.solve_boundary(gm.DiscreteSystem(LINE, Oscillator(0.9 * dt)), found.arrows).nullity == 0


def test_descent_beyond_a_conjugate_point_fails_with_the_best_iterate():
    system = gm.DiscreteSystem(LINE, Oscillator(0.1))
    with pytest.raises(gm.BoundaryFailed, match=r'goal="critical".*error\.solution') as caught:
        gm.solve_boundary(system, gm.path(LINE, (jnp.ones(1), jnp.ones(1)), 40))
    assert caught.value.solution.failure == str(caught.value)
    assert len(caught.value.solution.history.cost) >= 1
    flagged = gm.solve_boundary(system, gm.path(LINE, (jnp.ones(1), jnp.ones(1)), 40), throw=False)
    assert flagged.failure


@pytest.fixture(scope="module")
def rolling():
    """Straight up in a contact structure, where no straight line leads."""
    system = gm.DiscreteSystem(SPACE, Particle(0.05, 0.0), RollingConstraint())
    target = (jnp.zeros(3), jnp.array([0.3, 0.2, 0.8]))
    return target, gm.solve_boundary(system, gm.path(SPACE, target, 40), target=target)


def test_constraints_hold_along_a_solution(rolling):
    target, found = rolling
    assert float(found.residual) < 1e-12
    assert float(found.constraint) < 1e-14
    assert float(point_distance(found.product, target)) < 1e-14
    assert found.is_minimum
    assert len(found.history.cost) < 30
    run = found.simulate()
    np.testing.assert_allclose(run.base_points[1:], found.arrows[1], atol=1e-9)
    np.testing.assert_allclose(run.multipliers, found.multipliers, atol=1e-8)


def test_the_cost_falls_and_the_history_says_so(rolling):
    _, found = rolling
    assert np.all(np.diff(found.history.cost) <= 1e-11)
    assert found.history.residual[-1] <= 1e-12 < found.history.residual[0]
    assert np.max(found.history.constraint) < 1e-9


def test_the_rank_of_the_constraints_along_variations_is_checked(rolling):
    _, found = rolling
    assert found.deficiency == 0
    model = gm.systems.reorientation(dt=0.1)
    G = model.system.groupoid
    straight = gm.path(G, G.group.exp(jnp.array([0.0, 0.0, 1.2])), 10)
    # A turn about the axis that must not turn: to first order, the sum of all constraints cannot change.
    problem = BoundaryProblem(model.system, 10, None)
    assert problem.deficiency(problem.look(straight, jnp.zeros((10, 1)))) == 1
    bent = problem.moved(straight, problem.bend(0.3))
    assert problem.deficiency(problem.look(bent, jnp.zeros((10, 1)))) == 0


def test_continuation_moves_the_target_in_small_steps(rolling):
    _, found = rolling
    targets = [(jnp.zeros(3), jnp.array([0.3, 0.2, height])) for height in (0.9, 1.0, 1.1)]
    line = gm.continue_boundary(lambda target: (found.system, target), targets, found)
    assert len(line) == 3
    costs = [float(found.cost), *(float(each.cost) for each in line)]
    assert np.all(np.diff(costs) > 0), "farther is dearer"
    for target, each in zip(targets, line, strict=True):
        assert float(point_distance(each.product, target)) < 1e-14
        assert float(each.residual) < 1e-12


def test_a_free_end_has_no_momentum():
    free = gm.solve_boundary(particle(dt=0.005), segment([0.9, 0.3]), end="free")
    last = jax.tree.map(lambda leaf: leaf[-1], free.arrows)
    assert float(jnp.max(jnp.abs(free.system.legendre_plus(last)))) < 1e-12
    assert float(jnp.max(jnp.abs(last[1] - jnp.array([0.9, 0.3])))) > 1e-3, "the end moved"


def test_a_prescribed_momentum_at_the_end_is_reached_on_a_group():
    """On SO(3) the frame moves with the end: the momentum is compared there."""
    H = gm.SO3(tau="cayley")
    G = gm.GroupGroupoid(H)
    inertia = jnp.array([1.0, 2.0, 2.5])
    system = gm.DiscreteSystem(G, Body(0.1, inertia))
    p = jnp.array([0.3, -0.2, 0.4])
    found = gm.solve_boundary(system, gm.path(G, H.exp(jnp.array([0.4, 0.1, -0.2])), 10), end=p, goal="critical")
    last = jax.tree.map(lambda leaf: leaf[-1], found.arrows)
    np.testing.assert_allclose(system.legendre_plus(last), p, atol=1e-12)
    assert float(found.residual) < 1e-12
    # On a group that momentum determines all arrows: the body turns freely backwards from it.
    back = system.reversed()
    run = back.simulate(gm.from_momentum(back, jnp.zeros(0), p), 10)
    np.testing.assert_allclose(jax.vmap(H.inverse)(run.arrows)[::-1], found.arrows, atol=1e-11)


class Body(eqx.Module):
    """The trace form of a rigid body."""

    dt: float
    inertia: jax.Array

    def __call__(self, R):
        return jnp.sum((0.5 * jnp.sum(self.inertia) - self.inertia) * (1 - jnp.diagonal(R))) / self.dt


def test_families_with_auxiliary_variables_are_solved_as_critical_points():
    family = gm.DiscreteSystem(PLANE, HamiltonPontryagin(0.02, 1.0), auxiliary=2)
    found = gm.solve_boundary(family, segment([-0.3, 0.8]))
    direct = gm.solve_boundary(particle(dt=0.02), segment([-0.3, 0.8]))
    np.testing.assert_allclose(found.arrows[1], direct.arrows[1], atol=1e-11)
    with pytest.raises(gm.ArgumentError, match='goal="critical"'):
        gm.solve_boundary(family, segment([-0.3, 0.8]), goal="minimum")


def test_paths_have_the_product_they_are_made_for():
    H = gm.SO3()
    for G, g in (
        (gm.GroupGroupoid(H), H.exp(jnp.array([1.0, 2.0, 0.5]))),
        (gm.ActionGroupoid(gm.Sphere(2), H, _turned), (jnp.array([0.0, 0.6, 0.8]), H.exp(jnp.array([0.5, -1.0, 0.2])))),
    ):
        arrows = gm.path(G, g, 17)
        assert float(point_distance(gm.product(G, arrows), g)) < 1e-14
        coordinates = jax.vmap(lambda h, G=G: G.fiber_local(G.source(h), h))(arrows)
        np.testing.assert_allclose(
            coordinates - coordinates[0], 0, atol=1e-14, err_msg="equal steps along a one-parameter group"
        )


def _turned(q, R):
    return R.T @ q


# ------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: gm.solve_boundary(s, segment([0.0, 0.0], 1)), gm.ArgumentError, "at least 2 arrows: with 1"),
        (
            lambda s: gm.solve_boundary(s, (jnp.zeros((4, 2)), jnp.ones((4, 2)))),
            gm.NotComposableError,
            "largest gap is 1",
        ),
        (
            lambda s: gm.solve_boundary(s, segment([0.0, 0.0]), target=(jnp.zeros(2), jnp.ones(2))),
            gm.ArgumentError,
            r"differ by 1.*gm\.path",
        ),
        (lambda s: gm.solve_boundary(s, jnp.zeros((4, 2))), gm.ArgumentError, "arrows"),
        (lambda s: gm.solve_boundary(s, segment([0.0, 0.0]), goal="best"), gm.ArgumentError, "'minimum' or 'critical'"),
        (lambda s: gm.solve_boundary(s, segment([0.0, 0.0]), end="loose"), gm.ArgumentError, "'fixed' or 'free'"),
        (lambda s: gm.solve_boundary(s, segment([0.0, 0.0]), end=3.0), gm.ArgumentError, "or a momentum; got float"),
        (lambda s: gm.solve_boundary(s, segment([0.0, 0.0]), jnp.ones((3, 1))), gm.ArgumentError, "multipliers"),
        (lambda s: gm.path(PLANE, (jnp.zeros(2), jnp.ones(2)), 0), gm.ArgumentError, "n to be an integer ≥ 1"),
    ],
)
def test_wrong_calls_say_what_is_needed(call, error, message):
    with pytest.raises(error, match=message):
        call(particle())


def test_an_infeasible_target_says_so_with_the_best_iterate():
    """The constraint keeps z: a target at another height is out of reach."""
    system = gm.DiscreteSystem(SPACE, Particle(DT, 0.0), lambda g: (g[1][2] - g[0][2])[None])
    with pytest.raises(
        gm.BoundaryFailed, match=r"off by 0\.\d+.*lose 1 of their rank along it.*no sequence reaches the target"
    ) as caught:
        gm.solve_boundary(system, gm.path(SPACE, (jnp.zeros(3), jnp.ones(3)), 10))
    assert caught.value.solution.arrows[0].shape == (10, 3)


def test_constraints_that_repeat_each_other_are_named():
    system = gm.DiscreteSystem(SPACE, Particle(DT, 0.0), Twice())
    with pytest.raises(gm.BoundaryFailed, match=r"lose 10 of their rank.*some repeat others") as caught:
        gm.solve_boundary(system, gm.path(SPACE, (jnp.zeros(3), jnp.array([0.3, 0.2, 0.8])), 10))
    assert caught.value.solution.deficiency == 10


# ------------------------------------------------------------------------------------- linear algebra


def test_block_elimination_agrees_with_dense_and_with_pivoted_elimination():
    rng = np.random.default_rng(0)
    n, size = 7, 3
    A = BlockTridiagonal(*(jnp.asarray(rng.normal(size=(n, size, size))) for _ in range(3)))
    A = A._replace(diagonal=A.diagonal + 4 * jnp.eye(size))
    rhs = jnp.asarray(rng.normal(size=(n, size)))
    dense = np.zeros((n * size, n * size))
    for k in range(n):
        at = slice(k * size, (k + 1) * size)
        dense[at, at] = A.diagonal[k]
        if k:
            dense[at, (k - 1) * size : k * size] = A.lower[k]
        if k < n - 1:
            dense[at, (k + 1) * size : (k + 2) * size] = A.upper[k]
    expected = np.linalg.solve(dense, np.asarray(rhs).ravel()).reshape(n, size)
    z, pivots = solve_blocks(A, rhs)
    np.testing.assert_allclose(z, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(solve_pivoted(A, rhs), expected, rtol=1e-12, atol=1e-13)
    # The determinant is the product of those of the eliminated blocks.
    np.testing.assert_allclose(np.prod(np.linalg.det(pivots)), np.linalg.det(dense), rtol=1e-11)


def test_pivoted_elimination_solves_what_block_elimination_cannot():
    """A leading block that is zero, in a regular matrix."""
    swap = jnp.array([[[0.0]], [[0.0]]])
    A = BlockTridiagonal(jnp.ones((2, 1, 1)), swap, jnp.ones((2, 1, 1)))
    rhs = jnp.array([[2.0], [3.0]])
    assert not bool(jnp.all(jnp.isfinite(solve_blocks(A, rhs)[0])))
    np.testing.assert_allclose(solve_pivoted(A, rhs), [[3.0], [2.0]])


def test_the_signs_of_the_eliminated_blocks_are_those_of_the_matrix():
    rng = np.random.default_rng(1)
    n, size = 6, 2
    lower = rng.normal(size=(n, size, size))
    diagonal = rng.normal(size=(n, size, size))
    diagonal = diagonal + diagonal.transpose(0, 2, 1)
    upper = np.concatenate([lower[1:].transpose(0, 2, 1), np.zeros((1, size, size))])
    dense = np.zeros((n * size, n * size))
    for k in range(n):
        dense[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = diagonal[k]
        if k:
            dense[2 * k : 2 * k + 2, 2 * k - 2 : 2 * k] = lower[k]
            dense[2 * k - 2 : 2 * k, 2 * k : 2 * k + 2] = lower[k].T
    _, pivots = solve_blocks(BlockTridiagonal(*map(jnp.asarray, (lower, diagonal, upper))), jnp.zeros((n, size)))
    assert np.sum(np.linalg.eigvalsh(pivots) < 0) == np.sum(np.linalg.eigvalsh(dense) < 0)
