"""The programs of the wheel as commands: each replaces the Python process that pip's launcher started."""
import os
import sys

from ._install import native


def _run(name):
    program = native("bin", name)
    os.execv(program, [program, *sys.argv[1:]])


def kiln():
    """Runs `kiln`, which looks inside the compiler, and serves engines."""
    if sys.argv[1:2] == ["serve"]:  # a package of this Python
        from .serve.__main__ import main

        sys.exit(main(sys.argv[2:]))
    _run("kiln")


def trtexec():
    """Runs `trtexec`, which builds, times and saves engines."""
    _run("trtexec")
