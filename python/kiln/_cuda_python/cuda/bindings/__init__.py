"""Kiln's stand-in for the modules of cuda-python, for machines without a GPU (`kiln.use_as_cuda_python`).

NVIDIA's modules hold NVIDIA's CUDA runtime, which needs a driver. These call Kiln's, where memory and streams are the CPU's.
They have what programs around an engine use: memory, copies, streams, events, graphs. Kernels need a GPU.
"""
__version__ = "13.0.0"
