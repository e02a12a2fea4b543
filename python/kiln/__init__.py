"""Kiln: an inference compiler and runtime with the API of TensorRT.

The wheel holds the module `tensorrt` (Kiln's own), the libraries and headers for C++ programs, and the programs `kiln` and
`trtexec`. Where NVIDIA's `tensorrt` is installed as well, `import tensorrt` finds NVIDIA's; `use_as_tensorrt()` asks for
Kiln's.
"""
from ._install import cmake_dir, get_include, library_dir, use_as_tensorrt
from ._version import __version__

__all__ = ["__version__", "cmake_dir", "get_include", "library_dir", "use_as_tensorrt"]
