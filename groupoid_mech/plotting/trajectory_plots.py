"""Pictures of trajectories: the path, the energy, what is conserved, constraints and residuals.

matplotlib is imported when the first picture is drawn, not before. Every function draws into given axes or makes a figure.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from groupoid_mech._arguments import describe
from groupoid_mech.errors import ArgumentError
from groupoid_mech.mechanics.trajectory import Trajectory
from groupoid_mech.plotting.paths import draw_coordinates, draw_paths, visible_paths
from groupoid_mech.systems.model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROUND_OFF = float(np.finfo(float).eps)


def plot(trajectory: Trajectory, model: Model | None = None) -> "Figure":
    """One figure of a trajectory: path, momenta, residuals; with its model also energy and invariants; constraints if there are any.

    Args:
        trajectory: The trajectory.
        model: The model it was made from: it knows the time step, the energy and the invariants.

    Example:
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from groupoid_mech import systems
        >>> pendulum = systems.spherical_pendulum()
        >>> len(plot(pendulum.simulate(200), pendulum).axes)
        5
    """
    import matplotlib.pyplot as plt

    _require_trajectory("plot", trajectory)
    panels: list[Callable[..., Any]] = [plot_momenta]
    if model is not None and model.energy is not None:
        panels.append(plot_energy)
    if model is not None and model.invariants:
        panels.append(plot_invariants)
    if trajectory.multipliers.shape[1]:
        panels.append(plot_constraints)
    panels.append(plot_residuals)
    rows = (len(panels) + 1) // 2
    figure = plt.figure(figsize=(12, max(4.5, 2.4 * rows)), layout="constrained")
    grid = figure.add_gridspec(rows, 3)
    plot_path(trajectory, model, figure.add_subplot(grid[:, 0], projection=_projection(_paths(trajectory))))
    for position, panel in enumerate(panels):
        panel(trajectory, model, figure.add_subplot(grid[position // 2, 1 + position % 2]))
    figure.suptitle(_title(trajectory, model))
    return figure


def plot_path(trajectory: Trajectory, model: Model | None = None, axes: "Axes | None" = None) -> "Axes":
    """The path of the base points, in space or in the plane, or all their coordinates over time; over a group, where there is one base
    point, that of the momentum.
    """
    _require_trajectory("plot_path", trajectory)
    paths, (name, letter, points) = _paths(trajectory), _drawn_part(trajectory)
    axes = _axes(axes, _projection(paths))
    if paths:
        draw_paths(axes, paths)
    else:
        times, label = _times(trajectory, model)
        draw_coordinates(axes, times, points, letter)
        axes.set_xlabel(label)
    axes.set_title(name)
    return axes


def plot_momenta(trajectory: Trajectory, model: Model | None = None, axes: "Axes | None" = None) -> "Axes":
    """The components of the momentum over time, in the frame of the algebroid."""
    _require_trajectory("plot_momenta", trajectory)
    return _over_time(trajectory, model, axes, {"": np.asarray(trajectory.momenta)}, "momentum")


def plot_energy(trajectory: Trajectory, model: Model, axes: "Axes | None" = None) -> "Axes":
    """The relative error of the energy over time."""
    _require_trajectory("plot_energy", trajectory)
    energy = np.asarray(model.energies(trajectory))
    return _over_time(trajectory, model, axes, {"": relative_drift(energy)}, "energy: relative error")


def plot_invariants(trajectory: Trajectory, model: Model, axes: "Axes | None" = None) -> "Axes":
    """The relative errors of the invariants over time."""
    _require_trajectory("plot_invariants", trajectory)
    values = {name: relative_drift(np.asarray(v)) for name, v in model.invariant_values(trajectory).items()}
    return _over_time(trajectory, model, axes, values, "invariants: relative error")


def plot_constraints(trajectory: Trajectory, model: Model | None = None, axes: "Axes | None" = None) -> "Axes":
    """The size of each constraint over time."""
    _require_trajectory("plot_constraints", trajectory)
    values = np.abs(np.asarray(trajectory.constraint_values()))
    return _sizes(trajectory, model, axes, {f"φ{i + 1}": column for i, column in enumerate(values.T)}, "constraints")


def plot_residuals(trajectory: Trajectory, model: Model | None = None, axes: "Axes | None" = None) -> "Axes":
    """The residual of the discrete Euler–Lagrange equations in every step."""
    _require_trajectory("plot_residuals", trajectory)
    return _sizes(trajectory, model, axes, {"": np.asarray(trajectory.residuals)}, "residual of the equations")


def relative_drift(values: np.ndarray) -> np.ndarray:
    """The change of a quantity since the start, relative to its largest value, or to 1 if that is zero."""
    return (values - values[0]) / (np.max(np.abs(values)) or 1.0)


def _paths(trajectory: Trajectory) -> list[np.ndarray]:
    base = trajectory.system.groupoid.base
    return visible_paths(base if base.dim else None, _drawn_part(trajectory)[2])


def _drawn_part(trajectory: Trajectory) -> tuple[str, str, Any]:
    """A title, a letter and stacked points: the base points, or the momenta where there is one base point alone."""
    if trajectory.system.groupoid.base.dim:
        return "path", "q", trajectory.base_points
    return "path of the momentum", "p", trajectory.momenta


def _projection(paths: list[np.ndarray]) -> str | None:
    return "3d" if paths and paths[0].shape[1] == 3 else None


def _times(trajectory: Trajectory, model: Model | None) -> tuple[np.ndarray, str]:
    if model is None:
        return np.concatenate([[0], np.asarray(trajectory.numbers)]), "step"
    return np.asarray(model.times(trajectory)), "time"


def _over_time(
    trajectory: Trajectory, model: Model | None, axes: "Axes | None", lines: dict[str, np.ndarray], title: str
) -> "Axes":
    axes = _axes(axes)
    times, label = _times(trajectory, model)
    for name, values in lines.items():
        axes.plot(times, values, linewidth=0.8, label=name)
    return _finished(axes, label, title, legend=any(lines))


def _sizes(
    trajectory: Trajectory, model: Model | None, axes: "Axes | None", lines: dict[str, np.ndarray], title: str
) -> "Axes":
    axes = _axes(axes)
    times, label = _times(trajectory, model)
    for name, values in lines.items():
        # An exact zero has no logarithm: it is drawn below round-off.
        axes.semilogy(times[1:], np.maximum(values, 0.1 * _ROUND_OFF), ".", markersize=2, label=name)
    return _finished(axes, label, title, legend=any(lines))


def _finished(axes: "Axes", label: str, title: str, *, legend: bool) -> "Axes":
    axes.set_xlabel(label)
    axes.set_title(title, fontsize="medium")
    if legend:
        axes.legend(fontsize="small")
    return axes


def _axes(axes: "Axes | None", projection: str | None = None) -> Any:
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.figure(layout="constrained").add_subplot(projection=projection)


def _title(trajectory: Trajectory, model: Model | None) -> str:
    steps = int(trajectory.numbers[-1]) if len(trajectory) else 0
    name = type(trajectory.system.groupoid).__name__ if model is None else model.name
    return f"{name}, {steps:,} steps" + (" (stopped early)" if trajectory.failure else "")


def _require_trajectory(owner: str, trajectory: Any) -> None:
    if not isinstance(trajectory, Trajectory):
        raise ArgumentError(f"{owner} needs a Trajectory, as system.simulate returns; got {describe(trajectory)}.")
    trajectory.require_single(owner)
