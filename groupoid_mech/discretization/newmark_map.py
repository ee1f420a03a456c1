r"""The discretization map of Newmark's method, which depends on the time step. BM §4.1."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import require_instances, time_step
from groupoid_mech._types import Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.theta_map import Form, ThetaMap
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.tangent_bundle import TangentBundle
from groupoid_mech.numerics.matrix import unit_matrix


@final
class NewmarkMap(DiscretizationMap):
    r"""The map :math:`R_\Theta` of :math:`TQ` with the matrix of Newmark's method; BM §4.1.

    .. math:: R(q, v, \dot q, \dot v) = \bigl(q - \tfrac12\dot q + \tfrac{dt}2(\gamma - 2\beta)\dot v,\; v - \gamma\dot v;\;
        q + \tfrac12\dot q + \tfrac{dt}2(\gamma - 2\beta)\dot v,\; v + (1 - \gamma)\dot v\bigr), \qquad
        \Theta = \begin{pmatrix} \tfrac12 & -\tfrac{dt}2(\gamma - 2\beta) \\ 0 & \gamma \end{pmatrix} ,

    with the retraction of Q instead of the sum. It mixes velocities and positions, and so depends on dt: a method takes it at the step
    that the method has (`map_at_step`).

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

    groupoid: PairGroupoid
    beta: Scalar
    gamma: Scalar
    dt: Scalar
    form: Form = eqx.field(static=True)

    def __init__(self, manifold: Manifold, beta: ArrayLike, gamma: ArrayLike, dt: ArrayLike):
        require_instances("NewmarkMap", "manifold", (manifold,), Manifold)
        self.groupoid = PairGroupoid(TangentBundle(manifold))
        self.beta, self.gamma = jnp.asarray(beta, float), jnp.asarray(gamma, float)
        self.dt = time_step("NewmarkMap", dt)
        self.form = ThetaMap(self.groupoid, self._theta()).form

    def arrow(self, x: Point, v: Vector) -> Point:
        return self._map().arrow(x, v)

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        return self._map().inverse(g)

    def adjoint(self) -> "NewmarkMap":
        # 1 − Θ of these parameters at −dt; at dt it is the map of the adjoint method, for γ = ½ the map itself.
        beta, gamma = 0.5 - self.gamma + self.beta, 1 - self.gamma
        return eqx.tree_at(lambda map: (map.beta, map.gamma, map.dt), self, (beta, gamma, -self.dt))

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
    return NewmarkMap(manifold, beta, gamma, time_step("newmark_map", dt))
