"""Tests that share compilations run on one worker: a group that the scheduler does not see doubles the time of the suite."""

import os

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
