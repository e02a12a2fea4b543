"""Comparisons from Python: reports as dictionaries, and errors in the program's words."""

import os
import subprocess
import sys

import kiln_models
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import kiln
from kiln._install import program

try:
    program("kiln")
except FileNotFoundError:
    pytest.skip("the program kiln is not built", allow_module_level=True)


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    path = tmp_path_factory.mktemp("diff") / "right.onnx"
    onnx.save(kiln_models.affine()[0], path)
    return path


def test_a_network_agrees_with_itself(right):
    report = kiln.diff(right, shapes="x:3x4", isolate=True)
    assert report["first_outside"] is None and report["faulty"] == []
    assert report["tensors"][-1]["extents"] == [3, 3]


def test_a_fault_is_named(right, tmp_path):
    model, w, _ = kiln_models.affine()
    w[0, 0] += 1
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w"))
    wrong = tmp_path / "wrong.onnx"
    onnx.save(model, wrong)
    page = tmp_path / "diff.html"
    report = kiln.diff(wrong, right, shapes="x:3x4", o=page)
    assert report["first_outside"] == "y"
    assert np.isclose(max(t["total"]["max_abs"] for t in report["tensors"]), report["tensors"][-1]["total"]["max_abs"])
    assert page.read_text().startswith("<!doctype html>")


def test_errors_are_the_programs(right):
    with pytest.raises(kiln.Error, match="has no input 'zz'"):
        kiln.diff(right, shapes="zz:1")


def test_the_report_is_read_as_utf_8_whatever_the_locale(tmp_path):
    node = onnx.helper.make_node("Relu", ["gr\u00f6\u00dfe"], ["y"])
    onnx.save(kiln_models.model([node], [("gr\u00f6\u00dfe", kiln_models.FLOAT, [3])], [("y", kiln_models.FLOAT, [3])]),
              tmp_path / "m.onnx")  # fmt: skip
    script = f"import kiln; print(ascii(kiln.diff({str(tmp_path / 'm.onnx')!r})['tensors'][-1]['extents']))"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True)
    assert done.stdout == b"[3]\n", done.stderr.decode()


def test_what_was_left_out_is_in_the_report(right, tmp_path):
    two = kiln_models.affine()[0]
    two.graph.input.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [2]))
    two.graph.output.append(onnx.helper.make_tensor_value_info("logs", onnx.TensorProto.FLOAT, [2]))
    two.graph.node.append(onnx.helper.make_node("Log", ["z"], ["logs"]))
    onnx.save(two, tmp_path / "two.onnx")
    np.array([-1, -2], "f").tofile(tmp_path / "z.bin")
    report = kiln.diff(tmp_path / "two.onnx", shapes="x:3x4", loadInputs=f"z:{tmp_path / 'z.bin'}")
    assert report["first_outside"] is None and not report["complete"] and report["num_not_finite"] == 1
    assert kiln.diff(right, shapes="x:3x4")["complete"]
