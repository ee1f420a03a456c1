"""Products, solves and rotations of small matrices, chained in a loop: this package, plain JAX, and C.

A row "Jacobian" is a product and its derivatives by n directions, as in Newton's method.

Every step takes the result of the step before, so that nothing can be left out or moved out of the loop. The three
ways run in turn in one process, and the medians are compared: times move with the machine, ratios hardly. All three
have to arrive at the same result.

Run: python benchmarks/small_matrices.py [runs]
"""

import ctypes
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import groupoid_mech as gm
from groupoid_mech.numerics.matrix import cross_matrix, matmul, solve

SOURCE = Path(__file__).parent / "c" / "small_matrices.c"
AGREEMENT = 1e-8

Step = Callable[[jax.Array, tuple[jax.Array, ...]], jax.Array]


@dataclass(frozen=True)
class Workload:
    name: str
    steps: int
    start: np.ndarray
    data: tuple[np.ndarray, ...]
    ours: Step
    plain: Step
    plain_name: str
    c_name: str | None


def workloads() -> Iterator[Workload]:
    for n in (3, 4):
        yield Workload(
            f"product {n}x{n}",
            1_000_000,
            np.eye(n),
            (orthogonal(n),),
            lambda G, data: matmul(G, data[0]),
            lambda G, data: G @ data[0],
            "@",
            f"product_{n}",
        )
    for n in (3, 4, 6, 8):
        yield Workload(
            f"Jacobian {n}x{n}",
            20_000,
            np.eye(n),
            (orthogonal(n),),
            lambda G, data: product_and_jacobian(matmul, G, data[0]),
            lambda G, data: product_and_jacobian(jnp.matmul, G, data[0]),
            "@",
            None,
        )
    for n in (2, 3, 6, 8, 12):
        yield Workload(
            f"solve {n}x{n}",
            50_000,
            np.zeros(n),
            (orthogonal(n), np.linspace(1.0, 2.0, n) / n),
            lambda x, data: solve(data[0] + 0.1 * jnp.diag(x), data[1]),
            lambda x, data: jnp.linalg.solve(data[0] + 0.1 * jnp.diag(x), data[1]),
            "linalg.solve",
            f"solve_{n}",
        )
    SO3 = gm.SO3()
    rates = (np.array([0.1, -0.2, 0.3]),)
    yield Workload(
        "SO(3) g exp(xi)",
        50_000,
        orthogonal(3),
        rates,
        lambda g, data: SO3.multiply(g, SO3.exp(data[0] * g[2])),
        lambda g, data: g @ jax.scipy.linalg.expm(cross_matrix(data[0] * g[2])),
        "expm, @",
        "exp_steps",
    )
    yield Workload(
        "SO(3) g cay(xi)",
        50_000,
        orthogonal(3),
        rates,
        lambda g, data: SO3.multiply(g, SO3.cayley(data[0] * g[2])),
        lambda g, data: g @ cayley_by_solve(data[0] * g[2]),
        "linalg.solve, @",
        "cayley_steps",
    )


def orthogonal(n: int) -> np.ndarray:
    """A rotation of n-space with no entry that is 0 or 1."""
    Q, R = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))
    Q = Q * np.sign(np.diag(R))
    Q[:, 0] *= np.linalg.det(Q)
    return Q


def product_and_jacobian(
    multiply: Callable[[jax.Array, jax.Array], jax.Array], G: jax.Array, R: jax.Array
) -> jax.Array:
    """G R, after the Jacobian of v ↦ G diag(v) R: what Newton's method makes of a product."""
    J = jax.jacfwd(lambda v: multiply(G * v, R))(G[0])
    return multiply(G, R) + 1e-18 * jnp.sum(J, axis=-1)  # below round-off, which the compiler does not know


def cayley_by_solve(xi: jax.Array) -> jax.Array:
    half = 0.5 * cross_matrix(xi)
    return jnp.linalg.solve(jnp.eye(3) - half, jnp.eye(3) + half)


def in_jax(workload: Workload, step: Step) -> Callable[[], np.ndarray]:
    """The whole loop as one compiled call. Constants are arguments, so that the compiler does not know them."""

    @jax.jit
    def loop(state: jax.Array, data: tuple[jax.Array, ...]) -> jax.Array:
        return jax.lax.fori_loop(0, workload.steps, lambda _, now: step(now, data), state)

    start, data = jax.device_put((workload.start, workload.data))
    return lambda: np.asarray(loop(start, data))


def in_c(workload: Workload, function: Any) -> Callable[[], np.ndarray]:
    pointer = ctypes.POINTER(ctypes.c_double)
    function.argtypes, function.restype = (ctypes.c_long, pointer, pointer), None
    data = np.concatenate([array.ravel() for array in workload.data])

    def run() -> np.ndarray:
        state = workload.start.copy()
        function(workload.steps, data.ctypes.data_as(pointer), state.ctypes.data_as(pointer))
        return state

    return run


def compiled(folder: str) -> ctypes.CDLL | None:
    """The C workloads, or None where gcc is not there."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    target = Path(folder) / "small_matrices.so"
    command = [gcc, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(target), str(SOURCE), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def medians(ways: dict[str, Callable[[], np.ndarray]], runs: int) -> dict[str, float]:
    """The median time of each way in seconds, run in turn."""
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, run in ways.items():
            start = time.perf_counter()
            run()
            times[way].append(time.perf_counter() - start)
    return {way: statistics.median(sample) for way, sample in times.items()}


def row(workload: Workload, library: ctypes.CDLL | None, runs: int) -> str:
    ways = {"ours": in_jax(workload, workload.ours), "plain": in_jax(workload, workload.plain)}
    if library is not None and workload.c_name is not None:
        ways["C"] = in_c(workload, library[workload.c_name])
    results = {way: run() for way, run in ways.items()}  # compiles, too
    for way, result in results.items():
        if not np.max(np.abs(result - results["ours"])) < AGREEMENT:
            sys.exit(f"{workload.name}: ours and {way} arrive at different results:\n{results['ours']}\n{result}")
    nanoseconds = {way: 1e9 * median / workload.steps for way, median in medians(ways, runs).items()}
    ours, plain = nanoseconds["ours"], nanoseconds["plain"]
    in_C, to_C = (f"{nanoseconds['C']:.1f}", f"{ours / nanoseconds['C']:.2f}") if "C" in nanoseconds else ("-", "-")
    return (
        f"{workload.name:<17}{ours:>9.1f}{plain:>11.1f}{in_C:>9}{plain / ours:>12.2f}{to_C:>9}   {workload.plain_name}"
    )


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"jax {jax.__version__}, jaxlib {jax.lib.__version__}, Python {platform.python_version()}, float64")
    print(f"XLA_FLAGS={os.environ.get('XLA_FLAGS', '')}")
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        if library is None:
            print("gcc is not there: the column of C is left out")
        print(f"ns per step, medians of {runs} interleaved runs")
        print(f"{'workload':<17}{'ours':>9}{'plain JAX':>11}{'C':>9}{'plain/ours':>12}{'ours/C':>9}   plain JAX is")
        for workload in workloads():
            print(row(workload, library, runs), flush=True)


if __name__ == "__main__":
    main()
