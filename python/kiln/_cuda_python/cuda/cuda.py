"""The name that `cuda.bindings.driver` had before CUDA 13."""
from cuda.bindings.driver import *  # noqa: F403
