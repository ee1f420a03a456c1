"""How long `import groupoid_mech` takes in a fresh process, next to JAX and Equinox alone.

Run: python benchmarks/import_time.py [runs]
"""

import statistics
import subprocess
import sys

STATEMENTS = ("import jax, equinox", "import groupoid_mech")


def seconds(statement: str) -> float:
    """Time of one import in a fresh process, measured inside it: interpreter start-up is not counted."""
    program = f"import time\nstart = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    times: dict[str, list[float]] = {statement: [] for statement in STATEMENTS}
    for statement in STATEMENTS:
        seconds(statement)  # fills the disk cache
    for _ in range(runs):
        for statement in STATEMENTS:
            times[statement].append(seconds(statement))
    print(f"{'statement':<24}{'median s':>10}{'min s':>10}{'max s':>10}   ({runs} fresh processes each)")
    for statement, sample in times.items():
        print(f"{statement:<24}{statistics.median(sample):>10.3f}{min(sample):>10.3f}{max(sample):>10.3f}")


if __name__ == "__main__":
    main()
