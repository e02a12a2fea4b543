"""The name that `cuda.bindings.driver` had before CUDA 13."""
from cuda.bindings.driver import *  # noqa: F403
from cuda.bindings.driver import __getattr__  # noqa: F401, which import * leaves out
