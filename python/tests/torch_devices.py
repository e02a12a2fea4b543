"""The devices on which tests with PyTorch run."""

import os

import pytest
import torch

import kiln.torch

# Engines run on the CPU everywhere, and on a GPU where the process's do.
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() and os.environ.get("KILN_DEVICE") != "cpu" else ["cpu"]


@pytest.fixture(autouse=True, params=DEVICES)
def device(request, monkeypatch):
    """Where the test's modules and tensors are, if it says nothing else."""
    torch._dynamo.reset()
    torch.manual_seed(5)
    kiln.torch.last_reports()
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # of what engines are compared with
    torch.set_default_device(request.param)
    yield request.param
    torch.set_default_device(None)
