"""Builders and their configuration, timing caches, parsers, engines, inspectors, refitters."""
import json
import pathlib

import numpy as np
import onnx
import pytest
import running
import tensorrt as trt
from running import Messages, doubled, engine_of_doubled, plan_of_doubled, quick

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def logger():
    return Messages()


@pytest.fixture
def builder(logger):
    return trt.Builder(logger)


# Configurations


@pytest.mark.parametrize(
    "name, value",
    [
        ("avg_timing_iterations", 3),
        ("engine_capability", trt.EngineCapability.STANDARD),
        ("flags", 1 << int(trt.BuilderFlag.FP16) | 1 << int(trt.BuilderFlag.REFIT)),
        ("builder_optimization_level", 2),
        ("max_num_tactics", 7),
        ("profiling_verbosity", trt.ProfilingVerbosity.DETAILED),
        ("max_aux_streams", 2),
        ("profile_stream", 0),
        ("plugins_to_serialize", []),
        ("l2_limit_for_tiling", 1 << 20),
        ("hardware_compatibility_level", trt.HardwareCompatibilityLevel.NONE),
        ("runtime_platform", trt.RuntimePlatform.SAME_AS_BUILD),
    ],
)
def test_properties_of_a_configuration(builder, logger, name, value):
    config = builder.create_builder_config()
    setattr(config, name, value)
    assert getattr(config, name) == value or logger.errors()
    with pytest.raises(TypeError):
        setattr(config, name, object())


def test_flags(builder):
    config = builder.create_builder_config()
    assert config.get_flag(trt.BuilderFlag.TF32) and not config.get_flag(trt.BuilderFlag.FP16)
    config.set_flag(trt.BuilderFlag.FP16)
    assert config.get_flag(trt.BuilderFlag.FP16) and config.flags & 1 << int(trt.BuilderFlag.FP16)
    config.clear_flag(trt.BuilderFlag.FP16)
    assert not config.get_flag(trt.BuilderFlag.FP16)
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 24)
    assert config.get_memory_pool_limit(pool=trt.MemoryPoolType.WORKSPACE) == 1 << 24
    config.set_preview_feature(trt.PreviewFeature.ALIASED_PLUGIN_IO_10_03, True)
    assert config.get_preview_feature(trt.PreviewFeature.ALIASED_PLUGIN_IO_10_03)
    sources = 1 << int(trt.TacticSource.JIT_CONVOLUTIONS)
    assert config.set_tactic_sources(sources) and config.get_tactic_sources() == sources
    config.reset()
    assert not config.get_preview_feature(trt.PreviewFeature.ALIASED_PLUGIN_IO_10_03)
    for wrong in (0, None, trt.MemoryPoolType.WORKSPACE):
        with pytest.raises(TypeError):
            config.set_flag(wrong)


# Profiles


def test_profiles(builder, logger):
    profile = builder.create_optimization_profile()
    assert profile.get_shape("x") == [] and profile.get_shape_input("s") == []
    profile.set_shape("x", (1, 3), [2, 3], trt.Dims((4, 3)))
    assert [tuple(shape) for shape in profile.get_shape("x")] == [(1, 3), (2, 3), (4, 3)]
    profile.set_shape_input("s", [1], (2,), np.array([3]))
    assert profile.get_shape_input("s") == [[1], [2], [3]]
    profile.extra_memory_target = 0.5
    assert profile.extra_memory_target == 0.5 and bool(profile)
    with pytest.raises(RuntimeError, match="'x'.*opt"):
        profile.set_shape("x", (1, 3), (2, 3, 4), (4, 3))
    assert logger.errors()


# Builders


def test_builder_builds_engines(builder, logger):
    engine = builder.build_engine_with_config(doubled(builder), quick(builder))
    assert (running.run(engine.create_execution_context(), X) == 2 * X).all()
    assert builder.is_network_supported(doubled(builder), quick(builder))
    assert builder.build_serialized_network(doubled(builder), quick(builder), kernel_text=None) is not None
    builder.max_threads = 2
    assert builder.max_threads == 2 and builder.num_DLA_cores == 0
    builder.reset()


def test_a_network_without_outputs_is_an_error(builder, logger):
    assert builder.build_serialized_network(builder.create_network(), quick(builder)) is None
    assert any("output" in text for text in logger.errors())


# Timing caches


def test_timing_caches(builder, logger):
    config = quick(builder)
    cache = config.create_timing_cache(b"")
    assert config.set_timing_cache(cache, ignore_mismatch=False) and config.get_timing_cache() is cache
    config.builder_optimization_level = 3
    assert builder.build_serialized_network(softmax(builder), config) is not None
    saved = cache.serialize()
    again = config.create_timing_cache(saved)
    assert [str(key) for key in again.queryKeys()] == [str(key) for key in cache.queryKeys()]
    other = config.create_timing_cache(b"")
    assert other.combine(again, False) and bytes(other.serialize()) == bytes(saved)
    assert other.reset() and not other.queryKeys()
    assert config.create_timing_cache(b"damaged") is None and logger.errors()


def softmax(builder):
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (32, 64))
    y = network.add_softmax(network.add_matrix_multiply(
        x, trt.MatrixOperation.NONE, x, trt.MatrixOperation.TRANSPOSE).get_output(0)).get_output(0)
    network.mark_output(y)
    return network


def test_timing_cache_keys():
    text = "0x" + "0123456789abcdef" * 2
    assert str(trt.TimingCacheKey.parse(text)) == text
    assert str(trt.TimingCacheKey.parse(text.upper().replace("0X", "0X"))) == text
    for wrong in ("", text[:-1], "1x" + text[2:], text[:-1] + "g", text + "0"):
        with pytest.raises(ValueError):
            trt.TimingCacheKey.parse(wrong)
    value = trt.TimingCacheValue(7, 0.5)
    value.tacticHash += 1
    assert (value.tacticHash, value.timingMSec) == (8, 0.5)


# Parsers


def model(op="Abs", **attributes):
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 3])
    node = onnx.helper.make_node(op, ["x"], ["y"], name="the node", **attributes)
    graph = onnx.helper.make_graph([node], "graph", [x], [y])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)


def chain(*ops):
    """A model of nodes that read each other, whose types it states."""
    info = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3])
    names = [f"v{i}" for i in range(len(ops) + 1)]
    nodes = [onnx.helper.make_node(op, [names[i]], [names[i + 1]], name=f"node {i}") for i, op in enumerate(ops)]
    inner = [info(name) for name in names[1:-1]]
    graph = onnx.helper.make_graph(nodes, "graph", [info(names[0])], [info(names[-1])], value_info=inner)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)


def test_parser(builder, logger, tmp_path):
    data = model().SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    for parse in (
        lambda parser: parser.parse(data),
        lambda parser: parser.parse(bytearray(data), path=str(path)),
        lambda parser: parser.parse_from_file(str(path)),
        lambda parser: parser.load_model_proto(data) and parser.parse_model_proto(),
    ):
        network = builder.create_network()
        parser = trt.OnnxParser(network, logger)
        assert parse(parser) and parser.num_errors == 0, logger.errors()
        assert network.num_inputs == network.num_outputs == 1
        assert parser.get_layer_output_tensor("the node", 0).name == "y"
        assert parser.get_layer_output_tensor("another", 0) is None


def test_parser_answers_what_is_supported(builder, logger):
    parser = trt.OnnxParser(builder.create_network(), logger)
    assert parser.supports_operator("Conv") and not parser.supports_operator("NoSuchThing")
    assert parser.supports_model_v2(model().SerializeToString())
    assert parser.num_subgraphs == 1 and parser.is_subgraph_supported(0) and parser.get_subgraph_nodes(0) == [0]
    supported, parts = parser.supports_model(model("NoSuchThing").SerializeToString())
    assert supported is False and isinstance(parts, trt.SubGraphCollection)
    assert list(parts) == [], "a node that is not supported is in no part"
    between = chain("Relu", "NoSuchThing", "Abs", "Exp", "Another", "Neg")
    supported, parts = parser.supports_model(between.SerializeToString())
    assert not supported and list(parts) == [([0], True), ([2, 3], True), ([5], True)]
    assert all(isinstance(nodes, trt.NodeIndices) for nodes, _ in parts)
    assert parser.num_errors == 3 and parser.get_error(1).node() == 1


def test_parser_tells_the_functions_around_a_node(builder, logger):
    parser = trt.OnnxParser(builder.create_network(), logger)
    opsets = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("local", 1)]
    inner = onnx.helper.make_function(
        "local", "Inner", ["a"], ["b"], [onnx.helper.make_node("NoSuchThing", ["a"], ["b"], "odd")], opsets
    )
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Inner", ["x"], ["y"], "call", domain="local")],
        "calls",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])],
    )
    whole = onnx.helper.make_model(graph, functions=[inner], opset_imports=opsets, ir_version=10)
    assert not parser.parse(whole.SerializeToString())
    error = parser.get_error(0)
    assert error.local_function_stack() == ["Inner"] and error.local_function_stack_size() == 1


def test_parser_errors(builder, logger):
    parser = trt.OnnxParser(builder.create_network(), logger)
    assert not parser.parse(model("NoSuchThing").SerializeToString())
    error = parser.get_error(0)
    assert (error.node(), error.node_name(), error.node_operator()) == (0, "the node", "NoSuchThing")
    assert str(error).startswith("In node 0 with name: the node and operator: NoSuchThing ") and error.desc() in str(error)
    assert error.local_function_stack() == [] and error.local_function_stack_size() == 0
    damaged = model("NoSuchThing").SerializeToString().replace(b"the node", b"the \xffode")
    parser = trt.OnnxParser(builder.create_network(), logger)  # the other has an input 'x' already
    assert not parser.parse(damaged)
    error = parser.get_error(parser.num_errors - 1)
    assert error.node_name() == "the \ufffdode" and "the \ufffdode" in str(error) and "NoSuchThing" in error.desc()
    assert not parser.parse_from_file("no such file.onnx")
    with pytest.raises(TypeError):
        parser.parse("a path")
    with pytest.raises(TypeError):
        parser.parse_from_file(b"bytes")


def test_parser_flags(builder, logger):
    parser = trt.OnnxParser(builder.create_network(), logger)
    flag = trt.OnnxParserFlag.ENABLE_PLUGIN_OVERRIDE
    parser.set_flag(flag)
    assert parser.get_flag(flag) and parser.flags & 1 << int(flag)
    parser.clear_flag(flag)
    parser.flags = 0
    assert not parser.get_flag(flag) and parser.flags == 0
    assert parser.get_used_vc_plugin_libraries() == []
    config = builder.create_builder_config()
    parser.set_builder_config(config)
    assert trt.get_nv_onnx_parser_version() == 100


# Engines


def test_engine(logger):
    engine = engine_of_doubled(logger)
    assert engine.num_layers >= 1 and engine.num_optimization_profiles == 1 and not engine.refittable
    assert engine.device_memory_size_v2 >= 0 and engine.get_device_memory_size_for_profile_v2(0) >= 0
    assert engine.engine_capability == trt.EngineCapability.STANDARD and engine.num_aux_streams == 0
    assert engine.get_aliased_input_tensor("y") is None and not engine.is_debug_tensor("x")
    assert engine.get_tensor_vectorized_dim("x") == engine.get_tensor_vectorized_dim("x", 0) == -1
    assert engine.get_tensor_bytes_per_component("x") == engine.get_tensor_bytes_per_component("x", 0)
    assert engine.get_tensor_components_per_element("x") == engine.get_tensor_components_per_element("x", 0)
    assert isinstance(engine.get_tensor_format_desc("x"), str) and engine.get_tensor_format_desc("x", 0)
    with pytest.raises(RuntimeError, match="'x'"):
        engine.get_tensor_profile_values("x", 0)
    with pytest.raises(RuntimeError, match="'x'"):
        engine.get_tensor_profile_values(0, "x")  # the order of TensorRT's module
    with pytest.warns(DeprecationWarning):
        assert engine.has_implicit_batch_dimension is False


def test_engine_is_serialized(logger):
    engine = engine_of_doubled(logger)
    runtime = trt.Runtime(logger)
    config = engine.create_serialization_config()
    config.set_flag(trt.SerializationFlag.EXCLUDE_LEAN_RUNTIME)
    assert config.get_flag(trt.SerializationFlag.EXCLUDE_LEAN_RUNTIME) and config.flags == 2
    assert config.clear_flag(trt.SerializationFlag.EXCLUDE_LEAN_RUNTIME)
    with pytest.raises(RuntimeError, match="1024"):
        config.flags = 1024
    for plan in (engine.serialize(), engine.serialize_with_config(config)):
        context = runtime.deserialize_cuda_engine(plan).create_execution_context()
        assert (running.run(context, X) == 2 * X).all()


def test_contexts_of_each_strategy(logger):
    engine = engine_of_doubled(logger)
    for strategy in trt.ExecutionContextAllocationStrategy.__members__.values():
        assert engine.create_execution_context(strategy) is not None
    config = engine.create_runtime_config()
    if config is None:
        pytest.skip("runtime configurations are not there yet: " + logger.all())
    config.set_execution_context_allocation_strategy(trt.ExecutionContextAllocationStrategy.ON_PROFILE_CHANGE)
    assert (
        config.get_execution_context_allocation_strategy() == trt.ExecutionContextAllocationStrategy.ON_PROFILE_CHANGE
    )
    context = engine.create_execution_context(config)
    assert (running.run(context, X) == 2 * X).all()


def test_context_with_memory_of_the_program(logger):
    builder = trt.Builder(logger)
    network = softmax(builder)
    network.get_output(0).name = "y"
    engine = builder.build_engine_with_config(network, quick(builder))
    context = engine.create_execution_context(trt.ExecutionContextAllocationStrategy.USER_MANAGED)
    memory = np.zeros(engine.device_memory_size_v2 + 256, dtype=np.uint8)
    context.set_device_memory(-(-memory.ctypes.data // 256) * 256, engine.device_memory_size_v2)
    y = running.run(context, np.ones((32, 64), dtype=np.float32), (32, 32))
    assert np.allclose(y, 1 / 32)
    with pytest.raises(AttributeError):
        context.device_memory


def test_properties_of_a_context(logger):
    context = engine_of_doubled(logger).create_execution_context()
    assert context.active_optimization_profile == 0 and context.all_binding_shapes_specified
    assert context.set_optimization_profile_async(0, 0)
    with pytest.raises(RuntimeError, match="profile 5"):
        context.set_optimization_profile_async(5, 0)
    assert tuple(context.get_tensor_strides("x")) == (3, 1) and context.get_max_output_size("y") == 24
    context.enqueue_emits_profile = False
    assert not context.enqueue_emits_profile
    assert context.infer_shapes() == [] and context.get_output_allocator("y") is None
    context.set_aux_streams([])
    assert context.set_input_consumed_event(0) and context.get_input_consumed_event() == 0
    for value in (None, 0):
        context.set_communicator(value)
    with pytest.raises(TypeError, match="a communicator is an address as int, a capsule of one, or None, not str"):
        context.set_communicator("x")
    with pytest.raises(UnicodeEncodeError):
        context.name = "half a character: \udc80"
    context.nvtx_verbosity = trt.ProfilingVerbosity.NONE
    context.temporary_allocator = None
    assert context.temporary_allocator is None


def test_inspector(logger):
    builder = trt.Builder(logger)
    config = quick(builder)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    engine = builder.build_engine_with_config(doubled(builder), config)
    inspector = engine.create_engine_inspector()
    inspector.execution_context = context = engine.create_execution_context()
    assert context is inspector.execution_context
    assert json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))["Layers"]
    assert json.loads(inspector.get_layer_information(0, trt.LayerInformationFormat.JSON))
    assert inspector.get_engine_information(trt.LayerInformationFormat.ONELINE)
    inspector.get_layer_information(99, trt.LayerInformationFormat.JSON)
    assert logger.errors()


# Refitters


def refittable(logger):
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (2, 3))
    constant = network.add_constant((1, 3), np.array([[1, 2, 3]], dtype=np.float32))
    constant.name = "addend"
    y = network.add_elementwise(x, constant.get_output(0), trt.ElementWiseOperation.SUM).get_output(0)
    y.name = "y"
    network.mark_output(y)
    return build_refittable(builder, network)


def build_refittable(builder, network):
    config = quick(builder)
    config.set_flag(trt.BuilderFlag.REFIT)
    engine = builder.build_engine_with_config(network, config)
    if engine is None:  # the library does not have it yet, and names it
        assert "refit" in builder.logger.all().lower()
        pytest.skip("engines cannot be refitted yet: " + builder.logger.errors()[0])
    return engine


def test_refitter(logger):
    engine = refittable(logger)
    assert engine.refittable
    refitter = trt.Refitter(engine, logger)
    assert refitter.logger is logger and refitter.get_all() == (["addend"], [trt.WeightsRole.CONSTANT])
    assert refitter.get_missing() == ([], []) and refitter.get_missing_weights() == []
    assert refitter.set_weights("addend", trt.WeightsRole.CONSTANT, np.array([10, 20, 30], dtype=np.float32))
    assert refitter.refit_cuda_engine()
    context = engine.create_execution_context()
    assert (running.run(context, X) == X + [[10, 20, 30]]).all()
    assert refitter.set_weights("addend", trt.WeightsRole.CONSTANT, trt.Weights(np.ones(3, dtype=np.float32)))
    assert refitter.refit_cuda_engine_async(0)
    assert (running.run(context, X) == X + 1).all()


def test_refitter_refuses(logger):
    refitter = trt.Refitter(refittable(logger), logger)
    assert not refitter.set_weights("nothing", trt.WeightsRole.CONSTANT, np.ones(3, dtype=np.float32))
    assert not refitter.set_weights("addend", trt.WeightsRole.CONSTANT, np.ones(4, dtype=np.float32))
    with pytest.raises(ValueError, match="contiguous"):
        refitter.set_weights("addend", trt.WeightsRole.CONSTANT, np.ones((3, 3), dtype=np.float32)[:, 0])
    with pytest.raises(TypeError):
        refitter.set_weights("addend", trt.WeightsRole.CONSTANT, [1.0, 2.0, 3.0])
    assert refitter.refit_cuda_engine() in (True, False)


def test_an_engine_that_is_not_refittable(logger):
    with pytest.raises(RuntimeError):
        trt.Refitter(engine_of_doubled(logger), logger)
    assert logger.errors()


def test_models_refit_engines(logger, tmp_path):
    weights = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [3], [1, 2, 3])
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 3])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "w"], ["y"])], "graph", [x], [y], [weights])
    first = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(first.SerializeToString())
    engine = build_refittable(builder, network)
    context = engine.create_execution_context()
    first.graph.initializer[0].CopyFrom(onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [3], [7, 8, 9]))
    path = tmp_path / "second.onnx"
    path.write_bytes(first.SerializeToString())
    refitter = trt.Refitter(engine, logger)
    models = trt.OnnxParserRefitter(refitter, logger)
    assert models.refit_from_bytes(first.SerializeToString()) and models.num_errors == 0
    assert refitter.refit_cuda_engine()
    assert (running.run(context, X) == X + [[7, 8, 9]]).all()
    assert models.refit_from_file(str(path))
    assert not models.refit_from_bytes(b"no model") and models.num_errors == 1
    assert models.get_error(0).code() == trt.ErrorCode.MODEL_DESERIALIZE_FAILED
    models.clear_errors()
    assert models.num_errors == 0


# Runtimes


def test_runtime(logger, tmp_path):
    runtime = trt.Runtime(logger)
    runtime.max_threads = 3
    assert runtime.max_threads == 3 and runtime.num_DLA_cores == 0
    runtime.temporary_directory = str(tmp_path)
    assert runtime.temporary_directory == str(tmp_path)
    runtime.engine_host_code_allowed = True
    assert runtime.engine_host_code_allowed
    flags = 1 << int(trt.TempfileControlFlag.ALLOW_TEMPORARY_FILES)
    runtime.tempfile_control_flags = flags
    assert runtime.tempfile_control_flags == flags
    assert runtime.load_runtime("no such library.so") is None and logger.errors()


def test_standard_plugins_are_registered(logger):
    assert trt.init_libnvinfer_plugins(logger, "")
    assert trt.init_libnvinfer_plugins(None, "")
    with pytest.raises(TypeError):
        trt.init_libnvinfer_plugins(1, "")
