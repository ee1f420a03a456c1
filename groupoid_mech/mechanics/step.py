r"""One step of discrete mechanics: the kernel that everything variational shares.

A generating family :math:`L(g, s)` on a groupoid, stationary in the auxiliary variables s; given a base point q and a
momentum p, the unknowns are (a, s):

.. math:: g = c(q, a), \qquad F^-(g, s) = p, \qquad \partial_s L(g, s) = 0 \qquad\Longrightarrow\qquad
    q' = \beta(g), \quad p' = F^+(g, s) .
"""

from collections.abc import Callable
from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.known_arrow import reflected_arrow_at
from groupoid_mech.numerics.newton import newton_solve

# Increments are measured against at least this: a system at rest has none of its own size.
_SMALLEST_SIZE = 1e-3
# Increments that shrink towards a point that is no root must not pass for a solution; round-off is far below this.
_LARGEST_RESIDUAL = 1e-6

Family = Callable[[Point, Vector, Vector], Scalar]


@final
class Start(eqx.Module):
    r"""Where a step begins: a point of :math:`A^*G`, and a guess for the unknowns.

    Args:
        point: The base point q.
        momentum: The momentum :math:`p \in A^*_qG`.
        reference: What the reflection of the last step says about the unknowns (a, s).
        guess: The first iterate: the reference, corrected by how far it was off in the last step; the reference itself if not given.
    """

    point: Point
    momentum: Covector
    reference: Vector
    guess: Vector

    def __init__(self, point: Point, momentum: Covector, reference: Vector, guess: Vector | None = None):
        self.point = point
        self.momentum = momentum
        self.reference = reference
        self.guess = reference if guess is None else guess


class Step(NamedTuple):
    r"""A step that was taken: the arrow, the auxiliary variables, the point of :math:`A^*G` it leads to, and how it went.

    ``residual`` is the largest of :math:`|F^- - p|/(1 + |p|)` and :math:`|\partial_s L|`.
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


def equations(G: LieGroupoid, family: Family, q: Point, p: Covector, a: Vector, s: Vector) -> Vector:
    r"""The equations of a step, :math:`(F^-(c(q, a), s) - p,\; \partial_s L(c(q, a), s))`, for the unknowns a and s."""
    g = G.fiber_chart(q, a)
    slope, stationarity = jax.grad(family, argnums=(0, 2))(g, a, s)
    return jnp.concatenate([_along_source(G, g, slope) - p, stationarity])


def _along_source(G: LieGroupoid, g: Point, slope: Point) -> Covector:
    r"""The numbers :math:`\langle\mu, \overrightarrow{e_a}(g)\rangle = -\partial_{b^a}\langle\mu, c(q, b)^{-1} g\rangle`, μ in ambient form."""
    q = G.source(g)
    _, pull_back = jax.vjp(lambda b: G.multiply(G.inverse(G.fiber_chart(q, b)), g), jnp.zeros(G.rank))
    return -pull_back(slope)[0]


def _along_target(G: LieGroupoid, g: Point, slope: Point) -> Covector:
    r"""The numbers :math:`\langle\mu, \overleftarrow{e_a}(g)\rangle = \partial_{e^a}\langle\mu, g\,c(q', e)\rangle`, μ in ambient form."""
    q = G.target(g)
    _, pull_back = jax.vjp(lambda e: G.multiply(g, G.fiber_chart(q, e)), jnp.zeros(G.rank))
    return pull_back(slope)[0]


def take_step(
    G: LieGroupoid,
    family: Family,
    start: Start,
    limits: Callable[[Vector], Vector] | None = None,
    *,
    reuse: bool = False,
) -> tuple[Start, Step]:
    """One step, and the start of the next one; all NaN, and not converged, if Newton's method does not arrive."""
    x, step = find_step(G, family, start.point, start.momentum, start.guess, limits, reuse=reuse)
    reference = jnp.concatenate([reflected_arrow_at(G, step.arrow, x[: G.rank]), step.auxiliary])
    # No nearer: from a guess within round-off of the root, Newton's last step repeats the round-off of the equations, and that of the
    # trace form of a rotation is biased. Over a million steps the momentum of a heavy top then drifts like n^0.75, else like n^0.6.
    return Start(step.point, step.momentum, reference, reference + (x - start.reference)), step


def find_step(
    G: LieGroupoid,
    family: Family,
    q: Point,
    p: Covector,
    guess: Vector,
    limits: Callable[[Vector], Vector] | None = None,
    *,
    reuse: bool = False,
) -> tuple[Vector, Step]:
    """Solve the equations of one step: the unknowns (a, s), and the step; all NaN, and not converged, if Newton's method does not arrive."""
    r = G.rank
    x, report = newton_solve(
        lambda a, s: equations(G, family, q, p, a, s),
        jax.lax.stop_gradient(guess),
        lambda x: _sizes(x, r),
        limits,
        cuts=(r,),
        reuse=reuse,
    )
    a, s = x[:r], x[r:]
    g = G.fiber_chart(q, a)
    found = variation(G, family, g, a, s)
    left = found.minus - p
    off = jnp.max(jnp.abs(left)) / (1 + jnp.max(jnp.abs(p)))
    residual = jnp.maximum(off, jnp.max(jnp.abs(found.stationarity), initial=0.0))
    converged = report.converged & (residual <= _LARGEST_RESIDUAL)
    # What round-off leaves of the equations is carried on: dropped, it adds up to a trend of the momentum, 0.015 ε a step on T*S².
    momentum = found.plus - jax.lax.stop_gradient(left)
    return x, Step(g, s, G.target(g), momentum, residual, report.iterations, converged)


def _sizes(x: Vector, rank: int) -> Vector:
    """The size of the increment for its coordinates, that of the auxiliary variables for theirs."""
    blocks = [x[:rank], x[rank:]]
    return jnp.concatenate([jnp.full_like(b, _SMALLEST_SIZE + jnp.max(jnp.abs(b), initial=0.0)) for b in blocks])
