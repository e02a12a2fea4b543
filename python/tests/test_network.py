"""INetworkDefinition and ITensor: inputs, outputs, layers by index, errors, lifetimes."""

import gc
import sys
import warnings
import weakref

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench
from running import Recorder

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def sigmoid_of_softmax(bench):
    softmax = bench.network.add_softmax(bench.input("x", X))
    softmax.axes = 2
    return bench.network.add_activation(softmax.get_output(0), trt.ActivationType.SIGMOID)


def test_inputs_and_outputs():
    bench = Bench()
    net = bench.network
    x = net.add_input(name="x", dtype=trt.float32, shape=(-1, 3))
    y = net.add_input("y", trt.int64, trt.Dims([4]))
    assert (net.num_inputs, net.num_outputs, net.num_layers) == (2, 0, 0)
    assert net.get_input(0) is x and net.get_input(1) is y
    assert net.get_input(2) is None
    out = net.add_identity(x).get_output(0)
    net.mark_output(out)
    assert net.num_outputs == 1 and net.get_output(0) is out and out.is_network_output
    net.unmark_output(tensor=out)
    assert net.num_outputs == 0 and not out.is_network_output
    assert net.get_output(0) is None
    net.remove_tensor(y)
    assert net.num_inputs == 1
    assert net.add_input("x", trt.float32, (1,)) is None
    assert "'x'" in bench.log.take_errors()


def test_tensor():
    bench = Bench()
    x = bench.input("x", (-1, 3))
    assert (x.name, tuple(x.shape), x.dtype, x.location) == ("x", (-1, 3), trt.float32, trt.TensorLocation.DEVICE)
    assert x.is_network_input and not x.is_network_output and not x.is_shape_tensor
    bench.network.mark_output(bench.network.add_identity(x).get_output(0))
    assert x.is_execution_tensor
    x.name, x.shape = "data", (2, -1, 4)
    assert (x.name, tuple(x.shape)) == ("data", (2, -1, 4))
    x.allowed_formats = 1 << int(trt.TensorFormat.LINEAR) | 1 << int(trt.TensorFormat.CHW4)
    assert x.allowed_formats == 0b1001
    x.location = trt.TensorLocation.HOST
    assert x.location is trt.TensorLocation.HOST
    assert x.get_dimension_name(1) is None
    x.set_dimension_name(index=1, name="length")
    assert x.get_dimension_name(index=1) == "length"
    shape = bench.network.add_shape(x).get_output(0)
    assert shape.is_shape_tensor
    assert bench.network.mark_output_for_shapes(shape) is True
    assert bench.network.unmark_output_for_shapes(shape) is True
    assert bench.log.take_errors() == ""
    bench.network.add_identity(x).get_output(0).shape = (1,)
    assert "no input of the network" in bench.log.take_errors()


def test_deprecated_members_warn():
    bench = Bench()
    x = bench.input("x", X)
    layer = bench.network.add_identity(x)
    for use, expected in [
        (lambda: x.dynamic_range, None),
        (lambda: setattr(x, "dynamic_range", (-1, 2)), None),
        (lambda: x.dynamic_range, (-1, 2)),
        (lambda: x.reset_dynamic_range(), None),
        (lambda: x.set_dynamic_range(min=0, max=1), True),
        (lambda: setattr(x, "dtype", trt.float16), None),
        (lambda: x.broadcast_across_batch, False),
        (lambda: setattr(layer, "precision", trt.float16), None),
        (lambda: layer.precision_is_set, True),
        (lambda: layer.reset_precision(), None),
        (lambda: layer.precision_is_set, False),
        (lambda: layer.set_output_type(index=0, dtype=trt.float16), None),
        (lambda: layer.output_type_is_set(0), True),
        (lambda: layer.reset_output_type(0), None),
        (lambda: bench.network.has_implicit_batch_dimension, False),
    ]:
        with pytest.warns(DeprecationWarning):
            assert use() == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning):
            x.reset_dynamic_range()
        assert layer.precision == trt.float32 and layer.get_output_type(0) in (trt.float16, trt.float32)
    with pytest.warns(DeprecationWarning), pytest.raises(ValueError):
        x.dynamic_range = (1, 2, 3)
    with pytest.warns(DeprecationWarning), pytest.raises(ValueError):
        x.dynamic_range = (2, 1)


def test_layers_by_index_have_their_class():
    bench = Bench()
    activation = sigmoid_of_softmax(bench)
    net = bench.network
    assert len(net) == net.num_layers == 2
    assert [type(net[i]) for i in (0, -2)] == [trt.ISoftMaxLayer] * 2
    assert net[0].axes == 2
    assert [layer.name for layer in net] == [net.get_layer(i).name for i in range(2)]
    for index in (2, -3):
        with pytest.raises(IndexError, match="2 layers"):
            net[index]
    assert net.get_layer(2) is None
    assert "outside" in bench.log.take_errors()
    assert activation.type is trt.ActivationType.SIGMOID


@pytest.mark.parametrize("held", [True, False])
def test_activations_and_poolings_by_index_tell_their_layer_type(held):
    """Programs walk through a network and look at `type`, which these two classes redefine."""
    bench = Bench()
    layers = [sigmoid_of_softmax(bench)]
    layers.append(bench.network.add_pooling_nd(bench.input("y", (1, 1, 2, 2)), trt.PoolingType.MAX, (2, 2)))
    if not held:
        del layers
    assert [layer.type for layer in bench.network] == [
        trt.LayerType.SOFTMAX,
        trt.LayerType.ACTIVATION,
        trt.LayerType.POOLING,
    ]
    activation, pooling = bench.network[1], bench.network[2]
    activation.__class__ = trt.IActivationLayer
    pooling.__class__ = trt.IPoolingLayer
    assert activation.type is trt.ActivationType.SIGMOID and pooling.type is trt.PoolingType.MAX
    activation.type = trt.ActivationType.TANH
    assert bench.network[1].type is trt.LayerType.ACTIVATION
    softmax = bench.network[0]
    softmax.__class__ = trt.ISoftMaxLayer  # as such programs do with every layer
    assert softmax.axes == 2


def test_layers_are_given_no_class_of_others():
    """Its methods would call what the layer does not have."""
    bench = Bench()
    sigmoid_of_softmax(bench)
    softmax, activation = bench.network
    for layer, kind in [
        (softmax, trt.IConvolutionLayer),
        (softmax, trt.ITensor),
        (softmax, object()),
        (activation, trt.IPoolingLayer),
        (activation, trt.ISoftMaxLayer),
    ]:
        with pytest.raises(TypeError, match="cannot be given"):
            layer.__class__ = kind
    assert (softmax.__class__, activation.__class__) == (trt.ISoftMaxLayer, trt.ILayer)
    activation.__class__ = trt.ILayer
    softmax.__class__ = trt.ILayer
    assert bench.network[0].type is trt.LayerType.SOFTMAX
    softmax.__class__ = trt.ISoftMaxLayer
    assert softmax.axes == 2


def test_layer():
    bench = Bench()
    activation = sigmoid_of_softmax(bench)
    softmax = bench.network[0]
    softmax.name, softmax.metadata = "soft", "of x"
    assert (bench.network[0].name, bench.network[0].metadata) == ("soft", "of x")
    assert (softmax.num_inputs, softmax.num_outputs) == (1, 1)
    assert softmax.get_input(0) is bench.network.get_input(0)
    assert softmax.get_output(0) is activation.get_input(0)
    assert softmax.get_input(1) is None and softmax.get_output(1) is None
    other = bench.input("z", X)
    softmax.set_input(index=0, tensor=other)
    assert softmax.get_input(0) is other
    softmax.set_input(3, other)
    assert "outside" in bench.log.take_errors()
    softmax.num_ranks = 1
    with pytest.raises(RuntimeError):
        softmax.num_ranks = 0


def test_network():
    bench = Bench(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    net = bench.network
    net.name = "small"
    assert net.name == "small"
    assert net.flags == 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
    assert net.get_flag(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
    assert not net.get_flag(trt.NetworkDefinitionCreationFlag.PREFER_JIT_PYTHON_PLUGINS)
    assert net.builder is bench.builder
    assert net.error_recorder is None


def test_del_does_nothing():
    bench = Bench()
    bench.network.__del__()
    assert bench.network.num_layers == 0


def test_objects_can_be_referred_to_weakly():
    bench = Bench()
    layer, loop = sigmoid_of_softmax(bench), bench.network.add_loop()
    for thing in (bench.network, layer, bench.network[0], layer.get_output(0), loop):
        assert weakref.ref(thing)() is thing
    watch = weakref.ref(loop)
    del loop, thing
    assert watch() is None


def test_wrong_types():
    bench = Bench()
    net, x = bench.network, bench.input("x", X)
    for call in [
        lambda: net.add_identity(None),
        lambda: net.add_identity("x"),
        lambda: net.add_identity(),
        lambda: net.add_activation(x, trt.UnaryOperation.EXP),
        lambda: net.add_activation(x, type="RELU"),
        lambda: net.add_softmax(tensor=x),
        lambda: net.add_concatenation(x),
        lambda: net.add_concatenation([x, 3]),
        lambda: net.add_input("y", np.float32, (1,)),
        lambda: net.add_input("y", trt.float32, "shape"),
        lambda: net.add_reduce(x, trt.ReduceOperation.SUM, -1, True),
        lambda: net.mark_output(net),
        lambda: net["first"],
        lambda: setattr(net, "name", 5),
        lambda: setattr(net.add_softmax(x), "axes", "all"),
        lambda: net.add_softmax(x).set_input(0, None),
        lambda: trt.INetworkDefinition(),
        lambda: trt.ITensor(),
        lambda: trt.ISoftMaxLayer(),
    ]:
        with pytest.raises(TypeError):
            call()
    assert net.num_inputs == 1


def test_errors_are_none_and_in_the_log():
    bench = Bench()
    x, y = bench.input("x", X), bench.input("y", (5, 7))
    for call, words in [
        (lambda: bench.network.add_elementwise(x, y, trt.ElementWiseOperation.SUM), "addElementWise"),
        (lambda: bench.network.add_concatenation([]), "addConcatenation"),
        (lambda: bench.network.add_concatenation([x, None]), "addConcatenation"),
        (lambda: bench.network.add_input("z", trt.float32, (-2,)), "addInput"),
        (lambda: bench.network.add_constant((3,), np.ones(2, np.float32)), "addConstant"),
        (lambda: bench.network.add_identity(Bench().input("other", X)), "addIdentity"),
        (lambda: bench.network.add_softmax(x).get_output(-1), ""),
    ]:
        assert call() is None
        assert words in bench.log.take_errors()


class Refusing(Recorder):
    """A recorder that raises."""

    def report_error(self, code, desc):
        raise ValueError("no room")


def test_errors_are_recorded():
    bench = Bench()
    x = bench.input("x", X)
    bench.network.error_recorder = Recorder()  # the network holds it
    gc.collect()
    assert bench.network.add_padding_nd(x, (1,), (1,)) is None
    recorder = bench.network.error_recorder
    assert type(recorder) is Recorder
    assert len(recorder.errors) == 1 and "addPaddingNd" in recorder.errors[0][1]
    bench.network.error_recorder = None
    assert bench.network.error_recorder is None
    assert bench.network.add_padding_nd(x, (1,), (1,)) is None
    assert len(recorder.errors) == 1
    with pytest.raises(TypeError):
        bench.network.error_recorder = "recorder"


def test_a_recorder_that_raises_is_survived():
    bench = Bench()
    x = bench.input("x", X)
    bench.network.error_recorder = Refusing()
    assert bench.network.add_padding_nd(x, (1,), (1,)) is None
    assert "no room" in bench.log.take_errors()
    assert bench.network.add_softmax(x) is not None


def test_objects_keep_their_network_alive():
    bench = Bench()
    layer = sigmoid_of_softmax(bench)
    tensor = layer.get_output(0)
    del bench, layer
    gc.collect()
    assert tuple(tensor.shape) == (2, 3)
    tensor.name = "still here"
    assert tensor.name == "still here"


def test_a_layer_without_its_class_keeps_its_network_alive():
    bench = Bench()
    sigmoid_of_softmax(bench)
    layer = bench.network[1]
    assert type(layer) is trt.ILayer
    del bench
    gc.collect()
    assert layer.type is trt.LayerType.ACTIVATION
    assert tuple(layer.get_output(0).shape) == (2, 3)


def test_networks_are_freed():
    """No reference from a network to its layers and tensors, nor among them, is a cycle."""

    class Array(np.ndarray):  # which weak references can watch
        pass

    for _ in range(3):
        bench = Bench()
        array = np.ones(3, np.float32).view(Array)
        watch = weakref.ref(array)
        constant = bench.network.add_constant((3,), array)
        loop = bench.network.add_loop()
        everything = [constant, loop, *bench.network, constant.get_output(0), bench.network.builder]
        gc.disable()
        try:
            del array, everything, constant, loop
            assert watch() is not None
            del bench
            assert watch() is None
        finally:
            gc.enable()


def constant_plus(bench, array):
    x = bench.input("x", array)
    constant = bench.network.add_constant(array.shape, array)
    return constant, bench.network.add_elementwise(
        x, constant.get_output(0), trt.ElementWiseOperation.SUM
    ).get_output(0)


def test_weights_live_as_long_as_the_network():
    bench = Bench()
    constant, out = constant_plus(bench, np.arange(100000, dtype=np.float32))
    gc.collect()
    noise = [np.full(100000, 7, np.float32) for _ in range(8)]  # would take the freed memory
    (result,) = bench.run({"x": np.zeros(100000, np.float32)}, [out])
    np.testing.assert_array_equal(result, np.arange(100000))
    assert len(noise) == 8


def test_weights_that_a_property_sets_live_as_long():
    """Even though the layer's Python object goes at once."""
    bench = Bench()
    out = constant_plus(bench, np.zeros(100000, np.float32))[1]
    bench.network[0].weights = np.arange(100000, dtype=np.float32)
    gc.collect()
    noise = [np.full(100000, 7, np.float32) for _ in range(8)]
    (result,) = bench.run({"x": np.zeros(100000, np.float32)}, [out])
    np.testing.assert_array_equal(result, np.arange(100000))
    assert len(noise) == 8


def test_weights_are_shared_and_not_copied():
    bench = Bench()
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    constant, out = constant_plus(bench, array)
    assert np.shares_memory(constant.weights, array)
    assert constant.weights.shape == (6,)
    array[1, 2] = 50
    assert bench.network[0].weights[5] == 50
    (result,) = bench.run({"x": np.zeros((2, 3), np.float32)}, [out])
    np.testing.assert_array_equal(result, array)


def test_weights_outlive_the_network_in_arrays():
    bench = Bench()
    shown = constant_plus(bench, np.arange(100000, dtype=np.float32))[0].weights
    del bench
    gc.collect()
    noise = [np.full(100000, 7, np.float32) for _ in range(8)]
    np.testing.assert_array_equal(shown, np.arange(100000))
    assert len(noise) == 8


def test_weights_objects():
    bench = Bench()
    array = np.arange(6, dtype=np.float32)
    constant = bench.network.add_constant((6,), trt.Weights(array))
    assert np.shares_memory(constant.weights, array)
    by_pointer = bench.network.add_constant((6,), trt.Weights(trt.float32, array.ctypes.data, 6))
    np.testing.assert_array_equal(by_pointer.weights, array)
    small = bench.network.add_constant((4,), trt.Weights(trt.bfloat16, array.ctypes.data, 4))
    assert isinstance(small.weights, trt.Weights)
    assert (small.weights.dtype, small.weights.size) == (trt.bfloat16, 4)


def test_weights_get_names():
    bench = Bench()
    array = np.arange(6, dtype=np.float32)
    bench.network.add_constant((6,), array)
    assert bench.network.set_weights_name(array, "six") is True
    assert bench.network.set_weights_name(weights=array.copy(), name="other") is False


def test_replaced_weights_are_kept_once_each():
    bench = Bench()
    array = np.zeros(3, np.float32)
    before = sys.getrefcount(array)
    constant = bench.network.add_constant((3,), array)
    held = sys.getrefcount(array) - before
    for _ in range(100):
        constant.weights = array
    assert sys.getrefcount(array) - before == held
    del constant, bench
    assert sys.getrefcount(array) == before
