"""Calibrators that Python implements, and other deprecated items of a configuration."""

import concurrent.futures
import gc

import numpy as np
import pytest
import tensorrt as trt
from running import Messages, doubled, quick


class Calibrator(trt.IInt8EntropyCalibrator2):
    def __init__(self):
        trt.IInt8EntropyCalibrator2.__init__(self)

    def get_batch_size(self):
        return 1

    def get_batch(self, names):
        return None

    def read_calibration_cache(self):
        return None

    def write_calibration_cache(self, cache):
        pass


@pytest.mark.parametrize(
    "base",
    [
        trt.IInt8LegacyCalibrator,
        trt.IInt8EntropyCalibrator,
        trt.IInt8EntropyCalibrator2,
        trt.IInt8MinMaxCalibrator,
    ],
    ids=lambda base: base.__name__,
)
def test_calibrators_have_their_algorithm(base):
    calibrator = type("Calibrator", (base,), {"__init__": lambda self: base.__init__(self)})()
    expected = {
        trt.IInt8LegacyCalibrator: trt.CalibrationAlgoType.LEGACY_CALIBRATION,
        trt.IInt8EntropyCalibrator: trt.CalibrationAlgoType.ENTROPY_CALIBRATION,
        trt.IInt8EntropyCalibrator2: trt.CalibrationAlgoType.ENTROPY_CALIBRATION_2,
        trt.IInt8MinMaxCalibrator: trt.CalibrationAlgoType.MINMAX_CALIBRATION,
    }
    assert isinstance(calibrator, trt.IInt8Calibrator) and calibrator.get_algorithm() == expected[base]
    with pytest.raises(NotImplementedError, match="get_batch"):
        calibrator.get_batch(["x"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_a_class_does_not_define():
    for base in [trt.IInt8Calibrator, trt.IInt8LegacyCalibrator, trt.IInt8EntropyCalibrator2]:
        calibrator = type("Calibrator", (base,), {"__init__": lambda self: base.__init__(self)})()
        with pytest.raises(NotImplementedError, match="get_batch_size of a calibrator is called on the class that has to be"):
            calibrator.get_batch_size()
        if base is trt.IInt8Calibrator:
            with pytest.raises(NotImplementedError, match="get_algorithm of an IInt8Calibrator"):
                calibrator.get_algorithm()
        if base is trt.IInt8LegacyCalibrator:
            with pytest.raises(NotImplementedError, match="IInt8LegacyCalibrator.get_quantile"):
                calibrator.get_quantile()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("methods", [{}, {"get_algorithm": lambda self: 7}], ids=["missing", "of a wrong type"])
def test_an_algorithm_that_is_missing_is_told_once(methods):
    base, array, left = trt.IInt8Calibrator, np.ones((2, 3), np.float32), [1]

    def get_batch(self, names):
        left[0] -= 1
        return [array.ctypes.data] if left[0] >= 0 else None

    others = {"__init__": lambda self: base.__init__(self), "get_batch_size": lambda self: 1, "get_batch": get_batch,
              "read_calibration_cache": lambda self: None, "write_calibration_cache": lambda self, cache: None}
    logger = Messages()
    builder = trt.Builder(logger)
    config = quick(builder)
    config.set_flag(trt.BuilderFlag.INT8)
    config.int8_calibrator = type("Any", (base,), {**others, **methods})()
    assert builder.build_serialized_network(doubled(builder), config) is not None, logger.all()
    assert len([text for text in logger.errors() if "get_algorithm" in text]) == 1, logger.errors()


class Selector(trt.IAlgorithmSelector):
    def __init__(self):
        trt.IAlgorithmSelector.__init__(self)


class CacheOfCalibration(Calibrator):
    """Two batches, and a cache that is kept as it was given."""

    def __init__(self, cache=None):
        Calibrator.__init__(self)
        self.array = np.ones((2, 3), np.float32)
        self.cache, self.left, self.is_read = cache, 2, False

    def get_batch(self, names):
        self.left -= 1
        return [self.array.ctypes.data] if self.left >= 0 else None

    def read_calibration_cache(self):
        self.is_read = True
        return self.cache

    def write_calibration_cache(self, cache):
        self.cache = cache


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_calibration_cache_is_a_buffer_that_may_be_kept(tmp_path):
    """As in TensorRT's module programs call tobytes(), write it to a file, or return it in another build."""

    def build(calibrator):
        logger = Messages()
        builder = trt.Builder(logger)
        config = quick(builder)
        config.set_flag(trt.BuilderFlag.INT8)
        config.int8_calibrator = calibrator
        assert builder.build_serialized_network(doubled(builder), config) is not None, logger.all()
        return calibrator

    first = build(CacheOfCalibration())
    gc.collect()
    assert isinstance(first.cache, memoryview) and first.left < 0
    (tmp_path / "cache").write_bytes(first.cache)
    assert (tmp_path / "cache").read_bytes() == first.cache.tobytes() == bytes(first.cache) != b""
    second = build(CacheOfCalibration(first.cache))
    assert second.is_read and second.left == 2  # what was measured is not measured again


def int8_build(calibrator, dynamic=False):
    """The logger's messages of a build with a calibrator, and a call that does it."""
    logger = Messages()
    builder = trt.Builder(logger)
    config = quick(builder)
    config.set_flag(trt.BuilderFlag.INT8)
    config.int8_calibrator = calibrator
    network = doubled(builder, (-1, 3)) if dynamic else doubled(builder)
    if dynamic:
        profile = builder.create_optimization_profile()
        profile.set_shape("x", (1, 3), (4, 3), (8, 3))
        config.add_optimization_profile(profile)
    return logger, lambda: builder.build_serialized_network(network, config)


def raising(self, *_):
    raise OSError("the disk is gone")


def after_one_batch(answer):
    """A get_batch whose second batch is another one."""

    def get_batch(self, names):
        self.left -= 1
        return [self.array.ctypes.data] if self.left else answer(self)

    return get_batch


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "method, body, error, text",
    [
        ("get_batch", after_one_batch(raising), OSError, "the disk is gone"),
        ("get_batch", after_one_batch(lambda self: [1, 2]), ValueError, "get_batch answered 2 addresses for 1 inputs"),
        ("get_batch", after_one_batch(lambda self: ["x"]), TypeError, "get_batch answered a value of the wrong type"),
        ("get_batch", raising, OSError, "the disk is gone"),
        ("get_batch_size", raising, OSError, "the disk is gone"),
        ("get_batch_size", lambda self: "2", TypeError, "get_batch_size answered a value of the wrong type"),
        ("read_calibration_cache", raising, OSError, "the disk is gone"),
        ("read_calibration_cache", lambda self: 3, TypeError, "a bytes-like object is required"),
        ("write_calibration_cache", raising, OSError, "the disk is gone"),
    ],
)
@pytest.mark.parametrize("in_thread", [False, True], ids=["main", "thread"])
def test_what_a_calibrator_raises_ends_the_build(method, body, error, text, in_thread):
    """Half of the data makes no plan and no cache: who builds gets the exception."""
    calibrator = type("Failing", (CacheOfCalibration,), {method: body})()
    logger, build = int8_build(calibrator)
    with pytest.raises(error, match=text):
        if in_thread:
            with concurrent.futures.ThreadPoolExecutor() as pool:
                pool.submit(build).result()
        else:
            build()
    assert calibrator.cache is None
    assert any(f"IInt8Calibrator.{method}" in message for message in logger.errors())
    good = CacheOfCalibration()
    logger, build = int8_build(good)
    assert build() is not None and good.cache is not None, "the next build has nothing of it"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_batch_without_memory_ends_the_build():
    calibrator = type("Failing", (CacheOfCalibration,), {"get_batch": after_one_batch(lambda self: [0])})()
    logger, build = int8_build(calibrator)
    assert build() is None and calibrator.cache is None
    assert "calibration batch 1: the calibrator gave no memory for input 'x'" in logger.all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_batches_have_the_size_that_the_calibrator_says():
    """The memory ends behind two rows; the profile's optimum is four."""
    calibrator = CacheOfCalibration()
    calibrator.whole = np.full((4, 3), 1000, np.float32)
    calibrator.whole[:2] = 1
    calibrator.array = calibrator.whole[:2]
    calibrator.get_batch_size = lambda: 2
    logger, build = int8_build(calibrator, dynamic=True)
    assert build() is not None, logger.all()
    bits = dict(line.split(": ") for line in bytes(calibrator.cache).decode().splitlines()[1:])["x"]
    assert np.uint32(int(bits, 16)).view(np.float32) < 2 / 127
    for size, text in ((9, "begin with other extents: 'x' 4 (of 1 to 8)"), (0, "a batch has a size of 1 at least")):
        failing = CacheOfCalibration()
        failing.get_batch_size = lambda size=size: size
        logger, build = int8_build(failing, dynamic=True)
        assert build() is None and f"getBatchSize answered {size}" in logger.all() and text in logger.all()
        assert failing.cache is None and failing.left == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_data_and_ranges_that_say_nothing():
    calibrator = CacheOfCalibration()
    calibrator.array[:] = np.nan
    logger, build = int8_build(calibrator)
    assert build() is None and calibrator.cache is None
    assert "calibration: no value of input 'x' is finite" in logger.all()
    builder = trt.Builder(Messages())
    x = doubled(builder).get_input(0)
    for low, high in ((1, -1), (float("nan"), 1), (float("-inf"), float("inf"))):
        with pytest.raises(ValueError, match="the dynamic range was refused"):
            x.dynamic_range = (low, high)
    assert x.dynamic_range is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "cache, text",
    [
        (b"TRT-101600-EntropyCalibration2\nother: 3d000000\n", "it is that of another network"),
        (b"no cache", "a calibration cache begins with 'no cache'"),
        (b"TRT-101600-EntropyCalibration2\nx: 0\n", "tensor 'x': the scale is 0; scales are finite and positive"),
        (b"TRT-101600-EntropyCalibration2\nx: 7fc00000\n", "tensor 'x': the scale is nan"),
        (b"TRT-101600-EntropyCalibration2\nx: 3d000000\nx: 3e000000\n", "line 3 of a calibration cache: tensor 'x'"),
    ],
    ids=["other", "none", "zero", "nan", "twice"],
)
def test_caches_that_are_none_of_the_network(cache, text):
    logger, build = int8_build(CacheOfCalibration(cache))
    assert build() is None and text in logger.all()


@pytest.mark.parametrize(
    "name, item",
    [
        ("int8_calibrator", Calibrator),
        ("algorithm_selector", Selector),
    ],
)
def test_deprecated_items_of_a_configuration(name, item):
    logger = Messages()
    builder = trt.Builder(logger)
    config = builder.create_builder_config()
    value = item()
    with pytest.warns(DeprecationWarning):
        setattr(config, name, value)
    with pytest.warns(DeprecationWarning):
        found = getattr(config, name)
    assert found is value or (found is None and logger.texts)
