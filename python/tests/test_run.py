# Copyright the Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""From an ONNX file to results: samples/digits, on 360 digits that it was not trained on."""
import pathlib

import numpy as np
import pytest
import tensorrt as trt

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "samples" / "digits"


@pytest.fixture(scope="module")
def plan():
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    assert parser.parse_from_file(str(DIGITS / "digits.onnx")), parser.get_error(0)
    config = builder.create_builder_config()
    config.builder_optimization_level = 0
    profile = builder.create_optimization_profile()
    shape = network.get_input(0).shape
    if shape[0] == -1:
        profile.set_shape(network.get_input(0).name, (1, *shape[1:]), (8, *shape[1:]), (64, *shape[1:]))
        config.add_optimization_profile(profile)
    return builder.build_serialized_network(network, config)


@pytest.fixture(scope="module")
def engine(plan):
    return trt.Runtime(trt.Logger(trt.Logger.WARNING)).deserialize_cuda_engine(plan)


def test_plan_is_a_buffer(plan):
    assert plan.nbytes == len(bytes(plan)) == len(memoryview(plan)) and plan.dtype == trt.int8


def test_engine_tells_of_its_tensors(engine):
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    assert names == list(engine) and engine[-1] == names[-1]
    assert [engine.get_tensor_mode(name) for name in names] == [trt.TensorIOMode.INPUT, trt.TensorIOMode.OUTPUT]
    assert engine.get_tensor_dtype(names[0]) == trt.float32
    assert engine.get_tensor_location(names[0]) == trt.TensorLocation.DEVICE
    assert engine.get_tensor_format(names[0]) == engine.get_tensor_format(names[0], 0) == trt.TensorFormat.LINEAR
    with pytest.raises(IndexError, match="2"):
        engine[2]
    assert engine.get_tensor_name(9) is None
