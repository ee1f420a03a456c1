r"""The examples of methods for vector fields, as the equations that their steps satisfy, for drawn fields: multiplied by dt.

BM Example 4.1, §4.1, Remark 5.5, Example 5.9.
"""

from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Function, Point, Scalar, Vector
from groupoid_mech.discretization.cotangent_lift import CotangentLift
from groupoid_mech.discretization.field_integrator import (
    EndpointIntegrator,
    FieldIntegrator,
    MapIntegrator,
    SecondOrderField,
)
from groupoid_mech.discretization.lagrangian_lift import LagrangianField, LagrangianLift
from groupoid_mech.discretization.newmark_map import NewmarkMap
from groupoid_mech.discretization.tangent_lift import TangentLift
from groupoid_mech.laws.discretization_kinds import A_NATURAL_LAGRANGIAN, NaturalLagrangian
from groupoid_mech.laws.discretization_laws import is_midpoint_rule
from groupoid_mech.laws.integrator_kinds import OnConfigurations, OnManifold, put
from groupoid_mech.laws.integrator_laws import AccelerationOf
from groupoid_mech.laws.kinds import A_FIELD, A_POINT, A_WAVY_FUNCTION
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.tangent_bundle import TangentBundle
from groupoid_mech.numerics.matrix import solve


@final
class NaturalAcceleration(eqx.Module):
    r"""The acceleration :math:`-M^{-1}\nabla V(q)` of :math:`\tfrac12 v^TMv - V(q)`."""

    lagrangian: NaturalLagrangian

    def __call__(self, q: Point, v: Vector) -> Vector:
        return -solve(self.lagrangian.mass, jax.grad(self.lagrangian.potential)(q))


@final
class HamiltonianField(eqx.Module):
    r"""The field :math:`(\partial H/\partial p, -\partial H/\partial q)` on the cotangent bundle of a vector space."""

    hamiltonian: Function

    def __call__(self, x: Point) -> Vector:
        force, speed = jax.grad(self.hamiltonian)(x)
        return jnp.concatenate([speed, -force])


def _lifts_midpoint_rule(method: MapIntegrator) -> bool:
    return isinstance(method.map, TangentLift) and is_midpoint_rule(method.map.map)


def _is_newmark(method: MapIntegrator) -> bool:
    return (
        isinstance(method.map, NewmarkMap)
        and isinstance(method.space, TangentBundle)
        and isinstance(method.space.base, Euclidean)
    )


def _lifts_midpoint_rule_to_momenta(method: MapIntegrator) -> bool:
    return isinstance(method.map, CotangentLift) and is_midpoint_rule(method.map.map)


def _is_midpoint_rule_on_velocities(method: MapIntegrator) -> bool:
    """Of the tangent lift, or of that of a Lagrangian: the same for constant masses (BM Cor. 5.8)."""
    if not isinstance(method.map, LagrangianLift):
        return _lifts_midpoint_rule(method)
    return isinstance(method.field, LagrangianField) and is_midpoint_rule(method.map.map)


def _at_the_ends(method: EndpointIntegrator, x: Point, F: Function) -> Scalar:
    f, dt = AccelerationOf(F), method.dt
    (q0, v0), (q1, v1) = x, put(method, lambda m: m.field, SecondOrderField(f))(x)
    return gap((q1 - q0, v1 - v0), (dt * (v0 + v1) / 2, dt * (f(q0, v0) + f(q1, v1)) / 2))


def _in_the_middle(method: FieldIntegrator, x: Point, F: Function) -> Scalar:
    f, dt = AccelerationOf(F), method.dt
    (q0, v0), (q1, v1) = x, put(method, lambda m: m.field, SecondOrderField(f))(x)
    return gap((q1 - q0, v1 - v0), (dt * (v0 + v1) / 2, dt * f((q0 + q1) / 2, (v0 + v1) / 2)))


def _newmark(method: EndpointIntegrator, x: Point, L: NaturalLagrangian) -> Scalar:
    R: Any = method.map
    f, dt, beta, gamma = NaturalAcceleration(L), method.dt, R.beta, R.gamma
    (q0, v0), (q1, v1) = x, put(method, lambda m: m.field, SecondOrderField(f))(x)
    a0, a1 = f(q0, v0), f(q1, v1)
    place = q0 + dt * v0 + dt**2 / 2 * ((1 - 2 * beta) * a0 + 2 * beta * a1)
    return gap((q1, v1), (place, v0 + dt * ((1 - gamma) * a0 + gamma * a1)))


def _endpoint_hamiltonian(method: EndpointIntegrator, x: Point, F: Function) -> Scalar:
    field, dt = HamiltonianField(F), method.dt
    changed = put(method, lambda m: m.field, field)
    # There and back, with one copy of the step in the program.
    back, ends = jax.lax.scan(lambda y, h: (changed.with_step(h)(y),) * 2, x, jnp.stack([dt, -dt]))
    y = jax.tree.map(lambda leaf: leaf[0], ends)
    moved = jnp.concatenate([y[0] - x[0], y[1] - x[1]])
    return jnp.maximum(gap(moved, dt * (field(x) + field(y)) / 2), gap(back, x))


def _lagrangian_midpoint(method: FieldIntegrator, x: Point, L: NaturalLagrangian) -> Scalar:
    changed, dt = _with_lagrangian(method, L), method.dt
    # One copy of the step in the program.
    _, (q, v) = jax.lax.scan(lambda y, _: (changed(y),) * 2, x, None, length=2)
    (q0, v0), (q1, v1), q2 = x, (q[0], v[0]), q[1]

    def pull(place: Point) -> Vector:
        return solve(L.mass, jax.grad(L.potential)(place))

    before, after = pull((q0 + q1) / 2), pull((q1 + q2) / 2)
    left = (v0 + v1) / 2 * dt, v1 - v0, q2 - 2 * q1 + q0
    return gap(left, (q1 - q0, -dt * before, -(dt**2) / 2 * (before + after)))


def _with_lagrangian(method: FieldIntegrator, L: NaturalLagrangian) -> Any:
    if not isinstance(method.map, LagrangianLift):
        return put(method, lambda m: m.field, SecondOrderField(NaturalAcceleration(L)))
    return put(put(method, lambda m: m.field.lagrangian, L), lambda m: m.map.lagrangian, L)


_Y, _NATURAL = OnManifold(A_POINT), OnConfigurations(A_NATURAL_LAGRANGIAN)

FIELD_EXAMPLE_LAWS: tuple[Law, ...] = (
    Law(
        "second_order_at_the_ends",
        "q₁ − q₀ = dt (v₀ + v₁)/2, v₁ − v₀ = dt (Γ(q₀, v₀) + Γ(q₁, v₁))/2",
        "BM Example 4.1, (4.1)",
        EndpointIntegrator,
        (_Y, OnManifold(A_FIELD)),
        _at_the_ends,
        applies=_lifts_midpoint_rule,
    ),
    Law(
        "second_order_in_the_middle",
        "q₁ − q₀ = dt (v₀ + v₁)/2, v₁ − v₀ = dt Γ((q₀ + q₁)/2, (v₀ + v₁)/2)",
        "BM Example 4.1, (4.2)",
        FieldIntegrator,
        (_Y, OnManifold(A_FIELD)),
        _in_the_middle,
        applies=_lifts_midpoint_rule,
    ),
    Law(
        "newmark",
        "q₁ = q₀ + dt v₀ + dt²/2 ((1 − 2β)a₀ + 2βa₁), v₁ = v₀ + dt ((1 − γ)a₀ + γa₁), a = −M⁻¹∇V(q)",
        "BM §4.1, (4.4)",
        EndpointIntegrator,
        (_Y, _NATURAL),
        _newmark,
        applies=_is_newmark,
    ),
    Law(
        "hamiltonian_at_the_ends",
        "q₁ − q₀ = dt (∂_pH(q₀, p₀) + ∂_pH(q₁, p₁))/2, p₁ − p₀ = −dt (∂_qH(q₀, p₀) + ∂_qH(q₁, p₁))/2; symmetric",
        "BM Remark 5.5",
        EndpointIntegrator,
        (_Y, OnManifold(A_WAVY_FUNCTION)),
        _endpoint_hamiltonian,
        applies=_lifts_midpoint_rule_to_momenta,
    ),
    Law(
        "lagrangian_midpoint_rule",
        "(v₀ + v₁)/2 = (q₁ − q₀)/dt, v₁ − v₀ = −dt M⁻¹∇V(q̄₀), q₂ − 2q₁ + q₀ = −dt²/2 M⁻¹(∇V(q̄₀) + ∇V(q̄₁)), q̄ₖ = (qₖ + qₖ₊₁)/2",
        "BM Example 5.9",
        FieldIntegrator,
        (_Y, _NATURAL),
        _lagrangian_midpoint,
        applies=_is_midpoint_rule_on_velocities,
    ),
)
