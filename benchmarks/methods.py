"""Methods from discretization maps: those of this package, plain JAX and C, in one run.

"ours" is what a user calls, ``Integrator.run`` or ``DiscreteSystem.simulate``, every point kept. "plain JAX" is the same method written
down by hand in a ``lax.scan``. "C" is the same by hand-made formulas. Two ways of discrete Lagrangians, with half as many unknowns, to the same
orbit: "discretize" is ``gm.discretize`` by the midpoint rule, "same map" is ``gm.lagrangian_system``. All ways have to arrive at the same point.
"ensemble" is the time of one member in 500 double pendula at once.

Run: python benchmarks/methods.py [runs]
"""

import ctypes
import platform
import sys
import tempfile
import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from steps import POINTER, STEPS, Way, compiled, medians

import groupoid_mech as gm
from groupoid_mech.discretization.system_integrator import SystemIntegrator

WAYS = ("ours", "plain", "C", "discretize", "same map")
MEMBERS, MEMBER_STEPS = 500, 1000
AGREEMENT = 1e-9


def run(method: gm.Integrator, start: Any) -> Way:
    return lambda: np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(method.run(start, STEPS).end)])


def simulate(system: gm.DiscreteSystem, start: Any) -> Way:
    begin = gm.from_momentum(system, *start)

    def way() -> np.ndarray:
        end = system.simulate(begin, STEPS).end
        return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves((end.point, end.momentum))])

    return way


def plain(step: Any, start: Any) -> Way:
    loop = jax.jit(lambda x: jax.lax.scan(lambda x, _: (step(x),) * 2, x, None, length=STEPS))
    return lambda: np.concatenate([np.asarray(leaf[-1]) for leaf in loop(start)[1]])


def in_c(folder: str, name: str, start: Any, *numbers: float) -> dict[str, Way]:
    library = compiled(folder, "methods")
    if library is None:
        return {}
    table = np.zeros((STEPS + 1, 4))
    table[0] = np.concatenate(start)
    function = getattr(library, name)
    function.argtypes = (POINTER, ctypes.c_long, *(ctypes.c_double,) * len(numbers))

    def way() -> np.ndarray:
        function(table.ctypes.data_as(POINTER), STEPS, *numbers)
        return table[-1]

    return {"C": way}


def kepler(folder: str) -> dict[str, Way]:
    model, dt = gm.systems.kepler_hamiltonian(), 0.01
    method = gm.stormer_verlet(model.hamiltonian, model.groupoid, dt)

    def force(q: Any) -> Any:
        return -q / jnp.sum(q * q) ** 1.5

    def step(x: Any) -> Any:
        q, p = x
        p = p + dt / 2 * force(q)
        q = q + dt * p
        return q, p + dt / 2 * force(q)

    start = model.start
    return {"ours": run(method, start), "plain": plain(step, start)} | in_c(folder, "kepler", start, dt)


def henon_heiles(folder: str) -> dict[str, Way]:
    model, dt = gm.systems.henon_heiles(), 0.1
    system = gm.hamiltonian_system(model.hamiltonian, gm.theta_map(model.groupoid, 0.5), dt)

    def rates(z: Any) -> Any:
        x, y, u, v = z
        return jnp.stack([u, v, -x - 2 * x * y, -y - x * x + y * y])

    def step(x: Any) -> Any:
        z = jnp.concatenate(x)

        def advance(state: Any) -> Any:
            w, _, count = state
            f = w - z - dt * rates((w + z) / 2)
            J = jax.jacfwd(lambda w: w - z - dt * rates((w + z) / 2))(w)
            change = jnp.linalg.solve(J, f)
            return w - change, jnp.max(jnp.abs(change)), count + 1

        start = (z + dt * rates(z), jnp.inf, 0)
        w = jax.lax.while_loop(lambda state: (state[1] > 1e-13) & (state[2] < 20), advance, start)[0]
        return w[:2], w[2:]

    start = model.start
    ways = {"ours": simulate(system, start), "plain": plain(step, start)}
    return ways | in_c(folder, "henon_heiles", start, dt, 1e-9)


def curved() -> dict[str, dict[str, Way]]:
    systems = gm.systems
    sphere, body, reduced = (
        systems.spherical_pendulum_hamiltonian(),
        systems.rigid_body_hamiltonian(),
        systems.lie_poisson_rigid_body(),
    )
    variational = systems.spherical_pendulum()

    def midpoint(model: Any) -> dict[str, Way]:
        G, dt = model.groupoid, model.dt
        same_map = SystemIntegrator(gm.lagrangian_system(model.lagrangian, gm.theta_map(G, 0.5), dt))
        return {
            "ours": run(model.integrator(), model.start),
            "discretize": simulate(gm.discretize(model.lagrangian, G, dt, rule="midpoint"), model.start),
            "same map": run(same_map, model.start),
        }

    def energy(model: Any, poisson: gm.PoissonManifold, map: gm.DiscretizationMap) -> dict[str, Way]:
        method = gm.EnergyIntegrator(model.hamiltonian, poisson, gm.GonzalezGradient(map), model.dt)
        return {"ours": run(method, model.start)}

    fourth = gm.raise_order(sphere.integrator(), gm.triple_jump(4))
    over_sphere, over_group = (gm.CanonicalPoisson(gm.CotangentBundle(each.groupoid.base)) for each in (sphere, body))
    dual = gm.LinearPoisson(gm.GroupoidAlgebroid(reduced.groupoid))
    return {
        "spherical_pendulum, pair(S²)": {"ours": lambda: np.asarray(variational.simulate(STEPS).momenta[-1])},
        "midpoint, T*S²": midpoint(sphere),
        "midpoint, T*SO(3)": midpoint(body),
        "midpoint, so(3)*": midpoint(reduced),
        "triple jump of midpoint, T*S²": {"ours": run(fourth, sphere.start)},
        "discrete gradient, T*S²": energy(sphere, over_sphere, gm.CotangentLift(gm.theta_map(sphere.groupoid, 0.5))),
        "discrete gradient, T*SO(3)": energy(body, over_group, gm.theta_map(over_group.manifold, 0.5)),
        "discrete gradient, so(3)*": energy(reduced, dual, gm.theta_map(dual.manifold, 0.5)),
    }


def ensemble() -> float:
    """Microseconds per step of one member."""
    model = gm.systems.double_pendulum(dt=0.01)
    starts = np.array([1.0, 0.5]) + np.random.default_rng(0).normal(size=(MEMBERS, 2))

    @eqx.filter_jit
    def all_ends(system: gm.DiscreteSystem, starts: Any) -> Any:
        def end(q: Any) -> Any:
            start = gm.from_momentum(system, q, jnp.zeros(2))
            return system.simulate(start, MEMBER_STEPS, save_every=MEMBER_STEPS).momenta[-1]

        return jax.vmap(end)(starts)

    found = medians({"ours": lambda: np.asarray(all_ends(model.system, starts))}, 6)
    return 1e6 * found["ours"] / (MEMBERS * MEMBER_STEPS)


def row(name: str, ways: dict[str, Way], runs: int) -> str:
    begin = time.perf_counter()
    results = {"ours": ways["ours"]()}
    first = time.perf_counter() - begin
    results |= {way: go() for way, go in ways.items() if way != "ours"}
    for way, end in results.items():
        if not np.allclose(end, results["ours"], atol=AGREEMENT):
            sys.exit(f"{name}: ours and {way} arrive at different points: {results['ours']}, {end}")
    found = medians(ways, runs)
    warm_up = first - found["ours"]
    micros = {way: 1e6 * seconds / STEPS for way, seconds in found.items()}
    cells = "".join(
        f"{micros[way]:>8.3f}" + (f" ({micros['ours'] / micros[way]:>5.2f})" if way != "ours" else "")
        if way in micros
        else f"{'-':>8}{'':>8}"
        for way in WAYS
    )
    return f"{name:<32}{cells}{warm_up:>10.2f}"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f"jax {jax.__version__}, Python {platform.python_version()}, float64, {STEPS:,} steps")
    print(
        f"µs per step, medians of {runs} interleaved runs; warm-up (trace and compile: the first run less a later one) in s"
    )
    heads = "".join(f"{way:>{8 if way == 'ours' else 16}}" for way in WAYS)
    print(f"in brackets how long ours takes, with the other as unit\n{'':<32}{heads}{'warm-up':>10}")
    with tempfile.TemporaryDirectory() as folder:
        rows = {"Störmer–Verlet, Kepler": kepler(folder), "midpoint, Hénon–Heiles": henon_heiles(folder)}
        for name, ways in (rows | curved()).items():
            print(row(name, ways, runs), flush=True)
    print(f"{'ensemble of double pendula':<32}{ensemble():>8.3f}")


if __name__ == "__main__":
    main()
