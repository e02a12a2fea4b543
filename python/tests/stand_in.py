"""Programs on the stand-in for NVIDIA's driver, where there is no GPU."""

import os
import pathlib
import subprocess
import sys

import pytest
import tensorrt as trt


def driver():
    """The stand-in's file, which may be missing."""
    found = pathlib.Path(trt.__file__).resolve().parents[2] / "fake_cuda/libkiln_fake_cuda.so"
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        beside = pathlib.Path(folder).parent / "fake_cuda/libkiln_fake_cuda.so"
        found = beside if beside.exists() else found
    return found


def run_on_stand_in(program):
    """What a Python program prints, which runs in a process of its own. Skips the test where there is no stand-in."""
    if not driver().exists():
        pytest.skip("the stand-in for the CUDA driver is not built")
    path = os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "KILN_DEVICE": "cuda", "KILN_CUDA_DRIVER": str(driver())}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
