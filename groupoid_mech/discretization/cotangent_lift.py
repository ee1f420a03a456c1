r"""Tulczyjew's isomorphism, the cotangent lift of a discretization map, and the step of Hamilton's equations that it gives.

Convention: covectors are components in the frame at their point; :math:`\omega = -d\theta`. BM §3.2, §5.1.
"""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    is_concrete,
    is_finite,
    name_of,
    require_instances,
    require_vector,
)
from groupoid_mech._types import Covector, Matrix, Point, Scalar, Vector
from groupoid_mech.algebroids.dual_bundle import DualBundle
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.lifted_map import (
    LiftedMap,
    liftable,
    require_image,
    require_map,
    require_scalar_function,
)
from groupoid_mech.errors import ArgumentError, NotFiniteError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.calculus import frame_bracket, tangential, value_and_push_forward
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.smooth_chart import smooth_local, smooth_retract
from groupoid_mech.manifolds.tangent_bundle import TangentBundle
from groupoid_mech.mechanics.regularity import ROUNDED_ZERO, null_space
from groupoid_mech.numerics.matrix import dot, matvec, solve, unit_matrix
from groupoid_mech.numerics.newton import newton_root
from groupoid_mech.symplectic.cotangent_groupoid import CotangentGroupoid

Hamiltonian = Callable[[Point, Covector], Scalar]


def cotangent_lift(M: Manifold, N: Manifold, F: Callable[[Point], Point], x: Point) -> Point:
    r"""The lift :math:`\hat F(x, p) = (F(x), p\,(T_xF)^{-1})` of a diffeomorphism :math:`F: M \to N`: a symplectic map.

    BM Def. 3.1, Prop. 3.2.

    Args:
        M: The manifold M.
        N: The manifold N, of the same dimension.
        F: The diffeomorphism, as a function of points.
        x: The point ``(x, p)`` of T*M.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> cotangent_lift(Euclidean(1), Euclidean(1), lambda x: 2 * x, (jnp.ones(1), jnp.ones(1)))
        (Array([2.], dtype=float64), Array([0.5], dtype=float64))
    """
    require_instances("cotangent_lift", "M", (M,), Manifold)
    require_instances("cotangent_lift", "N", (N,), Manifold)
    if M.dim != N.dim:
        raise ArgumentError(f"cotangent_lift needs manifolds of the same dimension; got {M.dim} and {N.dim}.")
    CotangentBundle(M).check_point(x, owner="cotangent_lift")
    require_image("cotangent_lift", F, x[0], N)
    (y, p), TF = _cotangent_lift(M, N, as_pytree(F), x)
    N.check_point(y, owner="cotangent_lift", name="F(x)")
    if is_concrete((p, TF)):
        lost = null_space(np.asarray(TF), ROUNDED_ZERO).shape[1] if is_finite(TF) else 0
        if lost or not is_finite(p):
            raise ArgumentError(
                f"cotangent_lift needs a diffeomorphism F: at x the derivative of {name_of(F)} "
                f"{f'has rank {M.dim - lost} of {M.dim}' if lost else 'is not finite'}, and no momentum of F(x) belongs to p. "
                f"Take another F, or a point at which its derivative has an inverse."
            )
    return y, p


def tulczyjew_alpha(manifold: Manifold, w: Point) -> Point:
    r"""Tulczyjew's isomorphism :math:`\alpha_Q: TT^*Q \to T^*TQ`, dual to the canonical involution.

    .. math:: \alpha_Q((q, p), (\dot q, \dot p)) = ((q, \dot q), (\dot p_b - p_c C^c_{ab}\dot q^a, p_b)), \qquad
        \langle\alpha_Q(\dot\sigma), \kappa_Q(\dot\gamma)\rangle = \frac{d}{dt}\langle\sigma, \gamma\rangle

    for curves σ in T*Q and γ in TQ over the same curve of Q.

    Args:
        manifold: The manifold Q.
        w: The point ``((q, p), (q_dot, p_dot))`` of TT*Q, the second a flat vector.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> w = ((jnp.zeros(1), jnp.array([1.0])), jnp.array([2.0, 3.0]))
        >>> tulczyjew_alpha(Euclidean(1), w)
        ((Array([0.], dtype=float64), Array([2.], dtype=float64)), Array([3., 1.], dtype=float64))
    """
    require_instances("tulczyjew_alpha", "manifold", (manifold,), Manifold)
    TangentBundle(CotangentBundle(manifold)).check_point(w, owner="tulczyjew_alpha", name="w")
    return _alpha(manifold, w)


def tulczyjew_alpha_inverse(manifold: Manifold, w: Point) -> Point:
    r"""The inverse :math:`\alpha_Q^{-1}((q, v), (r, p)) = ((q, p), (v, r_b + p_c C^c_{ab}v^a))` of Tulczyjew's isomorphism.

    Args:
        manifold: The manifold Q.
        w: The point ``((q, v), (r, p))`` of T*TQ, the second a flat vector.
    """
    require_instances("tulczyjew_alpha_inverse", "manifold", (manifold,), Manifold)
    CotangentBundle(TangentBundle(manifold)).check_point(w, owner="tulczyjew_alpha_inverse", name="w")
    return _alpha_inverse(manifold, w)


def difference_covector(g: Point) -> Point:
    r"""The map :math:`\Phi: T^*Q \times T^*Q \to T^*(Q \times Q),\; ((q_0, p_0), (q_1, p_1)) \mapsto ((q_0, q_1), (-p_0, p_1))`.

    It takes :math:`\Omega_{12} = pr_2^*\omega - pr_1^*\omega` to the canonical form; BM §3.2.

    Args:
        g: The pair of points ``((q0, p0), (q1, p1))`` of T*Q.
    """
    (q0, p0), (q1, p1) = g
    return (q0, q1), jnp.concatenate([-p0, p1])


def momenta_of_covector(x: Point) -> Point:
    r"""The inverse :math:`\Phi^{-1}((q_0, q_1), (r_0, r_1)) = ((q_0, -r_0), (q_1, r_1))` of `difference_covector`.

    Args:
        x: The point ``((q0, q1), r)`` of T*(Q × Q).
    """
    (q0, q1), r = x
    n = r.size // 2
    return (q0, -r[:n]), (q1, r[n:])


@final
class CotangentLift(LiftedMap):
    r"""The cotangent lift :math:`R^{T^*} = \Phi^{-1} \circ \hat R \circ \alpha_Q: TT^*Q \to T^*Q \times T^*Q` of a map :math:`R: TQ \to Q \times Q`.

    It is a discretization map of T*Q (BM Prop. 3.6), symplectic from :math:`d_T\omega` to
    :math:`\Omega_{12} = pr_2^*\omega - pr_1^*\omega` (BM Prop. 3.7), and :math:`(R^{T^*})^* = (R^*)^{T^*}` (BM Prop. 3.9). Its inverse is
    BM (3.2):

    .. math:: (R^{T^*})^{-1}(q_0, p_0; q_1, p_1) = \alpha_Q^{-1}\bigl(x, v, (-p_0, p_1)\,T_{(x,v)}R\bigr), \qquad (x, v) = R^{-1}(q_0, q_1) .

    Args:
        map: The discretization map R of a manifold Q.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> from groupoid_mech.discretization.theta_map import theta_map
        >>> euler = CotangentLift(theta_map(Euclidean(1), 1.0))
        >>> euler.arrow((jnp.zeros(1), jnp.ones(1)), jnp.array([2.0, 4.0]))
        ((Array([-2.], dtype=float64), Array([1.], dtype=float64)), (Array([0.], dtype=float64), Array([5.], dtype=float64)))
    """

    map: DiscretizationMap
    groupoid: PairGroupoid

    def __init__(self, map: DiscretizationMap):
        self.groupoid = PairGroupoid(CotangentBundle(liftable("CotangentLift", map)))
        self.map = map

    def arrow(self, x: Point, v: Vector) -> Point:
        (q, u), covector = _alpha(self.manifold, (x, v))
        return momenta_of_covector(_lifted_covector(self.map, q, u, covector))

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        (q0, _), (q1, _) = g
        return self.inverse_from(g, *self.map.inverse((q0, q1)))

    def adjoint(self) -> DiscretizationMap:
        return CotangentLift(self.map.adjoint())

    def inverse_from(self, g: Point, x: Point, v: Vector) -> tuple[Point, Vector]:
        r"""The inverse at :math:`g = (q_0, p_0; q_1, p_1)`, where :math:`(x, v) = R^{-1}(q_0, q_1)` is known.

        Args:
            g: The arrow.
            x: The point.
            v: The velocity.
        """
        _, mu = difference_covector(g)
        return _alpha_inverse(self.manifold, ((x, v), matvec(self.map.tangent(x, v).T, mu)))


def lifted_covector(R: DiscretizationMap, x: Point, v: Vector, covector: Covector) -> Point:
    r"""The point :math:`\hat R(x, v, \nu) = (R(x, v), \nu\,(T_{(x,v)}R)^{-1})` of T*G, for a covector ν of AG at ``(x, v)``.

    Args:
        R: The discretization map, of any Lie groupoid G.
        x: The point of the base.
        v: The velocity, in the frame of the algebroid.
        covector: The components of ν in the frame of ``R.bundle``: those of the base, then those of the fibre.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> from groupoid_mech.discretization.theta_map import theta_map
        >>> midpoint = theta_map(Euclidean(1), 0.5)
        >>> lifted_covector(midpoint, jnp.zeros(1), jnp.ones(1), jnp.array([2.0, 3.0]))[1]
        Array([-2.,  4.], dtype=float64)
    """
    require_map("lifted_covector", R, "R")
    R.check_point(x, owner="lifted_covector")
    R.check_algebroid_vector(v, owner="lifted_covector")
    require_vector("lifted_covector", "covector", covector, R.bundle.dim)
    return _lifted_covector(R, x, v, covector)


def lifted_step(R: DiscretizationMap, hamiltonian: Hamiltonian, dt: ArrayLike, q: Point, p: Covector) -> Point:
    r"""The step ``(q, p) -> (q', p')`` of Hamilton's equations on A*G that a discretization map :math:`R: AG \to G` gives.

    .. math:: \mu = \hat R\bigl(x, dt\,\tfrac{\partial H}{\partial p};\, -dt\,\tfrac{\partial H}{\partial x}, \bar p\bigr) \in T^*G, \qquad
        \tilde\alpha(\mu) = (q, p), \qquad \tilde\beta(\mu) = (q', p') ,

    with the derivatives at the unknown :math:`(x, \bar p) \in A^*G`. The points μ form a Lagrangian submanifold of T*G, so that the
    step is a Poisson map. On the pair groupoid of Q it is the step of the cotangent lift, BM (5.1); on a Lie group over a point, a
    Lie–Poisson integrator. NaN under ``jit``, an error outside, where Newton's method does not arrive.

    Args:
        R: The discretization map, of any Lie groupoid G.
        hamiltonian: The function ``H(q, p)`` on A*G.
        dt: The time step.
        q: The point of the base.
        p: The momentum, in the frame dual to that of the algebroid.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> from groupoid_mech.discretization.theta_map import theta_map
        >>> H = lambda q, p: (p[0] ** 2 + q[0] ** 2) / 2
        >>> lifted_step(theta_map(Euclidean(1), 1.0), H, 0.1, jnp.ones(1), jnp.zeros(1))
        (Array([1.], dtype=float64), Array([-0.1], dtype=float64))
    """
    require_map("lifted_step", R, "R")
    R.check_point(q, owner="lifted_step", name="q")
    R.check_algebroid_vector(p, owner="lifted_step", name="p")
    require_scalar_function("lifted_step", hamiltonian, q, p)
    if jnp.ndim(dt) != 0:
        raise ArgumentError(f"lifted_step needs dt to be a number; got {describe(dt)}. Batch with jax.vmap.")
    end = _lifted_step(R, as_pytree(hamiltonian), jnp.asarray(dt, float), q, p)
    if is_concrete(end) and not is_finite(end):
        raise NotFiniteError(
            f"lifted_step found no step of length dt = {dt} from q = {q}, p = {p}: Newton's method did not arrive. Take a shorter dt."
        )
    return end


@eqx.filter_jit
def _cotangent_lift(M: Manifold, N: Manifold, F: Callable[[Point], Point], x: Point) -> tuple[Point, Matrix]:
    y, TF = value_and_push_forward(M, N, F, x[0])
    return (y, solve(TF.T, x[1])), TF


@eqx.filter_jit
def _alpha(Q: Manifold, w: Point) -> tuple[Point, Covector]:
    (q, p), q_dot, p_dot = w[0], w[1][: Q.dim], w[1][Q.dim :]
    return (q, q_dot), jnp.concatenate([p_dot - turned(Q, q, p, q_dot), p])


@eqx.filter_jit
def _alpha_inverse(Q: Manifold, w: Point) -> tuple[Point, Vector]:
    (q, v), r, p = w[0], w[1][: Q.dim], w[1][Q.dim :]
    return (q, p), jnp.concatenate([v, r + turned(Q, q, p, v)])


def turned(Q: Manifold, q: Point, p: Covector, v: Vector) -> Covector:
    r"""The components :math:`p_c C^c_{ab} v^a` of a covector, in a frame with :math:`[e_a, e_b] = C^c_{ab}e_c`: how the frame turns along v."""
    return jax.vmap(lambda e: dot(p, frame_bracket(Q, q, v, e)))(unit_matrix(Q.dim))


@eqx.filter_jit
def _lifted_covector(R: DiscretizationMap, x: Point, v: Vector, covector: Covector) -> tuple[Point, Covector]:
    return R.arrow(x, v), solve(R.tangent(x, v).T, covector)


@eqx.filter_jit
def _lifted_step(R: DiscretizationMap, hamiltonian: Hamiltonian, dt: Scalar, q: Point, p: Covector) -> Point:
    G, T = R.groupoid, CotangentGroupoid(R.groupoid)
    momenta: DualBundle = T.base

    def lifted(gamma: Vector) -> tuple[Point, Covector]:
        x, p_bar = smooth_retract(momenta, (q, p), gamma)
        # Both derivatives by one reverse pass: one copy of the Hamiltonian in the program.
        slope, v = jax.grad(hamiltonian, argnums=(0, 1))(x, p_bar)
        force = tangential(G.base, x, slope)
        return _lifted_covector(R, x, dt * v, jnp.concatenate([-dt * force, p_bar]))

    gamma = newton_root(lambda gamma: smooth_local(momenta, (q, p), T.source(lifted(gamma))), jnp.zeros(momenta.dim))
    return T.target(lifted(gamma))
