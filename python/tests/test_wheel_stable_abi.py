"""The wheel for Python 3.12 and later: its module is compiled against the stable ABI by whatever such Python is there, and
passes the tests of the bindings there. The build folder is in KILN_BUILD."""
import json
import os
import pathlib
import sys

import pytest
from packaging.tags import cpython_tags
from packaging.utils import parse_wheel_filename

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "python/wheel"))
import make_wheel  # noqa: E402
from wheel_environment import Environment  # noqa: E402

NEWER = make_wheel.newer_python()
pytestmark = [
    pytest.mark.skipif("KILN_BUILD" not in os.environ, reason="KILN_BUILD does not name a build"),
    pytest.mark.skipif(NEWER is None, reason="there is no Python of 3.12 or later with its headers"),
]
# Of values, callbacks on several threads, lifetimes, plugins.
TESTS = ["values", "callbacks", "lifetime", "plugin_v3", "plugin_quick", "plugin_errors"]


@pytest.fixture(scope="session")
def python():
    try:
        return make_wheel.tools_for(NEWER)
    except SystemExit as failure:  # its packages could not be downloaded
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(failure))


@pytest.fixture(scope="session")
def wheel(python, tmp_path_factory):
    return make_wheel.make(os.environ["KILN_BUILD"], tmp_path_factory.mktemp("wheel"), python)


@pytest.fixture(scope="session")
def environment(python, wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("fresh"), wheel, python)


def test_tag(wheel):
    assert "-cp312-abi3-manylinux" in wheel.name
    platforms = ["manylinux_2_34_x86_64", "linux_x86_64"]
    ours = {str(tag) for tag in parse_wheel_filename(wheel.name)[3]}
    takes = {abi: {str(tag) for tag in cpython_tags((3, 13), [abi], platforms)} for abi in ("cp313", "cp313t")}
    assert ours & takes["cp313"] and not ours & takes["cp313t"], "pip takes it nowhere without Python's global lock"


def test_demo(environment):
    right = json.loads((SOURCE / "samples/digits/digits.json").read_text())["right"]
    assert environment.demo() == right
    assert [file.name for file in (environment.packages / "kiln/_modules/tensorrt").glob("*.so")] == ["tensorrt.abi3.so"]


def test_bindings(environment, python):
    """Tests of the bindings, in the environment of the wheel; pytest comes from the tools."""
    tools = environment.run(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
    environment.python("-m", "pytest", "-q", "-p", "no:cacheprovider",
                       *(SOURCE / f"python/tests/test_{name}.py" for name in TESTS),
                       PYTHONPATH=tools, KILN_CUDART=str(environment.packages / "kiln/_native/lib/kiln/libcudart.so.13"))
