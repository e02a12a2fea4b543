"""Every test runs: no definition of a file takes the place of an earlier one of its name."""

import ast
import collections
import pathlib

import pytest

FILES = sorted(pathlib.Path(__file__).parent.glob("*.py"))


def defined_again(text):
    """The names that a module, or one of its classes, defines more than once."""
    found = []
    for scope in ast.walk(ast.parse(text)):
        if isinstance(scope, (ast.Module, ast.ClassDef)):
            # The setter of a property has a decorator with a dot in it, which says what it belongs to.
            nodes = [n for n in scope.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
            names = [n.name for n in nodes if not any(ast.unparse(d) == f"{n.name}.setter" for d in n.decorator_list)]
            found += [name for name, count in collections.Counter(names).items() if count > 1]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_definitions(file):
    assert defined_again(file.read_text()) == []


def test_what_is_defined_again_is_found():
    text = "def test_a(): ...\nclass B:\n  def test_c(self): ...\n  def test_c(self): ...\ndef test_a(): ..."
    assert defined_again(text) == ["test_a", "test_c"]
