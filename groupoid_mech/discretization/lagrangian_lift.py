r"""Regular Lagrangians: Legendre transformation, Hamiltonian, Euler–Lagrange field, and the lift of a discretization map to TQ.

Convention: ``lagrangian(q, v)`` with v in the frame at q; :math:`FL(q, v) = (q, \partial L/\partial v)`. BM §5.2.
"""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import (
    as_pytree,
    checked,
    is_concrete,
    is_finite,
    name_of,
    require_function,
    require_instances,
)
from groupoid_mech._types import Array, Covector, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.cotangent_lift import CotangentLift, turned
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.lifted_map import LiftedMap, liftable, require_scalar_function
from groupoid_mech.errors import ArgumentError, NotFiniteError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.tangent_bundle import TangentBundle
from groupoid_mech.mechanics.regularity import ROUNDED_ZERO, Regularity, null_space
from groupoid_mech.numerics.matrix import solve
from groupoid_mech.numerics.newton import newton_root

# Newton's method goes on alone where so much of the momentum at v = 0 is missing, or after so many trials: 70 are enough for speeds within 1e-12 of
# a bound.
_NEAR = 0.01
_TRIALS = 100

VelocityFunction = Callable[[Point, Vector], Scalar]


@final
class LagrangianLift(LiftedMap):
    r"""The map :math:`R^L = (FL^{-1} \times FL^{-1}) \circ R^{T^*} \circ T(FL): TTQ \to TQ \times TQ` of a regular Lagrangian L.

    It is a discretization map of TQ, symplectic for the forms :math:`\Omega_L = (FL)^*\omega`; BM Prop. 5.7. For the midpoint rule and
    a constant mass it is the tangent lift; BM Cor. 5.8.

    Args:
        map: The discretization map R of a manifold Q.
        lagrangian: The function ``L(q, v)``, regular in v.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> from groupoid_mech.discretization.theta_map import theta_map
        >>> R = LagrangianLift(theta_map(Euclidean(1), 1.0), lambda q, v: jnp.sum(v**2))
        >>> R.arrow((jnp.zeros(1), jnp.ones(1)), jnp.array([2.0, 4.0]))
        ((Array([-2.], dtype=float64), Array([1.], dtype=float64)), (Array([0.], dtype=float64), Array([5.], dtype=float64)))
    """

    map: DiscretizationMap
    lagrangian: VelocityFunction
    groupoid: PairGroupoid

    def __init__(self, map: DiscretizationMap, lagrangian: VelocityFunction):
        bundle = TangentBundle(liftable("LagrangianLift", map))
        require_scalar_function("LagrangianLift", lagrangian, *bundle.point_like())
        self.groupoid = PairGroupoid(bundle)
        self.map = map
        self.lagrangian = as_pytree(lagrangian)

    def arrow(self, x: Point, v: Vector) -> Point:
        (q0, p0), (q1, p1) = self.momenta(x, v)
        return (q0, velocity(self.lagrangian, q0, p0, x[1])), (q1, velocity(self.lagrangian, q1, p1, x[1]))

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        (q0, v0), (q1, v1) = g
        ends = (q0, momentum(self.lagrangian, q0, v0)), (q1, momentum(self.lagrangian, q1, v1))
        (q, p), w = CotangentLift(self.map).inverse(ends)
        Q, n = self.manifold, self.manifold.dim
        moved = Q.to_ambient(q, w[:n]), w[n:]
        v, v_dot = jax.jvp(lambda y, r: velocity(self.lagrangian, y, r, v0), (q, p), moved)
        return (q, v), jnp.concatenate([w[:n], v_dot])

    def adjoint(self) -> DiscretizationMap:
        return LagrangianLift(self.map.adjoint(), self.lagrangian)

    @checked("point", "algebroid_vector")
    def momenta(self, x: Point, v: Vector) -> tuple[Point, Point]:
        r"""The pair :math:`R^{T^*} \circ T(FL)\,(x, v)` of points of T*Q, the ends of the arrow before :math:`FL^{-1}`: nothing is searched.

        Args:
            x: The point of TQ.
            v: The velocity, in the frame of TQ.
        """
        bundle, n = self.groupoid.base, self.manifold.dim
        p, p_dot = jax.jvp(lambda y: momentum(self.lagrangian, *y), (x,), (bundle.to_ambient(x, v),))
        return CotangentLift(self.map).arrow((x[0], p), jnp.concatenate([v[:n], p_dot]))


@final
class LegendreHamiltonian(eqx.Module):
    r"""The Hamiltonian :math:`H(q, p) = \langle p, v\rangle - L(q, v)`, :math:`\partial L/\partial v = p`, of a regular Lagrangian.

    The velocity is found by Newton's method from :math:`v = 0`, with shorter steps where it would leave the domain of L. Where that does not
    arrive, or L is singular, there is an error; inside of ``jit`` NaN.

    Args:
        lagrangian: The function ``L(q, v)`` on the algebroid of a groupoid, or on TQ, regular in v.

    Example:
        >>> H = LegendreHamiltonian(lambda q, v: jnp.sum(v**2) - jnp.sum(q))
        >>> H(jnp.ones(1), jnp.ones(1))
        Array(1.25, dtype=float64)
    """

    lagrangian: VelocityFunction

    def __init__(self, lagrangian: VelocityFunction):
        require_function(lagrangian)
        self.lagrangian = as_pytree(lagrangian)

    def __call__(self, q: Point, p: Covector) -> Scalar:
        value = _hamiltonian(self.lagrangian, q, p)
        if is_concrete(value) and not is_finite(value):
            _require_regular("LegendreHamiltonian", self.lagrangian, q, jnp.zeros_like(p))
            raise NotFiniteError(
                f"LegendreHamiltonian found no velocity at q = {q} whose momentum is p = {p}: the momenta of {name_of(self.lagrangian)} may "
                f"not reach so far, or Newton's method did not. Take a smaller p."
            )
        return value


@final
class LagrangianField(eqx.Module):
    r"""The field :math:`\Gamma_L` of the Euler–Lagrange equations on TQ: :math:`i_{\Gamma_L}\Omega_L = dE_L`, of second order.

    .. math:: \dot q = v, \qquad \frac{d}{dt}\frac{\partial L}{\partial v^b} = e_b[L] + \frac{\partial L}{\partial v^c}C^c_{ab}v^a ,

    in a frame with :math:`[e_a, e_b] = C^c_{ab}e_c`. Called with a point ``(q, v)`` of TQ, it gives :math:`(\dot q, \dot v)` in the frame
    of TQ.

    Args:
        lagrangian: The function ``L(q, v)``, regular in v.
        manifold: The manifold Q.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> field = LagrangianField(lambda q, v: jnp.sum(v**2) - jnp.sum(q**2), Euclidean(1))
        >>> field((jnp.ones(1), 3 * jnp.ones(1)))
        Array([ 3., -1.], dtype=float64)
    """

    lagrangian: VelocityFunction
    manifold: Manifold

    def __init__(self, lagrangian: VelocityFunction, manifold: Manifold):
        require_instances("LagrangianField", "manifold", (manifold,), Manifold)
        require_scalar_function("LagrangianField", lagrangian, *TangentBundle(manifold).point_like())
        self.lagrangian = as_pytree(lagrangian)
        self.manifold = manifold

    def __call__(self, x: Point) -> Vector:
        TangentBundle(self.manifold).check_point(x, owner="LagrangianField")
        rate = euler_lagrange_rate(self.lagrangian, self.manifold, x)
        if is_concrete(rate):
            _require_regular("LagrangianField", self.lagrangian, *x)
            if not is_finite(rate):
                raise NotFiniteError(
                    f"LagrangianField has no finite value at x = {x}: the Lagrangian {name_of(self.lagrangian)} or its derivatives have none."
                )
        return rate


def momentum(lagrangian: VelocityFunction, q: Point, v: Vector) -> Covector:
    r"""The momentum :math:`p = \partial L/\partial v` of the Legendre transformation."""
    return jax.grad(lagrangian, argnums=1)(q, v)


def velocity(lagrangian: VelocityFunction, q: Point, p: Covector, guess: Vector) -> Vector:
    r"""The velocity with :math:`\partial L/\partial v = p`, by Newton's method from a guess; NaN where that does not arrive."""
    return newton_root(lambda v: momentum(lagrangian, q, v) - p, guess)


def velocity_of_momentum(lagrangian: VelocityFunction, q: Point, p: Covector) -> Vector:
    r"""The velocity with :math:`\partial L/\partial v = p`, nothing being known about it; NaN where Newton's method does not arrive."""
    return velocity(lagrangian, q, p, _approached(lambda v: p - momentum(lagrangian, q, v), jnp.zeros_like(p)))


def _require_regular(owner: str, lagrangian: VelocityFunction, q: Point, v: Vector) -> None:
    r"""Refuse a Lagrangian whose matrix :math:`\partial^2L/\partial v^2` has no inverse at a point of TQ."""
    mass = np.asarray(_mass(lagrangian, q, v))
    if is_finite(mass) and null_space(mass, ROUNDED_ZERO).shape[1]:
        directions = Regularity(mass, mass, mass[:0], v.size).degeneracy
        raise ArgumentError(
            f"{owner} needs a regular Lagrangian; at q = {q}, v = {v} the second derivatives of {name_of(lagrangian)} in v vanish along "
            f"{directions}, in components of the frame: p = ∂L/∂v does not determine v. Add a kinetic energy in these directions, or "
            f"leave them out of the manifold."
        )


@eqx.filter_jit
def _mass(lagrangian: VelocityFunction, q: Point, v: Vector) -> Matrix:
    return jax.jacfwd(lambda u: momentum(lagrangian, q, u))(v)


@eqx.filter_jit
def _hamiltonian(lagrangian: VelocityFunction, q: Point, p: Covector) -> Scalar:
    v = velocity_of_momentum(lagrangian, q, p)
    return p @ v - lagrangian(q, v)


def _approached(missing: Callable[[Vector], Covector], v: Vector) -> Vector:
    """About the velocity at which no momentum is missing, along Newton's directions: a step that leaves the domain, where a velocity is
    bounded, or after which more is missing, is halved.
    """
    # A value without derivatives, also in what the function closes over: Newton's method, which goes on from here, has its own.
    function, constants = jax.closure_convert(missing, v)
    constants = jax.lax.stop_gradient(constants)
    enough = _NEAR * jnp.max(jnp.abs(function(v, *constants)))

    def unfinished(state: tuple[Vector, Covector, Scalar, Array]) -> Array:
        _, left, _, count = state
        return (jnp.max(jnp.abs(left)) > enough) & (count < _TRIALS)

    def advance(state: tuple[Vector, Covector, Scalar, Array]) -> tuple[Vector, Covector, Scalar, Array]:
        v, left, part, count = state
        trial = v - part * solve(jax.jacfwd(function)(v, *constants), left)
        rest = function(trial, *constants)
        # Not a number is not better.
        better = jnp.max(jnp.abs(rest)) < jnp.max(jnp.abs(left))
        part = jnp.where(better, jnp.minimum(2 * part, 1.0), 0.5 * part)
        return jnp.where(better, trial, v), jnp.where(better, rest, left), part, count + 1

    start = v, function(v, *constants), jnp.ones(()), jnp.asarray(0)
    return jax.lax.while_loop(unfinished, advance, start)[0]


@eqx.filter_jit
def euler_lagrange_rate(lagrangian: VelocityFunction, Q: Manifold, x: Point) -> Vector:
    """The Euler–Lagrange field at a point of TQ, without checks."""
    q, v = x
    p = momentum(lagrangian, q, v)
    force = frame_derivatives(Q, lambda y: lagrangian(y, v), q) + turned(Q, q, p, v)
    drift = jax.jvp(lambda y: momentum(lagrangian, y, v), (q,), (Q.to_ambient(q, v),))[1]
    mass = _mass(lagrangian, q, v)
    return jnp.concatenate([v, solve(mass, force - drift)])
