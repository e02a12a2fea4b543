"""Kiln under the names of TensorRT 10.16's Python module."""
import sys as _sys

if "t" in getattr(_sys, "abiflags", ""):
    # Before the extension module is looked for, which such a Python does not find, or loads without the lock.
    raise ImportError("tensorrt: Kiln's module needs Python's global lock; a free-threaded build of Python has none")

from ._additions import FallbackString, nptype, volume  # noqa: E402
from ._plugins import *  # noqa: E402,F401,F403
from .tensorrt import *  # noqa: E402,F401,F403

__version__ = "10.16.0"
