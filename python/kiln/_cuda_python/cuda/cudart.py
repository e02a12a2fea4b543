"""The name that `cuda.bindings.runtime` had before CUDA 13."""
from cuda.bindings.runtime import *  # noqa: F403
from cuda.bindings.runtime import __getattr__  # noqa: F401, which import * leaves out
