"""Calibrators that Python implements, and other deprecated items of a configuration."""

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
