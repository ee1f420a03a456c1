r"""The examples of discretization maps, in ambient coordinates: on vector spaces, spheres and Lie groups. BM Examples 2.7–2.9."""

from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Array, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.discretization.retraction import ChartMap, ProjectionMap
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.laws.discretization_kinds import A_PLACE, A_VELOCITY
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.sphere import Sphere

_TERMS = 30

# ------------------------------------------------------------------------------- what an example speaks about


def theta_of(R: DiscretizationMap) -> Any:
    """The number θ of a map :math:`R_θ` of a retraction: 0 for the retraction itself, 1 for its adjoint; none for other maps."""
    if isinstance(R, AdjointMap):
        theta = theta_of(R.map)
        return None if theta is None else 1 - theta
    if isinstance(R, ThetaMap):
        return None if R.theta.ndim else R.theta
    if isinstance(R, MidpointMap):
        return 0.5
    return 0.0 if isinstance(R, ChartMap | ProjectionMap) else None


def is_theta_map(R: DiscretizationMap, space: type, retraction: type = ChartMap, theta: float | None = None) -> bool:
    """Whether a map is :math:`R_θ` of such a retraction on such a manifold, for one θ if it is given."""
    own = theta_of(R)
    on_pairs = isinstance(R.groupoid, PairGroupoid) and isinstance(R.groupoid.base, space)
    if own is None or not on_pairs or not isinstance(_retraction_of(R), retraction):
        return False
    return theta is None or (is_concrete(own) and float(own) == theta)


def _retraction_of(R: DiscretizationMap) -> DiscretizationMap:
    if isinstance(R, AdjointMap):
        return _retraction_of(R.map)
    if isinstance(R, MidpointMap):
        return ChartMap(R.manifold)
    return R.retraction if isinstance(R, ThetaMap) else R


def _of_vector_space(R: DiscretizationMap) -> bool:
    return is_theta_map(R, Euclidean)


def _of_sphere(R: DiscretizationMap) -> bool:
    return is_theta_map(R, Sphere)


def _of_projection(R: DiscretizationMap) -> bool:
    return is_theta_map(R, Sphere, ProjectionMap)


def _of_group(R: DiscretizationMap) -> bool:
    return is_theta_map(R, LieGroup)


def _of_rotations(R: DiscretizationMap) -> bool:
    return is_theta_map(R, SO3)


# ------------------------------------------------------------------------------------ the formulas of the paper


def exponential(x: Vector, xi: Vector, t: Any) -> Vector:
    """exp_x(tξ) = cos(t‖ξ‖) x + sin(t‖ξ‖) ξ/‖ξ‖."""
    n = jnp.sqrt(xi @ xi)
    return jnp.cos(t * n) * x + t * jnp.sinc(t * n / jnp.pi) * xi


def _series(xi: Matrix) -> Matrix:
    """Σ ξᵏ/k!."""

    def add(k: Array, state: tuple[Matrix, Matrix]) -> tuple[Matrix, Matrix]:
        power = state[0] @ xi / k
        return power, state[1] + power

    unit = jnp.eye(xi.shape[0])
    return jax.lax.fori_loop(1, _TERMS, add, (unit, unit))[1]


def _rodrigues(xi: Matrix) -> Matrix:
    """1 + (sin t/t) ξ + ((1 − cos t)/t²) ξ², with t² = ½ tr ξᵀξ."""
    t = jnp.sqrt(jnp.sum(xi * xi) / 2)
    return jnp.eye(3) + jnp.sinc(t / jnp.pi) * xi + jnp.sinc(t / (2 * jnp.pi)) ** 2 / 2 * (xi @ xi)


def cayley(xi: Matrix) -> Matrix:
    """(1 − ξ/2)⁻¹(1 + ξ/2)."""
    unit = jnp.eye(xi.shape[0])
    return jnp.linalg.solve(unit - xi / 2, unit + xi / 2)


def normalized(x: Vector) -> Vector:
    """x/‖x‖."""
    return x / jnp.sqrt(x @ x)


# ------------------------------------------------------------------------------------------------- the maps


def _vector_space(R: DiscretizationMap, x: Vector, v: Vector, y: Vector) -> Scalar:
    theta = theta_of(R)
    there = gap(R.arrow(x, v), (x - theta * v, x + (1 - theta) * v))
    return jnp.maximum(there, gap(R.inverse((x, y)), ((1 - theta) * x + theta * y, y - x)))


def _sphere(R: DiscretizationMap, x: Vector, v: Vector) -> Scalar:
    theta, xi = theta_of(R), R.groupoid.base.to_ambient(x, v)
    return gap(R.arrow(x, v), (exponential(x, xi, -theta), exponential(x, xi, 1 - theta)))


def _projection(R: DiscretizationMap, x: Vector, v: Vector) -> Scalar:
    theta, xi = theta_of(R), R.groupoid.base.to_ambient(x, v)
    return gap(R.arrow(x, v), (normalized(x - theta * xi), normalized(x + (1 - theta) * xi)))


def _group(R: DiscretizationMap, g: Point, v: Vector) -> Scalar:
    H: Any = R.groupoid.base
    theta, here, xi = theta_of(R), H.matrix(g), H.hat(v)
    tau = _series if H.tau == "exp" else cayley
    first, second = R.arrow(g, v)
    return gap((H.matrix(first), H.matrix(second)), (here @ tau(-theta * xi), here @ tau((1 - theta) * xi)))


def _rotations(R: DiscretizationMap, A: Matrix, v: Vector) -> Scalar:
    H: Any = R.groupoid.base
    theta, xi = theta_of(R), A.T @ H.to_ambient(A, v)
    tau = _rodrigues if H.tau == "exp" else cayley
    return gap(R.arrow(A, v), (A @ tau(-theta * xi), A @ tau((1 - theta) * xi)))


MAP_EXAMPLE_LAWS: tuple[Law, ...] = (
    Law(
        "vector_space_map",
        "R(x, v) = (x − θv, x + (1 − θ)v), R⁻¹(x₀, x₁) = ((1 − θ)x₀ + θx₁, x₁ − x₀): Euler's methods and the midpoint rule for θ = 0, 1, ½",
        "BM Example 2.7",
        DiscretizationMap,
        (A_PLACE, A_VELOCITY, A_PLACE),
        _vector_space,
        applies=_of_vector_space,
    ),
    Law(
        "sphere_map",
        "R(x, ξ) = (exp_x(−θξ), exp_x((1 − θ)ξ)), exp_x ξ = cos‖ξ‖ x + sin‖ξ‖ ξ/‖ξ‖",
        "BM Example 2.8, (2.3)",
        DiscretizationMap,
        (A_PLACE, A_VELOCITY),
        _sphere,
        applies=_of_sphere,
    ),
    Law(
        "sphere_projection_map",
        "R(x, ξ) = ((x − θξ)/‖x − θξ‖, (x + (1 − θ)ξ)/‖x + (1 − θ)ξ‖)",
        "BM Example 2.8",
        DiscretizationMap,
        (A_PLACE, A_VELOCITY),
        _projection,
        applies=_of_projection,
    ),
    Law(
        "group_map",
        "R(g, X) = (g τ(−θξ), g τ((1 − θ)ξ)), ξ = g⁻¹X, with τ ξ = Σ ξᵏ/k! or (1 − ξ/2)⁻¹(1 + ξ/2), in matrices",
        "BM Example 2.9",
        DiscretizationMap,
        (A_PLACE, A_VELOCITY),
        _group,
        applies=_of_group,
    ),
    Law(
        "rotations_map",
        "R(A, X) = (A τ(−θAᵀX), A τ((1 − θ)AᵀX)), with Rodrigues' formula for exp, and cay ξ = (1 − ξ/2)⁻¹(1 + ξ/2)",
        "BM Example 2.9, (2.4)",
        DiscretizationMap,
        (A_PLACE, A_VELOCITY),
        _rotations,
        applies=_of_rotations,
    ),
)
