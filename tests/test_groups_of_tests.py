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


class Case:
    """As much of a collected test as the selection looks at."""

    def __init__(self, nodeid, **marks):
        self.nodeid = nodeid
        self.marks = {name: getattr(pytest.mark, name)(*arguments).mark for name, arguments in marks.items()}

    def get_closest_marker(self, name):
        return self.marks.get(name)

    def add_marker(self, mark):
        self.marks[mark.name] = mark.mark


def test_a_few_cases_stay_in_the_default_run(request):
    plugins = request.config.pluginmanager.get_plugins()
    (leave_a_few,) = (plugin._leave_a_few for plugin in plugins if hasattr(plugin, "_leave_a_few"))
    spread = [Case(f"a.py::test_b[{k}]", few=(3,)) for k in range(8)]
    others = [Case("a.py::test_b[slow]", few=(3,), slow=()), Case("a.py::test_c[0]"), Case("a.py::test_d[0]", few=(1,))]
    leave_a_few([*spread, *others])
    assert [k for k, case in enumerate(spread) if "extended" not in case.marks] == [0, 4, 7]
    assert not any("extended" in case.marks for case in others)
