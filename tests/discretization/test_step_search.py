"""The search for the step of a method: few values once the last steps are known, roots at round-off of their own size, frames that jump."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

R2, S2 = gm.Euclidean(2), gm.Sphere(2)
ORIGIN = jnp.zeros(2)


def equations(v, theta):
    """A root of size θ, and another value there."""
    x, y = v
    return jnp.stack([x + 0.3 * x * y - theta, y - x**2]), {"sum": x + y}


@jax.jit
def solve(known, theta, x=ORIGIN):
    return known.solve(lambda v: equations(v, theta), R2, x)


def followed(thetas):
    known, found = gm.StepSearch(jnp.zeros(2)), []
    for theta in thetas:
        step, known = solve(known, theta)
        found.append(step)
    return found, known


@pytest.fixture(scope="module")
def followed_long():
    return followed(np.sin(0.5 + 1e-3 * np.arange(30)))


def test_a_search_that_follows_others_needs_few_values(followed_long):
    found, known = followed_long
    assert all(bool(step.converged) for step in found)
    assert max(float(step.residual) for step in found) <= 2e-16
    assert max(int(step.iterations) for step in found[12:]) <= 4 < int(found[0].iterations)
    # The control: the same reference, but nothing known of how far such references were off.
    root = solve(known, np.sin(0.5 + 0.03))[0].unknowns
    far, near = (np.max(np.abs(search.guess - root)) for search in (gm.StepSearch(known.reference), known))
    assert near <= 1e-12
    assert far >= 1e-4


def test_other_values_are_those_at_the_root(followed_long):
    found, known = followed_long
    np.testing.assert_array_equal(found[-1].values["sum"], jnp.sum(found[-1].unknowns))
    np.testing.assert_array_equal(known.reference, found[-1].unknowns)


@pytest.mark.parametrize("size", [1e-3, 1e-9, 1e-20])
def test_small_unknowns_have_all_their_digits(size):
    """At the origin: relative to themselves, down to the size of an increment that is no motion any more."""
    found, _ = solve(gm.StepSearch(jnp.zeros(2)), size)
    x = size * (1 - 0.3 * size**2)
    assert found.converged
    assert float(found.unknowns[0]) == pytest.approx(x, rel=1e-15 if size >= 1e-9 else 1e-6)


def test_far_from_the_origin_round_off_of_points_is_no_failure():
    """Equations that are rounded to 1e-8, for an unknown of 1e-6."""
    far = jnp.full(2, 1e8)

    @jax.jit
    def rounded(known):
        return known.solve(lambda v: (((far + v) - far) + v**2 - 1e-6, v), R2, far)

    known = gm.StepSearch(jnp.zeros(2))
    for _ in range(12):
        found, known = rounded(known)
        assert found.converged
        np.testing.assert_allclose(found.unknowns, 1e-6, atol=3e-8)


@pytest.mark.parametrize("jump", [0.0, 1.0])
def test_a_point_where_increments_vanish_is_no_root(jump):
    """Across a jump of steep equations increments are round-off, but the equations do not hold; without the jump they do."""

    @jax.jit
    def steep(known, jump):
        return known.solve(lambda v: (1e20 * (v - 1) + jnp.where(v >= 1, jump, -jump), v), R2, ORIGIN)[0]

    found = steep(gm.StepSearch(jnp.ones(2)), jump)
    assert float(found.residual) == jump
    assert bool(found.converged) == (jump == 0)


def test_no_root_is_said_to_be_none():
    @jax.jit
    def hopeless(known):
        return known.solve(lambda v: (v**2 + 1, v), R2, ORIGIN)[0]

    found = hopeless(gm.StepSearch(jnp.ones(2)))
    assert not found.converged
    assert np.all(np.isnan(found.unknowns))


PLANE = gm.CotangentBundle(R2)
FAR_TOO_LONG = gm.EnergyIntegrator(
    gm.systems.henon_heiles().hamiltonian,
    gm.CanonicalPoisson(PLANE),
    gm.GonzalezGradient(gm.theta_map(PLANE, 0.5)),
    dt=0.05,
)


@jax.jit
def grown(x):
    """The step that grows out of short ones, and whether there is one: Newton's method needs but a few values for each longer one."""

    def longer(state, part):
        known, _, exists = state
        taken, known = FAR_TOO_LONG.with_step(part * FAR_TOO_LONG.dt).advance(x, known)
        exists &= taken.converged & (taken.iterations <= 8)
        return (gm.StepSearch(known.reference), taken.point, exists), None

    parts = jnp.arange(1, 101) / 100
    first = FAR_TOO_LONG.with_step(parts[0] * FAR_TOO_LONG.dt).begin(x), x, jnp.asarray(True)
    (_, end, exists), _ = jax.lax.scan(longer, first, parts)
    return end, exists


def test_steps_that_are_far_too_long_are_the_ones_that_grow_out_of_short_ones():
    """A hundred times as far away as usual, where forces change over a step by as much as they are: until there is no such step any more."""
    found = 0
    for seed in range(4):
        q, p = PLANE.random_point(jax.random.key(seed))
        orbit = FAR_TOO_LONG.run((100 * q, 0 * p), 10, throw=False)
        points = list(zip(*map(np.asarray, orbit.points), strict=True))
        for here, there in itertools.zip_longest(points, points[1:]):
            end, exists = grown(here)
            if not exists:
                break
            assert there is not None, "a step was not found"
            np.testing.assert_allclose(end, there, rtol=1e-10)
            found += 1
        assert not exists, "the control: at the end there is no such step"
    assert found >= 10


def test_derivatives_are_those_of_the_implicit_function():
    theta = 0.4
    slope = jax.jit(jax.grad(lambda theta: solve(gm.StepSearch(jnp.zeros(2)), theta)[0].values["sum"]))(theta)
    x, y = solve(gm.StepSearch(jnp.zeros(2)), theta)[0].unknowns
    J = np.array([[1 + 0.3 * y, 0.3 * x], [-2 * x, 1]])
    assert float(slope) == pytest.approx(np.sum(np.linalg.solve(J, [1, 0])), rel=1e-14)


@pytest.mark.parametrize("M", [S2, gm.CotangentBundle(S2)], ids=["S2", "T*S2"])
def test_unknowns_are_carried_where_the_frame_jumps(M):
    below, above = jnp.array([0.6, 0.8, -1e-9]), jnp.array([0.6, 0.8, 1e-9])
    points = (below, above) if M is S2 else ((below, jnp.ones(2)), (above, jnp.ones(2)))
    reference = jnp.arange(1.0, 1 + 2 * M.dim)  # two tangent vectors of M, one after the other
    carried = gm.StepSearch(reference).carried(M, *points).reference

    def in_space(q, parts):
        return np.stack([S2.to_ambient(q, part) for part in parts.reshape(-1, 2)])

    np.testing.assert_allclose(in_space(above, carried), in_space(below, reference), atol=1e-7)
    assert np.max(np.abs(in_space(above, reference) - in_space(below, reference))) > 1, (
        "the control: the frame has jumped"
    )


def test_methods_take_few_values_where_the_frame_jumps():
    """A field whose orbits cross the equator again and again."""
    axis = jnp.array([1.0, 0.2, 0.1])

    def field(x):
        return S2.from_ambient(x, jnp.cross(axis * (1 + 0.3 * x[2]), x))

    run = gm.FieldIntegrator(field, gm.theta_map(S2, 0.5), dt=0.05).run(jnp.array([0.0, 0.6, 0.8]), 1000)
    heights = np.asarray(run.points[:, 2])
    crossings = int(np.sum(heights[1:] * heights[:-1] < 0))
    assert crossings > 10
    assert float(np.max(run.residuals)) <= 1e-15
    iterations = np.asarray(run.iterations[12:])
    assert np.mean(iterations) < 5
    assert np.max(iterations) < 12
