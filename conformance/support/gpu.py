"""Whether there is a GPU, asked of the driver."""
import ctypes
import os


def absent_gpu():
    """Why there is none to run on; empty where there is one."""
    try:
        driver = ctypes.CDLL(os.environ.get("KILN_CUDA_DRIVER", "libcuda.so.1"))
    except OSError:
        return "there is no NVIDIA driver"
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return "the driver does not start"
    return "" if count.value else "the driver sees no GPU"
