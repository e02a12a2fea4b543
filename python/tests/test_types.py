"""Types: the stubs are complete, true to the module, and of use to a type checker, which finds no fault in `kiln`."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

PACKAGES = pathlib.Path(importlib.util.find_spec("tensorrt").origin).parent.parent
API = pathlib.Path(__file__).resolve().parents[1] / "api"

PROGRAM = """
import tensorrt as trt

def build(model: bytes) -> trt.ICudaEngine | None:
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    parser = trt.OnnxParser(network, logger)
    error = None if parser.parse(model) else parser.get_error(0)
    if error:
        raise RuntimeError(error.desc())
    x = network.add_input("x", trt.float32, (1, 3, 8, 8))
    x.allowed_formats = 1 << int(trt.TensorFormat.LINEAR)
    layer = network.add_activation(x, trt.ActivationType.RELU)
    layer.alpha = 0.5
    network.mark_output(layer.get_output(0))
    config = builder.create_builder_config()
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 20)
    plan = builder.build_serialized_network(network, config)
    return trt.Runtime(logger).deserialize_cuda_engine(plan)
"""
# One line of PROGRAM made wrong, and a word of what the checker says about it.
WRONG = [
    ("logger = trt.Logger(trt.Logger.WARNING)", "logger = trt.Logger(trt.float32)", "Logger"),
    ("builder = trt.Builder(logger)", "builder = trt.Builder()", "Builder"),
    ("layer.alpha = 0.5", "layer.alpha = 'half'", "expression has type \"str\""),
    ("layer.alpha = 0.5", "layer.aplha = 0.5", "aplha"),
    ("trt.ActivationType.RELU", "trt.ActivationType.RELUU", "RELUU"),
    ('network.add_input("x", trt.float32, (1, 3, 8, 8))', 'network.add_input("x", (1, 3, 8, 8))', "add_input"),
]


def run(*command):
    result = subprocess.run([sys.executable, "-m", *map(str, command)], cwd=PACKAGES, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env={**os.environ, "MYPYPATH": str(PACKAGES), "PYTHONPATH": str(PACKAGES)})
    return result.returncode, result.stdout


def mypy(folder, program):
    file = folder / "program.py"
    file.write_text(program)
    return run("mypy", "--strict", "--cache-dir", folder / "cache", file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("types")


# What stubtest says of nanobind's classes, whatever the stubs are.
OF_NANOBIND = re.compile(
    r"is inconsistent, metaclass differs$|\.__nb_enum__ is not present in stub$|"
    r"\w is not a function$|\.IHostMemory\.__buffer__ is not present at runtime$|\.__nanobind_internals__ is not present in stub$|\.__init__ is inconsistent, stub does not have \*args parameter|"  # no constructor
    r"stub is a staticmethod but runtime is not$"
)


def test_the_stubs_have_what_the_module_has(folder):
    _, output = run("mypy.stubtest", "tensorrt", "--concise", "--ignore-disjoint-bases", "--mypy-config-file", API / "mypy.ini")
    lines = output.splitlines()
    assert len(lines) > 100, output  # it did compare
    assert [line for line in lines if not OF_NANOBIND.search(line)] == []


def test_a_program_is_right(folder):
    status, output = mypy(folder, PROGRAM)
    assert status == 0, output


@pytest.mark.parametrize("right, wrong, said", WRONG)
def test_a_wrong_program_is_told(folder, right, wrong, said):
    assert PROGRAM.count(right) == 1
    status, output = mypy(folder, PROGRAM.replace(right, wrong))
    assert status == 1 and said in output, output


def test_kiln_is_right(folder):
    status, output = run("mypy", "--config-file", API / "mypy_kiln.ini", "--cache-dir", folder / "cache", "-p", "kiln")
    assert status == 0, output
    assert int(re.search(r"in (\d+) source files", output)[1]) > 60  # kiln.serve and kiln.torch among them
