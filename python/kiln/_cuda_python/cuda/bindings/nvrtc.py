"""NVRTC compiles kernels, which need a GPU: of it there is what programs name when they look at errors."""
import enum

from . import _calls


class nvrtcResult(enum.IntEnum):
    """What a call returns."""

    NVRTC_SUCCESS = 0
    NVRTC_ERROR_OUT_OF_MEMORY = 1
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2
    NVRTC_ERROR_INVALID_INPUT = 3
    NVRTC_ERROR_INVALID_PROGRAM = 4
    NVRTC_ERROR_INVALID_OPTION = 5
    NVRTC_ERROR_COMPILATION = 6


__getattr__ = _calls.missing(__name__)
