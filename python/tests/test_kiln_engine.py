"""The package kiln: from a model to results."""

import ctypes
import gc
import logging
import os
import pathlib
import signal
import subprocess
import sys
import threading
import weakref

import kiln_models
import numpy as np
import pytest

import kiln
from kiln import _progress

QUICK = {"optimization_level": 0, "tf32": False, "progress": False}


@pytest.fixture(scope="module")
def affine():
    model, w, b = kiln_models.affine()
    shapes = {"x": [(1, 4), (2, 4), (8, 4)]}
    return kiln.compile(model, shapes=shapes, **QUICK), lambda x: np.maximum(x @ w + b, 0)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 4)).astype("f")


def test_numpy_in_numpy_out(affine):
    engine, expected = affine
    for n in (1, 2, 8, 3, 3):
        y = engine(rows(n, n))
        assert type(y) is np.ndarray and y.dtype == np.float32 and y.shape == (n, 3)
        close(y, expected(rows(n, n)))


def test_by_name_and_by_dict(affine):
    engine, expected = affine
    close(engine(x=rows(2)), expected(rows(2)))
    close(engine({"x": rows(2)}), expected(rows(2)))


def test_out_takes_the_result(affine):
    engine, expected = affine
    out = np.full((2, 3), np.nan, "f")
    assert engine(rows(2), out=out) is out
    close(out, expected(rows(2)))
    again = np.full((2, 3), np.nan, "f")
    assert engine(rows(2), out={"y": again}) is again
    close(again, expected(rows(2)))


def test_results_of_calls_are_apart(affine):
    engine, expected = affine
    first = engine(rows(2, 1))
    kept = first.copy()
    engine(rows(2, 2))
    np.testing.assert_array_equal(first, kept)


def test_several_outputs_have_names():
    engine = kiln.compile(kiln_models.sum_and_product(), shapes={"a": (3, 2), "b": (3, 2)}, **QUICK)
    a, b = np.arange(6, dtype="f").reshape(3, 2), np.full((3, 2), 2, "f")
    both = engine(a, b)
    close(both[0], a + b)
    close(both["product"], a * b)
    total, product = both
    assert both.keys() == ("sum", "product") and dict(both.items())["sum"] is total
    close(product, a * b)
    with pytest.raises(KeyError, match="there is no output 'quotient'"):
        both["quotient"]


def test_what_an_engine_says(affine):
    engine, _ = affine
    (x,), (y,) = engine.inputs, engine.outputs
    assert (x.name, x.dtype, x.shape) == ("x", "float32", (-1, 4))
    assert x.ranges == (kiln.Range((1, 4), (2, 4), (8, 4)),) and x.is_dynamic
    assert (y.name, y.shape) == ("y", (-1, 3))
    assert engine.device in ("cpu", "cuda:0") and engine.num_profiles == 1
    assert "affine" in engine.name or engine.name
    assert "x: float32[-1, 4]" in repr(engine)


def test_sources_are_a_path_bytes_and_a_proto(tmp_path):
    model, w, b = kiln_models.affine(2)
    path = tmp_path / "affine.onnx"
    path.write_bytes(model.SerializeToString())
    x = rows(2)
    for source in (model, model.SerializeToString(), path, str(path)):
        close(kiln.compile(source, **QUICK)(x), np.maximum(x @ w + b, 0))


def test_save_and_load(affine, tmp_path):
    engine, expected = affine
    path = engine.save(tmp_path / "affine.plan")
    assert [p.name for p in tmp_path.iterdir()] == ["affine.plan"]
    for loaded in (kiln.load(path), kiln.load(str(path)), kiln.load(bytes(engine))):
        close(loaded(rows(3)), expected(rows(3)))
        assert loaded.inputs == engine.inputs


def test_a_mapped_plan(tmp_path):
    """A table stays in its file, which may be replaced meanwhile, and whose name may be no text."""
    table = np.random.default_rng(0).standard_normal((1 << 18, 64)).astype("f")  # 64 MiB: allocators' own pages are few
    node = kiln_models.helper.make_node("Gather", ["table", "i"], ["y"])
    model = kiln_models.model(
        [node], [("i", kiln_models.INT64, [2])], [("y", kiln_models.FLOAT, [2, 64])], [("table", table)]
    )
    path = kiln.compile(model, device="cpu", **QUICK).save(tmp_path / os.fsdecode(b"table\xff.plan"))

    def private():
        fields = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in fields if line.startswith("Private_")) << 10

    before = private()
    engine = kiln.load(path, device="cpu", mapped=True)
    path.unlink()
    path.write_bytes(b"another file of this name")
    i = np.array([3, (1 << 18) - 1])
    np.testing.assert_array_equal(engine(i), table[i])
    assert private() - before < table.nbytes // 2
    assert len(bytes(engine)) > table.nbytes


FORKED = """
import os, sys, kiln, kiln_models, numpy as np
engine = kiln.compile(kiln_models.affine()[0], shapes={"x": (2, 4)}, name="affine", progress=False, device="cpu")
x = np.ones((2, 4), "f")
for _ in range(3):  # the last goes the short way
    y = engine(x)
plan = bytes(engine)
child = os.fork()
if child == 0:
    for use in (lambda: engine(x), lambda: bytes(engine), lambda: engine.layers):
        try:
            use()
            os._exit(2)
        except kiln.Error as error:
            if "affine belongs to process" not in str(error):
                os._exit(3)
    np.testing.assert_array_equal(kiln.load(plan, device="cpu")(x), y)
    del engine
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
np.testing.assert_array_equal(engine(x), y)
"""


def test_an_engine_in_a_forked_process():
    """It says that it does not run there, and hangs neither then nor at its end; one that is loaded there runs."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    done = subprocess.run([sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_device_name():
    assert kiln.device_name("cpu") and "\n" not in kiln.device_name("cpu")
    with pytest.raises(ValueError, match="device is 'tpu'"):
        kiln.device_name("tpu")


def test_profiles_are_chosen_by_shape():
    model, w, b = kiln_models.affine()
    shapes = [{"x": (1, 4)}, {"x": [(16, 4), (32, 4), (64, 4)]}]
    engine = kiln.compile(model, shapes=shapes, **QUICK)
    assert engine.num_profiles == 2
    for n in (1, 16, 64, 1, 20):
        close(engine(rows(n, n)), np.maximum(rows(n, n) @ w + b, 0))
    with pytest.raises(kiln.ShapeError, match=r"input 'x' has shape \(4, 4\); the engine was built for \(1, 4\) or \(16"):
        engine(rows(4))


def test_sizes_that_data_decides():
    engine = kiln.compile(kiln_models.non_zero(), **QUICK)
    for fill in (0, 1, 2):
        x = np.zeros((3, 4), "f")
        x.flat[: fill * 3] = 1
        places = engine(x)
        assert places.dtype == np.int64
        np.testing.assert_array_equal(places, np.array(np.nonzero(x)))


def test_values_that_decide_shapes():
    engine = kiln.compile(
        kiln_models.reshape_by_input(), values={"shape": {"min": (1, 1), "opt": (2, 3), "max": (6, 6)}}, **QUICK
    )
    x = np.arange(6, dtype="f")
    assert engine.inputs[1].on_host
    for shape in ((2, 3), (3, 2), (6, 1)):
        np.testing.assert_array_equal(engine(x, np.array(shape, np.int64)), x.reshape(shape))
        np.testing.assert_array_equal(engine(x, list(shape)), x.reshape(shape))
        for wrap in (OnlyDlpack, OnlyInterface, memoryview):
            np.testing.assert_array_equal(engine(x, wrap(np.array(shape, np.int64))), x.reshape(shape))
    with pytest.raises(kiln.ShapeError, match="no profile has"):
        engine(x, OnlyDlpack(np.array([7, 7])))


class OnlyDlpack:
    """An array of which only DLPack is known."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class OnlyInterface:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self._array = array


@pytest.mark.parametrize("wrap", (OnlyDlpack, OnlyInterface, memoryview), ids=lambda wrap: wrap.__name__)
def test_other_arrays(affine, wrap):
    engine, expected = affine
    x = rows(2)
    y = engine(wrap(x))
    close(y, expected(x))


class FormerDlpack(OnlyDlpack):
    """Of a library that has DLPack before version 1."""

    def __dlpack__(self):
        return self._array.__dlpack__()


@pytest.mark.parametrize("wrap", (OnlyDlpack, FormerDlpack), ids=lambda wrap: wrap.__name__)
def test_arrays_of_dlpack_as_results(affine, wrap):
    engine, expected = affine
    x, y = rows(2), np.zeros((2, 3), "f")
    engine(wrap(x), out=wrap(y))
    close(y, expected(x))


def test_arrays_of_dlpack_that_are_read_only(affine):
    """They may be read, as JAX's, and not be written to."""
    engine, expected = affine
    x, y = rows(2), np.zeros((2, 3), "f")
    x.flags.writeable = y.flags.writeable = False
    close(engine(OnlyDlpack(x)), expected(x))
    with pytest.raises(ValueError, match="output 'y' in out= is read-only"):
        engine(x, out=OnlyDlpack(y))
    assert not y.any()


def test_no_copy_is_made_of_inputs(affine):
    """The engine reads the array's own memory: what is written there is what the next call sees."""
    engine, expected = affine
    x = rows(2)
    engine(OnlyDlpack(x))
    x[:] = 1
    close(engine(OnlyDlpack(x)), expected(x))


def test_threads_have_contexts_of_their_own(affine):
    engine, expected = affine
    failures = []

    def work(seed):
        try:
            for n in (1, 4, 8, 2) * 10:
                close(engine(rows(n, seed)), expected(rows(n, seed)))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    gc.collect()
    assert engine._pool, "contexts of threads that ended are used again"
    before = len(engine._all_slots)
    thread = threading.Thread(target=work, args=(9,))
    thread.start()
    thread.join()
    assert len(engine._all_slots) == before and not failures


def test_layers_and_profile(affine):
    engine, _ = affine
    assert len(engine.layers) >= 1 and engine.layers[0].name
    assert engine.layers[0].name in str(engine.layers)
    profile = engine.profile(rows(4), runs=3, warmup=1)
    assert profile.runs == 3 and len(profile) >= 1
    assert abs(sum(layer.share for layer in profile) - 1) < 1e-6 or profile.total_ms == 0
    assert profile[0].name in str(profile) and "<table>" in profile._repr_html_()
    assert profile.to_dict()["layers"][0]["name"] == profile[0].name
    assert len(engine.profile(runs=1)) == len(profile)
    assert profile.slowest(1)[0].ms == max(layer.ms for layer in profile)


def test_precisions():
    model, w, b = kiln_models.affine(4)
    x = rows(4)
    for precision, tolerance in (("fp32", 1e-5), ("tf32", 1e-2), ("fp16", 1e-2), ("bf16", 5e-2), ("best", 5e-2)):
        engine = kiln.compile(model, precision=precision, optimization_level=0, progress=False)
        assert engine.inputs[0].dtype == "float32"
        np.testing.assert_allclose(engine(x), np.maximum(x @ w + b, 0), rtol=tolerance, atol=tolerance)


def test_precisions_are_flags_of_the_build():
    trt = kiln.bindings()
    model, _, _ = kiln_models.affine(4)
    seen = {}

    def configure(network, config):
        flags = trt.BuilderFlag
        set_ones = {name for name in ("FP16", "BF16", "TF32") if config.get_flag(getattr(flags, name))}
        strongly = network.get_flag(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
        seen[arguments] = set_ones | ({"strongly typed"} if strongly else set())

    for arguments in ((None, None), (None, False), ("fp32", None), ("fp32", True), ("tf32", None), ("fp16", None),
                      ("bf16", None), ("best", False)):  # fmt: skip
        precision, tf32 = arguments
        kiln.compile(model, precision=precision, tf32=tf32, optimization_level=0, progress=False, configure=configure)
    assert seen == {
        (None, None): {"strongly typed", "TF32"},
        (None, False): {"strongly typed"},
        ("fp32", None): set(),
        ("fp32", True): {"TF32"},
        ("tf32", None): {"TF32"},
        ("fp16", None): {"FP16", "TF32"},
        ("bf16", None): {"BF16", "TF32"},
        ("best", False): {"FP16", "BF16"},
    }


def test_memory_of_sizes_that_data_decides_is_aligned():
    from kiln import _arrays, _context

    allocator = _context._allocator_class()()
    tensor = kiln.Tensor("y", "float32", (-1,))
    for size in (4, 40, 4000):
        allocator.reset(_arrays.family_of(np.zeros(1)), _arrays.HOST)
        pointer = allocator.reallocate_output("y", 0, size, 4096)
        assert pointer % 4096 == 0
        ctypes.memset(pointer, 0, size)
        allocator.notify_shape("y", (size // 4,))
        result = allocator.result(tensor)
        assert result.ctypes.data == pointer and result.shape == (size // 4,) and not result.any()


def test_a_timing_cache_is_written_and_read(tmp_path):
    model, _, _ = kiln_models.affine(4)
    cache = tmp_path / "timing.cache"
    kiln.compile(model, timing_cache=cache, progress=False)
    assert cache.stat().st_size > 0
    kiln.compile(model, timing_cache=cache, progress=False)
    cache.write_bytes(b"")
    kiln.compile(model, timing_cache=cache, progress=False)
    assert cache.stat().st_size > 0 and [p.name for p in tmp_path.iterdir()] == ["timing.cache"]


def test_times_of_builds_at_once_are_kept(tmp_path):
    """What another build has written meanwhile stays in the cache."""
    model, _, _ = kiln_models.affine(4)
    cache, alone = tmp_path / "timing.cache", tmp_path / "alone.cache"
    other = kiln_models.chain(2)
    kiln.compile(other, timing_cache=alone, progress=False)

    def build_the_other(network, config):
        kiln.compile(other, timing_cache=cache, progress=False)

    kiln.compile(model, timing_cache=cache, configure=build_the_other, progress=False)
    assert cache.stat().st_size > alone.stat().st_size


def test_a_timing_cache_that_cannot_be_written_costs_no_engine(tmp_path, caplog):
    model, w, b = kiln_models.affine(2)
    cache = tmp_path / "folder" / "timing.cache"
    cache.parent.mkdir()

    def lose(network, config):
        cache.parent.rmdir()

    x = rows(2)
    close(kiln.compile(model, timing_cache=cache, configure=lose, **QUICK)(x), np.maximum(x @ w + b, 0))
    assert "timing.cache was not written: timing_cache: there is no folder" in caplog.text
    cache.parent.mkdir()

    def replace(network, config):
        cache.write_text("notes")

    close(kiln.compile(model, timing_cache=cache, configure=replace, **QUICK)(x), np.maximum(x @ w + b, 0))
    assert "something else than a timing cache" in caplog.text and cache.read_text() == "notes"


@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o027, 0o640)], ids=["022", "027"])
def test_modes_and_links_of_files(affine, tmp_path, umask, mode):
    """New files have the mode that the umask leaves; those that are there keep theirs; links stay links."""
    engine, _ = affine
    model, _, _ = kiln_models.affine(2)
    writers = {
        "timing.cache": lambda path: kiln.compile(model, timing_cache=path, **QUICK),
        "a.plan": engine.save,
    }
    before = os.umask(umask)
    try:
        for name, write in writers.items():
            target, link = tmp_path / name, tmp_path / f"link to {name}"
            link.symlink_to(name)  # which is not there yet
            write(link)
            assert link.is_symlink() and target.stat().st_size > 0 and target.stat().st_mode & 0o777 == mode
            target.write_bytes(b"")
            target.chmod(0o606)
            write(link)
            assert link.is_symlink() and target.stat().st_size > 0 and target.stat().st_mode & 0o777 == 0o606
    finally:
        os.umask(before)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_plan_to_a_pipe(affine, tmp_path):
    """It is written to what is no file, and does not replace it."""
    engine, _ = affine
    pipe, taken = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: taken.append(pipe.read_bytes()), daemon=True)
    reader.start()
    engine.save(pipe)
    reader.join(timeout=10)
    assert taken == [bytes(engine)] and pipe.is_fifo()


def test_public_names():
    """A program sees what the package is for, and nothing that it imports itself."""
    assert {name for name in dir(kiln) if not name.startswith("_")} == set(kiln.__all__) - {"__version__"}
    names = {name: value for name, value in vars(kiln).items() if not name.startswith("_")}
    own = {name for name, value in names.items() if getattr(value, "__package__", "").startswith("kiln")}  # submodules
    assert set(names) - own <= set(kiln.__all__)


def test_progress_is_told_and_may_end_the_build(capsys):
    model, _, _ = kiln_models.affine(4)
    seen = []
    kiln.compile(model, progress=lambda fraction, text: seen.append((fraction, text)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions and fractions == sorted(fractions) and 0 <= fractions[0] and fractions[-1] == 1
    assert any(text for _, text in seen)
    with pytest.raises(kiln.Error, match="progress said so"):
        kiln.compile(model, progress=lambda fraction, text: False)

    class Mine(Exception):
        pass

    def fail(fraction, text):
        raise Mine("from the program")

    with pytest.raises(Mine, match="from the program"):
        kiln.compile(model, progress=fail)
    kiln.compile(model, progress=True)
    written = capsys.readouterr().err
    assert "built in" in written and "%" in written
    kiln.compile(model)
    assert capsys.readouterr().err == "", "no bar where stderr is no terminal"


def test_a_bar_is_closed_where_nothing_is_built(monkeypatch):
    """A bar of tqdm, or of a notebook, stays as it is otherwise."""

    class Bar(_progress.TerminalBar):
        closed = []

        def close(self, succeeded):
            super().close(succeeded)
            self.closed.append(succeeded)

    monkeypatch.setattr(_progress, "TerminalBar", Bar)
    model, _, _ = kiln_models.affine()

    def refuse(network, config):
        raise KeyError("of the program")

    with pytest.raises(kiln.Error, match="cannot be imported"):
        kiln.compile(b"no model", progress=True)
    with pytest.raises(ValueError, match="leaves extents open"):
        kiln.compile(model, progress=True)
    with pytest.raises(KeyError, match="of the program"):
        kiln.compile(model, shapes={"x": (2, 4)}, configure=refuse, progress=True)
    assert Bar.closed == [False] * 3
    kiln.compile(model, shapes={"x": (2, 4)}, progress=True)
    assert Bar.closed == [False] * 3 + [True]


def test_ctrl_c_ends_a_build(caplog):
    model, _, _ = kiln_models.affine(4)

    def interrupt(network, config):  # as the terminal does, in the middle of the build
        signal.setitimer(signal.ITIMER_REAL, 0.02)

    def handler(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(KeyboardInterrupt), caplog.at_level(logging.DEBUG, logger="kiln"):
            # Many layers, so that the build takes longer than the timer.
            kiln.compile(kiln_models.chain(400), configure=interrupt, progress=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "cancelled by its progress monitor" in caplog.text, "the build went on to its end"
    assert "the build ends, since KeyboardInterrupt was raised" in caplog.text
    close(kiln.compile(model, **QUICK)(rows(4)).shape, (4, 3))


def test_configure_sees_the_network_and_the_config():
    model, _, _ = kiln_models.affine(4)
    seen = []

    def configure(network, config):
        seen.append((network.num_inputs, config.builder_optimization_level))

    kiln.compile(model, configure=configure, **QUICK)
    assert seen == [(1, 0)]


def test_engines_go_with_their_last_reference():
    model, _, _ = kiln_models.affine(2)
    engine = kiln.compile(model, **QUICK)
    engine(rows(2))
    gone = weakref.ref(engine)
    del engine
    gc.collect()
    assert gone() is None


def test_nothing_is_left_of_many_builds():
    """Python's objects, memory and open files, over builds that succeed and loads that fail."""
    model, _, _ = kiln_models.affine(2)
    data = model.SerializeToString()

    def work(times):
        for _ in range(times):
            kiln.compile(data, **QUICK)(rows(2))
            with pytest.raises(kiln.Error):
                kiln.load(b"nonsense")

    def kept():
        gc.collect()
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        return len(gc.get_objects()), len(list(pathlib.Path("/proc/self/fd").iterdir())), pages * 4096

    work(50)
    before = kept()
    work(500)
    after = kept()
    assert after[0] - before[0] < 100 and after[1] == before[1]
    assert after[2] - before[2] < 1 << 20


def test_digits():
    """The sample's network, whose answers are known."""
    folder = pathlib.Path(__file__).parents[2] / "samples" / "digits"
    if not (folder / "digits.onnx").exists():
        pytest.skip("samples/digits is not there")
    import onnx
    import onnxruntime

    model = onnx.load(folder / "digits.onnx")
    tensor = model.graph.input[0]
    extents = [d.dim_value or 5 for d in tensor.type.tensor_type.shape.dim]
    x = np.random.default_rng(0).random(extents).astype("f")
    shapes = {tensor.name: tuple(extents)}
    engine = kiln.compile(folder / "digits.onnx", shapes=shapes, **QUICK)
    expected = onnxruntime.InferenceSession(str(folder / "digits.onnx")).run(None, {tensor.name: x})[0]
    np.testing.assert_allclose(engine(x), expected, rtol=1e-4, atol=1e-5)
