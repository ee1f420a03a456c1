r"""The discretization map of Newmark's method, which depends on the time step. BM §4.1."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import number, require_instances, time_step
from groupoid_mech._types import Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.groupoids.chart_form import Form
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.smooth_chart import (
    carried,
    frame_components,
    smooth_components,
    smooth_coordinates,
    smooth_retract,
)
from groupoid_mech.manifolds.tangent_bundle import TangentBundle
from groupoid_mech.numerics.matrix import matvec, unit_matrix
from groupoid_mech.numerics.newton import newton_root


@final
class NewmarkMap(DiscretizationMap):
    r"""The map :math:`R_\Theta` of :math:`TQ` with the matrix of Newmark's method; BM §4.1.

    .. math:: R(q, v, \dot q, \dot v) = \bigl(q - \tfrac12\dot q + \tfrac{dt}2(\gamma - 2\beta)\dot v,\; v - \gamma\dot v;\;
        q + \tfrac12\dot q + \tfrac{dt}2(\gamma - 2\beta)\dot v,\; v + (1 - \gamma)\dot v\bigr), \qquad
        \Theta = \begin{pmatrix} \tfrac12 & -\tfrac{dt}2(\gamma - 2\beta) \\ 0 & \gamma \end{pmatrix} ,

    with the retraction of Q instead of the sum. On a curved manifold :math:`\dot v` stands for the covariant derivative, and vectors
    are carried to the ends by the projection in the ambient space: the map does not depend on the frame of Q, which may jump. On a Lie
    group, whose frame does not, vectors keep their components. The inverse is closed on Euclidean spaces; else q is found by Newton's method.

    The map mixes velocities and positions, and so depends on dt: a method takes it at the step that the method has (`map_at_step`).

    Args:
        manifold: The manifold Q; Newmark's own method is that of a Euclidean space.
        beta: The parameter β.
        gamma: The parameter γ; of order 2 for γ = ½.
        dt: The time step.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> R = NewmarkMap(Euclidean(1), 0.0, 0.5, dt=0.2)
        >>> R.arrow((jnp.zeros(1), jnp.zeros(1)), jnp.array([0.0, 1.0]))
        ((Array([0.05], dtype=float64), Array([-0.5], dtype=float64)), (Array([0.05], dtype=float64), Array([0.5], dtype=float64)))
    """

    manifold: Manifold
    groupoid: PairGroupoid
    beta: Scalar
    gamma: Scalar
    dt: Scalar
    form: Form = eqx.field(static=True)

    def __init__(self, manifold: Manifold, beta: ArrayLike, gamma: ArrayLike, dt: ArrayLike):
        require_instances("NewmarkMap", "manifold", (manifold,), Manifold)
        self.manifold = manifold
        self.groupoid = PairGroupoid(TangentBundle(manifold))
        self.beta, self.gamma = number("NewmarkMap", "beta", beta), number("NewmarkMap", "gamma", gamma)
        self.dt = time_step("NewmarkMap", dt)
        self.form = ThetaMap(self.groupoid, self._theta()).form

    def arrow(self, x: Point, v: Vector) -> Point:
        if self.keeps_components:
            return self._map().arrow(x, v)
        M = self.groupoid.base
        w = smooth_components(M, x, v)
        back = matvec(self._theta(), w)
        return smooth_retract(M, x, -back), smooth_retract(M, x, w - back)

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        if self.keeps_components:
            return self._map().inverse(g)
        M, Q, theta = self.groupoid.base, self.manifold, self._theta()
        n = Q.dim
        near = Q.retract(g[0][0], 0.5 * Q.local(g[0][0], g[1][0]))

        def from_zero(q: Point) -> tuple[Vector, Vector]:
            """The middle in coordinates at the zero vector of q, of which the first half is 0 where q is the right one; and the velocity."""
            first, last = (smooth_coordinates(M, (q, jnp.zeros(n)), end) for end in g)
            return first + matvec(theta, last - first), last - first

        def mismatch(u: Vector) -> Vector:
            q = Q.retract(near, u)
            return carried(Q, q, near, from_zero(q)[0][:n])

        q = Q.retract(near, newton_root(mismatch, jnp.zeros(n)))
        middle, w = from_zero(q)
        x = q, middle[n:]
        return x, frame_components(M, x, w)

    def adjoint(self) -> "NewmarkMap":
        # 1 − Θ of these parameters at −dt; at dt it is the map of the adjoint method, for γ = ½ the map itself.
        beta, gamma = 0.5 - self.gamma + self.beta, 1 - self.gamma
        return eqx.tree_at(lambda map: (map.beta, map.gamma, map.dt), self, (beta, gamma, -self.dt))

    @property
    def keeps_components(self) -> bool:
        """Whether vectors keep their components from end to end, as in frames that do not jump: then it is a `ThetaMap` of the chart of TQ."""
        return self.form.parallel or isinstance(self.manifold, LieGroup)

    def _map(self) -> ThetaMap:
        return ThetaMap(self.groupoid, self._theta(), form=self.form)

    def _theta(self) -> Matrix:
        one = unit_matrix(self.groupoid.rank // 2)
        mixed = -0.5 * self.dt * (self.gamma - 2 * self.beta)
        return jnp.block([[0.5 * one, mixed * one], [jnp.zeros_like(one), self.gamma * one]])


def newmark_map(manifold: Manifold, beta: ArrayLike, gamma: ArrayLike, dt: ArrayLike) -> NewmarkMap:
    r"""The discretization map of Newmark's method on :math:`TQ`; BM §4.1.

    .. math:: q_1 = q_0 + dt\,v_0 + \tfrac{dt^2}2\bigl((1 - 2\beta)a_0 + 2\beta a_1\bigr), \qquad
        v_1 = v_0 + dt\,\bigl((1 - \gamma)a_0 + \gamma a_1\bigr)

    is the `EndpointIntegrator` with this map, whose step it follows.

    Args:
        manifold: The manifold Q; Newmark's own method is that of a Euclidean space.
        beta: The parameter β.
        gamma: The parameter γ; of order 2 for γ = ½.
        dt: The time step.
    """
    require_instances("newmark_map", "manifold", (manifold,), Manifold)
    parameters = number("newmark_map", "beta", beta), number("newmark_map", "gamma", gamma)
    return NewmarkMap(manifold, *parameters, time_step("newmark_map", dt))
