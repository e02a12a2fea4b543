"""Pages of engines from Python: they say what the inspector says, with the times of the arrays that were given."""

import html
import json
import pathlib
import re
import subprocess
import sys

import kiln_models
import numpy as np
import pytest

import kiln
from kiln._install import program
from kiln._show import make_page

try:
    program("kiln")
except FileNotFoundError:
    pytest.skip("the program kiln is not built", allow_module_level=True)

SEEDS = pathlib.Path(__file__).parents[2] / "fuzz" / "seeds" / "onnx_reader"


def picture_of(page):
    return json.loads(re.search(r'id="picture">(.*?)</script>', page.html, re.S)[1])


@pytest.fixture(scope="module")
def engine():
    return kiln.compile(kiln_models.affine()[0], shapes={"x": [(1, 4), (2, 4), (8, 4)]}, progress=False)


def inspected(engine, shapes):
    """The layers as the inspector tells them at these shapes of inputs."""
    trt = kiln.bindings()
    context = engine._engine.create_execution_context()
    for name, shape in shapes.items():
        assert context.set_input_shape(name, shape)
    assert not context.infer_shapes()
    inspector = engine._engine.create_engine_inspector()
    inspector.execution_context = context
    return json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))["Layers"]


def test_layers_are_those_of_the_inspector(engine):
    for n in (1, 2, 8):
        picture = picture_of(engine.show(np.zeros((n, 4), "f"), runs=2))
        assert picture["layers"] == inspected(engine, {"x": (n, 4)})
    assert picture_of(engine.show(run=False))["layers"] == inspected(engine, {"x": (2, 4)})


@pytest.mark.parametrize("name", ["profile.json", "..", ".", "", "a/b"])
def test_an_engine_may_have_any_name(engine, name):
    page = make_page(bytes(engine), name, engine.profile(runs=1), [])
    assert picture_of(page)["layers"] == inspected(engine, {"x": (2, 4)})


@pytest.mark.parametrize("letter", ["n", "\N{LATIN SMALL LETTER O WITH DIAERESIS}"])
def test_a_name_longer_than_a_files_is_cut(engine, letter):
    title = picture_of(make_page(bytes(engine), 300 * letter, None, []))["title"]
    assert title == letter * (252 // len(letter.encode())) + "..."


def test_bodies_too():
    shapes = {"x": (2,), "v0": (2,)}
    looped = kiln.compile((SEEDS / "loop_if.onnx").read_bytes(), shapes=shapes, progress=False)
    picture = picture_of(looped.show())
    assert picture["layers"] == [layer.details for layer in looped.layers]
    assert len(picture["blocks"]) == 4


def test_times_are_those_of_the_profile(engine):
    picture = picture_of(engine.show(runs=3))
    assert picture["times"] == "from a profile of 3 runs"
    assert all(step["ms"] > 0 for step in picture["steps"])
    assert picture_of(engine.show(run=False))["times"] == ""


def test_inline_in_a_notebook(engine):
    frame = engine._repr_html_()
    inner = html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)" .*></iframe>', frame, re.S)[1])
    assert inner == engine.show(run=False).html
    assert engine.show(run=False)._repr_html_() == frame


def test_saves(engine, tmp_path):
    page = engine.show(run=False)
    path = page.save(tmp_path / "engine.html")
    assert path.read_text(encoding="utf-8") == page.html
    assert repr(page).startswith("<kiln.Page: ")


@pytest.mark.parametrize("name, content", [
    ("m.onnx", b"\x08\x09"), ("page.html", b"<!doctype html>\n<title>mine</title>")
])  # fmt: skip
def test_keeps_files_that_are_no_pages(engine, tmp_path, name, content):
    page, path = engine.show(run=False), tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileExistsError, match="is not a page of Kiln; it was left as it is"):
        page.save(path)
    assert path.read_bytes() == content
    path.write_bytes(b"")
    assert page.save(page.save(path)).read_text(encoding="utf-8") == page.html


def test_names_with_markup(tmp_path):
    named = kiln.compile(kiln_models.affine("n")[0], shapes={"x": (2, 4)}, progress=False)
    named.name = "</title><script>alert(1)</script>"
    assert "<script>alert" not in named.show(run=False).html


def test_says_what_is_wrong(engine):
    with pytest.raises(kiln.ShapeError, match=r"has shape \(9, 4\)"):
        engine.show(np.zeros((9, 4), "f"))
    closed = kiln.compile(kiln_models.affine()[0], shapes={"x": (2, 4)}, progress=False)
    closed.close()
    with pytest.raises(kiln.Error, match="was closed"):
        closed.show()


def test_as_a_program(engine, tmp_path):
    plan = engine.save(tmp_path / "m.plan")
    page = tmp_path / "m.html"
    done = subprocess.run([sys.executable, "-m", "kiln.show", plan, "--noRun", "-o", page], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert picture_of(kiln.Page(page.read_text()))["title"] == "m.plan"
