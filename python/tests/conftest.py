"""A file whose tests are all skipped, for want of a package, is a skipped test for CTest."""

import pinned_arrays  # before there is an array

assert pinned_arrays

_NO_TESTS, _SKIPPED = 5, 77


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == _NO_TESTS:
        session.exitstatus = _SKIPPED
