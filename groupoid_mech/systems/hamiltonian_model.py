"""A named Hamiltonian system: the Hamiltonian with a start, a step size and what its flow keeps."""

from collections.abc import Mapping
from typing import Any, final

import equinox as eqx
from jax.typing import ArrayLike

from groupoid_mech._types import Array, Point, Scalar
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.hamiltonian_family import Hamiltonian
from groupoid_mech.discretization.hamiltonian_integrator import hamiltonian_integrator
from groupoid_mech.discretization.integrator import Integrator
from groupoid_mech.discretization.orbit import Orbit
from groupoid_mech.discretization.theta_map import theta_map
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.mechanics.discretize import AlgebroidFunction
from groupoid_mech.systems.model import Observable


@final
class HamiltonianModel(eqx.Module):
    r"""A Hamiltonian system on :math:`A^*G` that is ready to run by any method.

    Args:
        name: What it is called.
        groupoid: The groupoid G; the pair groupoid of Q for a system on :math:`T^*Q`.
        hamiltonian: The function ``H(q, p)``, with ``p`` in the dual frame of the algebroid at ``q``.
        start: The point ``(q, p)`` where it starts.
        dt: A time step that suits it.
        invariants: Functions of (q, p) that the continuous flow keeps exactly besides H, by name. Which of them a method keeps too
            depends on the method.
        lagrangian: The Lagrangian ``l(q, v)`` on AG whose Legendre transform H is; or none.
    """

    name: str = eqx.field(static=True)
    groupoid: LieGroupoid
    hamiltonian: Hamiltonian
    start: Point
    dt: Scalar
    invariants: Mapping[str, Observable]
    lagrangian: AlgebroidFunction | None

    def integrator(self, map: DiscretizationMap | None = None, dt: ArrayLike | None = None) -> Integrator:
        r"""The method of a discretization map, `hamiltonian_integrator`.

        Args:
            map: The discretization map; if not given, that of the midpoint rule, ``theta_map(groupoid, 0.5)``.
            dt: The time step; if not given, that of the model.
        """
        R = theta_map(self.groupoid, 0.5) if map is None else map
        return hamiltonian_integrator(self.hamiltonian, R, self.dt if dt is None else dt)

    def simulate(self, steps: int, method: Integrator | None = None, **options: Any) -> Orbit:
        """The orbit of ``steps`` steps from the model's start.

        Args:
            steps: The number of steps.
            method: The method; if not given, ``integrator()``.
            **options: Those of ``Integrator.run``.
        """
        return (self.integrator() if method is None else method).run(self.start, steps, **options)

    def energies(self, orbit: Orbit) -> Array:
        """The values of H along an orbit."""
        return orbit.observe(self.hamiltonian)

    def invariant_values(self, orbit: Orbit) -> dict[str, Array]:
        """The values of all invariants along an orbit."""
        return {name: orbit.observe(invariant) for name, invariant in self.invariants.items()}
