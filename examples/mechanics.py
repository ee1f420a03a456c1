"""Discrete mechanics in two pictures: a ball that rolls on a rotating plate, and a spherical pendulum.

Run: python examples/mechanics.py
Writes demo_output/mechanics.png and prints what it found.
"""

from pathlib import Path

import jax.numpy as jnp
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import SubFigure

import groupoid_mech as gm
from groupoid_mech.systems import Model

OUTPUT = Path("demo_output")


def draw(model: Model, trajectory: gm.Trajectory, figure: SubFigure) -> None:
    """Trajectory, momentum and residual of one model, side by side."""
    spatial = trajectory.system.groupoid.base.dim == 2 and "pendulum" in model.name
    axes = [figure.add_subplot(1, 4, 1, projection="3d" if spatial else None)]
    axes += [figure.add_subplot(1, 4, place) for place in (2, 3, 4)]
    gm.plot_path(trajectory, model, axes[0])
    gm.plot_momenta(trajectory, model, axes[1])
    gm.plot_invariants(trajectory, model, axes[2])
    gm.plot_residuals(trajectory, model, axes[3])
    figure.suptitle(f"{model.name}, {len(trajectory):,} steps of {float(model.dt):g}")


def report(model: Model, trajectory: gm.Trajectory) -> None:
    """What holds along the trajectory, in numbers."""
    print(model.name)
    print(f"  steps                       {len(trajectory):,}")
    print(f"  residual of the equations   {float(jnp.max(trajectory.residuals)):.1e}")
    if trajectory.multipliers.shape[1]:
        print(f"  constraints                 {float(jnp.max(jnp.abs(trajectory.constraint_values()))):.1e}")
    for name, values in model.invariant_values(trajectory).items():
        print(f"  {name:27} {float(values[0]):.6f}, kept to {float(jnp.max(jnp.abs(values - values[0]))):.1e}")


def main() -> None:
    """Simulate, draw, report."""
    models = [gm.systems.plate_ball(), gm.systems.spherical_pendulum(velocity=(0.0, 0.8, 0.0))]
    figure = plt.figure(figsize=(16, 8), layout="constrained")
    for model, part in zip(models, figure.subfigures(2, 1), strict=True):
        trajectory = model.simulate(1500)
        draw(model, trajectory, part)
        report(model, trajectory)
    path = OUTPUT / "mechanics.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
