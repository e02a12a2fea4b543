"""Programs on the stand-in for NVIDIA's driver, where there is no GPU."""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest
import tensorrt as trt

_NO_NVRTC = "NVRTC, which compiles kernels, was not found"

_PROBE = """
import running
running.plan_of_doubled(running.trt.Logger(running.trt.Logger.WARNING))
"""


def driver():
    """The stand-in's file, which may be missing."""
    found = pathlib.Path(trt.__file__).resolve().parents[2] / "fake_cuda/libkiln_fake_cuda.so"
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        beside = pathlib.Path(folder).parent / "fake_cuda/libkiln_fake_cuda.so"
        found = beside if beside.exists() else found
    return found


def _run(program, **variables):
    path = os.pathsep.join([str(pathlib.Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "KILN_DEVICE": "cuda", "KILN_CUDA_DRIVER": str(driver())}
    environment.update(variables)
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@functools.cache
def _has_nvrtc():
    """Whether kernels can be compiled: asked of a program of its own, so that a test's failure is never taken for that."""
    with tempfile.TemporaryDirectory() as empty:  # kernels of earlier runs need no NVRTC
        told = _run(_PROBE, KILN_CACHE_DIR=empty)
    return _NO_NVRTC not in told.stdout + told.stderr


def run_on_stand_in(program):
    """What a Python program prints, which runs in a process of its own. Skips the test where there is no stand-in, or no
    NVRTC."""
    if not driver().exists():
        pytest.skip("the stand-in for the CUDA driver is not built")
    if not _has_nvrtc():
        pytest.skip("NVRTC is not there")
    ran = _run(program)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
