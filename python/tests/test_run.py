"""From an ONNX file to results: samples/digits, on 360 digits that it was not trained on; and runs of small networks."""
import pathlib

import numpy as np
import pytest
import running
import tensorrt as trt

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "samples" / "digits"


@pytest.fixture(scope="module")
def plan():
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    assert parser.parse_from_file(str(DIGITS / "digits.onnx")), parser.get_error(0)
    config = running.quick(builder)
    profile = builder.create_optimization_profile()
    name, shape = network.get_input(0).name, tuple(network.get_input(0).shape)
    assert shape[0] == -1
    profile.set_shape(name, (1, *shape[1:]), (8, *shape[1:]), (64, *shape[1:]))
    assert config.add_optimization_profile(profile) == 0
    return builder.build_serialized_network(network, config)


@pytest.fixture(scope="module")
def engine(plan):
    return trt.Runtime(trt.Logger(trt.Logger.WARNING)).deserialize_cuda_engine(plan)


@pytest.fixture(scope="module")
def held_out(engine):
    shape = tuple(engine.get_tensor_shape(engine[0]))[1:]
    labels = np.fromfile(DIGITS / "heldout.labels", dtype=np.uint8)
    images = np.fromfile(DIGITS / "heldout.bin", dtype=np.float32).reshape(len(labels), *shape)
    return images, labels


def classes(context, images, execute):
    engine = context.engine
    result = []
    for first in range(0, len(images), 64):
        x = np.ascontiguousarray(images[first : first + 64])
        assert context.set_input_shape(engine[0], x.shape)
        y = np.zeros(tuple(context.get_tensor_shape(engine[1])), dtype=np.float32)
        assert execute(context, x, y)
        result.append(y.argmax(axis=1))
    return np.concatenate(result)


def synchronously(context, x, y):
    return context.execute_v2([x.ctypes.data, y.ctypes.data])


def on_a_stream(context, x, y):
    engine = context.engine
    assert context.set_tensor_address(engine[0], x.ctypes.data) and context.set_tensor_address(engine[1], y.ctypes.data)
    done = context.execute_async_v3(stream_handle=0)
    running.wait()
    return done


@pytest.mark.parametrize("execute", [synchronously, on_a_stream])
def test_digits_are_read(engine, held_out, execute):
    images, labels = held_out
    right = classes(engine.create_execution_context(), images, execute) == labels
    assert len(labels) == 360 and right.sum() == 357  # digits.json


def test_plan_is_a_buffer(plan):
    assert plan.nbytes == len(bytes(plan)) == len(memoryview(plan)) and plan.dtype == trt.int8


def test_plan_is_loaded_from_any_buffer(plan):
    runtime = trt.Runtime(trt.Logger(trt.Logger.WARNING))
    for data in (bytes(plan), bytearray(plan), memoryview(plan), np.frombuffer(plan, dtype=np.uint8)):
        assert runtime.deserialize_cuda_engine(data).num_io_tensors == 2


def test_engine_tells_of_its_tensors(engine):
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    assert names == list(engine) and engine[-1] == names[-1]
    assert [engine.get_tensor_mode(name) for name in names] == [trt.TensorIOMode.INPUT, trt.TensorIOMode.OUTPUT]
    assert engine.get_tensor_dtype(names[0]) == trt.float32
    assert engine.get_tensor_location(names[0]) == trt.TensorLocation.DEVICE
    assert engine.get_tensor_format(names[0]) == engine.get_tensor_format(names[0], 0) == trt.TensorFormat.LINEAR
    shapes = engine.get_tensor_profile_shape(names[0], 0)
    assert [shape[0] for shape in shapes] == [1, 8, 64]
    with pytest.raises(IndexError, match="2"):
        engine[2]
    assert engine.get_tensor_name(9) is None


def test_shapes_that_do_not_fit(engine):
    context = engine.create_execution_context()
    shape = tuple(engine.get_tensor_shape(engine[0]))[1:]
    assert not context.set_input_shape(engine[0], (65, *shape))
    assert not context.set_input_shape("nothing", (1, *shape))
    assert context.infer_shapes() == [engine[0]]
    assert not context.all_binding_shapes_specified
    with pytest.raises(ValueError, match="invalid"):
        len(engine.get_tensor_shape("nothing"))
    with pytest.raises(TypeError):
        context.set_input_shape(engine[0], "shape")


def test_addresses(engine):
    context = engine.create_execution_context()
    x = np.zeros(4, dtype=np.float32)
    assert context.get_tensor_address(engine[0]) == 0
    assert context.set_tensor_address(engine[0], x.ctypes.data)
    assert context.get_tensor_address(engine[0]) == x.ctypes.data
    assert not context.set_tensor_address("nothing", x.ctypes.data)
    with pytest.raises(ValueError, match="1 addresses for 2 tensors"):
        context.execute_v2([x.ctypes.data])
    with pytest.raises(TypeError):
        context.set_tensor_address(engine[0], x)


def test_outputs_without_an_address_are_an_error():
    logger = running.Messages()
    context = running.engine_of_doubled(logger).create_execution_context()
    assert not context.execute_async_v3(0)
    assert any("address" in text for text in logger.errors())


def test_bindings_without_an_address_are_named():
    log = running.Messages()
    context = running.engine_of_doubled(log).create_execution_context()
    x, y = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
    told = "IExecutionContext::executeV2: output 'y' has no address: binding 1 is null, and it has no allocator (setOutputAllocator)"
    assert not context.execute_v2([x.ctypes.data, 0]) and log.errors()[-1] == told
    assert not context.execute_v2([0, y.ctypes.data])
    assert log.errors()[-1] == "IExecutionContext::executeV2: input 'x' has no address: binding 0 is null"
    assert not context.execute_async_v3(0)
    assert log.errors()[-1] == "IExecutionContext::enqueueV3: input 'x' has no address: call setTensorAddress"
    assert context.execute_v2([x.ctypes.data, y.ctypes.data]) and (y == 2).all()


def test_runs_follow_each_other_on_a_stream():
    context = running.engine_of_doubled(trt.Logger(trt.Logger.WARNING)).create_execution_context()
    for seed in range(5):
        x = np.random.default_rng(seed).standard_normal((2, 3)).astype(np.float32)
        assert (running.run(context, x) == 2 * x).all()


def test_damaged_plans_are_refused(plan):
    logger = running.Messages()
    runtime = trt.Runtime(logger)
    damaged = bytearray(plan)
    damaged[len(damaged) // 2] ^= 0xFF
    for data in (b"", b"no plan", bytes(plan)[:100], bytes(damaged)):
        assert runtime.deserialize_cuda_engine(data) is None
    assert len(logger.errors()) == 4
    with pytest.raises(TypeError):
        runtime.deserialize_cuda_engine("a path")
    with pytest.raises(TypeError):
        runtime.deserialize_cuda_engine(None)
