"""Time loops as one native function.

XLA's CPU backend compiles a loop to one function when it touches few bytes, and calls its parts one by one otherwise: 0.5 against
9 µs for a step on the sphere (``benchmarks/steps.py``). The bound is an option of the backend, read when JAX first
compiles; XLA ignores it where it does not know it.
"""

import os

_OPTION = "xla_cpu_small_while_loop_byte_threshold"
_BYTES = 2**24
_FLAG = "--xla_backend_extra_options="


def ask_for_native_loops() -> None:
    """Raise the bound in ``XLA_FLAGS``, unless it is set there already; no effect once JAX has compiled something."""
    flags = os.environ.get("XLA_FLAGS", "")
    if _OPTION in flags:
        return
    option = f"{_OPTION}={_BYTES}"
    added = flags.replace(_FLAG, f"{_FLAG}{option},") if _FLAG in flags else f"{flags} {_FLAG}{option}"
    os.environ["XLA_FLAGS"] = added.strip()
