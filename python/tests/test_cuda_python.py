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

import ctypes, sys, threading, time

class Blocked:
    # A stream of the driver's API that does not run before `go` is called.
    def __init__(self, flags=1):
        self.stream, self.gate = ok(cuda.cuStreamCreate(flags)), threading.Event()
        self.wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: self.gate.wait(20) or None)
        ok(cuda.cuLaunchHostFunc(self.stream, self.wait, 0))

    def go(self, after=0):
        threading.Timer(after, self.gate.set).start()

def pinned(count):
    return np.frombuffer((ctypes.c_float * count).from_address(ok(cuda.cuMemAllocHost(4 * count))), "f")
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
    assert ok(cuda.cuDeviceGetName(256, device)).decode() == "Kiln CPU: " + kiln.device_name()
    context = ok(cuda.cuCtxCreate(None, 0, device))
    refuses(TypeError, "", lambda: cuda.cuCtxCreate(0, device))  # as CUDA 12 had it: programs try both
    assert ok(cuda.cuCtxGetCurrent()) == context
    assert ok(cuda.cuCtxGetDevice()) == device and ok(cuda.cuDevicePrimaryCtxRetain(device)) == context
    place = ok(cuda.cuMemAlloc(8))
    assert isinstance(place, cuda.CUdeviceptr)
    x, y = np.arange(2, dtype="f"), np.zeros(2, "f")
    ok(cuda.cuMemcpyHtoD(place, x, 8))
    other = ok(cuda.cuMemAllocManaged(8, cuda.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL))
    ok(cuda.cuMemcpyDtoD(other, place, 8))
    ok(cuda.cuMemcpyDtoH(y, other, 8))
    assert y.tolist() == x.tolist()
    ok(cuda.cuMemsetD8(place, 255, 4))
    ok(cuda.cuMemcpy(y.ctypes.data, place, 8))
    assert y.tobytes() == bytes([255] * 4) + x.tobytes()[4:]
    ok(cuda.cuMemFree(other))
    ok(cuda.cuMemFree(place))
    assert cuda.cuMemFree(12345) == (cuda.CUresult.CUDA_ERROR_INVALID_VALUE,)
    host = ok(cuda.cuMemHostAlloc(64, cuda.CU_MEMHOSTALLOC_PORTABLE))
    assert ok(cuda.cuMemHostGetDevicePointer(host, 0)) == cuda.CUdeviceptr(host) and ok(cuda.cuMemHostGetFlags(host)) & 1
    ok(cuda.cuMemFreeHost(host))
    ok(cuda.cuMemFreeHost(ok(cuda.cuMemAllocHost(64))))
    kept = np.zeros(64, "f")
    ok(cuda.cuMemHostRegister(kept.ctypes.data, kept.nbytes, 0))
    ok(cuda.cuMemHostUnregister(kept.ctypes.data))
    assert cuda.cuMemHostUnregister(kept.ctypes.data) == (cuda.CUresult.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,)
    free, total = ok(cuda.cuMemGetInfo())
    assert 0 < free <= total == ok(cuda.cuDeviceTotalMem(device))
    assert ok(cuda.cuCtxGetStreamPriorityRange()) == [0, 0] and ok(cuda.cuDeviceCanAccessPeer(device, device)) == 0
    assert cuda.cuDeviceCanAccessPeer(device, 1) == (cuda.CUresult.CUDA_ERROR_INVALID_DEVICE, None)
    assert ok(cuda.cuDriverGetVersion()) == 0  # there is no driver
    stream = ok(cuda.cuStreamCreateWithPriority(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING, 0))
    assert ok(cuda.cuStreamGetFlags(stream)) == 1 and ok(cuda.cuStreamGetPriority(stream)) == 0
    ok(cuda.cuStreamDestroy(stream))
    assert ok(cuda.cuGetErrorName(cuda.CUresult.CUDA_ERROR_INVALID_VALUE)) == b"CUDA_ERROR_INVALID_VALUE"
    for ended in [cuda.cuCtxDestroy(ctx=context), cuda.cuCtxPushCurrent(ctx=context), cuda.cuCtxSetCurrent(ctx=context),
                  cuda.cuDevicePrimaryCtxRelease(dev=device), cuda.cuProfilerStart(), cuda.cuProfilerStop()]:
        ok(ended)
    """)


def test_the_driver_keeps_the_order_of_streams():
    run("""
    blocked, place, y = Blocked(), ok(cuda.cuMemAlloc(8)), pinned(2)
    y[:] = 0
    event = ok(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DEFAULT))
    ok(cuda.cuMemsetD8Async(place, 1, 8, blocked.stream))  # the second half of it is written over
    ok(cuda.cuMemcpyHtoDAsync(int(place) + 4, np.ones(1, "f"), 4, blocked.stream))
    second = ok(cuda.cuMemAllocAsync(8, blocked.stream))
    ok(cuda.cuMemcpyDtoDAsync(second, place, 8, blocked.stream))
    third = ok(cuda.cuMemAlloc(8))
    ok(cuda.cuMemcpyAsync(third, second, 8, blocked.stream))
    ok(cuda.cuMemcpyDtoHAsync(y, third, 8, blocked.stream))
    ok(cuda.cuMemFreeAsync(second, blocked.stream))
    ok(cuda.cuEventRecord(event, blocked.stream))
    other = ok(cuda.cuStreamCreate(1))
    ok(cuda.cuStreamWaitEvent(other, event, 0))
    called = []
    note = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(lambda *given: called.append(given))
    ok(cuda.cuStreamAddCallback(other, note, 7, 0))
    ok(cuda.cuStreamSynchronize(cuda.CUstream(0)))  # which these streams do not wait for
    assert y.tolist() == [0, 0] and not called, (y, called)
    not_ready = (cuda.CUresult.CUDA_ERROR_NOT_READY,)
    assert [cuda.cuStreamQuery(blocked.stream), cuda.cuStreamQuery(other), cuda.cuEventQuery(event)] == [not_ready] * 3
    blocked.go(after=0.05)
    ok(cuda.cuEventSynchronize(event))
    assert y.tobytes() == bytes([1] * 4) + np.ones(1, "f").tobytes()
    ok(cuda.cuStreamSynchronize(other))
    assert called == [(int(other), 0, 7)], called
    ok(cuda.cuEventQuery(event))
    ok(cuda.cuStreamQuery(other))
    assert cuda.cuMemFree(second) == (cuda.CUresult.CUDA_ERROR_INVALID_VALUE,)  # the stream has freed it
    ok(cuda.cuMemFree(third))

    for finish in [lambda stream: cuda.cuStreamSynchronize(stream), lambda _: cuda.cuCtxSynchronize()]:
        blocked, y = Blocked(), pinned(2)
        y[:] = 0
        ok(cuda.cuMemcpyDtoHAsync(y, place, 8, blocked.stream))
        blocked.go(after=0.05)
        ok(finish(blocked.stream))
        assert y[1] == 1

    start, end, stream = ok(cuda.cuEventCreate(0)), ok(cuda.cuEventCreate(0)), ok(cuda.cuStreamCreate(0))
    ok(cuda.cuEventRecord(start, stream))
    slow = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.sleep(0.05))
    ok(cuda.cuLaunchHostFunc(stream, slow, 0))
    ok(cuda.cuEventRecordWithFlags(end, stream, 0))
    ok(cuda.cuEventSynchronize(end))
    assert 40 < ok(cuda.cuEventElapsedTime(start, end)) < 5000
    ok(cuda.cuEventDestroy(end))
    assert cuda.cuEventQuery(end) == (cuda.CUresult.CUDA_ERROR_INVALID_HANDLE,)
    """)


def test_the_driver_has_graphs():
    run("""
    stream, place, mode = ok(cuda.cuStreamCreate(1)), ok(cuda.cuMemAlloc(4)), cuda.CUstreamCaptureMode
    status = cuda.CUstreamCaptureStatus
    assert ok(cuda.cuThreadExchangeStreamCaptureMode(mode.CU_STREAM_CAPTURE_MODE_RELAXED)) is mode.CU_STREAM_CAPTURE_MODE_GLOBAL
    assert ok(cuda.cuThreadExchangeStreamCaptureMode(mode.CU_STREAM_CAPTURE_MODE_GLOBAL)) is mode.CU_STREAM_CAPTURE_MODE_RELAXED
    assert ok(cuda.cuStreamIsCapturing(stream)) is status.CU_STREAM_CAPTURE_STATUS_NONE
    ok(cuda.cuStreamBeginCapture(stream, mode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    ok(cuda.cuMemsetD8Async(place, 1, 4, stream))
    assert ok(cuda.cuStreamIsCapturing(stream)) is status.CU_STREAM_CAPTURE_STATUS_ACTIVE
    assert ok(cuda.cuStreamGetPriority(stream)) == 0
    graph = ok(cuda.cuStreamEndCapture(stream))
    nodes, count = ok(cuda.cuGraphGetNodes(graph, 2))
    assert count == 1 and len(nodes) == 2 and int(nodes[0]) and not int(nodes[1]) and ok(cuda.cuGraphGetNodes(graph)) == [[], 1]
    made = ok(cuda.cuGraphInstantiate(graph, 0))
    assert isinstance(made, cuda.CUgraphExec)
    ok(cuda.cuGraphDestroy(graph))
    read = np.zeros(4, np.uint8)
    ok(cuda.cuMemsetD8(place, 7, 4))
    ok(cuda.cuGraphUpload(made, stream))
    ok(cuda.cuStreamSynchronize(stream))
    ok(cuda.cuMemcpyDtoH(read, place, 4))
    assert read.tolist() == [7] * 4  # an upload runs nothing
    ok(cuda.cuGraphLaunch(made, stream))
    ok(cuda.cuStreamSynchronize(stream))
    ok(cuda.cuMemcpyDtoH(read, place, 4))
    assert read.tolist() == [1] * 4
    empty = ok(cuda.cuGraphCreate(0))
    error, told = cudart.cudaGraphExecUpdate(made, empty)
    assert error == cudart.cudaError_t.cudaErrorGraphExecUpdateFailure and told is None
    graph = ok(cudart.cudaGraphCreate(0))
    updated = ok(cudart.cudaGraphExecUpdate(ok(cudart.cudaGraphInstantiate(graph, 0)), empty))
    assert updated.result is cudart.cudaGraphExecUpdateResult.cudaGraphExecUpdateSuccess and int(updated.errorNode) == 0
    ok(cuda.cuGraphExecDestroy(made))
    assert cuda.cuGraphLaunch(made, stream) == (cuda.CUresult.CUDA_ERROR_INVALID_HANDLE,)
    """)


def test_what_a_device_is_asked():
    run("""
    found = ok(cudart.cudaGetDeviceProperties(0))
    assert found.name.decode() == "Kiln CPU: " + kiln.device_name() and found.uuid.bytes == b"Kiln CPU device" + bytes(1)
    assert found.totalGlobalMem == ok(cudart.cudaMemGetInfo())[1] and found.maxThreadsDim == [0, 0, 0]
    assert (found.warpSize, found.memoryPoolsSupported, found.hostNumaId, found.mpsEnabled) == (1, 1, -1, 0)
    assert cudart.cudaGetDeviceProperties(1) == (cudart.cudaError_t.cudaErrorInvalidDevice, None)
    about, attribute = cudart.cudaDeviceAttr, cuda.CUdevice_attribute
    for runtimes, drivers, value in [
        (about.cudaDevAttrWarpSize, attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1),
        (about.cudaDevAttrMultiProcessorCount, attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, found.multiProcessorCount),
        (about.cudaDevAttrMemoryPoolsSupported, attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1),
        (about.cudaDevAttrHostNumaId, attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, -1),
    ]:
        assert ok(cudart.cudaDeviceGetAttribute(runtimes, 0)) == ok(cuda.cuDeviceGetAttribute(drivers, 0)) == value
    device = ok(cuda.cuDeviceGet(0))
    assert ok(cuda.cuDeviceComputeCapability(device)) == [0, 0] and cuda.cuDeviceComputeCapability(5)[1:] == (None, None)
    assert ok(cuda.cuDeviceGetUuid(device)).bytes == found.uuid.bytes and ok(cuda.cuDeviceGetName(3, device)) == found.name[:3]
    assert ok(cudart.cudaDeviceGetPCIBusId(13, 0)) == ok(cuda.cuDeviceGetPCIBusId(13, device)) == b"0000:00:00.0"
    assert ok(cudart.cudaDeviceGetPCIBusId(5, 0)) == b"0000" and cudart.cudaDeviceGetPCIBusId(0, 0) == (1, None)
    limit = cudart.cudaLimit.cudaLimitStackSize
    unsupported = cudart.cudaError_t.cudaErrorUnsupportedLimit
    assert cudart.cudaDeviceGetLimit(limit) == (unsupported, None) and cudart.cudaDeviceSetLimit(limit, 1) == (unsupported,)
    assert cudart.cudaDeviceEnablePeerAccess(0, 0) == cudart.cudaDeviceDisablePeerAccess(0) == (cudart.cudaError_t.cudaErrorInvalidDevice,)
    """)


def test_a_run_that_failed():
    run("""
    import tensorrt as trt
    logger = trt.Logger(trt.Logger.INTERNAL_ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    gather = network.add_gather(network.add_input("x", trt.float32, (4,)), network.add_input("i", trt.int32, (2,)), 0)
    network.mark_output(gather.get_output(0))
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    context = engine.create_execution_context()
    arrays = np.zeros(4, "f"), np.array([0, 9], "i"), np.zeros(2, "f")
    for i, array in enumerate(arrays):
        context.set_tensor_address(engine.get_tensor_name(i), array.ctypes.data)
    stream = ok(cuda.cuStreamCreate(0))
    context.execute_async_v3(int(stream))
    assert cuda.cuStreamSynchronize(stream) == (cuda.CUresult.CUDA_ERROR_LAUNCH_FAILED,)
    """)


def test_numbers_of_errors():
    """Each error of the runtime has its number in the driver's API, or is one of the invalid values, or unknown there."""
    run("""
    unknown = {"InsufficientDriver", "IncompatibleDriverContext", "InvalidSymbol", "InvalidConfiguration"}
    result = cuda._result
    for number in [1, 2, 3, 100, 101, 201, 400, 600, *range(700, 706), *range(708, 721), 800, 801, *range(900, 911), 999]:
        assert result(number) == number and ok(cuda.cuGetErrorName(number)).startswith(b"CUDA_ERROR_"), number
    for name in ["PitchValue", "HostPointer", "DevicePointer", "MemcpyDirection"]:
        assert result(cudart.cudaError_t["cudaErrorInvalid" + name]) == cuda.CUresult.CUDA_ERROR_INVALID_VALUE
    assert result(cudart.cudaError_t.cudaErrorInsufficientDriver) == cuda.CUresult.CUDA_ERROR_UNKNOWN
    assert cuda.cuMemcpyHtoD(0, 0, 4) == (cuda.CUresult.CUDA_ERROR_INVALID_VALUE,)
    """)


NVIDIAS = """
import enum, json, sys
from cuda.bindings import __version__, driver, runtime
assert int(__version__.split(".")[0]) >= 13  # before, cuCtxCreate took less
enums, functions = {}, {}
for module in driver, runtime:
    for name, what in vars(module).items():
        if isinstance(what, type) and issubclass(what, enum.Enum):
            enums[name] = {member.name: int(member) for member in what}
        elif callable(what) and not isinstance(what, type):
            functions[name] = next(iter((what.__doc__ or "").splitlines()), "")
print(json.dumps([enums, functions]))
"""


def test_names_and_numbers_are_nvidias(tmp_path):
    """Enumerations agree with those of NVIDIA's cuda-python, and functions take their arguments under the same names."""
    path = os.pathsep.join(sys.path)
    told = subprocess.run([sys.executable, "-c", NVIDIAS], text=True, capture_output=True, env={**os.environ, "PYTHONPATH": path})
    if told.returncode:
        pytest.skip("NVIDIA's cuda-python 13 is not there")
    (tmp_path / "theirs.json").write_text(told.stdout)
    run("""
    import enum, json, os
    enums, functions = json.load(open(os.environ["THEIRS"]))

    def names(line):
        words = line.partition("(")[2].partition(")")[0].split(", ")
        return [word.partition(":")[0].partition("=")[0].split()[-1] for word in words if word]

    compared = 0
    for module in cuda, cudart:
        for name, what in vars(module).items():
            if isinstance(what, type) and issubclass(what, enum.Enum) and name in enums:
                differ = {member.name: int(member) for member in what if enums[name].get(member.name, int(member)) != member}
                assert not differ, (name, differ)
                compared += 1
            elif not isinstance(what, type) and functions.get(name, "").startswith(name + "("):
                assert names(what.__doc__) == names(functions[name]), (what.__doc__, functions[name])
                compared += 1
    assert compared > 100, compared
    """, THEIRS=str(tmp_path / "theirs.json"))


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
    driver = sys.modules["cuda.bindings.driver"]
    ok(driver.cuMemFree(dptr=ok(driver.cuMemAlloc(bytesize=16))))
    ok(driver.cuMemsetD8(ok(driver.cuMemAlloc(4)), N=4, uc=0))
    refuses(TypeError, "cuMemAlloc() takes bytesize", lambda: driver.cuMemAlloc(size=16))
    refuses(TypeError, "cuMemcpyDtoHAsync() takes dstHost, srcDevice, ByteCount, hStream", lambda: driver.cuMemcpyDtoHAsync(0, 0, 4))
    refuses(OverflowError, "cuMemAlloc(): bytesize: it is -1", lambda: driver.cuMemAlloc(-1))
    refuses(OverflowError, "cuMemsetD8(): uc: it is 256, which is not in 0 to 255", lambda: driver.cuMemsetD8(0, 256, 4))
    refuses(TypeError, "cudaStreamCreate() takes no arguments", lambda: cudart.cudaStreamCreate(1))
    for name in ["cudaGraphAddKernelNode", "cuda.bindings.runtime"]:
        refuses(AttributeError, "Kiln's stand-in for cuda-python has no cuda.bindings.runtime." + name, lambda: getattr(cudart, name))
    refuses(AttributeError, "no cuda.bindings.driver.cuLaunchKernel", lambda: cuda.cuLaunchKernel)
    refuses(AttributeError, "dir(cuda.bindings.nvrtc) lists what it has, which is no kernels", lambda: nvrtc.nvrtcCreateProgram)
    import cuda.cuda, cuda.cudart, cuda.nvrtc  # their former names
    refuses(AttributeError, "has no cuda.bindings.driver.cuLaunchKernel", lambda: sys.modules["cuda.cuda"].cuLaunchKernel)
    refuses(AttributeError, "has no cuda.bindings.runtime.cudaGraphAddKernelNode", lambda: sys.modules["cuda.cudart"].cudaGraphAddKernelNode)
    refuses(AttributeError, "has no cuda.bindings.nvrtc.nvrtcCreateProgram", lambda: sys.modules["cuda.nvrtc"].nvrtcCreateProgram)
    """)


WHICH = "from cuda.bindings import runtime; import cuda.bindings; print(cuda.bindings.__file__)\n"


def nvidias(folder, layout):
    """Modules as NVIDIA's wheels have them; the head of a program that finds them, as Python does what pip installed."""
    bindings = folder / "cuda/bindings"
    bindings.mkdir(parents=True)
    if layout == "12.6":
        (folder / "cuda/__init__.py").write_text("__version__ = '12.6'\n")
        bindings.rmdir()
    else:
        (bindings / "__init__.py").write_text("from cuda.bindings import utils\n")
        for name in "runtime", "utils":
            (bindings / f"{name}.py").write_text("")
    for name in "cuda", "cudart", "nvrtc":
        (folder / f"cuda/{name}.py").write_text("theirs = 1\n")
    if layout == "12.9":  # whose .pth file imports it before a program begins
        (folder / "redirector.pth").write_text("import cuda.bindings\n")
    return f"import site, sys; sys.path.insert(0, {str(folder)!r}); site.addsitedir({str(folder)!r})\n"


@pytest.mark.parametrize("layout", ["12.6", "12.9", "13"])
def test_what_is_imported_under_which_name(tmp_path, layout):
    path = nvidias(tmp_path, layout)
    if layout != "12.6":
        assert run(WHICH, head=path).strip() == str(tmp_path / "cuda/bindings/__init__.py")
    asked = path + "import kiln; kiln.use_as_cuda_python(); kiln.use_as_cuda_python()\n"
    assert "_cuda_python" in run(WHICH, head=asked)
    run("""
    from cuda import cuda, cudart, nvrtc
    assert cudart.cudaGetDeviceCount() == (0, 1) and cuda.CUresult and nvrtc.nvrtcResult
    import cuda, cuda.bindings
    assert "_cuda_python" in cuda.bindings.__file__
    """, head=asked)
    late = run("""
    import kiln
    try: kiln.use_as_cuda_python()
    except ImportError as error: print(error)
    """, head=path + ("import cuda.cudart\n" if layout == "12.6" else WHICH))
    name = "cuda.cudart" if layout == "12.6" else "cuda.bindings.runtime"
    assert f"{name} was imported already, from {tmp_path.joinpath(*name.split('.'))}.py" in late


def test_other_modules_of_cuda_python(tmp_path):
    path = nvidias(tmp_path, "13")
    (tmp_path / "cuda/pathfinder.py").write_text("what = 'another part of cuda-python'\n")
    (tmp_path / "cuda/core").mkdir()
    (tmp_path / "cuda/core/__init__.py").write_text("import cuda.bindings.utils\n")
    asked = path + "import kiln; kiln.use_as_cuda_python()\n"
    run("import cuda.pathfinder; assert cuda.pathfinder.what", head=asked)
    told = run("""
    for name in "cuda.core", "cuda.core.graph":
        try: __import__(name)
        except ImportError as error: print(error)
    """, head=asked)
    refusal = f"cuda.core ({tmp_path}/cuda/core/__init__.py) is compiled against NVIDIA's cuda.bindings, in whose place " \
              "kiln.use_as_cuda_python() has put Kiln's\n"
    assert told == refusal * 2
    (tmp_path / "cuda/core/__init__.py").unlink()
    (tmp_path / "cuda/core").rmdir()
    assert "No module named 'cuda.core'" in run("""
    try: import cuda.core
    except ModuleNotFoundError as error: print(error)
    """, head=asked)


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


def test_a_buffer_stays_where_it_is_during_the_call():
    """Growing a bytearray moves it: that is refused while a copy reads it, which another thread does not wait for."""
    run("""
    place, data, told = ok(cudart.cudaMalloc(64)), bytearray(range(64)), []

    def grow(_):
        try:
            data.extend(bytes(1 << 20))
        except BufferError as error:
            told.append(str(error))

    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.sleep(0.1) or grow(_))
    ok(cudart.cudaLaunchHostFunc(0, function, 0))
    ok(cudart.cudaMemcpy(place, data, 64, KIND.cudaMemcpyHostToDevice))  # waits for the function
    assert len(told) == 1 and "re-sized" in told[0], told
    read = np.zeros(64, np.uint8)
    ok(cudart.cudaMemcpy(memoryview(read), place, 64, KIND.cudaMemcpyDeviceToHost))
    assert bytes(read) == bytes(range(64))
    data.extend(b"x")
    """)
