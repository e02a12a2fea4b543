"""The package around this one, under the name that it was imported by: beside NVIDIA's module that is not `tensorrt`."""
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorrt as trt
else:
    trt = importlib.import_module(__package__.rpartition(".")[0])

__all__ = ["trt"]
