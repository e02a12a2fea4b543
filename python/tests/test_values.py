"""Enums, Dims and Weights."""
import copy
import pickle

import numpy as np
import pytest
import tensorrt as trt


def test_enums_print_as_tensorrts():
    assert str(trt.DataType.FLOAT) == "DataType.FLOAT"
    assert repr(trt.DataType.FLOAT) == "<DataType.FLOAT: 0>"
    assert f"{trt.DataType.BF16} {trt.BuilderFlag.FP16}" == "DataType.BF16 BuilderFlag.FP16"
    assert repr(trt.BuilderFlag.FP16) == "<BuilderFlag.FP16: 0>"
    assert trt.DataType.INT64.name == "INT64" and trt.DataType.INT64.value == 8


def test_enums_have_values():
    assert trt.DataType(8) is trt.int64 and trt.float32 is trt.DataType.FLOAT
    assert int(trt.DataType.INT32) == 3 and 1 << int(trt.BuilderFlag.BF16) == 1 << 17
    assert list(trt.MemoryPoolType.__members__)[:2] == ["WORKSPACE", "DLA_MANAGED_SRAM"]
    with pytest.raises(ValueError):
        trt.DataType(99)


def test_enums_compare_like_tensorrts():
    assert trt.DataType.FLOAT != 0 and trt.DataType.FLOAT != trt.ActivationType.RELU
    assert trt.BuilderFlag.FP16 == 0 and trt.ILogger.ERROR < trt.ILogger.INFO
    assert {trt.float32: "a"}[trt.DataType.FLOAT] == "a"


def test_enums_are_not_each_other():
    with pytest.raises(TypeError):
        trt.Weights(trt.ActivationType.RELU)
    with pytest.raises(TypeError):
        trt.Weights(0)


@pytest.mark.parametrize("value", [trt.float16, trt.BuilderFlag.FP16, trt.Logger.ERROR], ids=str)
def test_enums_are_copied_and_pickled(value):
    assert copy.deepcopy(value) is value
    assert pickle.loads(pickle.dumps(value)) is value


def test_types_have_sizes_and_numpy_types():
    assert trt.float32.itemsize == 4 and trt.int4.itemsize == 0.5 and trt.bfloat16.itemsize == 2
    assert trt.nptype(trt.float16) is np.float16 and trt.nptype(trt.bool) is np.bool_
    with pytest.raises(TypeError, match="BF16"):
        trt.nptype(trt.bfloat16)
    assert trt.volume((2, 3, 4)) == 24 and trt.volume(trt.Dims()) == 1


def test_dims_are_like_tuples():
    dims = trt.Dims([2, -1, 5])
    assert len(dims) == 3 and dims[0] == 2 and dims[-1] == 5 and list(dims) == [2, -1, 5]
    assert dims == (2, -1, 5) and dims == [2, -1, 5] and dims == trt.Dims((2, -1, 5)) and dims != (2, -1)
    assert str(dims) == "(2, -1, 5)" and repr(trt.Dims((7,))) == "(7,)" and str(trt.Dims()) == "()"
    assert dims[1:] == (-1, 5) and dims[::-1] == (5, -1, 2)
    dims[1] = 4
    dims[1:3] = (6, 7)
    assert tuple(dims) == (2, 6, 7)
    assert trt.Dims.MAX_DIMS == 8
    assert tuple(trt.Dims(np.array([3, 4]))) == (3, 4)


def test_dims_refuse_what_is_no_shape():
    with pytest.raises(ValueError, match="at most 8"):
        trt.Dims(range(9))
    with pytest.raises(TypeError):
        trt.Dims(["a"])
    with pytest.raises(TypeError):
        trt.Dims("abc")
    with pytest.raises(IndexError, match=r"5 .*\(1, 2\)"):
        trt.Dims((1, 2))[5]
    with pytest.raises(ValueError, match="3"):
        trt.Dims3((1, 2))
    with pytest.raises(ValueError, match="slice"):
        trt.Dims((1, 2))[:] = (1, 2, 3)


@pytest.mark.parametrize("dims", [trt.Dims((2, 3)), trt.Dims2(2, 3), trt.DimsHW(2, 3)], ids=lambda dims: type(dims).__name__)
def test_dims_have_no_hash(dims):
    """Equal objects need equal hashes, and Dims equal tuples and can be changed."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(dims)


def test_dims_of_fixed_rank():
    assert tuple(trt.DimsHW(3, 4)) == (3, 4) and trt.DimsHW([3, 4]).w == 4
    hw = trt.DimsHW()
    hw.h = 9
    assert tuple(hw) == (9, 0)
    assert tuple(trt.Dims4(1, 2, 3, 4)) == (1, 2, 3, 4) and tuple(trt.Dims2()) == (0, 0)
    assert isinstance(trt.Dims3(), trt.Dims) and isinstance(hw, trt.Dims2)


def test_weights_view_arrays():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    weights = trt.Weights(array)
    assert (weights.dtype, weights.size, weights.nbytes, len(weights)) == (trt.float32, 6, 24, 6)
    view = weights.numpy()
    assert view.shape == (6,) and view.ctypes.data == array.ctypes.data
    array[0, 0] = 7
    del array, weights
    assert view[0] == 7


@pytest.mark.parametrize("name", ["float32", "float16", "int8", "int32", "int64", "bool", "uint8"])
def test_weights_of_each_type(name):
    array = np.ones(3, dtype=name)
    array.flags.writeable = False
    weights = trt.Weights(array)
    assert trt.nptype(weights.dtype) is np.dtype(name).type and weights.numpy().dtype == array.dtype
    assert (weights.numpy() == array).all()


def test_weights_without_an_array():
    assert (trt.Weights().dtype, len(trt.Weights(trt.int8))) == (trt.float32, 0)
    assert len(trt.Weights().numpy()) == 0
    array = np.array([1, 2, 3], dtype=np.int32)
    assert list(trt.Weights(trt.int32, array.ctypes.data, 2).numpy()) == [1, 2]
    half_bytes = trt.Weights(trt.int4, array.ctypes.data, 3)
    assert half_bytes.nbytes == 2 and half_bytes.numpy() is half_bytes


def test_weights_refuse_other_arrays():
    with pytest.raises(ValueError, match="contiguous"):
        trt.Weights(np.ones((4, 4), dtype=np.float32).T[1:])
    with pytest.raises(ValueError, match="float64"):
        trt.Weights(np.ones(3))
    with pytest.raises(ValueError, match=">f4"):
        trt.Weights(np.ones(3, dtype=">f4"))
    with pytest.raises(TypeError):
        trt.Weights([1.0, 2.0])
    with pytest.raises(ValueError):
        trt.Weights(trt.int32, 0, -1)
    with pytest.raises(ValueError, match="5 elements cannot be at address 0"):
        trt.Weights(trt.float32, 0, 5)


def test_objects_that_pretend_their_class():
    """Arguments are taken by their type: a `__class__` that raises is not asked, or is told."""

    class Pretender:
        @property
        def __class__(self):
            raise RuntimeError("as the test wants it")

    network = trt.Builder(trt.Logger(trt.Logger.ERROR)).create_network()
    for call in (trt.Weights, lambda it: network.add_constant((2,), it)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call(Pretender())
    registry = trt.get_plugin_registry()
    for call in (registry.register_creator, registry.deregister_creator, lambda it: registry.acquire_plugin_resource("a", it)):
        with pytest.raises(RuntimeError, match="as the test wants it"):
            call(Pretender())


def test_logger_prints(capfd):
    logger = trt.Logger(trt.Logger.INFO)
    assert logger.min_severity == trt.ILogger.Severity.INFO
    logger.log(trt.Logger.WARNING, "a warning")
    logger.log(trt.Logger.VERBOSE, "a detail")
    out = capfd.readouterr().out
    assert "[TRT] [W] a warning\n" in out and "detail" not in out
    logger.min_severity = trt.Logger.VERBOSE
    logger.log(trt.Logger.VERBOSE, "a detail")
    assert "[TRT] [V] a detail\n" in capfd.readouterr().out
