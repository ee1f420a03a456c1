"""The plate-ball equations of MMS §6.2 on a computed trajectory: two of the printed forms are misprints and fail."""

import numpy as np
import pytest

import groupoid_mech as gm

# They compile the same steps.
pytestmark = pytest.mark.xdist_group("systems")

TOLERANCE = 1e-12
# A misprint leaves at least this.
MISPRINT = 1e-3

E1 = np.array([[0.0, 0, 0], [0, 0, -1], [0, 1, 0]])
E2 = np.array([[0.0, 0, 1], [0, 0, 0], [-1, 0, 0]])
E3 = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 0]])
BASIS = (E1, E2, E3)
H, RADIUS, PLATE, SPIN = 0.05, 0.8, 0.5, 0.3


@pytest.fixture(scope="module")
def steps():
    """Points x, y with one more entry than the arrows' g and λ."""
    model = gm.systems.plate_ball(H, RADIUS, PLATE, SPIN, multipliers=(0.6, -0.4, 0.5))
    trajectory = model.simulate(200)
    points, g = np.asarray(trajectory.base_points[0]), np.asarray(trajectory.arrows[1])
    return points[:, 0], points[:, 1], g, np.asarray(trajectory.multipliers)


def tr(*factors):
    product = factors[0]
    for factor in factors[1:]:
        product = product @ factor
    return np.trace(product, axis1=-2, axis2=-1)


def second_difference(x):
    return (x[2:] - 2 * x[1:-1] + x[:-2]) / H**2


def change(lam):
    return (lam[1:] - lam[:-1]) / H


def mean(lam):
    return (lam[1:] + lam[:-1]) / 2


def rotation_equation(E, g, lam, sign):
    """The equation of (0, E), with the given sign of the terms in λ₃: −1 as printed, +1 as φ³ gives it."""
    before, after, now, following = lam[:-1], lam[1:], g[:-1], g[1:]
    return (
        -RADIUS * before[:, 0] * tr(now, E, E1)
        + RADIUS * after[:, 0] * tr(E, following, E1)
        + RADIUS * before[:, 1] * tr(now, E, E2)
        - RADIUS * after[:, 1] * tr(E, following, E2)
        + sign * (before[:, 2] * tr(now, E, E3) - after[:, 2] * tr(E, following, E3))
    )


def largest(values):
    return np.max(np.abs(values))


def test_the_trajectory_moves(steps):
    x, y, g, lam = steps
    assert largest(np.diff(x)) > MISPRINT
    assert largest(np.diff(y)) > MISPRINT
    assert largest(np.diff(lam, axis=0)) > MISPRINT
    assert largest(g - np.eye(3)) > MISPRINT


def test_the_three_constraints_hold(steps):
    x, y, g, _ = steps
    assert largest(np.diff(y) / H - RADIUS / (2 * H) * tr(g, E1) - PLATE * mean(x)) <= TOLERANCE
    assert largest(np.diff(x) / H + RADIUS / (2 * H) * tr(g, E2) + PLATE * mean(y)) <= TOLERANCE
    assert largest(SPIN + tr(g, E3) / (2 * H)) <= TOLERANCE


def test_the_equation_of_x_holds_as_printed(steps):
    x, _, _, lam = steps
    # Times h: the equation between momenta. Divided by h², round-off of the points alone is 1e-13.
    assert largest(H * (second_difference(x) + change(lam[:, 1]) + PLATE * mean(lam[:, 0]))) <= TOLERANCE


def test_the_equation_of_y_holds_as_corrected_and_not_as_printed(steps):
    _, y, _, lam = steps
    corrected = second_difference(y) + change(lam[:, 0]) - PLATE * mean(lam[:, 1])
    printed = second_difference(y) + change(lam[:, 1]) - PLATE * mean(lam[:, 0])
    assert largest(H * corrected) <= TOLERANCE
    assert largest(printed) >= MISPRINT


@pytest.mark.parametrize("E", BASIS, ids=["E1", "E2", "E3"])
def test_the_equations_of_rotations_hold_as_corrected_and_not_as_printed(steps, E):
    _, _, g, lam = steps
    assert largest(rotation_equation(E, g, lam, sign=1)) <= TOLERANCE
    assert largest(rotation_equation(E, g, lam, sign=-1)) >= MISPRINT
