"""Settings that every test shares: hypothesis profiles and a headless matplotlib."""

import os
import subprocess
import sys

import jax
import pytest
from hypothesis import settings

# Compilation makes the first example slow, so no profile has a deadline.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

os.environ["MPLBACKEND"] = "Agg"


def pytest_configure(config):
    """Compile for a single run: with little optimization the suite takes a third less. Unknown flags would end JAX: ask first."""
    if "XLA_FLAGS" not in os.environ and "PYTEST_XDIST_WORKER" not in os.environ:
        flags = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
        probe = [sys.executable, "-c", "import jax; jax.numpy.zeros(1)"]
        if subprocess.run(probe, env={**os.environ, "XLA_FLAGS": flags}, capture_output=True).returncode == 0:
            os.environ["XLA_FLAGS"] = flags


def pytest_collection_modifyitems(items):
    """Keep the tests of a file on one worker, where they share compilations, unless they name a group themselves."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.split("::")[0]))


def pytest_runtest_teardown(item, nextitem):
    """Drop the compiled programs of a group when it is done: kept to the end they fill several gigabytes."""
    if nextitem is not None and _group(item) != _group(nextitem):
        jax.clear_caches()


def _group(item):
    return item.get_closest_marker("xdist_group").args[0]
