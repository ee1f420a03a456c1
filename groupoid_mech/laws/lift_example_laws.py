r"""The examples of lifts of discretization maps, in ambient coordinates. BM Examples 3.10–3.12, 5.3, 5.4.

Vectors and covectors of a sphere are vectors of the space around it, those of SO(3) are matrices. Covectors of TQ are compared on
vectors that are tangent to TQ: on the sphere those with :math:`\delta x \cdot \xi + x \cdot \delta\xi = 0`.
"""

from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.cotangent_lift import CotangentLift
from groupoid_mech.discretization.lifted_map import LiftedMap
from groupoid_mech.discretization.retraction import ProjectionMap
from groupoid_mech.discretization.tangent_lift import TangentLift
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.laws.discretization_kinds import A_PLACE, A_SHORT_VELOCITY, A_VELOCITY
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.laws.map_example_laws import cayley, exponential, is_theta_map, normalized, theta_of
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.sphere import Sphere


def _lifts_vector_space(R: LiftedMap) -> bool:
    return is_theta_map(R.map, Euclidean)


def _lifts_sphere(R: LiftedMap) -> bool:
    return is_theta_map(R.map, Sphere, theta=0.0)


def _lifts_projection(R: LiftedMap) -> bool:
    return is_theta_map(R.map, Sphere, ProjectionMap, theta=0.0)


def _lifts_cayley(R: LiftedMap) -> bool:
    Q: Any = R.manifold
    return is_theta_map(R.map, SO3, theta=0.0) and Q.tau == "cayley"


def ambient_velocities(M: Manifold, x: Point, v: Vector, w: Vector) -> tuple[Array, Array, Array]:
    """The ambient form of a vector v at x, and of a velocity w of (x, v) in the frame of TM or T*M: that of x, and that of v."""
    moved = M.to_ambient(x, w[: M.dim])
    vector, changed = jax.jvp(M.to_ambient, (x, v), (moved, w[M.dim :]))
    return vector, moved, changed


def projection_derivative(x: Vector, y: Vector) -> Matrix:
    r"""The matrix :math:`C = (x \cdot y)\,(1 + (x \cdot y)\,y x^T - y y^T)` of BM Example 5.4."""
    c = x @ y
    return c * (jnp.eye(x.size) + c * jnp.outer(y, x) - jnp.outer(y, y))


def _exponential_derivative(x: Vector, xi: Vector) -> Matrix:
    """The derivative N of exp_x(ξ) by ξ; the paper divides its second term by ‖ξ‖ instead of ‖ξ‖²."""
    n = jnp.sqrt(xi @ xi)
    along, s = jnp.outer(xi, xi) / jnp.where(n > 0, n * n, 1.0), jnp.sinc(n / jnp.pi)
    return -s * jnp.outer(x, xi) + jnp.cos(n) * along + s * (jnp.eye(x.size) - along)


def _cayley_change(A: Matrix, X: Matrix, A_dot: Matrix, X_dot: Matrix) -> Matrix:
    """MȦ + NẊ, the derivative of A cay(AᵀX), by cay'(ξ)η = (1 − ξ/2)⁻¹(η/2)(1 + cay ξ)."""
    xi, eta, unit = A.T @ X, A_dot.T @ X + A.T @ X_dot, jnp.eye(3)
    turned = cayley(xi)
    return A_dot @ turned + A @ jnp.linalg.solve(unit - xi / 2, eta / 2 @ (unit + turned))


def _tangential(x: Vector, v: Vector) -> Vector:
    return v - x * (x @ v)


def _vector_space_tangent(R: TangentLift, x: Point, w: Vector, y: Point) -> Scalar:
    theta, n = theta_of(R.map), R.manifold.dim
    (q, u), v, u_dot = x, w[:n], w[n:]
    ends = (q - theta * v, u - theta * u_dot), (q + (1 - theta) * v, u + (1 - theta) * u_dot)
    (q0, u0), (q1, u1) = x, y
    middle = ((1 - theta) * q0 + theta * q1, (1 - theta) * u0 + theta * u1), jnp.concatenate([q1 - q0, u1 - u0])
    return jnp.maximum(gap(R.arrow(x, w), ends), gap(R.inverse((x, y)), middle))


def _vector_space_cotangent(R: CotangentLift, x: Point, w: Vector, y: Point) -> Scalar:
    theta, n = theta_of(R.map), R.manifold.dim
    (q, p), q_dot, p_dot = x, w[:n], w[n:]
    ends = (q - theta * q_dot, p - (1 - theta) * p_dot), (q + (1 - theta) * q_dot, p + theta * p_dot)
    (q0, p0), (q1, p1) = x, y
    middle = ((1 - theta) * q0 + theta * q1, theta * p0 + (1 - theta) * p1), jnp.concatenate([q1 - q0, p1 - p0])
    return jnp.maximum(gap(R.arrow(x, w), ends), gap(R.inverse((x, y)), middle))


def _sphere_tangent(R: TangentLift, z: Point, w: Vector) -> Scalar:
    Q, x = R.manifold, z[0]
    # In ambient coordinates κ exchanges ẋ and ξ, and nothing else.
    x_dot, xi, xi_dot = ambient_velocities(Q, x, z[1], w)
    (x0, v0), (x1, v1) = R.arrow(z, w)
    velocity = jnp.cos(jnp.sqrt(xi @ xi)) * x_dot + _exponential_derivative(x, xi) @ xi_dot
    expected = x, x_dot, exponential(x, xi, 1.0), velocity
    return gap((x0, Q.to_ambient(x0, v0), x1, Q.to_ambient(x1, v1)), expected)


def _sphere_cotangent(R: CotangentLift, z: Point, w: Vector) -> Scalar:
    Q, x = R.manifold, z[0]
    p, x_dot, p_dot = ambient_velocities(Q, x, z[1], w)
    (x0, p0), (x1, p1) = R.arrow(z, w)
    end, moved = exponential(x, x_dot, 1.0), jnp.linalg.solve(_exponential_derivative(x, x_dot).T, p)
    first = _tangential(x, -p_dot + jnp.cos(jnp.sqrt(x_dot @ x_dot)) * moved)
    return gap((x0, Q.to_ambient(x0, p0), x1, Q.to_ambient(x1, p1)), (x, first, end, _tangential(end, moved)))


def _projection_cotangent(R: CotangentLift, z: Point, w: Vector, change: Vector) -> Scalar:
    Q, (x, _) = R.manifold, z
    y = normalized(x + Q.to_ambient(x, w[: Q.dim]))
    p0, p1, c = Q.to_ambient(x, z[1]), Q.to_ambient(y, w[Q.dim :]), x @ y
    (start, momentum), velocity = R.inverse((z, (y, w[Q.dim :])))
    p, xi, p_dot = ambient_velocities(Q, start, momentum, velocity)
    _, dx, dxi = ambient_velocities(Q, start, velocity[: Q.dim], change)
    printed = (-p0 + c * p1) @ dx + p1 @ projection_derivative(x, y) @ dxi
    return gap((start, xi, p_dot @ dx + p @ dxi), (x, y / c - x, printed))


def _rotations_tangent(R: TangentLift, z: Point, w: Vector) -> Scalar:
    Q, A = R.manifold, z[0]
    A_dot, X, X_dot = ambient_velocities(Q, A, z[1], w)
    (A0, v0), (A1, v1) = R.arrow(z, w)
    expected = A, A_dot, A @ cayley(A.T @ X), _cayley_change(A, X, A_dot, X_dot)
    return gap((A0, Q.to_ambient(A0, v0), A1, Q.to_ambient(A1, v1)), expected)


def _rotations_cotangent(R: CotangentLift, z: Point, w: Vector, change: Vector) -> Scalar:
    Q, A = R.manifold, z[0]
    P, X, P_dot = ambient_velocities(Q, A, z[1], w)
    (A0, p0), (A1, p1) = R.arrow(z, w)
    P0, P1 = Q.to_ambient(A0, p0), Q.to_ambient(A1, p1)
    _, dA, dX = ambient_velocities(Q, A, w[: Q.dim], change)
    lifted = jnp.sum(P1 * _cayley_change(A, X, dA, dX)) - jnp.sum(P0 * dA)
    return gap((A0, A1, lifted), (A, A @ cayley(A.T @ X), jnp.sum(P_dot * dA) + jnp.sum(P * dX)))


LIFT_EXAMPLE_LAWS: tuple[Law, ...] = (
    Law(
        "vector_space_tangent_lift",
        "Rᵀ(q, q', v, v') = (q − θv, q' − θv'; q + (1 − θ)v, q' + (1 − θ)v'), and the inverse",
        "BM Examples 3.10, 4.1",
        TangentLift,
        (A_PLACE, A_VELOCITY, A_PLACE),
        _vector_space_tangent,
        applies=_lifts_vector_space,
    ),
    Law(
        "vector_space_cotangent_lift",
        "R^T*(q, p, q', p') = (q − θq', p − (1 − θ)p'; q + (1 − θ)q', p + θp'), and the inverse",
        "BM Examples 3.10, 5.3, (3.3), (3.4)",
        CotangentLift,
        (A_PLACE, A_VELOCITY, A_PLACE),
        _vector_space_cotangent,
        applies=_lifts_vector_space,
    ),
    Law(
        "sphere_tangent_lift",
        "Rᵀ(x, x', ξ, ξ') = (x, x'; exp_x ξ, cos‖ξ‖ x' + Nξ'), N = −sin‖ξ‖ xξᵀ/‖ξ‖ + cos‖ξ‖ ξξᵀ/‖ξ‖² + sin‖ξ‖ (‖ξ‖² − ξξᵀ)/‖ξ‖³",
        "BM Example 3.11",
        TangentLift,
        (A_PLACE, A_VELOCITY),
        _sphere_tangent,
        applies=_lifts_sphere,
    ),
    Law(
        "sphere_cotangent_lift",
        "R^T*(x, p, x', p') = (x, −p' + cos‖x'‖ pN⁻¹; exp_x x', pN⁻¹) on tangent vectors",
        "BM Example 3.11",
        CotangentLift,
        (A_PLACE, A_SHORT_VELOCITY),
        _sphere_cotangent,
        applies=_lifts_sphere,
    ),
    Law(
        "sphere_projection_cotangent_lift",
        "(R^T*)⁻¹(x₀, p₀; x₁, p₁) = (x₀, p₁C; x₁/(x₀·x₁) − x₀, −p₀ + (x₀·x₁)p₁) on tangent vectors of TS",
        "BM Example 5.4",
        CotangentLift,
        (A_PLACE, A_SHORT_VELOCITY, A_VELOCITY),
        _projection_cotangent,
        applies=_lifts_projection,
    ),
    Law(
        "rotations_tangent_lift",
        "Rᵀ(A, A', X, X') = (A, A'; A cay(AᵀX), MA' + NX'), (M, N) the derivative of A cay(AᵀX)",
        "BM Example 3.12",
        TangentLift,
        (A_PLACE, A_VELOCITY),
        _rotations_tangent,
        applies=_lifts_cayley,
    ),
    Law(
        "rotations_cotangent_lift",
        "R^T*(A, p, A', p') = (A, pN⁻¹M − p'; A cay(AᵀA'), pN⁻¹) on tangent vectors of TSO(3)",
        "BM Example 3.12",
        CotangentLift,
        (A_PLACE, A_SHORT_VELOCITY, A_VELOCITY),
        _rotations_cotangent,
        applies=_lifts_cayley,
    ),
)
