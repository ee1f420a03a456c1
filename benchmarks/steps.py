"""Steps of discrete mechanics: the generic step of this package, plain JAX, scipy and C, in one run.

"ours" is ``DiscreteSystem.simulate`` as a user calls it: groupoid, Lagrangian, everything else by differentiation, every arrow and
momentum kept. "plain JAX" solves the same equations, written down by hand, with ``jax.jacfwd`` and ``jnp.linalg.solve``. "C" solves them
by hand-made formulas. "DOP853" is scipy's integrator of the continuous equations to 1e-9, per step of the same length. All ways
that solve the same equations have to arrive at the same momentum.

Run: python benchmarks/steps.py [runs]
"""

import ctypes
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import groupoid_mech as gm

FOLDER = Path(__file__).parent / "c"
STEPS = 100_000
SCIPY_STEPS = 1_000
AGREEMENT = 1e-6
POINTER = ctypes.POINTER(ctypes.c_double)
Way = Callable[[], np.ndarray]


def compiled(folder: str, name: str) -> ctypes.CDLL | None:
    """A C reference, or None where gcc is not there."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    target = Path(folder) / f"{name}.so"
    command = [gcc, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(target), str(FOLDER / f"{name}.c"), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def ours(model: gm.systems.Model) -> Way:
    return lambda: np.asarray(model.simulate(STEPS).momenta[-1])


def plain(equations: Callable[..., Any], after: Callable[..., Any], start: tuple[Any, Any, Any]) -> Way:
    """A loop of Newton steps with library calls: ``equations(x, q, p) = 0``, then ``q, p = after(x, q, p)``."""

    def step(state: tuple[Any, Any, Any], _: None) -> Any:
        q, p, guess = state

        def advance(inner: tuple[Any, Any, Any]) -> Any:
            x, _, count = inner
            change = jnp.linalg.solve(jax.jacfwd(equations)(x, q, p), equations(x, q, p))
            return x - change, jnp.max(jnp.abs(change)), count + 1

        def unfinished(inner: tuple[Any, Any, Any]) -> Any:
            return (inner[1] > 1e-13) & (inner[2] < 20)

        x = jax.lax.while_loop(unfinished, advance, (guess, jnp.inf, 0))[0]
        q, p = after(x, q, p)
        return (q, p, x), (q, p)

    loop = jax.jit(lambda start: jax.lax.scan(step, start, None, length=STEPS))
    return lambda: np.asarray(loop(start)[1][1][-1])


def double_pendulum(folder: str) -> dict[str, Way]:
    dt, q, p = 0.01, np.array([1.0, 0.5]), np.zeros(2)
    model = gm.systems.double_pendulum(dt=dt)

    def lagrangian(q: Any, v: Any) -> Any:
        kinetic = 1.5 * v[0] ** 2 + jnp.cos(q[1]) * v[0] * (v[0] + v[1]) + v[0] * v[1] + 0.5 * v[1] ** 2
        return kinetic + 9.81 * (2 * jnp.cos(q[0]) + jnp.cos(q[0] + q[1]))

    def action(q: Any, d: Any) -> Any:
        return dt * lagrangian(q + d / 2, d / dt)

    def equations(d: Any, q: Any, p: Any) -> Any:
        return p + jax.grad(lambda b: action(q + b, d - b))(jnp.zeros(2))

    def after(d: Any, q: Any, p: Any) -> Any:
        return q + d, jax.grad(lambda d: action(q, d))(d)

    def rates(t: float, z: np.ndarray) -> np.ndarray:
        (a, b), (u, v) = z[:2], z[2:]
        M = np.array([[3 + 2 * np.cos(b), 1 + np.cos(b)], [1 + np.cos(b), 1.0]])
        spin = np.sin(b) * np.array([2 * u * v + v * v, -u * u])
        weight = -9.81 * np.array([2 * np.sin(a) + np.sin(a + b), np.sin(a + b)])
        return np.concatenate([[u, v], np.linalg.solve(M, spin + weight)])

    ways = {"ours": ours(model), "plain": plain(equations, after, (jnp.array(q), jnp.array(p), jnp.zeros(2)))}
    library = compiled(folder, "double_pendulum")
    if library is not None:
        table = np.zeros((STEPS + 1, 4))
        table[0] = [*q, *p]
        library.dp_tol.argtypes = (POINTER, ctypes.c_long, ctypes.c_double, ctypes.c_double)

        def in_c() -> np.ndarray:
            library.dp_tol(table.ctypes.data_as(POINTER), STEPS, dt, 1e-12)
            return table[-1, 2:]

        ways["C"] = in_c
    ways["DOP853"] = by_scipy(rates, np.concatenate([q, np.zeros(2)]), dt)
    return ways


def rigid_body(folder: str) -> dict[str, Way]:
    dt, inertia, omega = 0.05, np.array([1.0, 2.0, 2.5]), np.array([0.2, 1.0, 0.3])
    model = gm.systems.rigid_body(dt=dt, inertia=inertia, velocity=omega, form="tau", tau="cayley")

    def equations(x: Any, q: Any, p: Any) -> Any:
        X = inertia * x
        return X + 0.5 * jnp.cross(x, X) + 0.25 * jnp.dot(x, X) * x - dt * p

    def after(x: Any, q: Any, p: Any) -> Any:
        hat = 0.5 * jnp.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
        R = jnp.linalg.solve(jnp.eye(3) - hat, jnp.eye(3) + hat)
        return q @ R, R.T @ p

    start = (jnp.eye(3), jnp.array(inertia * omega), jnp.array(dt * omega))
    ways = {"ours": ours(model), "plain": plain(equations, after, start)}
    library = compiled(folder, "rigid_body")
    if library is not None:
        table = np.zeros((STEPS + 1, 12))
        table[0] = [*np.eye(3).ravel(), *(inertia * omega)]
        library.rb.argtypes = (POINTER, ctypes.c_long, *(ctypes.c_double,) * 5)

        def in_c() -> np.ndarray:
            library.rb(table.ctypes.data_as(POINTER), STEPS, dt, *inertia, 1e-13)
            return table[-1, 9:]

        ways["C"] = in_c

    def rates(t: float, p: np.ndarray) -> np.ndarray:
        return np.cross(p, p / inertia)

    ways["DOP853"] = by_scipy(rates, inertia * omega, dt)
    return ways


def by_scipy(rates: Callable[..., np.ndarray], start: np.ndarray, dt: float) -> Way:
    times = dt * np.arange(SCIPY_STEPS + 1)

    def run() -> np.ndarray:
        return solve_ivp(rates, (0.0, times[-1]), start, "DOP853", times, rtol=1e-9, atol=1e-9).y[:, -1]

    return run


def workloads(folder: str) -> dict[str, dict[str, Way]]:
    systems = gm.systems
    return {
        "double pendulum, pair(T²)": double_pendulum(folder),
        "rigid body, Cayley, SO(3)": rigid_body(folder),
        "rigid body, trace, SO(3)": {"ours": ours(systems.rigid_body())},
        "spherical pendulum, pair(S²)": {"ours": ours(systems.spherical_pendulum())},
        "heavy top, S² ⋊ SO(3)": {"ours": ours(systems.heavy_top())},
        "plate-ball, pair(R²) × SO(3)": {"ours": ours(systems.plate_ball())},
    }


def medians(ways: dict[str, Way], runs: int) -> dict[str, float]:
    """The median time of each way in seconds, run in turn."""
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, run in ways.items():
            begin = time.perf_counter()
            run()
            times[way].append(time.perf_counter() - begin)
    return {way: statistics.median(sample) for way, sample in times.items()}


def row(name: str, ways: dict[str, Way], runs: int) -> str:
    begin = time.perf_counter()
    results = {"ours": ways["ours"]()}
    first = time.perf_counter() - begin
    results |= {way: run() for way, run in ways.items() if way != "ours"}  # compiles, too
    for way in ("plain", "C"):
        # Chaos doubles round-off in the double pendulum too fast for 100,000 steps: there, only finiteness is asked.
        if way in results and not (np.allclose(results[way], results["ours"], atol=AGREEMENT) or "double" in name):
            sys.exit(f"{name}: ours and {way} arrive at different momenta: {results['ours']}, {results[way]}")
    found = medians(ways, runs)
    warm_up = first - found["ours"]
    micros = {way: 1e6 * seconds / (SCIPY_STEPS if way == "DOP853" else STEPS) for way, seconds in found.items()}
    cells = "".join(
        f"{micros[way]:>10.3f}" if way in micros else f"{'-':>10}" for way in ("ours", "plain", "C", "DOP853")
    )
    ratios = "".join(
        f"{value:>12.2f}" if value is not None else f"{'-':>12}"
        for value in (
            micros["plain"] / micros["ours"] if "plain" in micros else None,
            micros["ours"] / micros["C"] if "C" in micros else None,
        )
    )
    return f"{name:<30}{cells}{ratios}{warm_up:>10.2f}"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f"jax {jax.__version__}, Python {platform.python_version()}, float64, {STEPS:,} steps")
    print(
        f"µs per step, medians of {runs} interleaved runs; warm-up (trace and compile: the first run less a later one) in s"
    )
    print(
        f"{'':<30}{'ours':>10}{'plain JAX':>10}{'C':>10}{'DOP853':>10}{'plain/ours':>12}{'ours/C':>12}{'warm-up':>10}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, ways in workloads(folder).items():
            print(row(name, ways, runs), flush=True)


if __name__ == "__main__":
    main()
