"""First steps: great circles and a geodesic triangle on the sphere, then the laws of SO(3).

Run: python examples/first_steps.py
Writes demo_output/first_steps.png and prints what it found.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import groupoid_mech as gm

S2 = gm.Sphere(2)
OUTPUT = Path("demo_output")


def arc(x: jax.Array, y: jax.Array, points: int = 60) -> jax.Array:
    """Points along the great circle from x to y: x itself moved along local(x, y)."""
    xi = S2.local(x, y)
    return jax.vmap(lambda t: S2.retract(x, t * xi))(jnp.linspace(0.0, 1.0, points))


def angle(x: jax.Array, y: jax.Array, z: jax.Array) -> jax.Array:
    """The angle at x of the triangle x, y, z: between two vectors in the frame at x, which is orthonormal."""
    u, v = S2.local(x, y), S2.local(x, z)
    return jnp.arccos(jnp.dot(u, v) / (jnp.linalg.norm(u) * jnp.linalg.norm(v)))


def triangle_angles(corners: list[jax.Array]) -> list[float]:
    """The three angles of a geodesic triangle."""
    x, y, z = corners
    return [float(angle(*order)) for order in ((x, y, z), (y, z, x), (z, x, y))]


def area(x: jax.Array, y: jax.Array, z: jax.Array) -> jax.Array:
    """The area of the triangle by a formula without angles: tan(A/2) = det / (1 + cosines)."""
    volume = jnp.abs(jnp.linalg.det(jnp.stack([x, y, z])))
    return 2 * jnp.arctan2(volume, 1 + x @ y + y @ z + z @ x)


def draw(corners: list[jax.Array], path: Path) -> None:
    """The sphere, great circles through the first corner in all directions, and the triangle."""
    figure = plt.figure(figsize=(6, 6))
    axes = figure.add_subplot(projection="3d")
    longitude, latitude = jnp.meshgrid(jnp.linspace(0, 2 * jnp.pi, 60), jnp.linspace(0, jnp.pi, 30))
    ball = [jnp.cos(longitude) * jnp.sin(latitude), jnp.sin(longitude) * jnp.sin(latitude), jnp.cos(latitude)]
    axes.plot_surface(*ball, color="lightsteelblue", alpha=0.25, linewidth=0)

    directions = jnp.linspace(0.0, jnp.pi, 7)[:-1]
    times = jnp.linspace(-jnp.pi, jnp.pi, 120)
    circle = jax.vmap(lambda t, s: S2.retract(corners[0], t * jnp.stack([jnp.cos(s), jnp.sin(s)])), (0, None))
    for direction in directions:
        axes.plot(*circle(times, direction).T, color="gray", linewidth=0.6)

    for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
        axes.plot(*arc(start, end).T, color="crimson", linewidth=2.5)
    axes.scatter(*jnp.stack(corners).T, color="black", s=25)
    axes.set_box_aspect((1, 1, 1), zoom=1.6)
    axes.set_axis_off()
    axes.view_init(elev=25, azim=30)
    axes.set_title("Great circles and a geodesic triangle on $S^2$")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, bbox_inches="tight")
    plt.close(figure)


def main() -> None:
    """Draw, measure, verify."""
    corners = [S2.project(jnp.array(c)) for c in ([1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.1, 1.0])]
    path = OUTPUT / "first_steps.png"
    draw(corners, path)

    angles = triangle_angles(corners)
    print("A geodesic triangle on the sphere")
    print(f"  angles           {', '.join(f'{a:.6f}' for a in angles)}")
    print(f"  sum of angles    {sum(angles):.12f}  (π + area)")
    print(f"  area             {float(area(*corners)):.12f}")
    print(f"  Gauss–Bonnet     {abs(sum(angles) - jnp.pi - area(*corners)):.1e}  (sum of angles − π − area)")

    print(f"  figure           {path}")

    print("\nThe laws of SO(3); compiling them takes about a minute ...", flush=True)
    print(gm.verify(gm.SO3()))


if __name__ == "__main__":
    main()
