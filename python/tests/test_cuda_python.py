"""The stand-in for cuda-python: programs that move data by `cuda.bindings` run on the CPU. Each test is a fresh process."""
import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import kiln
kiln.use_as_cuda_python()
import numpy as np
from cuda.bindings import driver as cuda, nvrtc, runtime as cudart

def ok(called):
    error, *results = called
    assert error == 0, error
    return results[0] if len(results) == 1 else results or None

def refuses(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")

KIND = cudart.cudaMemcpyKind
"""


def run(program, head=HEAD, **variables):
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    done = subprocess.run([sys.executable, "-c", head + textwrap.dedent(program)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": path, **variables})
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_an_engine_runs_by_it():
    run("""
    import kiln_models, tensorrt as trt
    model, w, b = kiln_models.affine(2)
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    assert trt.OnnxParser(network, logger).parse(model.SerializeToString())
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    context = engine.create_execution_context()
    x, y = np.ones((2, 4), "f"), np.zeros((2, w.shape[1]), "f")
    stream = ok(cudart.cudaStreamCreate())
    places = [ok(cudart.cudaMalloc(a.nbytes)) for a in (x, y)]
    for i, place in enumerate(places):
        assert context.set_tensor_address(engine.get_tensor_name(i), place)
    ok(cudart.cudaMemcpyAsync(places[0], x.ctypes.data, x.nbytes, KIND.cudaMemcpyHostToDevice, stream))
    assert context.execute_async_v3(stream)  # the object, as cuda-python's is given
    ok(cudart.cudaMemcpyAsync(y, places[1], y.nbytes, KIND.cudaMemcpyDeviceToHost, stream))
    ok(cudart.cudaStreamSynchronize(stream))
    np.testing.assert_allclose(y, np.maximum(x @ w + b, 0), rtol=1e-4, atol=1e-5)
    for place in places:
        ok(cudart.cudaFree(place))
    ok(cudart.cudaStreamDestroy(stream))
    """)


def test_memory_streams_and_events():
    run("""
    import ctypes
    a, b = np.arange(16, dtype="f"), np.zeros(16, "f")
    stream, start, end = ok(cudart.cudaStreamCreate()), ok(cudart.cudaEventCreate()), ok(cudart.cudaEventCreate())
    place, host = ok(cudart.cudaMallocAsync(64, stream)), ok(cudart.cudaMallocHost(64))
    ok(cudart.cudaEventRecord(start, stream))
    ok(cudart.cudaMemcpyAsync(dst=place, src=bytes(a), count=64, kind=1, stream=stream))
    ok(cudart.cudaMemcpyAsync(host, place, 64, KIND.cudaMemcpyDeviceToHost, stream))
    ok(cudart.cudaEventRecord(end, stream))
    ok(cudart.cudaEventSynchronize(end))
    assert ok(cudart.cudaEventElapsedTime(start, end)) >= 0
    assert np.frombuffer(ctypes.string_at(host, 64), "f").tolist() == a.tolist()
    about = ok(cudart.cudaPointerGetAttributes(place))
    assert about.type == cudart.cudaMemoryType.cudaMemoryTypeDevice and about.devicePointer == place
    ok(cudart.cudaMemset(place, 0, 32))
    ok(cudart.cudaMemcpy(b, place, 64, KIND.cudaMemcpyDeviceToHost))
    assert b.tolist() == [0] * 8 + a[8:].tolist()
    free, total = ok(cudart.cudaMemGetInfo())
    assert 0 < free <= total
    assert ok(cudart.cudaStreamIsCapturing(stream)) == cudart.cudaStreamCaptureStatus.cudaStreamCaptureStatusNone
    assert cudart.cudaStream_t(int(stream)) == stream and hash(cudart.cudaStream_t(stream)) == hash(stream)
    assert ctypes.c_void_p.from_address(stream.getPtr()).value == int(stream)
    ok(cudart.cudaFreeAsync(place, stream))
    ok(cudart.cudaStreamSynchronize(stream))
    """)


def test_graphs():
    run("""
    stream, place = ok(cudart.cudaStreamCreate()), ok(cudart.cudaMalloc(4))
    ok(cudart.cudaStreamBeginCapture(stream, cudart.cudaStreamCaptureMode.cudaStreamCaptureModeGlobal))
    ok(cudart.cudaMemsetAsync(place, 1, 4, stream))
    made = ok(cudart.cudaGraphInstantiate(ok(cudart.cudaStreamEndCapture(stream)), 0))
    read = np.zeros(4, np.uint8)
    for _ in range(2):
        ok(cudart.cudaMemset(place, 7, 4))
        ok(cudart.cudaGraphLaunch(made, stream))
        ok(cudart.cudaStreamSynchronize(stream))
        ok(cudart.cudaMemcpy(read, place, 4, KIND.cudaMemcpyDeviceToHost))
        assert read.tolist() == [1] * 4
    """)


def test_pools_are_the_one_that_there_is():
    run("""
    wanted = cudart.cudaMemPoolProps()
    assert cudart.cudaMemPoolCreate(wanted)[0] == cudart.cudaError_t.cudaErrorInvalidValue
    wanted.allocType = cudart.cudaMemAllocationType.cudaMemAllocationTypePinned
    wanted.location.type = cudart.cudaMemLocationType.cudaMemLocationTypeDevice
    pool = ok(cudart.cudaMemPoolCreate(wanted))
    ok(cudart.cudaMemPoolSetAttribute(pool, cudart.cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold, cuda.cuuint64_t(9)))
    stream = ok(cudart.cudaStreamCreate())
    place = ok(cudart.cudaMallocFromPoolAsync(256, pool, stream))
    ok(cudart.cudaFreeAsync(place, stream))
    assert cudart.cudaMallocFromPoolAsync(256, cudart.cudaMemPool_t(), stream) == (1, None)
    ok(cudart.cudaMemPoolDestroy(pool))
    """)


def test_the_driver():
    run("""
    ok(cuda.cuInit(0))
    assert cuda.cuDeviceGet(5) == (cuda.CUresult.CUDA_ERROR_INVALID_DEVICE, None)
    device = ok(cuda.cuDeviceGet(0))
    assert int(device) == 0 and ok(cuda.cuDeviceGetCount()) == 1 and ok(cuda.cuDeviceTotalMem(device)) > 0
    assert ok(cuda.cuDeviceGetName(64, device)).decode() == kiln.device_name()
    context = ok(cuda.cuCtxCreate(None, 0, device))
    refuses(TypeError, "", lambda: cuda.cuCtxCreate(0, device))  # as CUDA 12 had it: programs try both
    assert ok(cuda.cuCtxGetCurrent()) == context
    place = ok(cuda.cuMemAlloc(8))
    assert isinstance(place, cuda.CUdeviceptr)
    x, y = np.arange(2, dtype="f"), np.zeros(2, "f")
    ok(cuda.cuMemcpyHtoD(place, x, 8))
    ok(cuda.cuMemcpyDtoHAsync(y, place, 8, ok(cuda.cuStreamCreate(0))))
    ok(cuda.cuCtxSynchronize())
    assert y.tolist() == x.tolist()
    ok(cuda.cuMemFree(place))
    assert cuda.cuMemFree(12345) == (cuda.CUresult.CUDA_ERROR_INVALID_VALUE,)
    assert ok(cuda.cuGetErrorName(cuda.CUresult.CUDA_ERROR_INVALID_VALUE)) == b"CUDA_ERROR_INVALID_VALUE"
    ok(cuda.cuCtxDestroy(context))
    """)


def test_errors():
    run("""
    assert cudart.cudaMalloc(1 << 60) == (cudart.cudaError_t.cudaErrorMemoryAllocation, None)
    assert cudart.cudaGetLastError() == (2,) and cudart.cudaGetLastError() == (0,)
    assert cudart.cudaGetErrorName(cudart.cudaError_t.cudaErrorMemoryAllocation) == (0, b"cudaErrorMemoryAllocation")
    assert cudart.cudaGetErrorString(2) == (0, b"not enough memory")
    assert cudart.cudaSetDevice(3) == (cudart.cudaError_t.cudaErrorInvalidDevice,)
    a = np.zeros((4, 4), "f")
    refuses(TypeError, "cudaMemcpy(): dst: it is str; a pointer is None, an int", lambda: cudart.cudaMemcpy("x", 0, 4, 1))
    refuses(ValueError, "cudaMemcpy(): src: the array is not contiguous", lambda: cudart.cudaMemcpy(0, a.T, 4, 1))
    refuses(TypeError, "cudaMemcpy() takes dst, src, count, kind", lambda: cudart.cudaMemcpy(0, 0))
    refuses(TypeError, "cudaMemcpy() takes dst", lambda: cudart.cudaMemcpy(0, 0, 4, knd=1))
    refuses(OverflowError, "cudaMalloc(): size: it is -1", lambda: cudart.cudaMalloc(-1))
    refuses(TypeError, "cudaMalloc(): size: it is float; an integer is required", lambda: cudart.cudaMalloc(1.5))
    refuses(TypeError, "cudaStreamCreate() takes no arguments", lambda: cudart.cudaStreamCreate(1))
    for name in ["cudaGraphAddKernelNode", "cuda.bindings.runtime"]:
        refuses(AttributeError, "Kiln's stand-in for cuda-python has no cuda.bindings.runtime." + name, lambda: getattr(cudart, name))
    refuses(AttributeError, "no cuda.bindings.driver.cuLaunchKernel", lambda: cuda.cuLaunchKernel)
    refuses(AttributeError, "no kernels of CUDA", lambda: nvrtc.nvrtcCreateProgram)
    """)


def test_what_is_imported_under_which_name(tmp_path):
    head = "from cuda.bindings import runtime; import cuda.bindings; print(cuda.bindings.__file__)\n"
    other = tmp_path / "cuda/bindings"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    (other / "runtime.py").write_text("")
    (tmp_path / "cuda/core.py").write_text("what = 'another part of cuda-python'\n")
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    assert run(head, head=path).strip() == str(other / "__init__.py")
    asked = path + "import kiln; kiln.use_as_cuda_python(); kiln.use_as_cuda_python()\n"
    assert "_cuda_python" in run(head, head=asked)
    run("import cuda.core; assert cuda.core.what", head=asked + head)
    run("from cuda import cuda, cudart, nvrtc; assert cudart.cudaGetDeviceCount() == (0, 1) and cuda.CUresult", head=asked)
    late = run("""
    import kiln
    try: kiln.use_as_cuda_python()
    except ImportError as error: print(error)
    """, head=path + head)
    assert f"cuda.bindings was imported already, from {other}" in late


@pytest.mark.parametrize("order", ["import torch; cudart.cudaMalloc(4)", "cudart.cudaMalloc(4); import torch"])
def test_beside_pytorch(order):
    """PyTorch has a CUDA runtime of its own, called libcudart.so.13: ours is not taken for it."""
    pytest.importorskip("torch")
    run(order + "\nassert torch.ones(2).sum() == 2")


def test_calls_release_the_lock():
    run("""
    import ctypes, threading, time
    stream, ran = ok(cudart.cudaStreamCreate()), threading.Event()
    wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: ran.wait(20) or None)
    ok(cudart.cudaLaunchHostFunc(stream, wait, 0))
    other = threading.Thread(target=lambda: (time.sleep(0.05), ran.set()))
    other.start()
    began = time.monotonic()
    ok(cudart.cudaStreamSynchronize(stream))  # would wait for ever, were the lock held
    assert time.monotonic() - began < 15 and ran.is_set()
    other.join()
    """)


def test_arrays_live_as_long_as_the_call():
    run("""
    place = ok(cudart.cudaMalloc(1 << 20))
    for _ in range(20):
        ok(cudart.cudaMemcpy(place, np.full(1 << 18, 3, "f"), 1 << 20, KIND.cudaMemcpyHostToDevice))
    read = np.zeros(1 << 18, "f")
    ok(cudart.cudaMemcpy(memoryview(read), place, 1 << 20, KIND.cudaMemcpyDeviceToHost))
    assert (read == 3).all()
    """)
