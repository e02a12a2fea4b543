"""Kiln: engines for inference, from ONNX files and PyTorch's modules, on the CPU and on NVIDIA GPUs.

    import kiln
    engine = kiln.compile("model.onnx")
    y = engine(x)  # numpy gives numpy, torch gives torch

`kiln.torch` compiles PyTorch's modules. The module `tensorrt` has the same engines under TensorRT's API.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._bindings import bindings
from ._compile import compile, load
from ._engine import Engine
from ._errors import Error, Message, ShapeError
from ._profile import LayerTime, Profile
from ._shapes import Range
from ._tensors import Layer, Layers, Outputs, Tensor

__all__ = [
    "Engine",
    "Error",
    "Layer",
    "LayerTime",
    "Layers",
    "Message",
    "Outputs",
    "Profile",
    "Range",
    "ShapeError",
    "Tensor",
    "bindings",
    "compile",
    "load",
    "torch",
]


def __getattr__(name: str) -> Any:
    if name == "torch":  # imported when first used: PyTorch need not be installed
        return importlib.import_module("kiln.torch")
    raise AttributeError(f"module 'kiln' has no attribute {name!r}")
