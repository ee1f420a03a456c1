"""Pictures of orbits: where a one-step method goes, what it keeps, and how well it solved its equations."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from groupoid_mech._arguments import describe
from groupoid_mech._types import Point
from groupoid_mech.discretization.orbit import Orbit
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groups.product import ProductGroup
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle
from groupoid_mech.plotting.paths import draw_coordinates, draw_paths, visible_paths
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

    Points in space or the plane are drawn there, one path for each factor of a product, motions by their translations; one degree of freedom
    in the phase plane, a momentum without base point in its own space; all else by all coordinates over time.

    Args:
        orbit: The orbit; of a batch, one member.
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
    orbit.require_single("plot_orbit")
    _require_model_and_observables(model, observables)
    lines = {}
    if model is not None:
        lines = {"energy": model.energies(orbit)} | model.invariant_values(orbit)
    lines |= {name: orbit.observe(function) for name, function in (observables or {}).items()}
    figure = plt.figure(figsize=(12, 4), layout="constrained")
    grid = figure.add_gridspec(1, 3 if lines else 2)
    times = np.asarray(orbit.times)
    _draw_path(figure, grid[0], orbit, times)
    axes: Any
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
    name = _title(orbit.space) if model is None else model.name
    steps = int(orbit.numbers[-1]) if len(orbit) else 0
    figure.suptitle(f"{name}, {steps:,} steps" + (" (stopped early)" if orbit.failure else ""))
    return figure


def _require_model_and_observables(model: Any, observables: Any) -> None:
    if model is not None and not isinstance(model, HamiltonianModel):
        raise ArgumentError(
            f"plot_orbit needs model to be a HamiltonianModel, as gm.systems.pendulum() is; got {describe(model)}. "
            f'Give functions by name: plot_orbit(orbit, observables={{"energy": H}}).'
        )
    if observables is None:
        return
    if not isinstance(observables, Mapping) or not all(callable(function) for function in observables.values()):
        raise ArgumentError(
            f"plot_orbit needs observables to be functions by name; got {describe(observables)}. "
            f'Give a dictionary: plot_orbit(orbit, observables={{"energy": H}}).'
        )


def _draw_path(figure: "Figure", place: Any, orbit: Orbit, times: np.ndarray) -> None:
    letter, base, points = _drawn_part(orbit)
    axes: Any
    if letter == "q" and [leaf.shape[1:] for leaf in jax.tree.leaves(orbit.points)] == [(1,), (1,)]:
        axes = figure.add_subplot(place)
        phase = np.concatenate([np.asarray(leaf) for leaf in jax.tree.leaves(orbit.points)], axis=1)
        axes.plot(*phase.T, linewidth=0.8)
        axes.plot(*phase[:1].T, "o", color="black", markersize=4)
        axes.set_xlabel("q")
        axes.set_ylabel("p")
    elif paths := visible_paths(base, points):
        size = paths[0].shape[1]
        axes = figure.add_subplot(place, projection="3d" if size == 3 else None)
        draw_paths(axes, paths)
        for number, axis in enumerate("xyz"[:size], 1):
            getattr(axes, f"set_{axis}label")(f"{letter}{number}")
        if size == 3:
            axes.locator_params(nbins=5)
            axes.tick_params(labelsize="x-small", pad=0)
            axes.zaxis.labelpad = -5  # the layout leaves no room for a label beside axes in space
    else:
        axes = figure.add_subplot(place)
        draw_coordinates(axes, times, points, letter)
        axes.set_xlabel("time")
    axes.set_title("path", fontsize="medium")


def _drawn_part(orbit: Orbit) -> tuple[str, Manifold | None, Point]:
    """The base points, or the momenta where there is one base point alone; with a letter for them."""
    space = orbit.space
    if not isinstance(space, VectorBundle):
        return "x", space, orbit.points
    return ("q", space.base, orbit.points[0]) if space.base.dim else ("p", None, orbit.points[1])


def _title(space: Manifold) -> str:
    if not isinstance(space, VectorBundle):
        return f"orbit in {_name(space)}"
    return f"orbit over {_name(space.base)}" if space.base.dim else f"orbit in R^{space.rank}"


def _name(M: Manifold) -> str:
    """A manifold in short, as ``Sphere(2) × SO3``."""
    if isinstance(M, (ProductManifold, ProductGroup)):
        return " × ".join(_name(factor) for factor in M.factors)
    chosen = any(field.name == "dim" and field.init for field in dataclasses.fields(M))
    return type(M).__name__ + (f"({M.dim})" if chosen else "")
