r"""The examples of symplectic methods, as the equations that their steps satisfy, for drawn Hamiltonians and Lagrangians: multiplied by dt.

BM Examples 5.2–5.4, 5.10, 6.1 and the discrete Lagrangian with an inner node of §6.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Covector, Function, Point, Scalar, Vector
from groupoid_mech.discretization.composed_family import ComposedSteps
from groupoid_mech.discretization.composition import Composition
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.lagrangian_family import LagrangianFamily
from groupoid_mech.discretization.retraction import ProjectionMap
from groupoid_mech.discretization.splitting import Drift, Kick
from groupoid_mech.discretization.system_integrator import SystemIntegrator
from groupoid_mech.laws.integrator_kinds import (
    ASmoothFunction,
    DrawnLagrangian,
    OnPhaseSpace,
    family_of,
    has_hamiltonian,
    put,
    with_drawn,
)
from groupoid_mech.laws.kinds import A_POINT, A_VECTOR
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.laws.lift_example_laws import ambient_velocities, projection_derivative
from groupoid_mech.laws.map_example_laws import is_theta_map, theta_of
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.mechanics.system import DiscreteSystem


def _is_hamiltonian_theta_method(method: SystemIntegrator) -> bool:
    return has_hamiltonian(method) and is_theta_map(family_of(method).map, Euclidean)


def _is_projection_method(method: SystemIntegrator) -> bool:
    return has_hamiltonian(method) and is_theta_map(family_of(method).map, Sphere, ProjectionMap, theta=0.0)


def _is_lagrangian_theta_method(method: SystemIntegrator) -> bool:
    return _has_lagrangian(method.system) and is_theta_map(family_of(method).map, Euclidean)


def _has_lagrangian(system: DiscreteSystem) -> bool:
    return isinstance(system.lagrangian, LagrangianFamily)


def _is_separable_euler(method: Composition) -> bool:
    kinds = tuple(type(part) for part in method.methods)
    return kinds in ((Kick, Drift), (Drift, Kick)) and _on_vector_space(method) and _take(method, 1, 1)


def _is_stormer_verlet(method: Composition) -> bool:
    kinds = tuple(type(part) for part in method.methods)
    if kinds == (Kick, Drift, Kick):
        return _on_vector_space(method) and _take(method, 0.5, 1, 0.5)
    parts: Any = method.methods
    if kinds != (SystemIntegrator, SystemIntegrator) or not all(has_hamiltonian(part) for part in parts):
        return False
    return _begin_and_end(*(family_of(part).map for part in parts)) and _take(method, 0.5, 0.5)


def _has_inner_node(method: SystemIntegrator) -> bool:
    steps: Any = method.system.lagrangian
    if not isinstance(steps, ComposedSteps) or not _has_lagrangian(steps.first) or not _has_lagrangian(steps.second):
        return False
    first, second = _family(steps.first), _family(steps.second)
    halves = is_concrete((first.dt, second.dt)) and bool(np.allclose(first.dt, second.dt, rtol=1e-12))
    return halves and _begin_and_end(first.map, second.map)


def _begin_and_end(first: DiscretizationMap, second: DiscretizationMap) -> bool:
    """Whether two maps are (q, q + v) and (q − v, q)."""
    return is_theta_map(first, Euclidean, theta=0.0) and is_theta_map(second, Euclidean, theta=1.0)


def _on_vector_space(method: Any) -> bool:
    return isinstance(method.space.base, Euclidean)


def _take(method: Composition, *fractions: float) -> bool:
    """Whether the parts of a composition take such fractions of its time step."""
    return is_concrete(method.fractions) and bool(np.allclose(np.asarray(method.fractions), fractions, rtol=1e-12))


def _family(system: DiscreteSystem) -> Any:
    return system.lagrangian


def _hamiltonian_theta(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    changed, dt = with_drawn(method, F), method.dt
    family = family_of(changed)
    theta = theta_of(family.map)
    (q0, p0), (q1, p1) = x, changed(x)
    place, momentum = (1 - theta) * q0 + theta * q1, theta * p0 + (1 - theta) * p1
    force, speed = jax.grad(family.hamiltonian, argnums=(0, 1))(place, momentum)
    return gap((q1 - q0, p1 - p0), (dt * speed, -dt * force))


def _separable_euler(method: Composition, x: Point, F: Function) -> Scalar:
    changed, dt = with_drawn(method, F), method.dt
    (q0, p0), (q1, p1) = x, changed(x)
    first, second = changed.methods
    if isinstance(first, Kick):
        speed, force = jax.grad(second.kinetic)(p1), jax.grad(first.potential)(q0)
    else:
        speed, force = jax.grad(first.kinetic)(p0), jax.grad(second.potential)(q1)
    return gap((q1 - q0, p1 - p0), (dt * speed, -dt * force))


def _projection_method(method: SystemIntegrator, z: Point, F: Function, change: Vector) -> Scalar:
    changed, dt = with_drawn(method, F), method.dt
    H, Q = family_of(changed).hamiltonian, method.space.base
    (x, _), (y, _) = ends = z, changed(z)
    p0, p1 = (Q.to_ambient(*end) for end in ends)
    c, pC = x @ y, p1 @ projection_derivative(x, y)
    p = Q.from_ambient(x, pC)
    v = dt * jax.grad(H, argnums=1)(x, p)
    xi, dx, dxi = ambient_velocities(Q, x, v, change)
    P = Q.to_ambient(x, p)
    force = jax.jvp(lambda point: H(point, Q.from_ambient(point, P)), (x,), (dx,))[1]
    # The covectors (−p₀ + c p₁, p₁C) and (−dt ∂H/∂x, p) of TS, on the drawn vector.
    return gap((y / c - x, (-p0 + c * p1) @ dx + pC @ dxi), (xi, -dt * force + P @ dxi))


def _lagrangian_theta(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    changed, dt = with_drawn(method, F), method.dt
    family = family_of(changed)
    theta, L = theta_of(family.map), family.lagrangian
    (q0, p0), (q1, p1) = x, changed(x)
    value, (force, momentum) = jax.value_and_grad(L, argnums=(0, 1))((1 - theta) * q0 + theta * q1, (q1 - q0) / dt)
    left = p1 - p0, theta * p0 + (1 - theta) * p1, changed.system.action((q0, q1))
    return gap(left, (dt * force, momentum, dt * value))


def _stormer_verlet(method: Composition, x: Point, F: Function) -> Scalar:
    changed, half = with_drawn(method, F), method.dt / 2
    before, after = _halves(changed)
    q0, p = x
    # The momentum in between is given, and with it the first of the three equations: it has no place in the step itself.
    force, speed = jax.grad(before, argnums=(0, 1))(q0, p)
    q1, p1 = changed((q0, p + half * force))
    force1, speed1 = jax.grad(after, argnums=(0, 1))(q1, p)
    return gap((q1 - half * speed1, p1), (q0 + half * speed, p - half * force1))


def _halves(method: Composition) -> tuple[Callable[..., Scalar], Callable[..., Scalar]]:
    """The Hamiltonians of the two halves of the method of Störmer and Verlet."""
    parts: Any = method.methods
    if isinstance(parts[0], SystemIntegrator):
        return family_of(parts[0]).hamiltonian, family_of(parts[1]).hamiltonian
    kick, drift, last = parts
    return (
        lambda q, p: drift.kinetic(p) + kick.potential(q),
        lambda q, p: drift.kinetic(p) + last.potential(q),
    )


def _inner_node(method: SystemIntegrator, x: Point, F: Function) -> Scalar:
    L, half = DrawnLagrangian(F), method.dt / 2
    begun = put(method, lambda m: m.system.lagrangian.first.lagrangian.lagrangian, L)
    changed = put(begun, lambda m: m.system.lagrangian.second.lagrangian.lagrangian, L)

    def first(a: Vector, b: Vector) -> Scalar:
        return half * L(a, (b - a) / half)

    def second(a: Vector, b: Vector) -> Scalar:
        return half * L(b, (b - a) / half)

    # The point in between is given, and with it the first of the three equations.
    q0, q1 = x[0], x[0] + half * x[1]
    before: tuple[Covector, Covector] = jax.grad(first, argnums=(0, 1))(q0, q1)
    q2, p2 = changed((q0, -before[0]))
    after: tuple[Covector, Covector] = jax.grad(second, argnums=(0, 1))(q1, q2)
    return gap((before[1] + after[0], after[1]), (jnp.zeros_like(q1), p2))


_X, _F = OnPhaseSpace(A_POINT), ASmoothFunction()

SYMPLECTIC_EXAMPLE_LAWS: tuple[Law, ...] = (
    Law(
        "hamiltonian_theta_method",
        "q₁ − q₀ = dt ∂H/∂p, p₁ − p₀ = −dt ∂H/∂q at ((1 − θ)q₀ + θq₁, θp₀ + (1 − θ)p₁): the midpoint rule for θ = ½",
        "BM Examples 5.2, 5.3, 6.1",
        SystemIntegrator,
        (_X, _F),
        _hamiltonian_theta,
        applies=_is_hamiltonian_theta_method,
    ),
    Law(
        "separable_euler",
        "for H = T(p) + V(q) explicit: q₁ = q₀ + dt ∇T(p₀), p₁ = p₀ − dt ∇V(q₁); kick first, ∇T(p₁) and ∇V(q₀)",
        "BM Example 5.3",
        Composition,
        (_X, _F),
        _separable_euler,
        applies=_is_separable_euler,
    ),
    Law(
        "sphere_projection_method",
        "x₁/(x₀·x₁) − x₀ = dt ∂H/∂p, −p₀ + (x₀·x₁)p₁ = −dt ∂H/∂x at (x₀, p₁C), on tangent vectors of TS",
        "BM Example 5.4",
        SystemIntegrator,
        (_X, _F, OnPhaseSpace(A_VECTOR)),
        _projection_method,
        applies=_is_projection_method,
    ),
    Law(
        "lagrangian_theta_method",
        "p₁ − p₀ = dt ∂L/∂q, θp₀ + (1 − θ)p₁ = ∂L/∂v at ((1 − θ)q₀ + θq₁, (q₁ − q₀)/dt), and dt L is the discrete Lagrangian",
        "BM Example 5.10",
        SystemIntegrator,
        (_X, _F),
        _lagrangian_theta,
        applies=_is_lagrangian_theta_method,
    ),
    Law(
        "stormer_verlet",
        "p = p₀ − dt/2 ∂_qH(q₀, p), q₁ − dt/2 ∂_pH(q₁, p) = q₀ + dt/2 ∂_pH(q₀, p), p₁ = p − dt/2 ∂_qH(q₁, p)",
        "BM Example 6.1",
        Composition,
        (_X, _F),
        _stormer_verlet,
        applies=_is_stormer_verlet,
    ),
    Law(
        "lagrangian_with_inner_node",
        "p₀ = −D₁L₁(q₀, q₁), D₂L₁(q₀, q₁) + D₁L₂(q₁, q₂) = 0, p₂ = D₂L₂(q₁, q₂), with L at the first point in L₁, at the last in L₂",
        "BM §6",
        SystemIntegrator,
        (_X, _F),
        _inner_node,
        applies=_has_inner_node,
    ),
)
