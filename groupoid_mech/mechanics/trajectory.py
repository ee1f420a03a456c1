r"""Trajectories: sequences of composable arrows with their multipliers and momenta.

Convention: n arrows :math:`g_1, \dots, g_n` join n + 1 base points :math:`q_0, \dots, q_n` with momenta :math:`p_k \in A^*_{q_k}G`:
:math:`p_0 = F^-(g_1)`, :math:`p_k = F^+(g_k)`.
"""

import dataclasses
from pathlib import Path
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import as_pytree, is_concrete, traced_shape
from groupoid_mech._types import Array, Covector, Function, Point, Vector, VectorField
from groupoid_mech.errors import ArgumentError
from groupoid_mech.mechanics.archive import description, read_archive, write_archive
from groupoid_mech.mechanics.step import Start


@final
class Trajectory(eqx.Module):
    r"""A computed trajectory of a discrete system; every array has one row per kept arrow, base points and momenta one more.

    Trajectories that ``jax.vmap`` computed together are one `Trajectory` whose arrays have the axes of the batch first: its methods are to be
    mapped too, ``jax.vmap(lambda one: one.noether(X))(batch)``.

    Args:
        system: The system that was simulated.
        arrows: The arrows :math:`g_k`, stacked.
        auxiliary: The auxiliary variables :math:`u_k`.
        multipliers: The multipliers :math:`\lambda_k`.
        base_points: The base points, the first one included.
        momenta: The momenta at the base points.
        residuals: The largest of :math:`|F^- - p|/(1 + |p|)` and :math:`|\partial_s L|` in each step; of a thinned run, in all steps since
            the arrow kept before.
        iterations: How often the equations of each step were evaluated to solve them; of a thinned run, at most.
        converged: Whether each step was solved.
        numbers: Which arrows these are, counted from 1: all of them unless the run was thinned.
        end: Where the next step would begin; ``system.simulate(trajectory.end, more)`` goes on, bit by bit as one run would.
        failure: What stopped the run before its end; empty if nothing did.
    """

    system: Any
    arrows: Point
    auxiliary: Vector
    multipliers: Vector
    base_points: Point
    momenta: Covector
    residuals: Array
    iterations: Array
    converged: Array
    numbers: Array
    end: Start
    failure: str = eqx.field(static=True, default="")

    def __len__(self) -> int:
        """The number of kept arrows, of each member of a batch."""
        return int(self.residuals.shape[-1])

    def noether(self, X: VectorField, f: Function | None = None) -> Array:
        r"""The quantity :math:`F_X = \langle p, X(q)\rangle + f(q)` at every kept base point; constant when X is a Noether symmetry. MMS Theorem 4.9.

        Args:
            X: A section of the algebroid, from a base point to coordinates.
            f: A function on the base; none for an invariant Lagrangian.
        """
        self.require_single("Trajectory.noether")
        G = self.system.groupoid
        shape = traced_shape(X, G.base.point_like())
        if getattr(shape, "shape", None) != (G.rank,):
            raise ArgumentError(
                f"Trajectory.noether needs a section X with values of shape ({G.rank},), the rank of the algebroid; got {shape}."
            )
        return _noether(as_pytree(X), None if f is None else as_pytree(f), self.base_points, self.momenta)

    def euler_lagrange_defects(self) -> Array:
        r"""The defects :math:`F^+(g_k, s_k) - F^-(g_{k+1}, s_{k+1})`, computed anew from arrows and multipliers alone; shape (n − 1, rank).

        Needs a trajectory that was not thinned: its arrows follow one another.
        """
        self.require_single("Trajectory.euler_lagrange_defects")
        if is_concrete(self.numbers) and np.any(np.diff(np.asarray(self.numbers)) != 1):
            raise ArgumentError(
                "Trajectory.euler_lagrange_defects needs consecutive arrows; this run kept only some. Simulate with save_every=1."
            )
        return _euler_lagrange_defects(self)

    def constraint_values(self) -> Array:
        r"""The constraints :math:`\varphi(g_k)`, computed anew from the arrows; shape (n, number of constraints)."""
        self.require_single("Trajectory.constraint_values")
        return _constraint_values(self)

    def reduce(self, phi: Any) -> "Trajectory":
        r"""The image of the trajectory under a `SystemMorphism`; MMS Corollary 4.6."""
        return phi.reduce(self)

    def save(self, path: str | Path) -> None:
        """Write all arrays to one ``.npz`` file with a readable header: `load` gives the trajectory back. The file holds no code, so
        the system is not in it.
        """
        self.require_single("Trajectory.save")
        write_archive(path, _KIND, {"system": _signature(self.system), "failure": self.failure}, _arrays(self))

    def to_xarray(self) -> Any:
        """The trajectory as an ``xarray.Dataset`` with the dimensions ``arrow`` and ``point``, where xarray is installed."""
        self.require_single("Trajectory.to_xarray")
        try:
            import xarray  # type: ignore[import-not-found, unused-ignore]
        except ImportError as error:
            raise ArgumentError("Trajectory.to_xarray needs the package xarray: pip install xarray.") from error
        variables: dict[str, Any] = {}
        for name, along in (("arrows", "arrow"), ("base_points", "point")):
            for position, leaf in enumerate(jax.tree.leaves(getattr(self, name))):
                variables[f"{name}_{position}"] = _labelled(f"{name}_{position}", along, leaf)
        variables["momenta"] = _labelled("momenta", "point", self.momenta)
        for name in ("auxiliary", "multipliers", "residuals", "iterations", "converged"):
            variables[name] = _labelled(name, "arrow", getattr(self, name))
        numbers = np.asarray(self.numbers)
        first = int(numbers[0] - (numbers[1] - numbers[0] if len(numbers) > 1 else 1)) if len(numbers) else 0
        return xarray.Dataset(variables, coords={"arrow": numbers, "point": np.concatenate([[first], numbers])})

    def require_single(self, owner: str) -> None:
        """Refuse a batch, on behalf of ``owner``: the residual of one arrow is a number."""
        if self.residuals.ndim > 1:
            raise ArgumentError(
                f"{owner} needs one trajectory; this is a batch of shape {self.residuals.shape[:-1]}. "
                f"Take one member, jax.tree.map(lambda leaf: leaf[k], batch), or map the method with jax.vmap."
            )


def load(path: str | Path, system: Any) -> Trajectory:
    """A trajectory from a file that ``Trajectory.save`` wrote.

    Args:
        path: The file.
        system: The system it belongs to. Files hold numbers alone; one that was written for another kind of system is refused.
    """
    header, arrays = read_archive(path, _KIND)
    written, needed = header.get("system"), _signature(system)
    # Older files have the name of the groupoid's class alone.
    known = {"description": needed["description"], **written} if isinstance(written, dict) else written
    if known != needed:
        raise ArgumentError(f"load needs the system that the file was written for, {written}; got {needed}.")
    like = _arrays(_empty(system))
    if set(arrays) != set(like):
        raise ArgumentError(
            f"load found other arrays in {path} than a trajectory has: {sorted(set(arrays) ^ set(like))}."
        )
    for name, array in arrays.items():
        if array.dtype != like[name].dtype or array.shape[1:] != like[name].shape[1:]:
            raise ArgumentError(
                f"load found {name} with shape {array.shape} and dtype {array.dtype} in {path}; "
                f"needed rows of shape {like[name].shape[1:]} and dtype {like[name].dtype}."
            )
    arrow_rows = len(arrays["residuals.0"])
    for name, array in arrays.items():
        rows = 1 if name.startswith("end_") else arrow_rows + name.startswith(("base_points", "momenta"))
        if len(array) != rows:
            raise ArgumentError(f"load found {len(array)} rows of {name} in {path}; needed {rows}.")
    return _from_arrays(system, arrays, str(header.get("failure", "")))


_KIND = "trajectory"


def _signature(system: Any) -> dict[str, Any]:
    """What a file says about its system: enough to refuse another one."""
    shapes = jax.tree.leaves(system.groupoid.space.point_like())
    return {
        "groupoid": type(system.groupoid).__name__,
        "description": description(system.groupoid),
        "arrow": [list(leaf.shape) for leaf in shapes],
        "rank": system.groupoid.rank,
        "auxiliary": system.auxiliary,
        "multipliers": system.multipliers,
    }


def _empty(system: Any) -> Trajectory:
    """A trajectory of no arrows, for its structure."""
    G = system.groupoid

    def rows(like: Any, count: int) -> Any:
        return jax.tree.map(lambda leaf: jnp.zeros((count, *leaf.shape), leaf.dtype), like)

    return Trajectory(
        system,
        rows(G.space.point_like(), 0),
        jnp.zeros((0, system.auxiliary)),
        jnp.zeros((0, system.multipliers)),
        rows(G.base.point_like(), 1),
        jnp.zeros((1, G.rank)),
        jnp.zeros(0),
        jnp.zeros(0, int),
        jnp.zeros(0, bool),
        jnp.zeros(0, int),
        system.start_at(
            jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), G.base.point_like()),
            jnp.zeros(G.rank),
            jnp.zeros(system.unknowns),
        ),
    )


_STACKED = tuple(
    field.name for field in dataclasses.fields(Trajectory) if field.name not in ("system", "end", "failure")
)


def _arrays(trajectory: Trajectory) -> dict[str, np.ndarray]:
    """All arrays of a trajectory under flat names; the end is one row."""
    named = {name: getattr(trajectory, name) for name in _STACKED}
    named |= {
        f"end_{name}": jax.tree.map(lambda leaf: leaf[None], value) for name, value in vars(trajectory.end).items()
    }
    return {
        f"{name}.{position}": np.asarray(leaf)
        for name, value in named.items()
        for position, leaf in enumerate(jax.tree.leaves(value))
    }


def _from_arrays(system: Any, arrays: dict[str, np.ndarray], failure: str) -> Trajectory:
    like = _empty(system)

    def gathered(name: str, value: Any) -> Any:
        leaves = [jax.device_put(arrays[f"{name}.{position}"]) for position in range(len(jax.tree.leaves(value)))]
        return jax.tree.unflatten(jax.tree.structure(value), leaves)

    end = {name: jax.tree.map(lambda leaf: leaf[0], gathered(f"end_{name}", v)) for name, v in vars(like.end).items()}
    stacked = {name: gathered(name, getattr(like, name)) for name in _STACKED}
    return Trajectory(system=system, end=Start(**end), failure=failure, **stacked)


def _labelled(name: str, along: str, leaf: Array) -> tuple[list[str], np.ndarray]:
    array = np.asarray(leaf)
    return [along, *(f"{name}_axis_{axis}" for axis in range(array.ndim - 1))], array


@eqx.filter_jit
def _noether(X: VectorField, f: Function | None, points: Point, momenta: Covector) -> Array:
    def quantity(q: Point, p: Covector) -> Array:
        value = jnp.sum(p * X(q))
        return value if f is None else value + f(q)

    return jax.vmap(quantity)(points, momenta)


@eqx.filter_jit
def _euler_lagrange_defects(trajectory: Trajectory) -> Array:
    system, s = trajectory.system, jnp.concatenate([trajectory.auxiliary, trajectory.multipliers], axis=1)
    plus = jax.vmap(system.legendre_plus)(trajectory.arrows, s)
    minus = jax.vmap(system.legendre_minus)(trajectory.arrows, s)
    return plus[:-1] - minus[1:]


@eqx.filter_jit
def _constraint_values(trajectory: Trajectory) -> Array:
    system = trajectory.system
    if system.auxiliary:
        return jax.vmap(system.constraint_values)(trajectory.arrows, trajectory.auxiliary)
    return jax.vmap(system.constraint_values)(trajectory.arrows)
