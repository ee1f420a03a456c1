"""Tests that share compilations run on one worker: a group that the scheduler does not see doubles the time of the suite.

And every test is run by some command.
"""

import os
import re
from pathlib import Path

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="there are no workers")
def test_the_scheduler_sees_groups(request):
    if not request.config.getoption("loadgroup"):
        pytest.skip("the workers take tests one by one")
    assert (
        request.node.nodeid
        == "tests/test_groups_of_tests.py::test_the_scheduler_sees_groups@tests/test_groups_of_tests.py"
    )
    assert request.node.nodeid in {item.nodeid for item in request.session.items}


def test_runs_of_millions_of_steps_are_where_make_looks_for_them():
    here = Path(__file__).parent
    marked = {
        path.relative_to(here).parts[0]
        for path in here.rglob("test_*.py")
        if path != Path(__file__) and re.search(r"\bmark\.long\b", path.read_text(encoding="utf-8"))
    }
    assert marked == {"verification"}
