r"""Optimal control by the action sum with fixed product, MMS §5 and §6: steering from a straight guess, beside closed forms and shooting.

On SO(3), SE(2), SE(3) and the Heisenberg group, and a ball that rolls from place to place: equations, constraints and product hold, costs
converge in second order to those of the continuous problem, and the solutions are extremals of the initial-value problem.
"""

from functools import cache, partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import groupoid_mech as gm
from groupoid_mech.groupoids.groupoid import point_distance

# They compile the same programs.
pytestmark = pytest.mark.xdist_group("optimal control")

S = gm.systems
ROTATIONS = gm.SO3(tau="cayley")


def turn(*vector):
    return ROTATIONS.exp(jnp.array(vector))


class Steering(NamedTuple):
    """A family of models over the time step, and the product to be reached in time 1."""

    model: Any
    target: Any
    sizes: tuple


ROLLED = (jnp.zeros(2), jnp.array([1.2, 0.5])), turn(0.3, -0.5, 0.9)
AREA = 0.5
BODY_TURN = 1.2

STEERINGS = {
    "SO3, all axes": Steering(partial(S.rigid_body, form="tau"), turn(1.0, -0.7, 1.2), (25, 50)),
    "SO3, two axes": Steering(S.reorientation, turn(0.0, 0.0, BODY_TURN), (25, 50)),
    "SO3, two equal axes": Steering(partial(S.reorientation, weights=(1.0, 1.0)), turn(0.0, 0.0, BODY_TURN), (25, 50)),
    "SE2, sideways": Steering(S.unicycle, (jnp.eye(2), jnp.array([0.0, 1.0])), (25, 50)),
    "SE3, across": Steering(S.vehicle, (jnp.eye(3), jnp.array([0.0, 0.6, 0.4])), (40,)),
    "Heisenberg, up": Steering(S.heisenberg, jnp.array([0.0, 0.0, AREA]), (25, 50, 100, 200)),
    "plate and ball": Steering(
        S.plate_ball,
        ((jnp.array([0.4, -0.2]), jnp.array([1.2, 0.5])), turn(0.3, -0.5, 0.9)),
        (50, 100, 200),
    ),
    "ball on a plate at rest": Steering(partial(S.plate_ball, plate_velocity=0.0, spin=0.0), ROLLED, (50, 100, 200)),
}


@cache
def solve(name, n):
    """From the straight guess, which violates the constraints wherever there are some."""
    steering = STEERINGS[name]
    system = steering.model(dt=1 / n).system
    return gm.solve_boundary(system, gm.path(system.groupoid, steering.target, n), target=steering.target)


def costs(name, *more):
    return np.array([float(solve(name, n).cost) for n in STEERINGS[name].sizes + more])


def orders(errors):
    """Of errors with steps that are halved from one to the next."""
    return np.log2(np.abs(errors[:-1] / errors[1:]))


# Turned about the third axis they are as cheap: along that circle the second variation is 0, up to round-off of either sign.
WITH_A_CIRCLE_OF_MINIMA = {"SO3, two equal axes", "Heisenberg, up"}
CASES = [
    pytest.param(name, n, id=f"{name}-{n}", marks=[pytest.mark.extended] * (name == "SE3, across"))
    for name, steering in STEERINGS.items()
    for n in steering.sizes
]
LONG = [pytest.param(name, 1000, marks=pytest.mark.slow) for name in ("SO3, two axes", "plate and ball")]
# Those with programs of their own, for groups beside which others are retraced anyway.
SLOW_TO_RETRACE = {"SO3, all axes", "SE3, across"}
RETRACED = [
    pytest.param(name, each.sizes[-1], marks=[pytest.mark.extended] * (name in SLOW_TO_RETRACE))
    for name, each in STEERINGS.items()
]


@pytest.mark.few(8)
@pytest.mark.parametrize(("name", "n"), CASES + LONG)
def test_equations_constraints_and_product_hold(name, n):
    found, target = solve(name, n), STEERINGS[name].target
    assert not found.failure
    assert float(found.residual) <= 1e-10
    assert float(found.constraint) <= 1e-12
    assert float(point_distance(found.product, target)) <= 1e-12
    assert found.is_minimum
    assert found.nullity == (name in WITH_A_CIRCLE_OF_MINIMA)


@pytest.mark.parametrize(("name", "n"), RETRACED + LONG)
def test_solutions_retrace_themselves_as_initial_value_problems(name, n):
    found = solve(name, n)
    run = found.simulate()
    assert float(point_distance(run.arrows, found.arrows)) <= 1e-8
    assert float(point_distance(gm.product(found.system.groupoid, run.arrows), STEERINGS[name].target)) <= 1e-8


@pytest.mark.parametrize(("name", "n"), [("SO3, two axes", 50), ("SE2, sideways", 50), ("plate and ball", 200), *LONG])
def test_the_number_of_iterations_does_not_grow(name, n):
    shortest = STEERINGS[name].sizes[0]
    assert len(solve(name, n).history.cost) <= 2 * len(solve(name, shortest).history.cost)


# ------------------------------------------------------------------------------------- closed forms


def test_the_way_up_in_the_heisenberg_group_is_a_regular_polygon():
    """Steps on N are steps in the plane, and z is the area they sweep: of all closed polygons with n sides and that area, the regular one
    has the least sum of squares. Its sides have the length √(4z tan(π/n)/n).
    """
    for n in STEERINGS["Heisenberg, up"].sizes:
        sides = np.asarray(solve("Heisenberg, up", n).arrows)[:, :2]
        np.testing.assert_allclose(np.linalg.norm(sides, axis=1), np.sqrt(4 * AREA * np.tan(np.pi / n) / n), rtol=1e-8)
        turns = np.angle((sides[1:] @ [1, 1j]) / (sides[:-1] @ [1, 1j]))
        np.testing.assert_allclose(turns, 2 * np.pi / n, atol=1e-8)
        multipliers = np.asarray(solve("Heisenberg, up", n).multipliers)
        np.testing.assert_allclose(multipliers, 2 * n * np.tan(np.pi / n), rtol=1e-7)


def test_the_cost_of_the_way_up_converges_in_second_order():
    r"""A circle around the area z has the length :math:`2\sqrt{\pi z}`; at constant speed in time 1 it costs half of the square."""
    sizes = np.array(STEERINGS["Heisenberg, up"].sizes)
    found = costs("Heisenberg, up")
    np.testing.assert_allclose(found, 2 * sizes * np.tan(np.pi / sizes) * AREA, rtol=1e-13)
    np.testing.assert_allclose(orders(found - (2 * np.sqrt(np.pi * AREA)) ** 2 / 2), 2, atol=0.02)


def test_a_turn_about_the_third_axis_costs_as_much_as_in_the_closed_form():
    r"""Geodesics with :math:`\omega_3 = 0` and equal weights are :math:`\exp(t(\omega + \lambda e_3))\exp(-t\lambda e_3)`. The first factor
    comes back to 1 after a full turn, :math:`|\omega|^2 + \lambda^2 = 4\pi^2`, and the second has turned by ψ for
    :math:`\lambda = 2\pi - \psi`; so the cost is :math:`\tfrac12\psi(4\pi - \psi)`.
    """
    exact = BODY_TURN * (4 * np.pi - BODY_TURN) / 2
    errors = costs("SO3, two equal axes") - exact
    assert abs(errors[-1]) < 5e-3 * exact
    np.testing.assert_allclose(orders(errors), 2, atol=0.1)


# ------------------------------------------------------------------------------------- shooting


def shoot(field, start, end, guess):
    """The momentum that leads to the end in time 1."""

    def final(p):
        run = scipy.integrate.solve_ivp(field, (0, 1), start(p), rtol=1e-10, atol=1e-11, method="DOP853")
        return end(run.y[:, -1])

    found = scipy.optimize.root(final, guess, tol=1e-9)
    assert found.success
    return found.x


def test_the_cost_of_a_turn_is_that_of_eulers_equations():
    name, inertia = "SO3, all axes", np.array([1.0, 2.0, 2.5])

    def field(t, y):
        R, p = y[:9].reshape(3, 3), y[9:]
        w = p / inertia
        return np.concatenate([np.cross(R, w).ravel(), np.cross(p, w)])  # rows r × ω: R times the matrix of ω

    def end(y):
        rest = np.asarray(STEERINGS[name].target).T @ y[:9].reshape(3, 3)
        return np.array([rest[2, 1] - rest[1, 2], rest[0, 2] - rest[2, 0], rest[1, 0] - rest[0, 1]]) / 2

    first = solve(name, 50)
    p = shoot(field, lambda p: np.concatenate([np.eye(3).ravel(), p]), end, np.asarray(first.start.momentum))
    _agrees_in_the_limit(name, p @ (p / inertia) / 2)


def test_the_cost_of_parking_is_that_of_pontryagins_equations():
    r"""With :math:`H = \tfrac12p_\theta^2 + \tfrac12(p_x\cos\theta + p_y\sin\theta)^2`, in the coordinates of the street."""
    name = "SE2, sideways"

    def field(t, y):
        theta, _, _, turning, *p = y
        ahead, aside = np.array([np.cos(theta), np.sin(theta)]), np.array([-np.sin(theta), np.cos(theta)])
        v = p @ ahead
        return np.array([turning, *(v * ahead), -v * (p @ aside), 0, 0])

    guess = np.asarray(solve(name, 50).start.momentum)
    p = shoot(field, lambda p: np.concatenate([np.zeros(3), p]), lambda y: y[:3] - [0, 0, 1], guess)
    _agrees_in_the_limit(name, (p[0] ** 2 + p[1] ** 2) / 2)


def _agrees_in_the_limit(name, exact):
    """Second order, and what remains after extrapolation is of fourth order."""
    found = costs(name)
    np.testing.assert_allclose(orders(found - exact), 2, atol=0.1)
    assert (4 * found[1] - found[0]) / 3 == pytest.approx(exact, rel=5e-5)


# ------------------------------------------------------------------------------------- the rolling ball


@pytest.mark.parametrize("more", [(), pytest.param((400, 800), marks=pytest.mark.extended)])
def test_the_cost_of_rolling_converges_in_second_order(more):
    np.testing.assert_allclose(orders(np.diff(costs("plate and ball", *more))), 2, atol=0.05)


def test_a_ball_on_a_plate_at_rest_follows_an_elastica():
    r"""The theorem of Jurdjevic: :math:`\kappa'' + \tfrac12\kappa^3 + c\,\kappa = 0` along the arc of the contact curve.

    With :math:`v = (p_x + \mu_2/r, p_y - \mu_1/r)` and :math:`r\omega = (-v_2, v_1, 0)` Pontryagin's function is :math:`\tfrac12|v|^2`, and p is
    constant as the plate is homogeneous; so the speed V is. From :math:`\dot\mu = \mu\times\omega`:
    :math:`\dot v = (\mu_3/r^2)(-v_2, v_1)`, that is, :math:`\kappa = \mu_3/(r^2V)`; further
    :math:`\dot\mu_3 = p_yv_1 - p_xv_2` and :math:`\ddot\mu_3 = -(\mu_3/r^2)\,p\cdot v`. The Casimir function is
    :math:`|\mu|^2 = r^2(V^2 + |p|^2 - 2p\cdot v) + \mu_3^2`, so that :math:`p\cdot v` is :math:`\mu_3^2/(2r^2)` and a constant.
    """
    name = "ball on a plate at rest"
    found = [elastica(solve(name, n), n) for n in STEERINGS[name].sizes]
    residuals, spreads = np.array([each.residual for each in found]), np.array([each.spread for each in found])
    assert residuals[-1] < 5e-3
    np.testing.assert_allclose(orders(residuals), 2, atol=0.2)
    assert spreads[-1] < 1e-3
    np.testing.assert_allclose(orders(spreads), 2, atol=0.1)
    assert found[-1].range > 1, "neither a line nor a circle, which are elastic too"


def test_a_ball_on_a_turning_plate_does_not():
    assert elastica(solve("plate and ball", 200), 200).residual > 0.1


class Elastica(NamedTuple):
    """How far a curve is from an elastica: the relative residual, the spread of its speed; and the range of its curvature."""

    residual: float
    spread: float
    range: float


def elastica(found, n):
    """Differences in time of the contact curve, with the c that fits best."""
    z = np.concatenate([found.arrows[0][0][:1], found.arrows[0][1]])
    v, a = (z[2:] - z[:-2]) * n / 2, np.diff(z, 2, axis=0) * n**2
    speed = np.linalg.norm(v, axis=1)
    curvature = (v[:, 0] * a[:, 1] - v[:, 1] * a[:, 0]) / speed**3
    inner = curvature[1:-1]
    bending = np.diff(curvature, 2) * n**2 / np.mean(speed) ** 2 + inner**3 / 2
    c = -(bending @ inner) / (inner @ inner)
    residual = np.max(np.abs(bending + c * inner)) / np.max(np.abs(bending))
    return Elastica(residual, np.ptp(speed) / np.mean(speed), np.ptp(curvature))
