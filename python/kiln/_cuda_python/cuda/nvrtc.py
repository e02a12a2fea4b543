"""The name that `cuda.bindings.nvrtc` had before CUDA 13."""
from cuda.bindings.nvrtc import *  # noqa: F403
from cuda.bindings.nvrtc import __getattr__  # noqa: F401, which import * leaves out
