"""Two searches for critical points of the action sum: descent to a minimum, and Newton's method to the nearest critical point."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from groupoid_mech._types import Point
from groupoid_mech.mechanics.action_sum import action_sum
from groupoid_mech.mechanics.boundary_problem import LONGEST_VARIATION, BoundaryProblem, Look

_ARRIVED = 1e-13
_SOLVED = 1e-10
_LARGEST_SHIFT = 1e8
_FEASIBLE = 1e-8


class Found(NamedTuple):
    """Where a search ended, how it went, and why it stopped too early, if it did."""

    at: Look
    history: list[tuple[float, float, float, float]]
    failure: str = ""


def descend(
    problem: BoundaryProblem,
    arrows: Point,
    s: np.ndarray,
    multipliers_free: bool,
    max_iterations: int,
    report: Callable[..., None],
) -> Found:
    """Descend on the constraints: shifted Newton steps, each restored; the shift falls after success and rises after failure."""
    history: list[tuple[float, float, float, float]] = []
    arrows, off = _feasible(problem, arrows, s)
    if multipliers_free:
        s = problem.least_squares_multipliers(arrows, s)
    at = problem.look(arrows, s)
    if not off <= _FEASIBLE:
        return Found(at, history, _out_of_reach(problem, at, off))
    cost, shift, best, least = float(np.sum(at.terms.values)), 0.0, at, np.inf
    for iteration in range(max_iterations):
        residual = problem.residual(at)
        history.append((cost, residual, problem.off(at), shift))
        report(iteration, residual)
        best = at if residual < least else best
        if residual <= _ARRIVED or (least <= _SOLVED and residual > 0.3 * least):
            return Found(best, history)
        least = min(least, residual)
        found = None
        while found is None:
            change, v, index = problem.newton(at, shift)
            if index == 0 and np.all(np.isfinite(v)):
                found = _lower(problem, at, v, cost)
            if found is None:
                shift = max(10 * shift, 1e-3)
            if shift > _LARGEST_SHIFT:
                return Found(best, history, "" if least <= _SOLVED else _no_descent(residual))
        arrows, cost, length = found
        s = at.s + change if length == 1.0 else problem.least_squares_multipliers(arrows, at.s)
        at, shift = problem.look(arrows, s), 0.0 if shift <= 1e-3 else shift / 10
    return Found(best, history, _gave_up(problem, max_iterations, best))


def _feasible(problem: BoundaryProblem, arrows: Point, s: np.ndarray) -> tuple[Point, float]:
    """The guess restored onto the constraints. A straight guess may be one where they lose rank, as a turn about an axis that only turns
    about others can make: then it is bent, more and more, until the restoration succeeds.
    """
    best, least = problem.restored(arrows, s)
    for size in (0.1, 0.3, 1.0):
        if least <= _FEASIBLE:
            break
        restored, off = problem.restored(problem.moved(arrows, problem.bend(size)), s)
        if off < least or not np.isfinite(least):
            best, least = restored, off
    return best, least


def _lower(problem: BoundaryProblem, at: Look, v: np.ndarray, cost: float) -> tuple[Point, float, float] | None:
    """A restored sequence along v of no higher cost, its cost and the length of the step; none if three lengths fail."""
    longest = float(np.max(np.abs(v)))
    length = 1.0 if longest <= LONGEST_VARIATION else LONGEST_VARIATION / longest
    for _ in range(3):
        arrows, off = problem.restored(problem.moved(at.arrows, length * v), at.s)
        trial = float(action_sum(problem.system, arrows))
        if off <= 1e-10 and trial <= cost + 1e-12 * (1 + abs(cost)):
            return arrows, trial, length
        length *= 0.3
    return None


def approach(
    problem: BoundaryProblem,
    arrows: Point,
    s: np.ndarray,
    multipliers_free: bool,
    max_iterations: int,
    report: Callable[..., None],
) -> Found:
    """Newton steps towards the nearest critical point, shortened until the equations are better satisfied."""
    history: list[tuple[float, float, float, float]] = []
    if multipliers_free and not problem.system.auxiliary:
        arrows, _ = _feasible(problem, arrows, s)
        s = problem.least_squares_multipliers(arrows, s)
    at, best = problem.look(arrows, s), np.inf
    for iteration in range(max_iterations):
        residual, off = problem.residual(at), problem.off(at)
        history.append((float(np.sum(at.terms.values)), residual, off, 0.0))
        report(iteration, residual)
        worst = max(residual, off)
        if worst <= _ARRIVED or (worst <= _SOLVED and worst > 0.3 * best):
            return Found(at, history)
        best = min(best, worst)
        change, v, _ = problem.newton(at, 0.0)
        if not np.all(np.isfinite(v)):
            return Found(at, history, _no_descent(residual))
        length = min(1.0, LONGEST_VARIATION / max(float(np.max(np.abs(v))), 1e-300))
        for _ in range(12):
            trial = problem.look(problem.moved(at.arrows, length * v), at.s + length * change)
            if max(problem.residual(trial), problem.off(trial)) < worst:
                break
            length /= 2
        else:
            return Found(at, history, _gave_up(problem, iteration + 1, at))
        at = trial
    return Found(at, history, _gave_up(problem, max_iterations, at))


def _out_of_reach(problem: BoundaryProblem, at: Look, off: float) -> str:
    missing = problem.deficiency(at)
    cause = (
        f"The constraints lose {missing} of their rank along it: some repeat others, or no sequence reaches the target. Change them or it"
        if missing
        else f"The target may be out of reach in {problem.n} steps: take more of them, or give a nearer guess"
    )
    return (
        f"solve_boundary found no sequence on the constraints near the guess: they are off by {off:.3g}. {cause}, or continue from "
        f"an easier target with continue_boundary. The best iterate is in error.solution."
    )


def _no_descent(residual: float) -> str:
    return (
        f"solve_boundary found no step that helps (residual {residual:.3g}): the constraints lose rank along the sequence, or the action is "
        f'not bounded below near it. Try goal="critical", a nearer guess, or gm.regularity at its arrows. The best iterate is in error.solution.'
    )


def _gave_up(problem: BoundaryProblem, iterations: int, at: Look) -> str:
    return (
        f"solve_boundary did not converge in {iterations} iterations: residual {problem.residual(at):.3g}, constraints off by "
        f"{problem.off(at):.3g}. Give a nearer guess, more iterations, or continue from an easier target with continue_boundary, or seek a "
        f'saddle with goal="critical". '
        f"The best iterate is in error.solution."
    )
