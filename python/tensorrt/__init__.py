# Copyright the Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Kiln under the names of TensorRT 10.16's Python module."""
from ._additions import FallbackString, nptype, volume
from ._plugins import *  # noqa: F401,F403
from .tensorrt import *  # noqa: F401,F403

__version__ = "10.16.0"
