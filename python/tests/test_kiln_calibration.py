"""`kiln.compile(..., calibration=...)`: data that give INT8 its scales and keep numbers in FP16's range."""

import logging

import kiln_models
import numpy as np
import pytest

import kiln

QUICK = {"optimization_level": 0, "tf32": False, "progress": False}


def batches(count=4, rows=8):
    random = np.random.default_rng(3)
    return [random.standard_normal((rows, 4)).astype("f") for _ in range(count)]


def affine(**arguments):
    model, w, b = kiln_models.affine()
    engine = kiln.compile(model, shapes={"x": [(1, 4), (8, 4)]}, **QUICK, **arguments)
    return engine, lambda x: np.maximum(x @ w + b, 0)


def error_of(engine, expected):
    x = batches()[0]
    return np.abs(engine(x) - expected(x)).max() / np.abs(expected(x)).max()


@pytest.mark.parametrize(
    "wrap",
    [iter, lambda data: [{"x": x} for x in data], lambda data: ([x] for x in data), lambda data: [(x,) for x in data]],
    ids=["arrays", "dicts", "lists", "tuples"],
)
def test_int8_has_scales_of_the_data(wrap):
    """The data's range is what INT8 has: with data of a hundredth, what is larger is cut off."""
    exact = error_of(*affine(precision="fp32"))
    good = error_of(*affine(precision="int8", calibration=wrap(batches())))
    assert exact < 1e-5 < good < 0.05, "bytes round"
    cut = error_of(*affine(precision="int8", calibration=wrap([x / 100 for x in batches()])))
    assert cut > 0.5


def text_of_cache(largest):
    """TensorRT's text: names of tensors, and the bits of their scales."""
    bits = np.float32(largest / 127).view(np.uint32)
    return "TRT-101600-EntropyCalibration2\n" + "".join(f"{name}: {bits:08x}\n" for name in ("x", "xw", "s", "y"))


def test_a_cache_is_read(tmp_path):
    cache = tmp_path / "cache"
    cache.write_text(text_of_cache(3))
    assert 1e-5 < error_of(*affine(precision="int8", calibration=cache)) < 0.2
    cache.write_text(text_of_cache(0.03))
    assert error_of(*affine(precision="int8", calibration=str(cache))) > 0.5
    cache.write_text("no cache")
    with pytest.raises(ValueError, match="is no calibration cache"):
        affine(precision="int8", calibration=cache)
    cache.write_text("TRT-101600-EntropyCalibration2\nother: 3d000000\n")
    with pytest.raises(kiln.Error, match="it is that of another network"):
        affine(precision="int8", calibration=cache)
    with pytest.raises(FileNotFoundError):
        affine(precision="int8", calibration=tmp_path / "none")


@pytest.mark.parametrize(
    "calibration, precision, error, text",
    [
        (batches(), None, ValueError, "calibration does nothing for precision None"),
        (batches(), "bf16", ValueError, "it is for 'int8', 'fp16', 'best'"),
        (batches()[0], "int8", TypeError, "calibration is a ndarray; an iterable of batches"),
        ({"x": batches()[0]}, "int8", TypeError, "calibration is a dict"),
        (3, "int8", TypeError, "calibration is a int"),
        ([], "int8", ValueError, "there is no batch"),
        ([batches()[0], batches(rows=7)[0]], "int8", ValueError, r"batch 1: input 'x' has shape \(7, 4\); \(8, 4\) is"),
        ([batches()[0].astype("d")], "int8", TypeError, "batch 0: input 'x' is of float64; float32 is needed"),
        ([{"z": batches()[0]}], "int8", ValueError, r"batch 0 has \['z'\]; the inputs are \['x'\]"),
        ([(batches()[0],) * 2], "int8", ValueError, "batch 0 has 2 arrays"),
        ((1 / 0 for _ in range(2)), "int8", ZeroDivisionError, "division"),
        ((batches()[0] if i == 0 else 1 / 0 for i in range(2)), "int8", ZeroDivisionError, "division"),
        ([np.full((8, 4), np.nan, "f")], "int8", kiln.Error, "no value of input 'x' is finite"),
    ],
)
def test_calibrations_that_are_none(calibration, precision, error, text):
    with pytest.raises(error, match=text):
        affine(precision=precision, calibration=calibration)


def test_numbers_beyond_fp16_stay_in_fp32(caplog):
    """The data say which layers FP16 would overflow in."""
    nodes = [
        kiln_models.helper.make_node("MatMul", ["x", "large"], ["product"]),
        kiln_models.helper.make_node("Mul", ["product", "tiny"], ["y"]),
    ]
    constants = [("large", np.eye(4, dtype="f") * 1e5), ("tiny", np.array(1e-5, "f"))]
    inputs, outputs = ([(name, kiln_models.FLOAT, [2, 4])] for name in "xy")
    model = kiln_models.model(nodes, inputs, outputs, constants)
    x = np.arange(8, dtype="f").reshape(2, 4)
    with caplog.at_level(logging.INFO, logger="kiln"):
        engine = kiln.compile(model, precision="fp16", calibration=[x], **QUICK)
    np.testing.assert_allclose(engine(x), x, rtol=2e-3)
    assert "stays in FP32: tensor 'product' reaches 7e+05, beyond FP16's 65504" in caplog.text
