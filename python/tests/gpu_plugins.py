"""What tests of plugins on a GPU share: networks that run on PyTorch's tensors, and PyTorch's view of a plugin's memory."""

import os
import threading

import numpy as np
import pytest
import tensorrt as trt
from networks import Bench

torch = pytest.importorskip("torch", reason="tensors on a GPU are PyTorch's")
if os.environ.get("KILN_DEVICE") == "cpu" or not torch.cuda.is_available():
    pytest.skip("engines do not run on a GPU here", allow_module_level=True)

TORCH_TYPES = {
    trt.float32: torch.float32,
    trt.float16: torch.float16,
    trt.bfloat16: torch.bfloat16,
    trt.int32: torch.int32,
    trt.int64: torch.int64,
    trt.bool: torch.bool,
}


class _Memory:
    """Device memory as PyTorch and CuPy take it: contiguous, without a wait for any stream."""

    def __init__(self, address, shape, dtype):
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": tuple(shape),
            "typestr": np.dtype(trt.nptype(dtype)).str,
            "data": (address, False),
            "stream": None,
        }


def memory_at(address, desc):
    """What torch.as_tensor and cupy.asarray take of a plugin's tensor, which a PluginTensorDesc describes."""
    return _Memory(address, desc.dims, desc.type)


def tensor_at(address, desc):
    """A plugin's tensor as PyTorch's."""
    return torch.as_tensor(memory_at(address, desc), device="cuda")


def on_stream(stream):
    """Makes a plugin's stream PyTorch's current one, which Triton launches on, too."""
    return torch.cuda.stream(torch.cuda.ExternalStream(stream))


class GpuBench(Bench):
    """A network under construction whose engine runs on tensors of a GPU."""

    def profile(self, config, shapes):
        """Adds a profile: {name: (min, opt, max)}."""
        profile = self.builder.create_optimization_profile()
        for name, extents in shapes.items():
            profile.set_shape(name, *extents)
        assert config.add_optimization_profile(profile) >= 0

    def plan(self, outputs, shapes=None, flags=(), features=()):
        """Marks `outputs` as out0, out1, ..., and builds; None where that fails."""
        for i, tensor in enumerate(outputs):
            assert tensor is not None, self.log.take_errors()
            tensor.name = f"out{i}"
            self.network.mark_output(tensor)
        config = self.builder.create_builder_config()
        for flag in flags:
            config.set_flag(flag)
        for feature in features:
            config.set_preview_feature(feature, True)
        if shapes:
            self.profile(config, shapes)
        return self.builder.build_serialized_network(self.network, config)

    def engine(self, outputs, **options):
        plan = self.plan(outputs, **options)
        assert plan is not None, self.log.take_errors()
        engine = trt.Runtime(self.log).deserialize_cuda_engine(plan)
        assert engine is not None, self.log.take_errors()
        return engine


def enqueue(context, inputs, outputs=None):
    """Queues a run on PyTorch's current stream: {name: tensor}. Returns its outputs, in order, or `outputs`."""
    engine = context.engine
    for name, tensor in inputs.items():
        assert context.set_input_shape(name, tuple(tensor.shape))
        assert context.set_tensor_address(name, tensor.data_ptr())
    names = [name for name in engine if engine.get_tensor_mode(name) == trt.TensorIOMode.OUTPUT]
    if outputs is None:
        outputs = [
            torch.empty(
                tuple(context.get_tensor_shape(name)), dtype=TORCH_TYPES[engine.get_tensor_dtype(name)], device="cuda"
            )
            for name in names
        ]
    for name, tensor in zip(names, outputs):
        assert context.set_tensor_address(name, tensor.data_ptr())
    assert context.execute_async_v3(torch.cuda.current_stream().cuda_stream)
    return outputs


def run(context, inputs, outputs=None):
    """As enqueue; waits for the run."""
    made = enqueue(context, inputs, outputs)
    torch.cuda.current_stream().synchronize()
    return made


class GpuOutputs(trt.IOutputAllocator):
    """Memory for an output whose size data decides."""

    def __init__(self):
        trt.IOutputAllocator.__init__(self)
        self.memory, self.shape = None, None

    def reallocate_output(self, tensor_name, memory, size, alignment):
        self.memory = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
        return self.memory.data_ptr()

    def reallocate_output_async(self, tensor_name, memory, size, alignment, stream):
        return self.reallocate_output(tensor_name, memory, size, alignment)

    def notify_shape(self, tensor_name, shape):
        self.shape = tuple(shape)

    def tensor(self, dtype):
        count = int(np.prod(self.shape)) * torch.empty(0, dtype=dtype).element_size()
        return self.memory[:count].view(dtype).reshape(self.shape)


def run_by_allocator(context, inputs, dtype):
    """Runs a network of one output, out0, whose size data decides; returns it."""
    outputs = GpuOutputs()
    for name, tensor in inputs.items():
        assert context.set_input_shape(name, tuple(tensor.shape))
        assert context.set_tensor_address(name, tensor.data_ptr())
    assert context.set_output_allocator("out0", outputs)
    assert context.execute_async_v3(torch.cuda.current_stream().cuda_stream)
    torch.cuda.current_stream().synchronize()
    return outputs.tensor(dtype)


def random(*shape, seed=0, dtype=torch.float32):
    """A tensor on the GPU whose numbers are the seed's."""
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape, np.float32)).to("cuda", dtype)


def close(made, wanted, tolerance=1e-5):
    torch.testing.assert_close(made, wanted, rtol=tolerance, atol=tolerance)


def agrees_in_two_threads(engine, shape, expected):
    """Runs an engine of one input, x, in two threads with a context and a stream each; `expected` has the output of x."""
    failures = []

    def work(seed):
        try:
            context = engine.create_execution_context()
            with torch.cuda.stream(torch.cuda.Stream()):
                for i in range(30):
                    x = random(*shape, seed=100 * seed + i)
                    close(run(context, {"x": x})[0], expected(x))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
