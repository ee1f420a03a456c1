r"""Orbits: the points that a one-step method goes through.

Convention: n kept steps give n + 1 points :math:`x_0, \dots, x_n`, at the times ``times``. Orbits that ``jax.vmap`` ran together are one
`Orbit` whose arrays have the axes of the batch before that of time.
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
from groupoid_mech.mechanics.archive import description, read_archive, write_archive
from groupoid_mech.numerics.quick_jit import quick_jit

_KIND = "orbit"
_STACKED = ("points", "residuals", "iterations", "converged", "numbers")
# Points may start 1e-8 away from their manifold, and a distance may grow along a run.
_ON_MANIFOLD = 1e-6
_ROWS = 1024


@final
class Orbit(eqx.Module):
    r"""The points :math:`x_0, \dots, x_n` of a one-step method, and how each step went.

    Of a batch, ``jax.vmap(lambda x: method.run(x, n))(starts)``, ``end``, ``times`` and ``observe`` give the values of all members, with
    the axes of the batch first; one member is ``jax.tree.map(lambda leaf: leaf[k], orbit)``.

    Args:
        space: The manifold of the points.
        dt: The time step.
        points: The points, stacked: one more than steps were kept.
        residuals: The defect of the equations in each step (the worst since the last kept one).
        iterations: How often the equations of each step were evaluated to solve them; 0 for an explicit method, the most of its parts for a
            composition. Mostly three to eight; many more are a sign that steps are too long, and then the solution found may not be the one
            that grows out of short steps.
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
        """The number of kept steps, of each member of a batch."""
        return int(self.residuals.shape[-1])

    @property
    def times(self) -> Array:
        """The times of the points, 0 at the start."""
        if not self._batch_axes:
            return self.dt * jnp.concatenate([jnp.zeros(1, int), self.numbers])
        zeros = jnp.zeros((*self.numbers.shape[:-1], 1), int)
        return jnp.expand_dims(self.dt, -1) * jnp.concatenate([zeros, self.numbers], axis=-1)

    @property
    def end(self) -> Point:
        """The last point, to go on from."""
        last: Any = (*[slice(None)] * self._batch_axes, -1)
        if not is_concrete(self.points):
            return jax.tree.map(lambda leaf: leaf[last], self.points)
        # By numpy: a slice of jax.numpy is a program to compile for every length of an orbit.
        return jax.device_put(jax.tree.map(lambda leaf: np.asarray(leaf)[last], self.points))

    def observe(self, observable: Callable[..., Any]) -> Array:
        r"""The values of a function along the orbit.

        Args:
            observable: A function ``f(x)`` of a point; for an orbit in a vector bundle, as that of a Hamiltonian method, whose points are
                ``(q, p)``, a function ``f(q, p)``.
        """
        return _observe(as_pytree(observable), self.points, isinstance(self.space, VectorBundle), self._batch_axes)

    def save(self, path: str | Path) -> None:
        """Write all arrays to one ``.npz`` file with a readable header; `load_orbit` gives the orbit back. The file holds no code."""
        self.require_single("Orbit.save")
        header = {"space": type(self.space).__name__, "manifold": description(self.space), "failure": self.failure}
        write_archive(path, _KIND, header, _arrays(self))

    def require_single(self, owner: str) -> None:
        """Refuse a batch, on behalf of ``owner``."""
        if self._batch_axes:
            raise ArgumentError(
                f"{owner} needs one orbit; got a batch of shape {self.residuals.shape[:-1]}. "
                f"Take one member: jax.tree.map(lambda leaf: leaf[k], orbit)."
            )

    @property
    def _batch_axes(self) -> int:
        """How many axes there are before that of time: the residual of one step is a number."""
        return self.residuals.ndim - 1


def load_orbit(path: str | Path, space: Manifold) -> Orbit:
    """An orbit from a file that ``Orbit.save`` wrote.

    Args:
        path: The file.
        space: The manifold of the points. Files hold numbers and the name of the manifold; one that was written for another manifold, or
            whose points are not on this one, is refused.
    """
    require_instances("load_orbit", "space", (space,), Manifold)
    header, arrays = read_archive(path, _KIND)
    like = space.point_like()
    if header.get("space") != type(space).__name__:
        raise ArgumentError(
            f"load_orbit needs the manifold that the file was written for, {header.get('space')}; got {type(space).__name__}."
        )
    # Older files have the name of the class alone.
    written = header.get("manifold", description(space))
    if written != description(space):
        raise ArgumentError(
            f"load_orbit needs the manifold that the file was written for, {written}; got {description(space)}."
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
    found = jax.tree.unflatten(jax.tree.structure(like), leaves)
    gaps = _gaps(space, found, steps + 1)[np.append(True, arrays["converged.0"].astype(bool))]
    gap = float(np.max(gaps, initial=0.0, where=np.isfinite(gaps)))
    if gap > _ON_MANIFOLD:
        raise ArgumentError(
            f"load_orbit needs points on {description(space)}; those in {path} are off by {gap:.3g} (allowed {_ON_MANIFOLD:g}). "
            f"Give the manifold that the orbit was computed on, with the same parameters."
        )
    points = jax.tree.map(jnp.asarray, found)
    rest: dict[str, Any] = {name: jnp.asarray(arrays[f"{name}.0"]) for name in _STACKED[1:]}
    return Orbit(space, jnp.asarray(arrays["dt.0"][0]), points, failure=str(header.get("failure", "")), **rest)


def _gaps(space: Manifold, points: Point, count: int) -> np.ndarray:
    """How far each point is from the manifold; in parts of equal length, as each length is a program to compile."""
    parts = [np.minimum(np.arange(first, first + _ROWS), count - 1) for first in range(0, count, _ROWS)]
    gaps = [np.asarray(_violations(space, jax.tree.map(lambda leaf, rows=rows: leaf[rows], points))) for rows in parts]
    return np.concatenate(gaps)[:count]


@quick_jit
def _violations(space: Manifold, points: Point) -> Array:
    return jax.vmap(space.violation)(points)


def _arrays(orbit: Orbit) -> dict[str, np.ndarray]:
    named = {name: getattr(orbit, name) for name in _STACKED} | {"dt": jnp.reshape(orbit.dt, (1,))}
    return {
        f"{name}.{k}": np.asarray(leaf)
        for name, value in named.items()
        for k, leaf in enumerate(jax.tree.leaves(value))
    }


@eqx.filter_jit
def _observe(observable: Callable[..., Any], points: Point, bundle: bool, batch_axes: int) -> Array:
    along: Callable[..., Any] = (lambda x: observable(*x)) if bundle else observable
    for _ in range(1 + batch_axes):
        along = jax.vmap(along)
    return along(points)
