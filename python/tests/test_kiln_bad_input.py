"""The package kiln with wrong arguments: exceptions that say what and where, and never a crash."""

import copy
import math
import pickle

import kiln_models
import numpy as np
import pytest

import kiln

QUICK = {"optimization_level": 0, "progress": False}


@pytest.fixture(scope="module")
def compiled():
    model, _, _ = kiln_models.affine()
    return kiln.compile(model, shapes={"x": [(1, 4), (8, 4)]}, name="affine", **QUICK)


@pytest.fixture(params=["a call of new shapes", "a call like the one before"])
def engine(compiled, request):
    """An engine that has other shapes bound than X's, or X's and the short way for them."""
    is_like_before = request.param == "a call like the one before"
    for _ in range(3):
        compiled(X if is_like_before else np.zeros((3, 4), "f"))
    yield compiled
    if is_like_before and compiled.device == "cpu":
        compiled(X)
        compiled(X)
        assert compiled._local.latest.numpy_call is not None


X = np.zeros((2, 4), "f")


def told(**attributes):
    """An object of a class of its own, since arrays are known by their classes."""
    return type("Told", (), attributes)()


def used_capsule(self, **_):
    capsule = X.__dlpack__()
    np.from_dlpack(told(__dlpack__=lambda self, **_: capsule, __dlpack_device__=on_host))
    return capsule


def on_host(self):
    return 1, 0


@pytest.mark.parametrize(
    "array, error, text",
    [
        (X.astype("d"), TypeError, "affine: input 'x' is of float64; float32 is needed"),
        (X.astype(">f4"), TypeError, "input .x. is of numpy.s >f4, the byte order of another machine"),
        (np.zeros((4, 2), "f").T, ValueError, r"not contiguous in memory \(strides \(1, 2\)\)"),
        (np.zeros((2, 8), "f")[:, ::2], ValueError, "ascontiguousarray"),
        (np.zeros((2, 5), "f"), ValueError, r"input 'x' has shape \(2, 5\); the engine was built for"),
        (np.zeros((9, 4), "f"), ValueError, r"\(1, 4\) to \(8, 4\)"),
        (np.zeros((0, 4), "f"), ValueError, r"shape \(0, 4\)"),
        (np.zeros(4, "f"), ValueError, "2 axes are needed"),
        ([[1.0, 2.0, 3.0, 4.0]], TypeError, "input 'x' is a list"),
        (None, TypeError, "input 'x' is a NoneType"),
        ("x", TypeError, "input 'x' is a str"),
        (np.array([None] * 4, object).reshape(1, 4), TypeError, "object"),
        (np.zeros((2, 4), "c8"), TypeError, "complex64"),
        (np.ma.masked_array(X, mask=True), TypeError, r"input 'x' is a masked array.*\.filled"),
        (told(__dlpack__=lambda self, **_: None, __dlpack_device__=on_host), TypeError, "None to __dlpack__"),
        (told(__dlpack__=used_capsule, __dlpack_device__=on_host), TypeError, "a capsule 'dltensor' is needed"),
        (told(__dlpack__=used_capsule, __dlpack_device__=lambda self: 7), TypeError, "answered 7 to __dlpack_device__"),
        (told(__cuda_array_interface__={"shape": (2, 4)}), TypeError, "typestr"),
        (told(__cuda_array_interface__=7), TypeError, "__cuda_array_interface__ that is none"),
        (told(__array_interface__={"shape": (-2, 4), "typestr": "<f4", "version": 3}), ValueError, "input 'x'"),
    ],
)
def test_arrays(engine, array, error, text):
    with pytest.raises(error, match=text):
        engine(array)
    engine(X)  # goes on working


@pytest.mark.parametrize("is_dlpack", [False, True])
def test_unaligned_memory(engine, is_dlpack):
    def odd(shape):
        array = np.zeros(4 * math.prod(shape) + 1, np.uint8)[1:].view("f").reshape(shape)
        assert array.ctypes.data % 4 == 1
        return told(__dlpack__=lambda self, **_: array.__dlpack__(), __dlpack_device__=on_host) if is_dlpack else array

    with pytest.raises(ValueError, match="input 'x' is not aligned in memory"):
        engine(odd((2, 4)))
    with pytest.raises(ValueError, match="output 'y' in out= is not aligned in memory"):
        engine(X, out=odd((2, 3)))


@pytest.mark.parametrize(
    "arguments, named, text",
    [
        ((), {}, "missing input 'x'"),
        ((X, X), {}, r"takes 1 input, \['x'\]; 2 were given"),
        ((), {"z": X}, "has no input 'z'"),
        ((X,), {"x": X}, "by position and by name"),
        (({"x": X},), {"x": X}, "not as both"),
    ],
)
def test_arguments(engine, arguments, named, text):
    with pytest.raises(TypeError, match=text):
        engine(*arguments, **named)


@pytest.mark.parametrize(
    "out, error, text",
    [
        (np.zeros((2, 3), "d"), TypeError, "output 'y' in out= is of float64"),
        (np.zeros((3, 3), "f"), ValueError, r"has shape \(3, 3\); \(2, 3\) is needed"),
        (np.zeros((3, 2), "f").T, ValueError, "not contiguous"),
        ([np.zeros((2, 3), "f")] * 2, TypeError, r"has 1 output, \['y'\]; out= has 2"),
        ({"z": np.zeros((2, 3), "f")}, TypeError, "has no output 'z'"),
        ("y", TypeError, "a str"),
    ],
)
def test_out(engine, out, error, text):
    with pytest.raises(error, match=text):
        engine(X, out=out)


def test_read_only_out(engine):
    out = np.zeros((2, 3), "f")
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        engine(X, out=out)


def test_out_that_is_the_input(engine):
    memory = np.zeros(8, "f")
    with pytest.raises(ValueError, match="shares memory with input 'x'"):
        engine(memory.reshape(2, 4), out=memory[2:].reshape(2, 3))


def test_outputs_that_share_memory():
    both = kiln.compile(kiln_models.sum_and_product(), shapes={"a": (1, 2), "b": (1, 2)}, **QUICK)
    a, out = np.ones((1, 2), "f"), np.zeros((1, 2), "f")
    with pytest.raises(ValueError, match="outputs 'sum' and 'product' in out= share memory"):
        both(a, a, out=[out, out])


def test_out_of_a_size_that_data_decides():
    engine = kiln.compile(kiln_models.non_zero(), **QUICK)
    with pytest.raises(ValueError, match="a size that data decides"):
        engine(np.ones((3, 4), "f"), out=np.zeros((2, 12), np.int64))


def test_values_that_do_not_fit_shapes():
    values = {"shape": {"min": (1, 1), "opt": (2, 3), "max": (6, 6)}}
    engine = kiln.compile(kiln_models.reshape_by_input(), values=values, name="reshape", **QUICK)
    x = np.arange(6, dtype="f")
    reason = r"(?s)the shape of output 'y' cannot be told:.*left side is 6, the right side 8"
    with pytest.raises(kiln.ShapeError, match=reason):
        engine(x, [2, 4])
    reason = r"'shape' \(2,\) of values \(1, 7\) together; .* of values \(1, 1\) to \(6, 6\)"
    with pytest.raises(kiln.ShapeError, match=reason):
        engine(x, [1, 7])
    np.testing.assert_array_equal(engine(x, [3, 2]), x.reshape(3, 2))  # the context still works


def test_shapes_that_contradict_the_model():
    """Each lies within its range, and the model gives two extents one name."""
    both = kiln.compile(kiln_models.sum_and_product(), shapes={n: [(1, 2), (8, 2)] for n in "ab"}, name="both", **QUICK)
    with pytest.raises(kiln.ShapeError, match=r"(?s)both: .*input 'b': extent 2 of axis 0 must be 3"):
        both(np.ones((3, 2), "f"), np.ones((2, 2), "f"))
    assert both(np.ones((3, 2), "f"), np.ones((3, 2), "f"))["sum"].shape == (3, 2)


@pytest.mark.parametrize(
    "shapes, error, text",
    [
        (None, ValueError, r"leaves extents open: give shapes=.*'x' \(-1, 4\)"),
        ({"z": (1, 4)}, ValueError, r"shapes names 'z', which is no input; the inputs are \['x'\]"),
        ({"x": (1, 5)}, ValueError, r"input 'x' has extent 4 at axis 1"),
        ({"x": (1, 4, 1)}, ValueError, "has 2 axes"),
        ({"x": [(8, 4), (2, 4), (1, 4)]}, ValueError, "axis 0 has min 8, opt 2 and max 1"),
        ({"x": [(1, 4), (2,), (3, 4)]}, ValueError, "differ in their number of axes"),
        ({"x": [(1, 4)] * 4}, ValueError, "not 4 shapes"),
        ({"x": (-1, 4)}, ValueError, "extent -1 of axis 0 is negative"),
        ({"x": ("n", 4)}, TypeError, "has 'n'"),
        ({"x": (2**63, 4)}, ValueError, "9223372036854775808 in .* does not fit 64 bits"),
        ({"x": 2.5}, TypeError, "not 2.5"),
        ({"x": {"least": (1, 4)}}, ValueError, "'min', 'opt' and 'max', not"),
        ({"x": {"min": (1, 4)}}, ValueError, "needs 'opt' or 'max'"),
        ([], TypeError, "give a dict"),
        ("x", TypeError, "give a dict"),
    ],
)
def test_shapes(shapes, error, text):
    model, _, _ = kiln_models.affine()
    with pytest.raises(error, match=text):
        kiln.compile(model, shapes=shapes, **QUICK)


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ({"precision": "int3"}, ValueError, "precision is 'int3'"),
        ({"device": "tpu"}, ValueError, "device is 'tpu'"),
        ({"device": "cuda:x"}, ValueError, "device is 'cuda:x'"),
        ({"device": 3}, TypeError, "device is 3"),
        ({"progress": 3}, TypeError, "progress is 3"),
        ({"optimization_level": 6}, ValueError, "optimization_level is 6"),
        ({"optimization_level": "high"}, TypeError, "optimization_level is 'high'"),
        ({"workspace": -1}, ValueError, "workspace is -1"),
        ({"timing_cache": 3}, TypeError, "timing_cache is 3; the path of a file is needed"),
        ({"timing_cache": "/no/such/folder/t"}, FileNotFoundError, "timing_cache: there is no folder '/no/such/folder'"),
        ({"timing_cache": "/"}, IsADirectoryError, "timing_cache: '/' is a folder"),
        ({"timing_cache": "/dev/null"}, ValueError, "timing_cache: '/dev/null' is neither a file nor a new one"),
        ({"optimization_level": True}, TypeError, "optimization_level is True; it may be an int from 0 to 5"),
        ({"tf32": "no"}, TypeError, "tf32 is 'no'; it may be True or False"),
        ({"refittable": 1}, TypeError, "refittable is 1; it may be True or False"),
        ({"configure": 3}, TypeError, r"configure is 3; it may be a function\(network, config\)"),
        ({"name": 3}, TypeError, "name is 3; a str is needed"),
        ({"plugins": 3}, TypeError, "plugins is 3; a list of paths"),
        ({"plugins": [3]}, TypeError, "an item of plugins is 3; the path of a file is needed"),
        ({"plugins": "/no/such.so"}, TypeError, "plugins is '/no/such.so'; a list of paths"),
        ({"plugins": ["/no/such.so"]}, kiln.Error, "plugins='/no/such.so' cannot be loaded"),
    ],
)
def test_options(arguments, error, text):
    model, _, _ = kiln_models.affine(2)
    with pytest.raises(error, match=text):
        kiln.compile(model, **{**QUICK, "configure": never, **arguments})


def never(network, config):
    raise AssertionError("the build begins, although an argument is wrong")


@pytest.mark.parametrize("content", [b"my notes", b"damaged" * 20, b"\0"])
def test_a_timing_cache_that_is_none(tmp_path, content):
    """What the file holds is refused before the build, and stays."""
    model, _, _ = kiln_models.affine(2)
    notes = tmp_path / "notes.md"
    notes.write_bytes(content)
    with pytest.raises(ValueError, match="notes.md' is not a whole timing cache of Kiln; it was left as it is"):
        kiln.compile(model, timing_cache=notes, configure=never, **QUICK)
    assert notes.read_bytes() == content and [p.name for p in tmp_path.iterdir()] == ["notes.md"]


def test_a_timing_cache_that_is_write_protected(tmp_path):
    """Not even root's programs replace it."""
    model, _, _ = kiln_models.affine(2)
    cache = tmp_path / "timing.cache"
    kiln.compile(model, timing_cache=cache, progress=False)
    kept = cache.read_bytes()
    cache.chmod(0o444)
    with pytest.raises(PermissionError, match="timing_cache: .*timing.cache' is write-protected"):
        kiln.compile(model, timing_cache=cache, configure=never, **QUICK)
    assert cache.read_bytes() == kept and cache.stat().st_mode & 0o777 == 0o444


def test_plans_that_cannot_be_saved(engine, tmp_path):
    plan = tmp_path / "kept.plan"
    plan.write_bytes(b"kept")
    plan.chmod(0o444)
    for path, error, text in (
        (plan, PermissionError, "kept.plan' is write-protected"),
        (tmp_path, IsADirectoryError, "is a folder"),
        (tmp_path / "none" / "a.plan", FileNotFoundError, "path: there is no folder .*none'"),
        (3, TypeError, "path is 3"),
    ):
        with pytest.raises(error, match=text):
            engine.save(path)
    assert plan.read_bytes() == b"kept" and [p.name for p in tmp_path.iterdir()] == ["kept.plan"]


@pytest.mark.parametrize("stream", ["nonsense", 2.5, -1, True, told(ptr="here")])
def test_streams_that_are_none(engine, stream):
    """On the CPU, where a stream is not needed, too."""
    with pytest.raises(TypeError, match="a stream of PyTorch or CuPy, or its handle, is needed"):
        engine(X, stream=stream)
    engine(X, stream=0)


def test_an_engine_that_fails_again_and_again_does_not_grow():
    from kiln import _errors

    values = {"shape": {"min": (1, 1), "opt": (2, 3), "max": (6, 6)}}
    engine = kiln.compile(kiln_models.reshape_by_input(), values=values, **QUICK)
    x, more = np.arange(6, dtype="f"), 10
    for _ in range(_errors._MOST_KEPT + more):
        with pytest.raises(kiln.ShapeError):
            engine(x, [2, 4])
    (slot,) = engine._all_slots
    recorder = slot._recorder
    assert recorder.num_errors() == _errors._MOST_KEPT and recorder.has_overflowed()
    assert "element counts of reshape" in recorder.get_error_desc(recorder.num_errors() - 1)
    recorder.clear()
    assert recorder.num_errors() == 0 and not recorder.has_overflowed()
    messages = _errors.Messages()
    for i in range(_errors._MOST_KEPT + more):
        messages.add(kiln.Message("warning", f"warning {i:6}"))
    assert [m.text for m in messages.take()][0] == f"warning {more:6}" and not messages.take()


def test_another_kind_of_device(engine):
    """Engines of the CPU are had everywhere; those of a GPU where there is one."""
    model, _, _ = kiln_models.affine(2)
    assert kiln.compile(model, device="cpu", **QUICK).device == "cpu"
    if engine.device == "cpu":
        with pytest.raises(kiln.Error, match="device is 'cuda', but engines of this process run on 'cpu'"):
            kiln.compile(model, device="cuda", **QUICK)


def test_values_of_an_input_that_decides_no_shape():
    model, _, _ = kiln_models.affine()
    with pytest.raises(ValueError, match="values names 'x', whose values decide no shape"):
        kiln.compile(model, shapes={"x": (1, 4)}, values={"x": (1, 2)}, **QUICK)
    with pytest.raises(ValueError, match="values names 'x', whose values decide no shape"):
        kiln.compile(kiln_models.reshape_by_input(), values={"shape": (2, 3), "x": (1,) * 6}, **QUICK)


@pytest.mark.parametrize("model", [3, None, [1], object()])
def test_models_that_are_none(model):
    with pytest.raises(TypeError, match="the path or the bytes of an ONNX model"):
        kiln.compile(model, **QUICK)


def test_models_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no model"):
        kiln.compile(tmp_path / "none.onnx", **QUICK)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        kiln.compile(tmp_path, **QUICK)
    with pytest.raises(FileNotFoundError):
        kiln.load(tmp_path / "none.plan")


def test_damaged_models(tmp_path):
    model, _, _ = kiln_models.affine(2)
    data = model.SerializeToString()
    for damaged in (b"", b"nonsense", data[: len(data) // 2], data[:-1]):
        with pytest.raises((kiln.Error, ValueError)):
            kiln.compile(damaged, **QUICK)


def test_the_error_of_an_unknown_operator():
    with pytest.raises(kiln.Error, match="Frobnicate") as caught:
        kiln.compile(kiln_models.unknown_operator(), **QUICK)
    error = caught.value
    assert error.messages and all(isinstance(m, kiln.Message) for m in error.messages)
    assert error.nodes[0][0] == "the_node" and "cannot be imported" in str(error)
    assert str(error).count("node 'the_node'") == 1, "log, recorder and parser say the same"
    assert [m.code for m in error.messages if "Frobnicate" in m.text] == ["UNSUPPORTED_NODE"]


def test_damaged_plans(engine):
    plan = bytes(engine)
    with pytest.raises(ValueError, match="is empty"):
        kiln.load(b"")
    for damaged in (b"nonsense", plan[: len(plan) // 2], plan[:-1], plan[:100] + b"\xff" * 40 + plan[140:]):
        with pytest.raises(kiln.Error, match="cannot be loaded"):
            kiln.load(damaged)
    with pytest.raises(TypeError, match="plan is a int"):
        kiln.load(3)


def test_mapped_plans_that_cannot_be(engine, tmp_path):
    with pytest.raises(TypeError, match="plan is a bytes; a plan that is mapped is given by the path of its file"):
        kiln.load(bytes(engine), mapped=True)
    with pytest.raises(FileNotFoundError):
        kiln.load(tmp_path / "none.plan", mapped=True)
    with pytest.raises(IsADirectoryError):
        kiln.load(tmp_path, mapped=True)
    (tmp_path / "half.plan").write_bytes(bytes(engine)[:1000])
    (tmp_path / "empty.plan").write_bytes(b"")
    for name in ("half.plan", "empty.plan"):
        with pytest.raises(kiln.Error, match=f"{name} cannot be loaded"):
            kiln.load(tmp_path / name, mapped=True)


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy])
def test_engines_stay_in_their_process(engine, take):
    with pytest.raises(TypeError, match=r"affine: an engine cannot be pickled or copied.* save\(\) the plan"):
        take(engine)


def test_a_closed_engine():
    model, _, _ = kiln_models.affine(2)
    with kiln.compile(model, name="gone", **QUICK) as engine:
        engine(X)
    for use in (lambda: engine(X), lambda: bytes(engine), lambda: engine.profile(runs=1), lambda: engine.layers):
        with pytest.raises(kiln.Error, match="gone was closed"):
            use()


def test_runs(engine):
    with pytest.raises(ValueError, match="runs is 0"):
        engine.profile(runs=0)
    with pytest.raises(TypeError, match="runs is 'x'; an int is needed"):
        engine.profile(X, runs="x")
    with pytest.raises(TypeError, match="warmup is 1.5; an int is needed"):
        engine.profile(X, warmup=1.5)
    for profile in (-1, 1):
        with pytest.raises(ValueError, match=f"affine: profile is {profile}; the engine has 1 profile, from 0 on"):
            engine.example_inputs(profile)


def test_errors_travel_between_processes():
    error = kiln.Error("what", [kiln.Message("error", "text", "CODE")], (("node", "text"),))
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and copy.messages == error.messages and copy.nodes == error.nodes
