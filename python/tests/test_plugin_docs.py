"""The programs in docs/plugins.md run."""

import pathlib
import re

import pytest

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "docs/plugins.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.S)


def test_there_are_programs():
    assert len(BLOCKS) == 1


@pytest.mark.parametrize("block", BLOCKS)
def test_program(block, capsys):
    exec(compile(block, "docs/plugins.md", "exec"), {"__name__": "program"})
    printed = re.findall(r"print\(.*\)  # (.*)", block)
    assert capsys.readouterr().out.splitlines() == printed
