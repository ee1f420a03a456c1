r"""Separable Hamiltonians and the exact flows of their parts: explicit steps.

.. math:: H(q, p) = T(p) + V(q), \qquad \text{kick: } (q, p - dt\,\rho^T dV(q)), \qquad \text{drift: } (q + dt\,T'(p), p) .
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, describe, number, require_instances, time_step
from groupoid_mech._types import Covector, Function, Point, Scalar
from groupoid_mech.algebroids.dual_bundle import DualBundle
from groupoid_mech.discretization.discretization_map import groupoid_of
from groupoid_mech.discretization.integrator import Integrator, Taken, explicit
from groupoid_mech.discretization.lifted_map import require_scalar_function
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groups.product import ProductGroup
from groupoid_mech.groups.translations import Translations
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.mechanics.system import parameters_as_arrays
from groupoid_mech.numerics.matrix import matvec


@final
class Separable(eqx.Module):
    r"""The Hamiltonian :math:`H(q, p) = T(p) + V(q)`: on a flat space, the methods that can be are explicit.

    The components of p are those in the frame at q. Where that frame jumps, as those of spheres do at the equator, T has to be
    isotropic, a function of :math:`|p|`: another one jumps with the frame, and is no smooth function on :math:`T^*Q`.

    Args:
        kinetic: The function T of the momentum.
        potential: The function V of the point.

    Example:
        >>> pendulum = Separable(lambda p: p[0] ** 2 / 2, lambda q: -jnp.cos(q[0]))
        >>> pendulum(jnp.zeros(1), jnp.ones(1))
        Array(-0.5, dtype=float64)
    """

    kinetic: Callable[[Covector], Scalar]
    potential: Function

    def __init__(self, kinetic: Callable[[Covector], Scalar], potential: Function):
        for name, part in (("kinetic", kinetic), ("potential", potential)):
            if not callable(part):
                raise ArgumentError(
                    f"Separable needs {name} to be a function; got {describe(part)}. Give the functions T of p and V of q, as in "
                    f"Separable(lambda p: p @ p / 2, lambda q: -jnp.cos(q[0]))."
                )
        self.kinetic = parameters_as_arrays(as_pytree(kinetic))
        self.potential = parameters_as_arrays(as_pytree(potential))

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return self.kinetic(p) + self.potential(q)


@final
class Kick(Integrator):
    r"""The exact flow :math:`(q, p) \mapsto (q, p - dt\,\rho(q)^T dV(q))` of a potential V on :math:`A^*G`, for every groupoid.

    Args:
        potential: The function V on the base.
        space: A Lie groupoid, or a manifold for its pair groupoid.
        dt: The time step.
    """

    potential: Function
    groupoid: LieGroupoid
    dt: Scalar
    space: DualBundle

    def __init__(self, potential: Function, space: Manifold | LieGroupoid, dt: ArrayLike):
        self.groupoid = groupoid_of("Kick", space)
        require_scalar_function("Kick", potential, self.groupoid.base.point_like())
        self.potential = parameters_as_arrays(as_pytree(potential))
        self.dt = time_step("Kick", dt)
        self.space = DualBundle(self.groupoid.base, self.groupoid.rank)

    def begin(self, x: Point) -> Any:
        return ()

    def advance(self, x: Point, memory: Any) -> tuple[Taken, Any]:
        q, p = x
        force = frame_derivatives(self.groupoid.base, self.potential, q)
        if not isinstance(self.groupoid, PairGroupoid):  # of which the anchor is the identity
            force = matvec(self.groupoid.anchor(q).T, force)
        return explicit((q, p - self.dt * force)), ()

    def with_step(self, dt: ArrayLike) -> "Kick":
        return eqx.tree_at(lambda kick: kick.dt, self, number("Kick.with_step", "dt", dt))

    def adjoint(self) -> "Kick":
        return self


@final
class Drift(Integrator):
    r"""The exact flow :math:`(q, p) \mapsto (q + dt\,T'(p), p)` of a kinetic energy T(p) on a flat manifold.

    Args:
        kinetic: The function T of the momentum.
        manifold: A Euclidean space, a torus, a group of translations, or a product of these.
        dt: The time step.
    """

    kinetic: Callable[[Covector], Scalar]
    dt: Scalar
    space: DualBundle

    def __init__(self, kinetic: Callable[[Covector], Scalar], manifold: Manifold, dt: ArrayLike):
        require_instances("Drift", "manifold", (manifold,), Manifold)
        if not is_flat(manifold):
            raise ArgumentError(
                f"Drift needs a flat manifold, a Euclidean space, a torus, a group of translations or a product of these; got {manifold}. "
                f"Elsewhere take hamiltonian_integrator of the kinetic energy."
            )
        require_scalar_function("Drift", kinetic, jnp.zeros(manifold.dim))
        self.kinetic = parameters_as_arrays(as_pytree(kinetic))
        self.dt = time_step("Drift", dt)
        self.space = DualBundle(manifold, manifold.dim)

    def begin(self, x: Point) -> Any:
        return ()

    def advance(self, x: Point, memory: Any) -> tuple[Taken, Any]:
        q, p = x
        return explicit((self.space.base.retract(q, self.dt * jax.grad(self.kinetic)(p)), p)), ()

    def with_step(self, dt: ArrayLike) -> "Drift":
        return eqx.tree_at(lambda drift: drift.dt, self, number("Drift.with_step", "dt", dt))

    def adjoint(self) -> "Drift":
        return self


def is_flat(manifold: Manifold) -> bool:
    """Whether coordinates add: Euclidean spaces, tori, groups of translations, and products of these."""
    if isinstance(manifold, (ProductManifold, ProductGroup)):
        return all(is_flat(factor) for factor in manifold.factors)
    return isinstance(manifold, (Euclidean, Torus, Translations))


def is_flat_pair(groupoid: LieGroupoid) -> bool:
    """Whether a groupoid is the pair groupoid of a flat manifold."""
    return isinstance(groupoid, PairGroupoid) and is_flat(groupoid.base)
