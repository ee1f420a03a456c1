r"""One step of discrete mechanics: the kernel that everything variational shares.

A generating family :math:`L(g, s)` on a groupoid, stationary in the auxiliary variables s; given a base point q and a
momentum p, the unknowns are (a, s):

.. math:: g = c(q, a), \qquad F^-(g, s) = p, \qquad \partial_s L(g, s) = 0 \qquad\Longrightarrow\qquad
    q' = \beta(g), \quad p' = F^+(g, s) .

Where s are components in a frame that may jump, others are sought (`auxiliary_at`); where the chart is a search itself, what it searches for
is among the unknowns, behind s (`loose_chart`); where a follows from s, s alone is sought (`explicit_arrow`).
"""

from collections.abc import Callable
from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.known_arrow import carried_between, reflected_arrow_at
from groupoid_mech.groupoids.loose_chart import loose_chart, searched_by_chart
from groupoid_mech.groupoids.unit_tangent import unit_tangent
from groupoid_mech.mechanics.explicit_arrow import ExplicitArrow
from groupoid_mech.mechanics.step_memory import StepMemory
from groupoid_mech.numerics.chord import chord_solve

# Increments and auxiliary variables are measured against at least these: a system at rest has none of their own size.
_SMALLEST_INCREMENT = 1e-10
_SMALLEST_AUXILIARY = 1e-3
# Increments that shrink towards a point that is no root must not pass for a solution; round-off is far below this.
_LARGEST_RESIDUAL = 1e-6

Family = Callable[[Point, Vector, Vector], Scalar]


@final
class Start(eqx.Module):
    r"""Where a step begins: a point of :math:`A^*G`, and what is known about its unknowns.

    Args:
        point: The base point q.
        momentum: The momentum :math:`p \in A^*_qG`.
        reference: What the reflection of the last step says about what is sought: (a, s) and what the chart searches for, or s alone.
        memory: How far references were off in the last steps; nothing yet if not given.
    """

    point: Point
    momentum: Covector
    reference: Vector
    memory: StepMemory

    def __init__(self, point: Point, momentum: Covector, reference: Vector, memory: StepMemory | None = None):
        self.point = point
        self.momentum = momentum
        self.reference = reference
        self.memory = StepMemory.blank(jnp.size(reference)) if memory is None else memory

    @property
    def guess(self) -> Vector:
        """The first iterate for what is sought."""
        return self.reference + self.memory.next_difference()


class Step(NamedTuple):
    r"""A step that was taken: the arrow, the auxiliary variables, the point of :math:`A^*G` it leads to, and how it went.

    ``residual`` is the largest of :math:`|F^- - p|/(1 + |p|)`, :math:`|\partial_s L|` and the equations of a chart that is a search;
    ``iterations`` counts how often they were evaluated.
    """

    arrow: Point
    auxiliary: Vector
    point: Point
    momentum: Covector
    residual: Scalar
    iterations: Array
    converged: Array


class Variation(NamedTuple):
    r"""The derivatives of a family at an arrow: :math:`F^-`, :math:`F^+` and :math:`\partial_s L`."""

    minus: Covector
    plus: Covector
    stationarity: Vector


def variation(G: LieGroupoid, family: Family, g: Point, a: Vector, s: Vector) -> Variation:
    r"""All derivatives of :math:`L(c(q, b)^{-1} \cdot g \cdot c(q', e), s)` at :math:`b = e = 0`, in one reverse sweep through L.

    .. math:: F^-_a = \overrightarrow{e_a}[L] = -\partial_{b^a}, \qquad F^+_a = \overleftarrow{e_a}[L] = \partial_{e^a} .
    """
    slope, stationarity = jax.grad(family, argnums=(0, 2))(g, a, s)
    return Variation(_along_source(G, g, slope), _along_target(G, g, slope), stationarity)


def _along_source(G: LieGroupoid, g: Point, slope: Point) -> Covector:
    r"""The numbers :math:`\langle\mu, \overrightarrow{e_a}(g)\rangle = -\partial_{b^a}\langle\mu, c(q, b)^{-1} g\rangle`, μ in ambient form."""
    q = G.source(g)
    return -_pulled_back(G, q, lambda k: G.multiply(G.inverse(k), g), slope)


def _along_target(G: LieGroupoid, g: Point, slope: Point) -> Covector:
    r"""The numbers :math:`\langle\mu, \overleftarrow{e_a}(g)\rangle = \partial_{e^a}\langle\mu, g\,c(q', e)\rangle`, μ in ambient form."""
    q = G.target(g)
    return _pulled_back(G, q, lambda k: G.multiply(g, k), slope)


def _pulled_back(G: LieGroupoid, q: Point, translate: Callable[[Point], Point], slope: Point) -> Covector:
    r"""The derivatives at 0 of :math:`b \mapsto \langle\mu, \operatorname{translate}(c(q, b))\rangle`, by those of the chart alone."""
    _, pull_back = jax.vjp(translate, G.unit(q))
    _, components = jax.vjp(lambda b: unit_tangent(G, q, b), jnp.zeros(G.rank))
    return components(pull_back(slope)[0])[0]


class _Search(NamedTuple):
    r"""What is sought in a step: the equations with the arrow, :math:`d_gL` and the auxiliary variables there, the sizes of the unknowns and the
    limits of their steps, and what the step that follows expects.
    """

    equations: Callable[[Vector], tuple[Vector, tuple[Vector, Point, Point, Vector]]]
    sizes: Callable[[Vector], Vector]
    limits: Callable[[Vector], Vector] | None
    reflected: Callable[[Point, Vector], Vector]


def take_step(
    G: LieGroupoid,
    family: Family,
    auxiliary: Callable[[Point, Vector, Vector], Vector],
    start: Start,
    limits: Callable[[Vector], Vector] | None = None,
    explicit: ExplicitArrow | None = None,
) -> tuple[Start, Step]:
    """One step, and the start of the next one; all NaN, and not converged, if Newton's method does not arrive.

    ``auxiliary`` gives the auxiliary variables at an arrow, from the unknowns; ``explicit`` the arrow from these, if it follows from them.
    """
    q, p = start.point, start.momentum
    search = (
        _search_for_all(G, family, auxiliary, start, limits)
        if explicit is None
        else _search_for_variables(G, family, start, explicit)
    )
    guess = jax.lax.stop_gradient(start.guess)
    x, (off, g, slope, s), inverse, report = chord_solve(
        search.equations, guess, start.memory.inverse, search.sizes, search.limits
    )
    left, others = off[: G.rank], off[G.rank :]
    # What round-off leaves of the equations is carried on: dropped, it adds up to a trend of the momentum. So does what is carried on with the
    # wrong sign, where frames jump.
    there = G.target(g)
    momentum = _along_target(G, g, slope) - jax.lax.stop_gradient(carried_between(G, q, there, left))
    residual = jnp.max(jnp.abs(left)) / (1 + jnp.max(jnp.abs(p)))
    residual = jnp.maximum(residual, jnp.max(jnp.abs(others), initial=0.0))
    converged = report.converged & (residual <= _LARGEST_RESIDUAL)
    step = Step(g, s, there, momentum, residual, report.iterations, converged)
    reference = jax.lax.stop_gradient(search.reflected(g, x))
    memory = start.memory.after(x - start.reference, inverse)
    return Start(step.point, momentum, reference, memory), step


def _search_for_all(
    G: LieGroupoid,
    family: Family,
    auxiliary: Callable[[Point, Vector, Vector], Vector],
    start: Start,
    limits: Callable[[Vector], Vector] | None,
) -> _Search:
    """The unknowns (a, s), and behind them what the chart searches for."""
    r, q, p = G.rank, start.point, start.momentum
    n = start.reference.size - searched_by_chart(G)
    chart = loose_chart(G, q)

    def equations(x: Vector) -> tuple[Vector, tuple[Vector, Point, Point, Vector]]:
        a = x[:r]
        g, off_chart = chart(a, x[n:])
        s, pull_back = jax.vjp(lambda unknown: auxiliary(g, a, unknown), x[r:n])
        slope, stationarity = jax.grad(family, argnums=(0, 2))(g, a, s)
        # In the unknowns too: in a frame that jumps, equations change their sign, and a kept Jacobian leads away from the solution.
        off = jnp.concatenate([_along_source(G, g, slope) - p, *pull_back(stationarity), off_chart])
        return off, (off, g, slope, s)

    return _Search(
        equations,
        lambda x: _sizes(q, x, r, n),
        _limits_of_all(limits, n),
        lambda g, x: jnp.concatenate([reflected_arrow_at(G, g, x[:r]), x[r:]]),
    )


def _search_for_variables(G: LieGroupoid, family: Family, start: Start, explicit: ExplicitArrow) -> _Search:
    """The unknowns s, of which the arrow is a function."""
    q, p = start.point, start.momentum

    def equations(s: Vector) -> tuple[Vector, tuple[Vector, Point, Point, Vector]]:
        a = explicit(q, s)
        g = G.fiber_chart(q, a)
        slope = jax.grad(family)(g, a, s)
        off = _along_source(G, g, slope) - p
        return off, (off, g, slope, s)

    return _Search(
        equations,
        lambda s: _size(s, _SMALLEST_AUXILIARY),
        None,
        lambda g, s: carried_between(G, q, G.target(g), s),
    )


def _sizes(q: Point, x: Vector, rank: int, n: int) -> Vector:
    """The sizes that changes of the unknowns are measured against: those of the increment, of the auxiliary variables, and of the point that
    the chart searches for.
    """
    own = [_size(x[:rank], _SMALLEST_INCREMENT), _size(x[rank:n], _SMALLEST_AUXILIARY)]
    if n == x.size:
        return jnp.concatenate(own)
    coordinates = jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(q)])
    return jnp.concatenate([*own, _size(x[n:], own[0][0] + jnp.max(jnp.abs(coordinates)))])


def _size(x: Vector, least: Scalar | float) -> Vector:
    return jnp.broadcast_to(least + jnp.max(jnp.abs(x), initial=0.0), x.shape)


def _limits_of_all(limits: Callable[[Vector], Vector] | None, n: int) -> Callable[[Vector], Vector] | None:
    """Limits of the unknowns (a, s): what the chart searches for has none."""
    if limits is None:
        return None
    return lambda x: jnp.concatenate([limits(x[:n]), jnp.full(x.size - n, jnp.inf)])
