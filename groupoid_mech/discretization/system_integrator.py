r"""Discrete systems as one-step methods on :math:`A^*G`: the Hamiltonian map :math:`F^+ \circ (F^-)^{-1}`."""

from typing import Any, TypeAlias, final

import equinox as eqx
from jax.typing import ArrayLike

from groupoid_mech._arguments import number, require_instances
from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.algebroids.dual_bundle import DualBundle
from groupoid_mech.discretization.integrator import Integrator, Taken
from groupoid_mech.errors import ArgumentError
from groupoid_mech.mechanics.step import Start
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.mechanics.step_memory import StepMemory
from groupoid_mech.mechanics.system import DiscreteSystem

Memory: TypeAlias = tuple[Vector | None, StepMemory]


@final
class SystemIntegrator(Integrator):
    r"""The Hamiltonian map :math:`(q, p) \mapsto (q', p')` of a `DiscreteSystem` as a one-step method: a Poisson map of :math:`A^*G`.

    Args:
        system: The system, of a `StepFamily`: the Lagrangian knows its time step.

    Example:
        >>> import groupoid_mech as gm, jax.numpy as jnp
        >>> from groupoid_mech.discretization.hamiltonian_family import hamiltonian_system
        >>> H = lambda q, p: p[0] ** 2 / 2 - jnp.cos(q[0])
        >>> method = SystemIntegrator(hamiltonian_system(H, gm.theta_map(gm.Euclidean(1), 0.5), dt=0.1))
        >>> energies = method.run((jnp.ones(1), jnp.zeros(1)), 1000).observe(H)
        >>> bool(jnp.max(jnp.abs(energies - energies[0])) < 1e-3)
        True
    """

    system: DiscreteSystem
    dt: Scalar
    space: DualBundle

    def __init__(self, system: DiscreteSystem):
        require_instances("SystemIntegrator", "system", (system,), DiscreteSystem)
        if not isinstance(system.lagrangian, StepFamily):
            raise ArgumentError(
                f"SystemIntegrator needs a system of a StepFamily, which knows its time step; its Lagrangian is "
                f"{type(system.lagrangian).__name__}. Make it by hamiltonian_system, lagrangian_system or galerkin_system, "
                f"or run system.simulate."
            )
        self.system = system
        self.dt = system.lagrangian.dt
        self.space = DualBundle(system.groupoid.base, system.groupoid.rank)

    def begin(self, x: Point) -> Memory:
        start = self.system.start_at(*x)
        # Auxiliary variables may be in frames that differ from step to step: there the family is asked again in every step.
        return None if self.system.auxiliary else start.reference, start.memory

    def advance(self, x: Point, memory: Memory) -> tuple[Taken, Memory]:
        q, p = x
        reference, differences = memory
        expected = self.system.start_at(q, p).reference if reference is None else reference
        following, step = self.system.step(Start(q, p, expected, differences))
        taken = Taken((step.point, step.momentum), step.residual, step.iterations, step.converged)
        return taken, (None if reference is None else following.reference, following.memory)

    def with_step(self, dt: ArrayLike) -> "SystemIntegrator":
        return self._of(self._family.with_step(number("SystemIntegrator.with_step", "dt", dt)))

    def adjoint(self) -> "SystemIntegrator":
        return self._of(self._family.adjoint())

    @property
    def _family(self) -> StepFamily:
        family: Any = self.system.lagrangian
        return family

    def _of(self, family: StepFamily) -> "SystemIntegrator":
        return eqx.tree_at(lambda method: (method.system.lagrangian, method.dt), self, (family, family.dt))
