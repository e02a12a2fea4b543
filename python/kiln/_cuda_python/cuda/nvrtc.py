"""The name that `cuda.bindings.nvrtc` had before CUDA 13."""
from cuda.bindings.nvrtc import *  # noqa: F403
