r"""Boundary problems: critical points of the action sum over sequences of arrows with a fixed product, on N.

.. math:: g_1 g_2 \cdots g_n = g, \qquad \varphi(g_k) = 0, \qquad F^+(g_k, \lambda_k) = F^-(g_{k+1}, \lambda_{k+1}) .

Newton's method in the variations of MMS Theorem 5.1: composability and product stay exact, the matrix is block-tridiagonal, the work is
linear in n. Towards a minimum, steps come from the Hessian with multiples of a difference metric added until it is positive
on the tangent space of the constraints, and every step is followed by a restoration onto :math:`\varphi = 0`; that metric makes the
number of iterations independent of n.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import (
    describe,
    require_choice,
    require_instances,
    require_like,
    require_positive_integer,
)
from groupoid_mech._types import Array, Covector, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, BoundaryFailed, NotComposableError, OffManifoldError
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.manifolds.manifold import ON_MANIFOLD
from groupoid_mech.mechanics.action_sum import largest_gap, product, vary
from groupoid_mech.mechanics.boundary_problem import BoundaryProblem
from groupoid_mech.mechanics.boundary_search import Found, approach, descend
from groupoid_mech.mechanics.increment import rows
from groupoid_mech.mechanics.step import Start
from groupoid_mech.mechanics.system import DiscreteSystem

if TYPE_CHECKING:
    from groupoid_mech.mechanics.trajectory import Trajectory

GOALS = ("minimum", "critical")


class History(NamedTuple):
    """What each iteration had: the cost, the residuals of the equations and of the constraints, the shift of the Hessian."""

    cost: np.ndarray
    residual: np.ndarray
    constraint: np.ndarray
    shift: np.ndarray


@final
class BoundarySolution(eqx.Module):
    r"""A sequence of arrows with fixed product that makes the action sum critical.

    Args:
        system: The discrete system.
        arrows: The arrows :math:`g_1, \dots, g_n`, stacked.
        auxiliary: The auxiliary variables.
        multipliers: The multipliers.
        cost: The action sum.
        residual: The largest of :math:`|F^+(g_k) - F^-(g_{k+1})|`, relative to 1 + the largest momentum.
        constraint: The largest :math:`|\varphi(g_k)|` or other :math:`|\partial_s L|`.
        index: The number of negative directions of the second variation on the tangent space of the constraints: 0 at a minimum; every
            conjugate point before the end adds one.
        nullity: The number of directions in which it vanishes: positive where solutions form families.
        deficiency: How much rank the constraints miss along all variations with fixed product: 0 where the admissible sequences form a
            manifold, as MMS §5.1 asks; else the solution may be abnormal, and its multipliers are not unique.
        history: What each iteration had.
        failure: Why the search stopped before it arrived; empty if it arrived.
    """

    system: DiscreteSystem
    arrows: Point
    auxiliary: Array
    multipliers: Array
    cost: Scalar
    residual: Scalar
    constraint: Scalar
    index: int = eqx.field(static=True)
    nullity: int = eqx.field(static=True)
    deficiency: int = eqx.field(static=True)
    history: History
    failure: str = eqx.field(static=True, default="")

    @property
    def is_minimum(self) -> bool:
        """Whether the second variation has no negative direction among the admissible ones."""
        return self.index == 0

    @property
    def start(self) -> Start:
        r"""The start :math:`(g_1, s_1)`, from which the initial-value problem retraces the solution."""
        g, u, lam = jax.tree.map(lambda leaf: leaf[0], (self.arrows, self.auxiliary, self.multipliers))
        return self.system.start(g, multipliers=lam, auxiliary=u)

    @property
    def product(self) -> Point:
        r"""The product :math:`g_1 \cdots g_n`."""
        return product(self.system.groupoid, self.arrows)

    def simulate(self) -> "Trajectory":
        """The initial-value problem from the first arrow, over the same number of steps."""
        return self.system.simulate(self.start, rows(self.arrows))


def solve_boundary(
    system: DiscreteSystem,
    arrows: Point,
    multipliers: Array | None = None,
    *,
    target: Point | None = None,
    end: str | Covector = "fixed",
    goal: str | None = None,
    auxiliary: Array | None = None,
    max_iterations: int = 100,
    progress: bool | Callable[[int, float], None] = False,
    throw: bool = True,
) -> BoundarySolution:
    r"""Make the action sum critical among sequences of arrows on N with the product of the guess.

    Args:
        system: The discrete system.
        arrows: A guess, n stacked arrows that compose; their product is the prescribed one. `path` makes one from a product.
        multipliers: A guess for the multipliers, shape (n, m); from least squares if not given.
        target: The product that the guess should have, if it is to be checked.
        end: ``"fixed"``: the product stays. ``"free"``: the end is free, :math:`F^+(g_n) = 0`. A covector p: :math:`F^+(g_n) = p`.
        goal: ``"minimum"`` descends; ``"critical"`` takes Newton steps to the nearest critical point, whatever its index. Not
            given, it is the first for systems without auxiliary variables.
        auxiliary: A guess for the auxiliary variables, shape (n, k); zero if not given.
        max_iterations: After how many iterations to give up.
        progress: ``True`` prints a line per iteration; a function is called with the iteration and the residual.
        throw: Raise ``BoundaryFailed``, with the best iterate attached, if the search does not arrive; else return that, marked.

    Example:
        >>> from groupoid_mech import DiscreteSystem, Euclidean, PairGroupoid, path
        >>> G = PairGroupoid(Euclidean(1))
        >>> ball = DiscreteSystem(G, lambda g: 5 * jnp.sum((g[1] - g[0]) ** 2) - 0.1 * jnp.sum(g[0]))
        >>> up_and_down = solve_boundary(ball, path(G, (jnp.zeros(1), jnp.zeros(1)), 10))
        >>> round(float(jnp.max(up_and_down.arrows[1])), 6), up_and_down.is_minimum
        (0.125, True)
    """
    require_instances("solve_boundary", "system", (system,), DiscreteSystem)
    require_positive_integer("solve_boundary", "max_iterations", max_iterations)
    goal = goal or ("critical" if system.auxiliary else "minimum")
    require_choice("solve_boundary", "goal", goal, GOALS)
    if goal == "minimum" and system.auxiliary:
        raise ArgumentError('solve_boundary needs goal="critical" for systems with auxiliary variables.')
    n = _check_guess(system, arrows, target)
    momentum = _end_momentum(system, end)
    problem = BoundaryProblem(system, n, momentum)
    s = problem.guess(auxiliary, multipliers)
    search = descend if goal == "minimum" else approach
    solution = _solution(problem, search(problem, arrows, s, multipliers is None, max_iterations, _reporter(progress)))
    if throw and solution.failure:
        raise BoundaryFailed(solution.failure, solution=solution)
    return solution


def continue_boundary(
    problem: Callable[[Any], tuple[DiscreteSystem, Point]],
    parameters: Sequence[Any],
    solution: BoundarySolution,
    **options: Any,
) -> list[BoundarySolution]:
    r"""Solutions along a parameter: each starts from the one before, its ends moved to the new target.

    Args:
        problem: From a parameter to the system and the prescribed product.
        parameters: The values of the parameter, one after the other.
        solution: A solution to start from.
        options: Those of `solve_boundary`.
    """
    found: list[BoundarySolution] = []
    for parameter in parameters:
        system, target = problem(parameter)
        arrows = redirect(system, solution.arrows, target)
        solution = solve_boundary(system, arrows, solution.multipliers, auxiliary=solution.auxiliary, **options)
        found.append(solution)
    return found


def redirect(system: DiscreteSystem, arrows: Point, target: Point) -> Point:
    r"""A sequence with another product of the same source: the change is spread over the base points.

    With :math:`P^{-1} \cdot g = c(q_n, d)` for the product P and the target g, the variation is :math:`v_k = \tfrac kn d`.
    """
    G, n = system.groupoid, rows(arrows)
    total = product(G, arrows)
    G.check_arrow(target, owner="redirect", name="target")
    change = G.multiply(G.inverse(total), target)
    d = G.fiber_local(G.target(total), change)
    parts: Any = np.arange(n + 1)[:, None] / n
    return vary(G, arrows, parts * d)


def _solution(problem: BoundaryProblem, found: Found) -> BoundarySolution:
    at, k = found.at, problem.system.auxiliary
    index, nullity = problem.index_and_nullity(at)
    auxiliary, multipliers, cost, residual, off = jax.device_put(
        (at.s[:, :k], at.s[:, k:], np.sum(at.terms.values), problem.residual(at), problem.off(at))
    )
    return BoundarySolution(
        problem.system,
        at.arrows,
        auxiliary,
        multipliers,
        cost,
        residual,
        off,
        index,
        nullity,
        problem.deficiency(at),
        History(*np.array(found.history).reshape(-1, 4).T),
        found.failure,
    )


def _check_guess(system: DiscreteSystem, arrows: Point, target: Point | None) -> int:
    G = system.groupoid
    leaves, like = jax.tree.leaves(arrows), G.space.point_like()
    n = leaves[0].shape[0] if leaves and np.ndim(leaves[0]) else 0
    stacked = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((n, *leaf.shape), leaf.dtype), like)
    require_like("solve_boundary", "arrows", arrows, stacked)
    if n < 2:
        raise ArgumentError(
            f"solve_boundary needs at least 2 arrows: with {n} the product leaves nothing to vary. Use gm.path(groupoid, g, n)."
        )
    violation = float(_largest_violation(G, arrows))
    if not violation <= ON_MANIFOLD:
        raise OffManifoldError(
            f"solve_boundary needs arrows on {type(G).__name__}; they are off by {violation:.3g} (allowed {ON_MANIFOLD:g})."
        )
    gap = float(largest_gap(G, arrows))
    if not gap <= ON_MANIFOLD:
        raise NotComposableError(
            f"solve_boundary needs arrows that compose, target(g_k) == source(g_k+1); the largest gap is {gap:.3g}. "
            f"Use gm.path(groupoid, g, n) for a guess."
        )
    if target is not None:
        G.check_arrow(target, owner="solve_boundary", name="target")
        distance = float(point_distance(product(G, arrows), target))
        if not distance <= ON_MANIFOLD:
            raise ArgumentError(
                f"solve_boundary needs a guess whose product is the target; they differ by {distance:.3g}. "
                f"Use gm.path(groupoid, target, n), or gm.redirect(system, arrows, target)."
            )
    return int(n)


@eqx.filter_jit
def _largest_violation(G: LieGroupoid, arrows: Point) -> Scalar:
    return jnp.max(jax.vmap(G.space.violation)(arrows))


def _end_momentum(system: DiscreteSystem, end: str | Covector) -> Vector | None:
    if isinstance(end, str):
        require_choice("solve_boundary", "end", end, ("fixed", "free"))
        return None if end == "fixed" else jnp.zeros(system.groupoid.rank)
    like = jax.ShapeDtypeStruct((system.groupoid.rank,), np.dtype(float))
    if not isinstance(end, (jax.Array, np.ndarray)):
        raise ArgumentError(f'solve_boundary needs end to be "fixed", "free" or a momentum; got {describe(end)}.')
    require_like("solve_boundary", "end", end, like)
    return jnp.asarray(end)


def _reporter(progress: bool | Callable[[int, float], None]) -> Callable[[int, float], None]:
    if progress is False:
        return lambda iteration, residual: None
    if callable(progress):
        return progress
    return lambda iteration, residual: print(f"iteration {iteration}: residual {residual:.3e}")
