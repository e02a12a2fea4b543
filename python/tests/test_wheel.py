"""A wheel of this build, installed into a fresh environment that knows nothing of the build: its module, its commands, its
C++ side, and how it lives beside another `tensorrt`. The build folder is in KILN_BUILD."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import zipfile

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DIGITS = SOURCE / "samples/digits"
sys.path.insert(0, str(SOURCE / "python/wheel"))
import make_wheel  # noqa: E402
from wheel_environment import Environment  # noqa: E402

pytestmark = pytest.mark.skipif("KILN_BUILD" not in os.environ, reason="KILN_BUILD does not name a build")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return make_wheel.make(os.environ["KILN_BUILD"], tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def environment(wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("fresh"), wheel)


def test_size_and_tag(wheel):
    assert wheel.stat().st_size < make_wheel.LARGEST
    own = tuple(int(part) for part in platform.libc_ver()[1].split("."))
    assert make_wheel.glibc(wheel) is not None, f"{wheel.name} fits no manylinux"
    if own <= (2, 36):  # Debian 12; newer systems have newer compilers, whose code needs more
        assert make_wheel.glibc(wheel) <= (2, 34)


def test_nothing_of_the_build_is_named(wheel):
    build = os.environ["KILN_BUILD"].encode()
    with zipfile.ZipFile(wheel) as contents:
        naming = [name for name in contents.namelist() if build in contents.read(name)]
    assert naming == []


def test_demo(environment):
    assert environment.demo() == json.loads((DIGITS / "digits.json").read_text())["right"]


def test_commands(environment):
    model = str(DIGITS / "digits.onnx")
    environment.run("trtexec", f"--onnx={model}", "--saveEngine=digits.plan", "--skipInference")
    assert (environment.folder / "digits.plan").stat().st_size > 0
    assert "convolution" in environment.run("kiln", "profile", model, "--runs=1")


def test_networks_are_compared(environment):
    script = f"""
import kiln
report = kiln.diff({str(DIGITS / "digits.onnx")!r}, isolate=True, builderOptimizationLevel=0)
print(report["first_outside"], report["faulty"], len(report["tensors"]) > 2)
try:
    kiln.diff({str(DIGITS / "digits.onnx")!r}, tolerance="much")
except kiln.Error as error:
    print(error)
"""
    lines = environment.python("-c", script).splitlines()
    assert lines[0] == "None [] True"
    assert "--tolerance is 'much'" in lines[1]


def test_the_stand_in_for_cuda_python(environment):
    script = "from cuda.bindings import runtime; error, place = runtime.cudaMalloc(8); print(int(error), runtime.cudaFree(place))"
    assert environment.python("-c", script, KILN_AS_CUDA_PYTHON="1").startswith("0 (<cudaError_t.cudaSuccess: 0>,)")


def test_a_cxx_program(environment, tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake")
    script = "import kiln; print(kiln.cmake_dir(), kiln.get_include(), kiln.library_dir())"
    cmake_dir, include, libraries = environment.python("-c", script).split()
    assert pathlib.Path(include, "NvInfer.h").is_file()
    environment.run("cmake", "-S", str(SOURCE / "conformance/install/consumer"), "-B", str(tmp_path / "build"),
                    f"-DKiln_DIR={cmake_dir}", f"-DSAMPLES={SOURCE / 'samples'}")
    environment.run("cmake", "--build", str(tmp_path / "build"), "--target", "answers")
    environment.run(str(tmp_path / "build/answers"))
    answers = str(SOURCE / "conformance/install/consumer/answers.cc")
    environment.run("c++", "-std=c++14", answers, f"-I{include}", f"-I{include}/cudart", f"-L{libraries}",
                    "-lnvinfer", "-lnvonnxparser", "-lnvinfer_plugin", f"-Wl,-rpath,{libraries}", "-o",
                    str(tmp_path / "answers"))
    environment.run(str(tmp_path / "answers"))


class TestBesideAnother:
    """Another `tensorrt` in the same environment, as NVIDIA's would be."""

    WHICH = "import tensorrt; print(tensorrt.__file__)"

    @pytest.fixture(autouse=True)
    def other(self, environment):
        folder = environment.packages / "tensorrt"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        yield folder
        shutil.rmtree(folder)

    def which(self, environment, before="", **variables):
        return pathlib.Path(environment.python("-c", before + self.WHICH, **variables).strip()).parent

    def test_the_other_is_found(self, environment, other):
        assert self.which(environment) == other

    def test_ours_is_asked_for(self, environment):
        ours = environment.packages / "kiln/_modules/tensorrt"
        assert self.which(environment, "import kiln; kiln.use_as_tensorrt(); ") == ours
        assert self.which(environment, "import kiln; kiln.use_as_tensorrt(); kiln.use_as_tensorrt(); ") == ours
        assert self.which(environment, KILN_AS_TENSORRT="1") == ours

    def test_too_late(self, environment, other):
        script = "import tensorrt, kiln\ntry: kiln.use_as_tensorrt()\nexcept ImportError as error: print(error)"
        assert str(other) in environment.python("-c", script)
