"""Discretization maps and lifts for the laws, and broken ones."""

import equinox as eqx
import jax
import jax.numpy as jnp
from laws.subjects import broken, crooked_frame, ellipsoid, unchecked
from laws.symplectic_controls import TOP

import groupoid_mech as gm
from groupoid_mech.discretization.cotangent_lift import CotangentLift, momenta_of_covector
from groupoid_mech.discretization.geodesic_map import GeodesicMap
from groupoid_mech.discretization.lagrangian_lift import LagrangianLift
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.discretization.newmark_map import newmark_map
from groupoid_mech.discretization.retraction import ChartMap, ProjectionMap
from groupoid_mech.discretization.tangent_lift import TangentLift
from groupoid_mech.discretization.theta_map import ThetaMap
from groupoid_mech.manifolds.calculus import structure_functions
from groupoid_mech.numerics.matrix import solve

R2, S2, SO3 = gm.Euclidean(2), gm.Sphere(2), gm.SO3(tau="cayley")


class Sliding(eqx.Module):
    """A regular Lagrangian, not quadratic, with a mass that depends on the place and a magnetic term."""

    def __call__(self, q, v):
        x = jnp.ravel(q)
        weights = 1 + 0.2 * jnp.arange(v.size)
        kinetic = (1 + 0.3 * jnp.sin(x[0] + 0.5 * x[1])) * jnp.sum(weights * v * v) / 2 + 0.05 * jnp.sum(v**4)
        return kinetic + 0.3 * v[0] * x[0] - x[1] ** 2


class Warped(eqx.Module):
    """A metric of the plane without symmetry."""

    def __call__(self, x):
        return (1 + 0.3 * jnp.sum(x * x)) * jnp.array([[1.0, 0.2], [0.2, 1.5]]) + 0.2 * jnp.diag(jnp.sin(x))


def inertia(x):
    return jnp.diag(jnp.array([1.0, 2.0, 3.0]))


def at_theta(R, theta):
    """The map of the same retraction with another θ, without finding out again what its inverse is."""
    return eqx.tree_at(lambda R: R.theta, R, jnp.asarray(theta))


def by_newton(space, theta):
    """A θ-map that does not know whether its retraction is straight: the inverse is by Newton's method."""
    return unchecked(lambda: ThetaMap(space, theta))


SPHERE = ThetaMap(S2, 0.3)
PLANE = ThetaMap(R2, 0.3)
PROJECTED = by_newton(ProjectionMap(S2), 0.5)
ROTATIONS = by_newton(SO3, 0.5)
WARPED = GeodesicMap(R2, Warped())

DISCRETIZATION_SUBJECTS = {
    "map R2": PLANE,
    "map S2": ChartMap(S2),
    "map S2 adjoint": ChartMap(S2).adjoint(),
    "map S2 theta 0.3": SPHERE,
    "map S2 theta 0.5": at_theta(SPHERE, 0.5),
    "map S2 midpoint": MidpointMap(S2),
    "map S2 projection": ProjectionMap(S2),
    "map S2 projected": PROJECTED,
    "map R2 midpoint": at_theta(PLANE, 0.5),
    "map T2": unchecked(lambda: ThetaMap(gm.Torus(2), 0.3)),
    "map S2xT1": by_newton(gm.ProductManifold(S2, gm.Torus(1)), 0.5),
    "map geodesic": WARPED,
    "map SO3 cayley": ROTATIONS,
    "map SE2 cayley": by_newton(gm.SE2(tau="cayley"), 0.5),
    "map group SO3": ThetaMap(gm.GroupGroupoid(gm.SO3()), 0.3),
    "map group SE2": ChartMap(gm.GroupGroupoid(gm.SE2())),
    "map group Heisenberg": by_newton(gm.GroupGroupoid(gm.Heisenberg()), 0.3),
    "map S2:SO3": by_newton(TOP, 0.5),
    "map gauge(S2,SO2)": by_newton(gm.GaugeGroupoid(S2, gm.SO2()), 0.3),
    "map ellipsoid": by_newton(gm.LevelSet(ellipsoid, 3), 0.5),
    "map newmark": unchecked(lambda: newmark_map(R2, 0.25, 0.6, 0.1)),
}

# Its Runge–Kutta steps leave the group by 1e-10 or so, and second derivatives of it with them.
GEODESICS_OF_SO3 = {"map geodesic SO3": GeodesicMap(gm.SO3(), inertia)}

LIFTS = {
    "tangent lift R2": TangentLift(PLANE),
    "tangent lift S2": TangentLift(SPHERE),
    "tangent lift S2 midpoint": TangentLift(MidpointMap(S2)),
    "tangent lift SO3": TangentLift(ROTATIONS),
    "cotangent lift R2": CotangentLift(PLANE),
    "cotangent lift S2": CotangentLift(SPHERE),
    "cotangent lift S2 projected": CotangentLift(PROJECTED),
    "cotangent lift SO3": CotangentLift(ROTATIONS),
    "lagrangian lift R2": LagrangianLift(PLANE, Sliding()),
    "lagrangian lift S2": LagrangianLift(SPHERE, Sliding()),
}

# ------------------------------------------------------------------------------- broken ones


def without_involution(self, x, v):
    """TR itself, where the velocities are in the other order."""
    Q = self.manifold
    (q0, q1), moved = jax.jvp(self.map.arrow, x, (Q.to_ambient(x[0], v[: Q.dim]), v[Q.dim :]))
    return (q0, Q.from_ambient(q0, moved[0])), (q1, Q.from_ambient(q1, moved[1]))


def _turned(Q, q, p, v):
    return jnp.einsum("c,cab,a->b", p, structure_functions(Q, q), v)


def _frame_turned_back(self, x, v):
    """The cotangent lift with the wrong sign of the structure functions."""
    Q, (q, p) = self.manifold, x
    u, p_dot = v[: Q.dim], v[Q.dim :]
    covector = jnp.concatenate([p_dot + _turned(Q, q, p, u), p])
    return momenta_of_covector((self.map.arrow(q, u), solve(self.map.tangent(q, u).T, covector)))


def _inverse_turned_back(self, g):
    (q, p), v = CotangentLift(self.map).inverse(g)
    Q = self.manifold
    u, p_dot = v[: Q.dim], v[Q.dim :]
    return (q, p), jnp.concatenate([u, p_dot - 2 * _turned(Q, q, p, u)])


def _too_fast(self, x, v):
    return x, x + 1.1 * v


def _straight(self, x, v):
    return x, x + v


def _uneven(self, x, v):
    return S2.retract(x, -0.4 * v), S2.retract(x, 0.6 * v)


# Coordinates of tangent vectors that are not linear: brackets of frames are not antisymmetric in them.
bent_coordinates = broken(gm.Sphere, 2, from_ambient=lambda self, x, v: (lambda xi: xi + xi**2)(S2.from_ambient(x, v)))

TULCZYJEW_CONTROLS = {
    "involution_exchanges": crooked_frame,
    "involution_involutive": bent_coordinates,
    "alpha_dual": bent_coordinates,
    "alpha_symplectic": crooked_frame,
    "difference_symplectic": crooked_frame,
}

DISCRETIZATION_CONTROLS = {
    **TULCZYJEW_CONTROLS,
    "discretization_zero": broken(ChartMap, R2, arrow=lambda self, x, v: (x, x + v + 0.1)),
    "discretization_rigidity": broken(ChartMap, R2, arrow=_too_fast),
    "discretization_inverse": broken(ChartMap, R2, inverse=lambda self, g: (g[0], g[0] - g[1])),
    "adjoint_by_inversion": broken(ChartMap, S2, adjoint=lambda self: self),
    "adjoint_discretizes": broken(ChartMap, R2, adjoint=lambda self: broken(ChartMap, R2, arrow=_too_fast)),
    "adjoint_involutive": broken(ChartMap, R2, adjoint=lambda self: PLANE),
    "theta_discretizes": broken(ChartMap, R2, arrow=_too_fast),
    "symmetric_map": broken(MidpointMap, S2, arrow=_uneven),
    # The tangent lift is that of a Lagrangian for the midpoint rule only.
    "lift_of_natural": PLANE,
    "complete_lift": broken(GeodesicMap, R2, Warped(), arrow=_straight),
    "lifted_covector_symplectic": broken(ChartMap, S2, tangent=lambda self, x, v: -ChartMap(S2).tangent(x, v)),
    "lift_covers": broken(TangentLift, ROTATIONS, arrow=without_involution),
    "cotangent_lift_symplectic": broken(CotangentLift, ROTATIONS, arrow=_frame_turned_back),
    "lifts_dual": broken(CotangentLift, ROTATIONS, inverse=_inverse_turned_back),
    # For a mass that depends on the place the tangent lift is not symplectic.
    "lagrangian_lift_symplectic": broken(
        LagrangianLift, at_theta(PLANE, 0.5), Sliding(), arrow=lambda self, x, v: TangentLift(self.map).arrow(x, v)
    ),
}
