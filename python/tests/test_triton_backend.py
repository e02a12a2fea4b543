"""The sample for Triton's Python backend, under a stand-in for the module that Triton gives its models."""

import importlib.util
import json
import pathlib
import re
import shutil
import sys
import types

import kiln_models
import numpy as np
import pytest

import kiln

SAMPLE = pathlib.Path(__file__).parents[2] / "samples" / "triton_python_backend" / "model"
TOKEN = re.compile(r'#[^\n]*|\s+|"([^"]*)"|([A-Za-z_][\w]*|-?\d+)|([\[\]{}:,])')
TYPES = {"TYPE_FP32": np.float32, "TYPE_INT64": np.int64, "TYPE_STRING": np.object_}
REPEATED = {"input", "output", "dims", "instance_group"}


def read_pbtxt(text):
    """A configuration's text as the JSON that Triton hands to a model: numbers, texts, messages and lists."""
    tokens = [next(g for g in found.groups() if g is not None) for found in TOKEN.finditer(text) if any(found.groups())]
    place = 0

    def take():
        nonlocal place
        place += 1
        return tokens[place - 1]

    def value():
        token = take()
        if token == "{":
            return message("}")
        if token == "[":
            items = []
            while tokens[place] != "]":
                items.append(value())
                if tokens[place] == ",":
                    take()
            take()
            return items
        return int(token) if token.lstrip("-").isdigit() else token

    def message(end):
        fields = {}
        while place < len(tokens) and tokens[place] != end:
            name = take()
            if tokens[place] == ":":
                take()
            fields[name] = value()
        if end:
            take()
        return fields

    read = message(None)
    assert TOKEN.sub("", text) == "", "the text has what the reader does not know"
    read["parameters"] = {entry["key"]: entry["value"] for entry in read.get("parameters", [])}
    return read


class TritonError(Exception):
    def message(self):
        return str(self)


class TritonModelException(Exception):
    pass


class Logger:
    @staticmethod
    def log_warn(message):
        raise AssertionError(f"a warning: {message}")


class Tensor:
    def __init__(self, name, array):
        self._name, self._array = name, array

    def name(self):
        return self._name

    def as_numpy(self):
        return self._array


class InferenceRequest:
    def __init__(self, outputs=("y",), **arrays):
        self.tensors = [Tensor(name, array) for name, array in arrays.items()]
        self._outputs = list(outputs)

    def requested_output_names(self):
        return self._outputs


class InferenceResponse:
    def __init__(self, output_tensors=(), error=None):
        self._tensors, self._error = list(output_tensors), error

    def output_tensors(self):
        return self._tensors

    def has_error(self):
        return self._error is not None

    def error(self):
        return self._error


def get_input_tensor_by_name(request, name):
    return next((tensor for tensor in request.tensors if tensor.name() == name), None)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A model's folder as the recipe says, without a plan."""
    utils = types.ModuleType("triton_python_backend_utils")
    for each in (TritonError, TritonModelException, Logger, Tensor, InferenceRequest, InferenceResponse, get_input_tensor_by_name):
        setattr(utils, each.__name__, each)
    utils.triton_string_to_numpy = TYPES.__getitem__  # which raises KeyError for TYPE_BF16
    monkeypatch.setitem(sys.modules, utils.__name__, utils)
    return pathlib.Path(shutil.copytree(SAMPLE, tmp_path / "affine", ignore=shutil.ignore_patterns("__pycache__")))


def start(repository, device="CPU", **changes):
    spec = importlib.util.spec_from_file_location("triton_model", repository / "1" / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.TritonPythonModel()
    config = {**read_pbtxt((repository / "config.pbtxt").read_text()), **changes}
    model.initialize({
        "model_config": json.dumps(config),
        "model_repository": str(repository),
        "model_version": "1",
        "model_name": "affine",
        "model_instance_kind": device,
        "model_instance_device_id": "0",
    })  # fmt: skip
    return model


def save_plan(repository, model=None, **options):
    made = kiln_models.affine()[0] if model is None else model
    options = {"shapes": {"x": [(1, 4), (8, 4)]}, **options}
    kiln.compile(made, optimization_level=0, progress=False, **options).save(repository / "1" / "model.plan")


def expected(x):
    _, w, b = kiln_models.affine()
    return np.maximum(x @ w + b, 0)


def test_requests_are_joined(repository, monkeypatch):
    save_plan(repository)
    model = start(repository)
    runs = []
    run = kiln.Engine.__call__
    monkeypatch.setattr(kiln.Engine, "__call__", lambda self, x: runs.append(x["x"].shape) or run(self, x))
    xs = [np.random.default_rng(i).random((rows, 4), np.float32) for i, rows in enumerate((1, 3, 2))]
    answers = model.execute([InferenceRequest(x=x) for x in xs])
    assert runs == [(6, 4)]
    for x, answer in zip(xs, answers):
        assert not answer.has_error()
        (y,) = answer.output_tensors()
        assert y.name() == "y"
        np.testing.assert_allclose(y.as_numpy(), expected(x), rtol=1e-5)
    model.finalize()
    with pytest.raises(kiln.Error, match="was closed"):
        model._engine({"x": xs[0]})


def test_a_wrong_request_fails_alone(repository):
    save_plan(repository)
    model = start(repository)
    x = np.ones((2, 4), np.float32)
    wrong = [np.ones((2, 5), np.float32), x.astype(np.int64), np.array(1, np.float32), np.ones((9, 4), np.float32)]
    answers = model.execute([InferenceRequest(x=x), *(InferenceRequest(x=w) for w in wrong), InferenceRequest(z=x)])
    np.testing.assert_allclose(answers[0].output_tensors()[0].as_numpy(), expected(x), rtol=1e-5)
    texts = [answer.error().message() for answer in answers[1:]]
    for text, part in zip(texts, ("(2, 5)", "int64", "rows", "(9, 4)", "input 'x' is missing")):
        assert part in text
    assert model.execute([]) == []


PLACES = {
    "input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [1]}],
    "output": [{"name": "places", "data_type": "TYPE_INT64", "dims": [2]}],
}


def test_rows_that_data_decides(repository):
    """Nobody gets the rows of another request. Made inputs have no 2, so that this model is noticed only when it runs."""
    save_plan(repository, kiln_models.places_of_others(2), shapes={"x": [(1, 1), (8, 1)]})
    model = start(repository, **PLACES)
    xs = [np.array(x, np.float32).reshape(-1, 1) for x in ([2, 3], [5, 6, 7], [2])]
    fewer, all_of_them, none = model.execute([InferenceRequest(("places",), x=x) for x in xs])
    for answer, told in ((fewer, r"(1, 2) for 2 rows"), (none, r"(0, 2) for 1 rows")):
        assert "output 'places' has shape " + told in answer.error().message()
    np.testing.assert_array_equal(all_of_them.output_tensors()[0].as_numpy(), [[0, 0], [1, 0], [2, 0]])


def test_rows_that_data_decides_are_noticed_at_the_load(repository):
    save_plan(repository, kiln_models.places_of_others(0), shapes={"x": [(1, 1), (8, 1)]})
    with pytest.raises(TritonModelException, match=r"output 'places' has shape \(0, 2\) for 8 rows"):
        start(repository, **PLACES)


def test_a_run_that_fails_by_anything(repository, monkeypatch):
    """Three requests together lack memory, and one by one two of them do not."""
    save_plan(repository)
    model = start(repository)
    run = kiln.Engine.__call__

    def scarce(self, inputs):
        if inputs["x"].shape[0] > 2:
            raise MemoryError
        return run(self, inputs)

    monkeypatch.setattr(kiln.Engine, "__call__", scarce)
    answers = model.execute([InferenceRequest(x=np.ones((rows, 4), np.float32)) for rows in (1, 3, 2)])
    assert [answer.has_error() for answer in answers] == [False, True, False]
    assert answers[1].error().message() == "MemoryError"


def test_more_rows_than_a_run_takes(repository):
    """Triton joins at most max_batch_size rows; a model that is called with more answers all the same."""
    save_plan(repository)
    xs = [np.full((5, 4), i, np.float32) for i in range(3)]
    for x, answer in zip(xs, start(repository).execute([InferenceRequest(x=x) for x in xs])):
        np.testing.assert_allclose(answer.output_tensors()[0].as_numpy(), expected(x), rtol=1e-5)


def test_builds_from_onnx(repository):
    (repository / "1" / "model.onnx").write_bytes(kiln_models.affine()[0].SerializeToString())
    level = {"optimization_level": {"string_value": "0"}}
    x = np.ones((8, 4), np.float32)
    (answer,) = start(repository, parameters=level).execute([InferenceRequest(x=x)])
    np.testing.assert_allclose(answer.output_tensors()[0].as_numpy(), expected(x), rtol=1e-5)


def test_without_a_batch(repository):
    save_plan(repository, kiln_models.sum_and_product(), shapes={"a": [(1, 2), (4, 2)], "b": [(1, 2), (4, 2)]})
    tensors = {
        "input": [{"name": n, "data_type": "TYPE_FP32", "dims": [-1, 2]} for n in "ab"],
        "output": [{"name": n, "data_type": "TYPE_FP32", "dims": [-1, 2]} for n in ("sum", "product")],
    }
    model = start(repository, max_batch_size=0, **tensors)
    a, b = np.ones((2, 2), np.float32), np.full((2, 2), 3, np.float32)
    both, one = model.execute([InferenceRequest(("sum", "product"), a=a, b=b), InferenceRequest(("product",), a=b, b=b)])
    assert [t.name() for t in both.output_tensors()] == ["sum", "product"]
    np.testing.assert_array_equal(both.output_tensors()[0].as_numpy(), a + b)
    np.testing.assert_array_equal(one.output_tensors()[0].as_numpy(), b * b)


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"input": [{"name": "z", "data_type": "TYPE_FP32", "dims": [4]}]}, "no input 'z'"),
        ({"input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [5]}]}, r"dims \[5\] .* engine has \[4\] behind"),
        ({"input": [{"name": "x", "data_type": "TYPE_INT64", "dims": [4]}]}, "TYPE_INT64 .* has float32"),
        ({"input": [{"name": "x", "data_type": "TYPE_BF16", "dims": [4]}]}, "TYPE_BF16 .* has float32. Triton's Python backend has no arrays of BF16"),
        ({"input": []}, "has 0 inputs"),
        ({"output": [{"name": "y", "data_type": "TYPE_FP32", "dims": [4, 3]}]}, r"output 'y' has dims \[4, 3\]"),
    ],
)
def test_configurations_that_do_not_fit(repository, changes, text):
    save_plan(repository)
    with pytest.raises(TritonModelException, match=text):
        start(repository, **changes)


def test_a_fixed_batch_does_not_fit(repository):
    save_plan(repository, kiln_models.affine(2)[0], shapes=None)
    with pytest.raises(TritonModelException, match="max_batch_size is 8, but x: .* has no axis for it"):
        start(repository)


def test_files_that_are_missing_or_damaged(repository):
    with pytest.raises(TritonModelException, match="neither .*model.plan nor .*model.onnx"):
        start(repository)
    (repository / "1" / "model.onnx").write_bytes(kiln_models.affine()[0].SerializeToString())
    with pytest.raises(TritonModelException, match="open extents"):
        start(repository, input=[{"name": "x", "data_type": "TYPE_FP32", "dims": [-1]}])
    with pytest.raises(TritonModelException, match="optimization_level is 'high'; it may be from 0 to 5"):
        start(repository, parameters={"optimization_level": {"string_value": "high"}})
    (repository / "1" / "model.plan").write_bytes(b"no plan")
    with pytest.raises(TritonModelException, match="mapped is 'yes'; it may be true or false"):
        start(repository, parameters={"mapped": {"string_value": "yes"}})
    with pytest.raises(kiln.Error, match="affine cannot be loaded"):
        start(repository)
