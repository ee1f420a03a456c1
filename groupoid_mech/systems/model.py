"""A named system: the discrete system with a start, its step size, its energy and what it keeps."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Covector, Point, Scalar, VectorField
from groupoid_mech.errors import ArgumentError
from groupoid_mech.mechanics.step import Start
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.mechanics.trajectory import Trajectory

Observable: TypeAlias = Callable[[Point, Covector], Scalar]


@final
class Model(eqx.Module):
    r"""A discrete system that is ready to run.

    Args:
        name: What it is called.
        system: The discrete system.
        start: Where it starts.
        dt: The time that one arrow takes.
        energy: The energy :math:`H(q, p)` of the continuous system on :math:`A^*G`, which the discrete flow keeps near its value; or none.
        invariants: Functions of (q, p) that the discrete flow keeps exactly, by name.
        symmetries: Sections X of the algebroid that are Noether symmetries (with f = 0), by name.
    """

    name: str = eqx.field(static=True)
    system: DiscreteSystem
    start: Start
    dt: Scalar
    energy: Observable | None
    invariants: Mapping[str, Observable]
    symmetries: Mapping[str, VectorField]

    def simulate(self, steps: int, **options: Any) -> Trajectory:
        """The trajectory of ``steps`` arrows from the model's start; options are those of ``DiscreteSystem.simulate``."""
        return self.system.simulate(self.start, steps, **options)

    def times(self, trajectory: Trajectory) -> Array:
        """The times of the base points of a trajectory, 0 at its start."""
        return self.dt * jnp.concatenate([jnp.zeros(1, int), trajectory.numbers])

    def energies(self, trajectory: Trajectory) -> Array:
        """The energy at the base points of a trajectory."""
        if self.energy is None:
            raise ArgumentError(f"Model.energies needs a model with an energy; {self.name} has none.")
        return observe(self.energy, trajectory)

    def invariant_values(self, trajectory: Trajectory) -> dict[str, Array]:
        """The values of all invariants at the base points of a trajectory."""
        return {name: observe(invariant, trajectory) for name, invariant in self.invariants.items()}


@eqx.filter_jit
def observe(observable: Observable, trajectory: Trajectory) -> Array:
    """The values of a function of (q, p) at the base points of a trajectory."""
    return jax.vmap(observable)(trajectory.base_points, trajectory.momenta)
