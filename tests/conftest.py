"""Settings that every test shares: hypothesis profiles and a headless matplotlib."""

import gc
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import jax
import pytest
from hypothesis import settings

# Compilation makes the first example slow, so no profile has a deadline.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

os.environ["MPLBACKEND"] = "Agg"

# Tracing makes many objects that live long: looking for cycles among them every 700 allocations, and writing down where in the source
# every operation comes from, took a sixth of the suite.
gc.set_threshold(2_000_000, 50, 1000)
jax.config.update("jax_traceback_in_locations_limit", 0)
jax.config.update("jax_include_full_tracebacks_in_locations", False)

# Each of two workers may fill so much of the memory with compiled programs before they are dropped: all of the suite takes 6 GB for each.
_SHARE_OF_MEMORY = 0.27

# For the workers, which fill all cores: one thread for each, and memory that is not given back to the system between two programs, only to be
# asked for again (glibc; others do not read these).
_WORKER_SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
    "MALLOC_TOP_PAD_": str(2**26),
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
}

_QUICK_TO_COMPILE = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)


def pytest_configure(config):
    """Settings for the workers, and code that is quick to make.

    Threads of a BLAS that wait for each other took a minute of the suite, optimized code a third of it. Unknown flags would end JAX:
    ask first.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    for name, value in _WORKER_SETTINGS.items():
        os.environ.setdefault(name, value)
    if "XLA_FLAGS" not in os.environ:
        probe = [sys.executable, "-c", "import jax; jax.numpy.zeros(1)"]
        if (
            subprocess.run(probe, env={**os.environ, "XLA_FLAGS": _QUICK_TO_COMPILE}, capture_output=True).returncode
            == 0
        ):
            os.environ["XLA_FLAGS"] = _QUICK_TO_COMPILE


def pytest_ignore_collect(collection_path):
    """Helpers have no doctests: looked through for some, they would be imported a second time, under another name."""
    here = Path(__file__).parent
    helper = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if helper and here in collection_path.parents else None


def pytest_collection_modifyitems(config, items):
    """Keep the tests of a file on one worker, where they share compilations, unless they name a group themselves; laws last."""
    _leave_a_few(items)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_own_group(item.nodeid.split("::")[0])))
    items.sort(key=_is_law)
    if config.getoption("loadgroup", False):
        for item in items:
            _name_group(item)


def _leave_a_few(items):
    """Of a test marked ``few(n)``, n cases stay in the default run: the first, the last, and others spread between them."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("few") and not any(map(item.get_closest_marker, ("slow", "long", "extended"))):
            cases[item.nodeid.split("[")[0]].append(item)
    for members in cases.values():
        n = members[0].get_closest_marker("few").args[0]
        kept = {round(k * (len(members) - 1) / max(1, n - 1)) for k in range(n)}
        for number, item in enumerate(members):
            if number not in kept:
                item.add_marker(pytest.mark.extended)


def _name_group(item):
    """Write the group of a test at the end of its id, where the scheduler looks for it.

    pytest-xdist 3.8 does so before the groups of files are known, and into an attribute that pytest 9.2 no longer reads.
    """
    nodeid = f"{item.nodeid.removesuffix(f'@{_group(item)}')}@{_group(item)}"
    if hasattr(item, "_id"):
        item._id = type(item._id).parse(nodeid)
    else:
        item._nodeid = nodeid


def pytest_runtest_teardown(item, nextitem):
    """Drop the compiled programs between two groups when they fill too much memory; till then, groups share many small ones."""
    if nextitem is not None and _group(item) != _group(nextitem) and _memory_is_full():
        jax.clear_caches()


def _own_group(file):
    """The group of a file that names none: its own, but for the examples of named systems, which are compiled in their tests already."""
    return "systems" if file.startswith("groupoid_mech/systems/") else file


def _group(item):
    return item.get_closest_marker("xdist_group").args[0]


def _is_law(item):
    return _group(item).startswith(("laws of", "controls of"))


def _memory_is_full():
    """Whether this worker has more than its share of the memory, where the system tells; else it is taken to."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages > _SHARE_OF_MEMORY * os.sysconf("SC_PHYS_PAGES")
    except OSError:
        return True
