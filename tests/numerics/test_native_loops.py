"""The request for native loops: added to flags, never twice, and to those that are there."""

import os

import pytest

from groupoid_mech.numerics.native_loops import ask_for_native_loops

OPTION = "xla_cpu_small_while_loop_byte_threshold"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"--xla_backend_extra_options={OPTION}=16777216"),
        ("--xla_dump_to=x", f"--xla_dump_to=x --xla_backend_extra_options={OPTION}=16777216"),
        ("--xla_backend_extra_options=other=1", f"--xla_backend_extra_options={OPTION}=16777216,other=1"),
        (f"--xla_backend_extra_options={OPTION}=5", f"--xla_backend_extra_options={OPTION}=5"),
    ],
)
def test_the_bound_is_raised_unless_it_is_set(monkeypatch, before, after):
    monkeypatch.setenv("XLA_FLAGS", before)
    ask_for_native_loops()
    assert os.environ["XLA_FLAGS"] == after
