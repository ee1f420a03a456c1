r"""Orbits: the points that a one-step method goes through.

Convention: n kept steps give n + 1 points :math:`x_0, \dots, x_n`, at the times ``times``.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import as_pytree, is_concrete, require_instances
from groupoid_mech._types import Array, Point, Scalar
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle
from groupoid_mech.mechanics.archive import read_archive, write_archive

_KIND = "orbit"
_STACKED = ("points", "residuals", "iterations", "converged", "numbers")


@final
class Orbit(eqx.Module):
    r"""The points :math:`x_0, \dots, x_n` of a one-step method, and how each step went.

    Args:
        space: The manifold of the points.
        dt: The time step.
        points: The points, stacked: one more than steps were kept.
        residuals: The defect of the equations in each step (the worst since the last kept one).
        iterations: How often the equations of each step were evaluated to solve them; 0 for an explicit method.
        converged: Whether each step succeeded.
        numbers: The numbers of the kept steps, from 1.
        failure: Why the run ended early; empty if it did not.
    """

    space: Manifold
    dt: Scalar
    points: Point
    residuals: Array
    iterations: Array
    converged: Array
    numbers: Array
    failure: str = eqx.field(static=True, default="")

    def __len__(self) -> int:
        return int(self.residuals.shape[0])

    @property
    def times(self) -> Array:
        """The times of the points, 0 at the start."""
        return self.dt * jnp.concatenate([jnp.zeros(1, int), self.numbers])

    @property
    def end(self) -> Point:
        """The last point, to go on from."""
        if not is_concrete(self.points):
            return jax.tree.map(lambda leaf: leaf[-1], self.points)
        # By numpy: a slice of jax.numpy is a program to compile for every length of an orbit.
        return jax.device_put(jax.tree.map(lambda leaf: np.asarray(leaf)[-1], self.points))

    def observe(self, observable: Callable[..., Any]) -> Array:
        r"""The values of a function along the orbit.

        Args:
            observable: A function ``f(x)`` of a point; for an orbit in a vector bundle, as that of a Hamiltonian method, whose points are
                ``(q, p)``, a function ``f(q, p)``.
        """
        return _observe(as_pytree(observable), self.points, isinstance(self.space, VectorBundle))

    def save(self, path: str | Path) -> None:
        """Write all arrays to one ``.npz`` file with a readable header; `load_orbit` gives the orbit back. The file holds no code."""
        write_archive(path, _KIND, {"space": type(self.space).__name__, "failure": self.failure}, _arrays(self))


def load_orbit(path: str | Path, space: Manifold) -> Orbit:
    """An orbit from a file that ``Orbit.save`` wrote.

    Args:
        path: The file.
        space: The manifold of the points. Files hold numbers alone; one that was written for another manifold is refused.
    """
    require_instances("load_orbit", "space", (space,), Manifold)
    header, arrays = read_archive(path, _KIND)
    like = space.point_like()
    if header.get("space") != type(space).__name__:
        raise ArgumentError(
            f"load_orbit needs the manifold that the file was written for, {header.get('space')}; got {type(space).__name__}."
        )
    leaves = [arrays.get(f"points.{k}") for k in range(len(jax.tree.leaves(like)))]
    wanted = {f"points.{k}" for k in range(len(leaves))} | {f"{name}.0" for name in (*_STACKED[1:], "dt")}
    if set(arrays) != wanted:
        raise ArgumentError(
            f"load_orbit found other arrays in {path} than an orbit has: {sorted(set(arrays) ^ wanted)}."
        )
    for leaf, want in zip(leaves, jax.tree.leaves(like), strict=True):
        if leaf is None or leaf.shape[1:] != want.shape:
            raise ArgumentError(f"load_orbit found points of another shape in {path} than {space} has.")
    steps = len(arrays["residuals.0"])
    rows = {name: array.shape[:1] for name, array in arrays.items()}
    expected = {name: (1 if name == "dt.0" else steps + name.startswith("points."),) for name in arrays}
    if rows != expected:
        raise ArgumentError(f"load_orbit found arrays in {path} whose rows do not match {steps} steps: {rows}.")
    points = jax.tree.unflatten(jax.tree.structure(like), [jnp.asarray(leaf) for leaf in leaves])
    rest: dict[str, Any] = {name: jnp.asarray(arrays[f"{name}.0"]) for name in _STACKED[1:]}
    return Orbit(space, jnp.asarray(arrays["dt.0"][0]), points, failure=str(header.get("failure", "")), **rest)


def _arrays(orbit: Orbit) -> dict[str, np.ndarray]:
    named = {name: getattr(orbit, name) for name in _STACKED} | {"dt": jnp.reshape(orbit.dt, (1,))}
    return {
        f"{name}.{k}": np.asarray(leaf)
        for name, value in named.items()
        for k, leaf in enumerate(jax.tree.leaves(value))
    }


@eqx.filter_jit
def _observe(observable: Callable[..., Any], points: Point, bundle: bool) -> Array:
    return jax.vmap((lambda x: observable(*x)) if bundle else observable)(points)
