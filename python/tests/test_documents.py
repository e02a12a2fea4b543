"""Every block of Python in the documents runs, one after the other, as a reader would type them."""

import inspect
import io
import pathlib
import re
import tokenize

import kiln_models
import pytest
import tensorrt as trt
from onnx import helper
from running import Messages, doubled, quick

import kiln

ROOT = pathlib.Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/python.md")
ELSEWHERE = {"docs/plugins.md": "test_plugin_docs.py", "docs/serving.md": "test_serve_http.py"}
"""Documents whose blocks other tests run."""
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


def needs_torch(text):
    """Whether a block's code, not a comment of it, names PyTorch."""
    return any(token.string == "torch" for token in tokenize.generate_tokens(io.StringIO(text).readline))


@pytest.mark.parametrize("document, has_torch", [(d, False) for d in DOCUMENTS] + [("docs/python.md", True)])
def test_blocks(document, has_torch, tmp_path, monkeypatch):
    """Those without PyTorch, and all of them where PyTorch is: otherwise that is told as skipped."""
    if has_torch:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.onnx").write_bytes(image_model().SerializeToString())
    names = {"__name__": "a_document"}
    for line, text in blocks_of(document):
        if needs_torch(text) and not has_torch:
            continue
        # The line numbers of an error are the document's.
        exec(compile("\n" * line + text, str(ROOT / document), "exec"), names)


def test_there_are_blocks():
    assert len(blocks_of("docs/python.md")) >= 10
    assert not any(needs_torch(text) for _, text in blocks_of("README.md"))


def test_every_document_with_blocks_has_a_test():
    found = [path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))]
    assert {document for document in found if blocks_of(document)} == {*DOCUMENTS, *ELSEWHERE}
    for document, test in ELSEWHERE.items():
        assert pathlib.Path(document).name in (ROOT / "python/tests" / test).read_text()


def test_the_flags_that_are_missing_are_told():
    """Those, and no others, are errors of a build."""
    text = (ROOT / "docs/python.md").read_text()
    item = re.search(r"- Of the module `tensorrt`, .*?\n- ", text, re.S).group()
    failing = set()
    for name, flag in trt.BuilderFlag.__members__.items():
        builder = trt.Builder(Messages())
        config = quick(builder)
        config.set_flag(flag)
        if builder.build_serialized_network(doubled(builder), config) is None:
            failing.add(name)
    assert failing - {"WEIGHTLESS"} == set(re.findall(r"`([A-Z_]+)`", item))  # an earlier name of STRIP_PLAN


def test_every_argument_is_told():
    """Of what builds: in the document and in the docstring."""
    text = (ROOT / "docs/python.md").read_text()
    for name in inspect.signature(kiln.compile).parameters:
        assert f"`{name}`" in text or f"{name}=" in text or name == "model", name
        assert f"\n    {name}: " in kiln.compile.__doc__, name
