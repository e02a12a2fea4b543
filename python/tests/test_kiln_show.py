"""Pages of engines from Python: they say what the inspector says, with the times of the arrays that were given."""

import html
import json
import pathlib
import re
import subprocess
import sys

import kiln_models
import numpy as np
import onnx
import pytest

import kiln
from kiln._install import program
from kiln._show import make_page, profile_json

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
    inner = html.unescape(re.fullmatch(r'<iframe sandbox="allow-scripts" srcdoc="([^"]*)" .*></iframe>', frame, re.S)[1])
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


def one_input(name):
    node = onnx.helper.make_node("Softmax", [name], ["y"])
    return kiln_models.model([node], [(name, kiln_models.FLOAT, ["n", 4])], [("y", kiln_models.FLOAT, ["n", 4])])


@pytest.mark.parametrize("name", ["it's", "''", "a,b:'c'"])
def test_shapes_of_inputs_whose_names_have_quotes(name):
    quoted = kiln.compile(one_input(name), shapes={name: [(1, 4), (2, 4), (8, 4)]}, progress=False)
    picture = picture_of(quoted.show(np.zeros((7, 4), "f"), run=False))
    assert picture["layers"][0]["Inputs"][0]["Dimensions"] == [7, 4]


def test_says_which_values_of_shape_inputs_it_shows():
    values = {"shape": {"min": (1, 1), "opt": (2, 3), "max": (6, 6)}}
    reshaped = kiln.compile(kiln_models.reshape_by_input(), values=values, progress=False)
    x = np.zeros(6, "f")
    told = "Shapes are those for the values [2, 3] of shape input 'shape', which the profile is tuned for"
    for run, more in [(False, False), (True, True)]:
        notes = [note for note in picture_of(reshaped.show(x, [3, 2], run=run))["notes"] if note.startswith(told)]
        assert len(notes) == 1 and ("The times may be of others." in notes[0]) == more


def test_files_become_pages(engine, tmp_path):
    model, plan, info, profile = (tmp_path / name for name in ["m.onnx", "m.plan", "layers.json", "profile.json"])
    onnx.save(kiln_models.affine()[0], model)
    engine.save(plan)
    info.write_text(json.dumps({"Layers": [layer.details for layer in engine.layers]}))
    profile.write_text(profile_json(engine.profile(runs=1)))
    built = picture_of(kiln.show(model, shapes="x:3x4", runs=2))
    assert built["title"] == "m.onnx" and built["times"].startswith("the least of 2 runs")
    of_plan = picture_of(kiln.show(str(plan), noRun=True))
    assert of_plan["layers"] == inspected(engine, {"x": (2, 4)}) and of_plan["times"] == ""
    of_report = kiln.show(info, layerTimes=profile)
    assert isinstance(of_report, kiln.Page)
    assert picture_of(of_report)["layers"] == [layer.details for layer in engine.layers]
    assert picture_of(of_report)["times"] == "from a profile of 1 run"
    assert of_report.save(tmp_path / "m.html").read_text(encoding="utf-8") == of_report.html


def test_errors_of_files_are_the_programs(engine, tmp_path):
    plan = engine.save(tmp_path / "m.plan")
    with pytest.raises(kiln.Error, match="flag --fp16 means nothing here"):
        kiln.show(plan, fp16=True)
    with pytest.raises(kiln.Error, match="cannot open"):
        kiln.show(tmp_path / "nowhere.plan")
    with pytest.raises(TypeError, match=r"its save\(\) writes it"):
        kiln.show(plan, o="m.html")
    with pytest.raises(TypeError, match="Engine"):
        kiln.show(engine)


def test_the_function_stays_behind_an_import_of_the_module(engine, tmp_path):
    plan = engine.save(tmp_path / "m.plan")
    script = f"import kiln.show; import kiln; assert kiln.show({str(plan)!r}, noRun=True).html; from kiln import show; assert show is kiln.show"
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_as_a_program(engine, tmp_path):
    plan = engine.save(tmp_path / "m.plan")
    page = tmp_path / "m.html"
    done = subprocess.run([sys.executable, "-m", "kiln.show", plan, "--noRun", "-o", page], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert picture_of(kiln.Page(page.read_text()))["title"] == "m.plan"
