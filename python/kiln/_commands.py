"""The programs of the wheel as commands: each replaces the Python process that pip's launcher started."""
import os
import sys

from ._install import native


def _run(name):
    program = native("bin", name)
    os.execv(program, [program, *sys.argv[1:]])


def kiln():
    """Runs `kiln`, which looks inside the compiler."""
    _run("kiln")


def trtexec():
    """Runs `trtexec`, which builds, times and saves engines."""
    _run("trtexec")
