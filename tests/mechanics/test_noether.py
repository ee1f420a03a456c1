"""Noether symmetries: defects, conserved quantities, and their discovery in a span of sections and functions."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.mechanics_subjects import PLATE_BALL, PlateCost, Rolling

import groupoid_mech as gm
from tests.mechanics.examples import DT, PLANE, SPACE, HamiltonPontryagin, RollingConstraint

S2 = gm.Sphere(2)
AFFINE = gm.monomial_sections(PLANE, degree=1)  # ∂x, ∂y, x∂x, x∂y, y∂x, y∂y
QUADRATIC = gm.monomial_functions(PLANE.base, degree=2)


class Free(eqx.Module):
    """A free particle, in a magnetic field and under a constant force if there are."""

    field: float = 0.0
    force: float = 0.0
    dt: float = DT

    def __call__(self, g):
        q, r = g
        turned = q[0] * r[1] - q[1] * r[0]
        return (
            jnp.sum((r - q) ** 2) / (2 * self.dt) + self.field / 2 * turned - self.dt * self.force * (q[-1] + r[-1]) / 2
        )


class Pendulum(eqx.Module):
    """A spherical pendulum; a wind along the first axis breaks its symmetry."""

    wind: float = 0.0
    dt: float = DT

    def __call__(self, g):
        q, r = g
        middle = (q + r) / 2
        return jnp.sum((r - q) ** 2) / (2 * self.dt) - self.dt * (middle[2] + self.wind * middle[0])


class Flat(eqx.Module):
    """A Lagrangian on pair(R³) that does not see the third coordinate."""

    def __call__(self, g):
        return jnp.sum((g[1] - g[0])[:2] ** 2) / (2 * DT)


def rotation(axis):
    """The field of rotations about an axis on the sphere."""
    return lambda q: S2.from_ambient(q, jnp.cross(jnp.eye(3)[axis], q))


def assert_separated(found, count):
    """So many symmetries, at round-off, and all else far from it."""
    assert len(found) == count
    values = np.sort(found.singular_values)
    assert np.all(values[:count] < 1e-14)
    assert np.all(values[count:] > 1e-4)
    assert count == 0 or found.gap > 1e9


def spans(found, expected):
    """Whether the coefficients found span the same space as the expected rows."""
    rows = np.concatenate([found.section_coefficients, found.function_coefficients], axis=1)
    both = np.concatenate([rows, np.asarray(expected, float)])
    return np.linalg.matrix_rank(both, tol=1e-9) == np.linalg.matrix_rank(rows, tol=1e-9) == len(expected)


def test_a_free_particle_has_translations_and_the_rotation():
    found = gm.discover_symmetries(gm.DiscreteSystem(PLANE, Free()), AFFINE)
    assert_separated(found, 3)
    assert spans(found, [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, -1, 0]])


def test_a_spherical_pendulum_has_the_rotation_about_the_vertical_and_no_other():
    found = gm.discover_symmetries(gm.DiscreteSystem(gm.PairGroupoid(S2), Pendulum()), [rotation(k) for k in range(3)])
    assert_separated(found, 1)
    np.testing.assert_allclose(found.section_coefficients, [[0, 0, 1]], atol=1e-13)


def test_a_wind_breaks_it():
    windy = gm.DiscreteSystem(gm.PairGroupoid(S2), Pendulum(wind=0.3))
    tilted = gm.discover_symmetries(windy, [rotation(k) for k in range(3)])
    assert_separated(tilted, 1)
    np.testing.assert_allclose(tilted.section_coefficients, [[0.3, 0, 1]], atol=1e-12)
    with pytest.raises(gm.NotASymmetryError, match=r"the two sides differ by 0\.\d+ on drawn points"):
        gm.NoetherSymmetry(windy, rotation(2))


def test_a_magnetic_field_needs_boundary_terms():
    """A(q) = B/2 (−y, x): a translation changes L by a difference of values at the ends."""
    magnetic = gm.DiscreteSystem(PLANE, Free(field=1.3))
    assert_separated(gm.discover_symmetries(magnetic, AFFINE), 1)
    found = gm.discover_symmetries(magnetic, AFFINE, QUADRATIC)
    assert_separated(found, 3)
    functions = np.zeros((3, len(QUADRATIC)))
    functions[0, 2], functions[1, 1] = -0.65, 0.65
    sections = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, -1, 0]]
    assert spans(found, np.concatenate([sections, functions], axis=1))


def test_what_is_found_is_conserved():
    magnetic = gm.DiscreteSystem(PLANE, Free(field=1.3))
    found = gm.discover_symmetries(magnetic, AFFINE, QUADRATIC)
    start = (jnp.array([1.0, 0.2]), jnp.array([1.05, 0.3]))
    trajectory = magnetic.simulate(start, 1000)
    for symmetry in found.symmetries:
        values = symmetry.along(trajectory)
        np.testing.assert_allclose(values, symmetry.quantity(start), atol=2e-12, rtol=0)
        assert abs(float(symmetry.defect(start))) < 1e-14
    without = trajectory.noether(found.symmetries[0].section)
    assert float(jnp.max(jnp.abs(without - without[0]))) > 0.1


def test_a_weight_keeps_horizontal_translations_only():
    falling = gm.DiscreteSystem(PLANE, Free(force=9.81))
    found = gm.discover_symmetries(falling, AFFINE, QUADRATIC)
    assert_separated(found, 1)
    assert spans(found, [[1] + 5 * [0] + len(QUADRATIC) * [0]])


class Timed(eqx.Module):
    """A particle on a line under a constant force, with its time."""

    force: float

    def __call__(self, g):
        (t, u), (q, r) = g
        return ((r - q) ** 2 / (2 * (u - t)) - self.force * (u - t) * (q + r) / 2)[0]


def test_with_time_galilean_boosts_and_falls_are_symmetries():
    """X = t ∂x with f = −x; and under a force, ∂x with f = force·t: neither exists without time."""
    G = gm.TimeExtended(gm.PairGroupoid(gm.Euclidean(1)))
    rows = np.random.default_rng(0).uniform(0.2, 1.0, (64, 4))
    t, dt, q, r = (rows[:, [k]] for k in range(4))
    points = ((jnp.asarray(t), jnp.asarray(t + dt)), (jnp.asarray(q), jnp.asarray(r))), jnp.zeros((64, 0))
    sections = [lambda p: jnp.array([1.0, 0.0]), lambda p: jnp.array([0.0, 1.0]), lambda p: jnp.stack([0.0, p[0][0]])]
    functions = gm.monomial_functions(G.base, degree=2)  # 1, t, x, t², t x, x²
    free = gm.discover_symmetries(gm.DiscreteSystem(G, Timed(0.0)), sections, functions, points=points)
    assert_separated(free, 3)
    assert spans(free, [[1] + 8 * [0], [0, 1] + 7 * [0], [0, 0, 1, 0, 0, -1, 0, 0, 0]])
    falling = gm.discover_symmetries(gm.DiscreteSystem(G, Timed(9.81)), sections, functions, points=points)
    assert_separated(falling, 3)
    assert spans(falling, [[1] + 8 * [0], [0, 1, 0, 0, 9.81, 0, 0, 0, 0], [0, 0, 1, 0, 0, -1, 9.81 / 2, 0, 0]])


def contact_symmetries(q):
    """∂x, ∂z, ∂y + x∂z, and rotations −y∂x + x∂y + ½(x² − y²)∂z."""
    x, y, _ = q
    return jnp.stack(
        [jnp.array([1.0, 0, 0]), jnp.array([0.0, 0, 1]), jnp.stack([0, 1, x]), jnp.stack([-y, x, (x * x - y * y) / 2])]
    )


@pytest.mark.extended
def test_a_contact_constraint_has_its_four_symmetries_of_degree_two():
    """Samples lie on N, with drawn multipliers."""
    system = gm.DiscreteSystem(SPACE, Flat(), RollingConstraint())
    found = gm.discover_symmetries(system, gm.monomial_sections(SPACE, degree=2))
    assert_separated(found, 4)
    places = jax.random.normal(jax.random.key(0), (10, 3))
    expected = np.moveaxis(jax.vmap(contact_symmetries)(places), 1, 0).reshape(4, -1)
    values = np.stack([jax.vmap(symmetry.section)(places).ravel() for symmetry in found.symmetries])
    assert np.linalg.matrix_rank(np.concatenate([values, expected]), tol=1e-9) == 4


@pytest.mark.parametrize(("turn", "count"), [(0.0, 3), (0.3, 1)])
def test_a_plate_that_turns_keeps_the_rotation_of_the_plate_ball_problem_only(turn, count):
    """Turning the plane by −(y, −x) and conjugating the rotation of the ball by e₃ are the same turn."""
    system = gm.DiscreteSystem(PLATE_BALL, PlateCost(), Rolling(turn=turn))
    found = gm.discover_symmetries(system, gm.monomial_sections(PLATE_BALL, degree=1))
    assert_separated(found, count)
    about = found.symmetries[-1].section((jnp.array([2.0, 3.0]), jnp.zeros(0)))
    np.testing.assert_allclose(about / about[4], [3.0, -2.0, 0.0, 0.0, 1.0], atol=1e-12)


def test_auxiliary_variables_are_made_stationary_first():
    family = gm.DiscreteSystem(PLANE, HamiltonPontryagin(DT, 1.0), auxiliary=2)
    found = gm.discover_symmetries(family, AFFINE, samples=100, key=jax.random.key(3))
    assert_separated(found, 1)
    assert spans(found, [[0, 0, 0, 1, -1, 0]])


def test_constants_and_repetitions_are_not_counted():
    functions = [*QUADRATIC, lambda q: jnp.ones(()), lambda q: 3 + q[0]]
    found = gm.discover_symmetries(gm.DiscreteSystem(PLANE, Free()), [*AFFINE, AFFINE[0]], functions)
    assert_separated(found, 3)
    assert len(found.singular_values) == 6 + 5
    assert "3 of 11 independent directions are symmetries" in str(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: gm.discover_symmetries(s, []), "at least one section"),
        (lambda s: gm.discover_symmetries(s, [lambda q: q[0]]), r"shape \(2,\).*returns an array of shape \(\)"),
        (
            lambda s: gm.discover_symmetries(s, AFFINE, [lambda q: q]),
            r"of shape \(\); .* returns an array of shape \(2,\)",
        ),
        (
            lambda s: gm.discover_symmetries(s, AFFINE, samples=3),
            "as many finite samples as the basis has members, 6; got 3",
        ),
        (lambda s: gm.symmetry_defect(s, lambda q: jnp.ones(3), (jnp.zeros(2), jnp.ones(2))), r"shape \(2,\)"),
        (lambda s: gm.monomial_sections(PLANE, -1), "integer ≥ 0; got -1"),
        (lambda s: gm.monomial_functions(PLANE, 1), "to be a Manifold; got PairGroupoid"),
    ],
)
def test_wrong_arguments_are_explained(call, message):
    with pytest.raises(gm.ArgumentError, match=message):
        call(gm.DiscreteSystem(PLANE, Free()))


def test_a_section_that_needs_a_function_says_so():
    magnetic = gm.DiscreteSystem(PLANE, Free(field=1.3))
    with pytest.raises(gm.NotASymmetryError, match=r"quasi-invariant: see discover_symmetries"):
        gm.NoetherSymmetry(magnetic, AFFINE[0])
    gm.NoetherSymmetry(magnetic, AFFINE[0], lambda q: -0.65 * q[1])
