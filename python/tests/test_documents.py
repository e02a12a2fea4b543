"""Every block of Python in the documents runs, one after the other, as a reader would type them."""

import importlib.util
import pathlib
import re

import kiln_models
import pytest
from onnx import helper

ROOT = pathlib.Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/python.md")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks_of(document):
    text = (ROOT / document).read_text()
    return [(text[: found.start(1)].count("\n"), found.group(1)) for found in BLOCK.finditer(text)]


def image_model():
    """x [n, 3, 32, 32] to [n, 4], as the documents' model.onnx."""
    import numpy as np

    weight = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype("f")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["y"]),
    ]
    float32 = kiln_models.FLOAT
    return kiln_models.model(nodes, [("x", float32, ["n", 3, 32, 32])], [("y", float32, ["n", 4])], [("w", weight)])


@pytest.mark.parametrize("document", DOCUMENTS)
def test_blocks(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.onnx").write_bytes(image_model().SerializeToString())
    has_torch = importlib.util.find_spec("torch") is not None
    names = {"__name__": "a_document"}
    for line, text in blocks_of(document):
        if not has_torch and ("torch" in text):
            continue
        # The line numbers of an error are the document's.
        exec(compile("\n" * line + text, str(ROOT / document), "exec"), names)


def test_there_are_blocks():
    assert len(blocks_of("docs/python.md")) >= 10
