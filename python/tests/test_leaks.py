"""Nothing is left of many builds, loads and runs. leaks.py has the ways, and counts more rounds of them."""

import leaks
import pytest

ROUNDS = 60


@pytest.mark.parametrize("use", leaks.ROUNDS, ids=lambda use: use.__name__)
def test_rounds(use):
    assert leaks.faults(leaks.grown(use, ROUNDS), ROUNDS) == []


def test_what_grows_is_found():
    kept = []

    def keep():
        kept.append([object(), [open("/dev/null"), bytearray(1 << 20)]])

    told = leaks.faults(leaks.grown(keep, ROUNDS), ROUNDS)
    assert [text.split(" ", 1)[1] for text in told] == ["objects more", "handles of files more", "KiB more"]
