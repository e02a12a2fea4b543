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
