"""The package kiln beside another module of the name tensorrt, as NVIDIA's is."""

import os
import subprocess
import sys

import pytest

HEAD = """
import sys
import numpy as np
import kiln, kiln_models

def run():
    model, w, b = kiln_models.affine(2)
    x = np.ones((2, 4), "f")
    y = kiln.compile(model, progress=False)(x)
    np.testing.assert_allclose(y, np.maximum(x @ w + b, 0), rtol=1e-4, atol=1e-5)
"""


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "tensorrt"
    folder.mkdir()
    (folder / "__init__.py").write_text("owner = 'another'\n")

    def start(program):
        path = os.pathsep.join([str(tmp_path), os.path.dirname(__file__), *sys.path])
        subprocess.run([sys.executable, "-c", HEAD + program], env={**os.environ, "PYTHONPATH": path}, check=True)

    return start


def test_another_tensorrt_stays_what_import_finds(run):
    run("""
import tensorrt
run()
assert tensorrt.owner == "another" and sys.modules["tensorrt"] is tensorrt
assert kiln.bindings() is not tensorrt and kiln.bindings().__version__.startswith("10.")
try:
    kiln.use_as_tensorrt()
    raise SystemExit("it should not hide what is imported already")
except ImportError as error:
    assert "was imported already" in str(error)
""")


def test_another_tensorrt_may_come_later(run):
    run("""
run()
import tensorrt
assert tensorrt.owner == "another"
run()
""")


def test_kilns_is_found_where_it_is_asked_for(run):
    run("""
kiln.use_as_tensorrt()
import tensorrt
assert tensorrt is kiln.bindings()
run()
""")


def test_there_is_one_module_though_it_is_asked_for_late(run):
    run("""
run()
kiln.use_as_tensorrt()
import tensorrt
assert tensorrt is kiln.bindings()
run()
""")


def test_plugins_are_those_of_kilns_module(run):
    run("""
import importlib
trt = kiln.bindings()
importlib.import_module(trt.__name__ + ".plugin")
assert trt.__name__ != "tensorrt" and trt.plugin.TensorDesc.__module__.startswith(trt.__name__ + ".")
registry = trt.get_plugin_registry()
trt.init_libnvinfer_plugins(trt.Logger(), "")
creator = registry.get_creator("Clip_TRT", "1", "")
assert isinstance(creator, trt.IPluginCreatorInterface), type(creator)
assert len(creator.field_names) == 2
import tensorrt
assert tensorrt.owner == "another"
""")
