r"""Arrows whose ends are a search, with the search left to the caller, who solves other equations at the same time.

.. math:: R = (\varphi^{-1} \times \varphi^{-1}) \circ S, \qquad S: TM \supset U \to N \times N ,

with a diffeomorphism :math:`\varphi: M \to N` whose inverse is not in closed form. Most maps search for nothing: φ is the identity.
"""

from abc import abstractmethod
from functools import singledispatch
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Covector, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.lagrangian_lift import LagrangianLift, momentum
from groupoid_mech.manifolds.known_coordinates import carried_to
from groupoid_mech.manifolds.smooth_chart import carried, smooth_local, smooth_retract
from groupoid_mech.numerics.matrix import dot, inverse_matrix, matvec
from groupoid_mech.numerics.newton import jacobian


class LooseEnds(eqx.Module):
    r"""The ends in N of arrows of :math:`R = (\varphi^{-1} \times \varphi^{-1}) \circ S`, near a point of M.

    What is compared is compared in N; a point of M is found from one of N by as many equations as ``searched`` numbers.
    """

    searched: eqx.AbstractVar[int]

    @abstractmethod
    def image(self, x: Point) -> Point:
        r"""The point :math:`\varphi(x)` of N."""

    @abstractmethod
    def arrow(self, x: Point, v: Vector) -> tuple[Point, Point]:
        r"""The pair :math:`S(x, v)` of points of N."""

    @abstractmethod
    def gap(self, a: Point, b: Point) -> Vector:
        """Numbers that are 0 where the points a and b of N are the same, as many as M has dimensions; as smooth as `smooth_local`."""

    @abstractmethod
    def point(self, a: Point, z: Vector) -> tuple[Point, Vector]:
        r"""The point of M for searched numbers z, which are small, and the equations: 0 where it is :math:`\varphi^{-1}(a)`."""


@final
class FoundEnds(LooseEnds):
    r"""The ends of arrows where nothing is searched, :math:`\varphi = \mathrm{id}`.

    Args:
        map: The discretization map R of a manifold.
    """

    map: DiscretizationMap
    searched: int = eqx.field(static=True)

    def __init__(self, map: DiscretizationMap):
        self.map = map
        self.searched = 0

    def image(self, x: Point) -> Point:
        return x

    def arrow(self, x: Point, v: Vector) -> tuple[Point, Point]:
        return self.map.arrow(x, v)

    def gap(self, a: Point, b: Point) -> Vector:
        return smooth_local(self.map.groupoid.base, a, b)

    def point(self, a: Point, z: Vector) -> tuple[Point, Vector]:
        return a, z


@final
class EndsByMomenta(LooseEnds):
    r"""The ends of arrows of a Lagrangian lift by their momenta, :math:`\varphi = FL`, near a point :math:`(q_0, v_0)` of TQ.

    The velocity of an end :math:`(q, p)` is :math:`T(v_0 + z)`, carried along from :math:`q_0`, with the equations

    .. math:: W^{-1}\,\frac{\partial}{\partial z}\bigl(L(q, T(v_0 + z)) - \langle p, T(v_0 + z)\rangle\bigr) = 0, \qquad
        W = \frac{\partial^2L}{\partial v^2}(q_0, v_0) ,

    which do not depend on the frame at q: it may have jumped. A gap :math:`(\delta q, \delta p)` in T*Q is measured as that in TQ,
    :math:`(\delta q, W^{-1}(\delta p - \partial_qFL\,\delta q))`: whatever the masses are, and so that Jacobians of equations stay near 1.

    Args:
        lift: The Lagrangian lift.
        x: The point :math:`(q_0, v_0)`.
    """

    lift: LagrangianLift
    x: Point
    inverse_mass: Matrix
    slope: Matrix
    searched: int = eqx.field(static=True)

    def __init__(self, lift: LagrangianLift, x: Point):
        Q, n = lift.manifold, lift.manifold.dim

        def moved(w: Vector) -> Covector:
            q, v = smooth_retract(lift.groupoid.base, x, w)
            return carried(Q, q, x[0], momentum(lift.lagrangian, q, v))

        # Where equations hold, no derivative depends on what they are multiplied by.
        slopes = jax.lax.stop_gradient(jacobian(moved, jnp.zeros(2 * n)))
        self.lift = lift
        self.x = x
        self.inverse_mass = inverse_matrix(slopes[:, n:])
        self.slope = slopes[:, :n]
        self.searched = n

    def image(self, x: Point) -> Point:
        return x[0], momentum(self.lift.lagrangian, *x)

    def arrow(self, x: Point, v: Vector) -> tuple[Point, Point]:
        return self.lift.momenta(x, v)

    def gap(self, a: Point, b: Point) -> Vector:
        Q, (q, _) = self.lift.manifold, self.x
        first, second = (carried(Q, end, q, p) for end, p in (a, b))
        way = carried(Q, a[0], q, Q.local(a[0], b[0]))
        return jnp.concatenate([way, matvec(self.inverse_mass, second - first - matvec(self.slope, way))])

    def point(self, a: Point, z: Vector) -> tuple[Point, Vector]:
        (q, p), (q0, v0) = a, self.x

        def stationary(z: Vector) -> tuple[Scalar, Vector]:
            v = carried_to(self.lift.manifold, q0, q, v0 + z)
            return self.lift.lagrangian(q, v) - dot(p, v), v

        off, v = jax.grad(stationary, has_aux=True)(z)
        return (q, v), matvec(self.inverse_mass, off)


@singledispatch
def loose_ends(R: DiscretizationMap, x: Point) -> LooseEnds:
    r"""The ends of arrows of R before what would have to be searched for them.

    Open for further maps: ``@loose_ends.register`` adds one of the form :math:`(\varphi^{-1} \times \varphi^{-1}) \circ S`; those that are not
    added are right too, with a search inside of that for a step.

    Args:
        R: The discretization map of a manifold M.
        x: A point of M; ends are near it.

    Example:
        >>> from groupoid_mech import Euclidean, theta_map
        >>> L, x = lambda q, v: jnp.sum(v**4), (jnp.zeros(1), jnp.ones(1))
        >>> ends = loose_ends(LagrangianLift(theta_map(Euclidean(1), 0.5), L), x)
        >>> ends.point((jnp.zeros(1), jnp.array([32.0])), jnp.ones(1))
        ((Array([0.], dtype=float64), Array([2.], dtype=float64)), Array([0.], dtype=float64))
    """
    return FoundEnds(R)


loose_ends.register(LagrangianLift, EndsByMomenta)
