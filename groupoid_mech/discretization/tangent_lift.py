r"""The canonical involution of TTQ, and the tangent lift of a discretization map.

Convention: a point of TTQ is ``((q, v), w)`` with w the components :math:`(\dot q, \dot v)` in the frame of TQ at ``(q, v)``. BM §3.1.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.lifted_map import LiftedMap, liftable
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.calculus import frame_bracket
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.tangent_bundle import TangentBundle
from groupoid_mech.numerics.matrix import solve


def canonical_involution(manifold: Manifold, w: Point) -> Point:
    r"""The canonical involution :math:`\kappa_Q(\partial_t\partial_s\Phi) = \partial_s\partial_t\Phi` of TTQ, for :math:`\Phi: R^2 \to Q`.

    .. math:: \kappa_Q((q, v), (\dot q, \dot v)) = ((q, \dot q), (v, \dot v - C(v, \dot q))), \qquad C(v, u)^c = C^c_{ab} v^a u^b ,

    in a frame with :math:`[e_a, e_b] = C^c_{ab}e_c`: the two velocities change places, and the frame turns.

    Args:
        manifold: The manifold Q.
        w: The point ``((q, v), (q_dot, v_dot))`` of TTQ, the second a flat vector.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> w = ((jnp.zeros(1), jnp.array([1.0])), jnp.array([2.0, 3.0]))
        >>> canonical_involution(Euclidean(1), w)
        ((Array([0.], dtype=float64), Array([2.], dtype=float64)), Array([1., 3.], dtype=float64))
    """
    require_instances("canonical_involution", "manifold", (manifold,), Manifold)
    TangentBundle(TangentBundle(manifold)).check_point(w, owner="canonical_involution", name="w")
    return swap_velocities(manifold, w)


@final
class TangentLift(LiftedMap):
    r"""The tangent lift :math:`R^T = TR \circ \kappa_Q: TTQ \to TQ \times TQ` of a discretization map :math:`R: TQ \to Q \times Q`.

    It is a discretization map of TQ (BM Prop. 3.3), and :math:`(R^T)^* = (R^*)^T` (BM Prop. 3.5). Its inverse is
    :math:`\kappa_Q \circ (TR)^{-1}`, a linear equation over :math:`R^{-1}`.

    Args:
        map: The discretization map R of a manifold Q.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> from groupoid_mech.discretization.theta_map import theta_map
        >>> midpoint = TangentLift(theta_map(Euclidean(1), 0.5))
        >>> midpoint.arrow((jnp.zeros(1), jnp.ones(1)), jnp.array([2.0, 4.0]))
        ((Array([-1.], dtype=float64), Array([-1.], dtype=float64)), (Array([1.], dtype=float64), Array([3.], dtype=float64)))
    """

    map: DiscretizationMap
    groupoid: PairGroupoid

    def __init__(self, map: DiscretizationMap):
        self.groupoid = PairGroupoid(TangentBundle(liftable("TangentLift", map)))
        self.map = map

    def arrow(self, x: Point, v: Vector) -> Point:
        Q = self.manifold
        (q, u), w = swap_velocities(Q, (x, v))
        (q0, q1), (moved0, moved1) = jax.jvp(self.map.arrow, (q, u), (Q.to_ambient(q, w[: Q.dim]), w[Q.dim :]))
        return (q0, Q.from_ambient(q0, moved0)), (q1, Q.from_ambient(q1, moved1))

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        Q = self.manifold
        (q0, v0), (q1, v1) = g
        q, u = self.map.inverse((q0, q1))
        return swap_velocities(Q, ((q, u), solve(self.map.tangent(q, u), jnp.concatenate([v0, v1]))))

    def adjoint(self) -> DiscretizationMap:
        return TangentLift(self.map.adjoint())


@eqx.filter_jit
def swap_velocities(Q: Manifold, w: Point) -> tuple[Point, Vector]:
    """The canonical involution without checks."""
    (q, v), q_dot, v_dot = w[0], w[1][: Q.dim], w[1][Q.dim :]
    return (q, q_dot), jnp.concatenate([v, v_dot - frame_bracket(Q, q, v, q_dot)])
