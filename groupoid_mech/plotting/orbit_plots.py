"""Pictures of orbits: where a one-step method goes, what it keeps, and how well it solved its equations."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from groupoid_mech._arguments import describe
from groupoid_mech.discretization.orbit import Orbit
from groupoid_mech.errors import ArgumentError
from groupoid_mech.plotting.trajectory_plots import relative_drift
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROUND_OFF = float(np.finfo(float).eps)


def plot_orbit(
    orbit: Orbit,
    model: HamiltonianModel | None = None,
    observables: Mapping[str, Callable[..., Any]] | None = None,
) -> "Figure":
    """One figure of an orbit: the path, the relative errors of energy and invariants, the residuals.

    Args:
        orbit: The orbit.
        model: The model it was made from: its energy and invariants are drawn.
        observables: Further functions of a point, as ``Orbit.observe`` takes, by name.

    Example:
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from groupoid_mech import systems
        >>> pendulum = systems.pendulum()
        >>> len(plot_orbit(pendulum.simulate(200), pendulum).axes)
        3
    """
    import matplotlib.pyplot as plt

    if not isinstance(orbit, Orbit):
        raise ArgumentError(f"plot_orbit needs an Orbit, as Integrator.run returns; got {describe(orbit)}.")
    lines = {}
    if model is not None:
        lines = {"energy": model.energies(orbit)} | model.invariant_values(orbit)
    lines |= {name: orbit.observe(function) for name, function in (observables or {}).items()}
    path, labels = _path(orbit)
    figure = plt.figure(figsize=(12, 4), layout="constrained")
    grid = figure.add_gridspec(1, 3 if lines else 2)
    axes: Any = figure.add_subplot(grid[0], projection="3d" if path.shape[1] == 3 else None)
    times = np.asarray(orbit.times)
    if path.shape[1] in (2, 3):
        axes.plot(*path.T, linewidth=0.8)
        axes.plot(*path[:1].T, "o", color="black", markersize=4)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
    else:
        axes.plot(times, path, linewidth=0.8)
        axes.set_xlabel("time")
    axes.set_title("path", fontsize="medium")
    if lines:
        axes = figure.add_subplot(grid[1])
        for name, values in lines.items():
            axes.plot(times, relative_drift(np.asarray(values)), linewidth=0.8, label=name)
        axes.set_xlabel("time")
        axes.set_title("relative error", fontsize="medium")
        axes.legend(fontsize="small")
    axes = figure.add_subplot(grid[-1])
    # An exact zero has no logarithm: it is drawn below round-off.
    axes.semilogy(times[1:], np.maximum(np.asarray(orbit.residuals), 0.1 * _ROUND_OFF), ".", markersize=2)
    axes.set_xlabel("time")
    axes.set_title("residual of the equations", fontsize="medium")
    name = type(orbit.space).__name__ if model is None else model.name
    steps = int(orbit.numbers[-1]) if len(orbit) else 0
    figure.suptitle(f"{name}, {steps:,} steps" + (" (stopped early)" if orbit.failure else ""))
    return figure


def _path(orbit: Orbit) -> tuple[np.ndarray, tuple[str, str]]:
    """Columns to draw: the base points in space or the plane, the phase plane of one degree of freedom, or all coordinates over time."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(orbit.points)]
    flat = [leaf.reshape(len(leaf), -1) for leaf in leaves if leaf.size]
    if flat[0].shape[1] == 1 and len(flat) == 2:
        return np.concatenate(flat, axis=1), ("q", "p")
    return flat[0], ("", "")
