"""Kiln: engines for inference, from ONNX files and PyTorch's modules, on the CPU and on NVIDIA GPUs.

    import kiln
    engine = kiln.compile("model.onnx")
    y = engine(x)  # numpy gives numpy, torch gives torch

`kiln.torch` compiles PyTorch's modules. The module `tensorrt` has the same engines under TensorRT's API: where NVIDIA's
`tensorrt` is installed as well, `import tensorrt` finds NVIDIA's, and `use_as_tensorrt()` asks for Kiln's. The wheel also
holds the libraries and headers for C++ programs, and the programs `kiln` and `trtexec`.
"""

import importlib as _importlib

from ._bindings import bindings
from ._compile import compile, load
from ._diff import diff
from ._device import device_name
from ._engine import Engine
from ._errors import Error, Message, ShapeError
from ._install import cmake_dir, get_include, library_dir, use_as_cuda_python, use_as_tensorrt
from ._profile import LayerTime, Profile
from ._shapes import Range
from ._show import Page, show
from ._tensors import Layer, Layers, Outputs, Tensor
from ._version import __version__

__all__ = [
    "Engine",
    "Error",
    "Layer",
    "LayerTime",
    "Layers",
    "Message",
    "Outputs",
    "Page",
    "Profile",
    "Range",
    "ShapeError",
    "Tensor",
    "__version__",
    "bindings",
    "cmake_dir",
    "compile",
    "diff",
    "device_name",
    "get_include",
    "library_dir",
    "load",
    "show",
    "torch",
    "use_as_cuda_python",
    "use_as_tensorrt",
]


def __getattr__(name: str) -> object:
    if name == "torch":  # imported when first used: PyTorch need not be installed
        return _importlib.import_module("kiln.torch")
    raise AttributeError(f"module 'kiln' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
