"""`torch.compile(backend="kiln")`, `kiln.torch.compile`, and engines with PyTorch's tensors."""

import functools
import gc
import logging
import os
import pathlib
import subprocess
import sys
import threading
import time
import tomllib

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import kiln_models
from torch_devices import DEVICES, device  # noqa: F401  (a fixture of each test)

import kiln
import kiln.torch

F = torch.nn.functional
QUICK = {"optimization_level": 0, "tf32": False}


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.fc = torch.nn.Linear(8, 5)
        with torch.no_grad():
            self.norm.running_mean.uniform_(-1, 1)
            self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        return self.fc(x.mean((2, 3)))


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


def image(n=2, size=8):
    return torch.rand(n, 3, size, size)


# Engines with tensors.


@functools.cache
def affine_on(device):
    model, w, b = kiln_models.affine()
    engine = kiln.compile(model, shapes={"x": [(1, 4), (8, 4)]}, device=device, progress=False, name="affine", **QUICK)
    return engine, lambda x: torch.relu(x @ torch.from_numpy(w).to(x.device) + torch.from_numpy(b).to(x.device))


@pytest.fixture
def affine(device):
    return affine_on(device)


def test_torch_in_torch_out(affine):
    engine, expected = affine
    x = torch.rand(3, 4)
    y = engine(x)
    assert isinstance(y, torch.Tensor) and y.dtype == torch.float32 and y.device == x.device
    close(y, expected(x))
    out = torch.full((3, 3), torch.nan)
    assert engine(x, out=out) is out
    close(out, expected(x))


def test_memory_is_shared_with_numpy(affine):
    """Nothing is copied on the way in: a tensor over numpy's memory follows it."""
    engine, expected = affine
    array = np.zeros((2, 4), "f")
    tensor = torch.from_numpy(array)
    engine(tensor)
    array[:] = 2
    close(engine(tensor), expected(tensor))


def test_types_that_numpy_lacks():
    class Half(torch.nn.Module):
        def forward(self, x):
            return torch.exp(x) * 2 + x

    x = torch.rand(4, 4, dtype=torch.bfloat16)
    compiled = kiln.torch.compile(Half().eval(), x, strict=True, min_block_size=1, **QUICK)
    y = compiled(x)
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(y, Half()(x), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: torch.zeros(2, 4, dtype=torch.float64), TypeError, "input 'x' is of float64; float32 is needed"),
        (lambda: torch.zeros(4, 2).t(), ValueError, r"not contiguous in memory \(strides \(1, 2\)\).*x.contiguous"),
        (lambda: torch.zeros(2, 4, dtype=torch.complex64), TypeError, "torch.complex64"),
        (lambda: torch.zeros(2, 4, device="meta"), TypeError, "on device meta"),
        (lambda: torch.zeros(2, 4).to_sparse(), TypeError, "layout torch.sparse_coo"),
        (lambda: torch.zeros(2, 4, requires_grad=True), ValueError, "requires a gradient"),
        (lambda: torch.zeros(2, 5), ValueError, r"has shape \(2, 5\)"),
    ],
)
def test_wrong_tensors(affine, make, error, text):
    engine, _ = affine
    with pytest.raises(error, match=text):
        engine(make())


def test_freed_memory(affine):
    engine, _ = affine
    x = torch.rand(2, 4)
    x.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="its storage was freed"):
        engine(x)


def by_fake(engine, x):
    with torch._subclasses.FakeTensorMode() as mode:
        return engine(mode.from_tensor(x))


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
@pytest.mark.parametrize(
    "call, text",
    [
        (by_fake, "has no memory"),
        (lambda engine, x: torch.func.functionalize(engine)(x), "has no memory"),
        (lambda engine, x: torch.func.vmap(engine)(x[None]), "has no memory"),
        (lambda engine, x: engine(torch.nested.nested_tensor([x[0], x[1]])), "has no memory"),
        (lambda engine, x: torch.jit.trace(lambda x: engine(x), x), "is of a trace"),
        (lambda engine, x: torch.fx.experimental.proxy_tensor.make_fx(engine)(x), "is of a trace"),
    ],
    ids=["fake", "functionalize", "vmap", "nested", "trace", "make_fx"],
)
def test_tensors_that_stand_for_others(affine, call, text):
    """What PyTorch traces and transforms with is no memory to read, and a trace would keep results as constants."""
    with pytest.raises(TypeError, match=f"input 'x' {text}"):
        call(affine[0], torch.rand(2, 4))


@pytest.mark.parametrize("before", ["", "import torch._dynamo"])
def test_an_engine_in_a_compiled_function(affine, tmp_path, before):
    """PyTorch's compiler goes around the call, and does not look into the package."""
    affine[0].save(tmp_path / "affine.plan")
    code = f"""
import torch, kiln
{before}
engine = kiln.load({os.fspath(tmp_path / "affine.plan")!r}, device={affine[0].device!r})
x = torch.ones(2, 4, device={affine[0].device!r})
compiled = torch.compile(lambda x: engine(x * 2) + 1, backend="eager")
torch.testing.assert_close(compiled(x), engine(x * 2) + 1)
graphs = torch._dynamo.explain(lambda x: engine(x * 2) + 1)(x)
assert graphs.graph_count == 2, graphs
"""
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "ignored" not in done.stderr, done.stderr


def test_gradients_do_not_matter_without_them(affine):
    engine, expected = affine
    x = torch.rand(2, 4, requires_grad=True)
    with torch.no_grad():
        close(engine(x), expected(x))


# torch.compile.


def test_backend(device):
    module = Small().eval()
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "strict": True})
    with torch.no_grad():
        x = image()
        close(compiled(x), module(x))
    (report,) = kiln.torch.last_reports()
    assert len(report.engines) == 1 and not report.in_pytorch and report.num_in_engines == report.num_operators > 0
    assert report.engines[0].engine.device.startswith(device)


def test_one_engine_for_batches_that_are_marked_dynamic():
    module = Small().eval()
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "strict": True})
    with torch.no_grad():
        for n in (4, 2, 9, 15, 3):
            x = image(n)
            torch._dynamo.mark_dynamic(x, 0, min=2, max=15)  # PyTorch's own convolution asks whether it is below 16
            close(compiled(x), module(x))
    (report,) = kiln.torch.last_reports()
    (part,) = report.engines
    assert part.num_builds == 1
    assert part.engine.inputs[0].ranges[0].max[0] == 15


def dynamic_module():
    """A module for up to 12 rows, and what compiles it, called once; its part."""
    module = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.GELU(), torch.nn.Linear(5, 4)).eval()
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "max_extent_factor": 2})
    x = torch.rand(6, 4)
    torch._dynamo.mark_dynamic(x, 0)
    with torch.no_grad():
        close(compiled(x), module(x))
    (report,) = kiln.torch.last_reports()
    (part,) = report.engines
    return module, compiled, part


def test_threads_with_a_new_shape_build_one_engine(monkeypatch):
    module, compiled, part = dynamic_module()
    build, barrier, failures, seen = part._build, threading.Barrier(4), [], []
    part.register_forward_pre_hook(lambda _, args: seen.append(args))
    with torch.no_grad():
        compiled(torch.rand(6, 4))

    def slow_build():
        time.sleep(0.3)  # so that all threads have been refused
        return build()

    def call(n):
        x = torch.rand(n, 4)
        barrier.wait()
        try:
            with torch.no_grad():  # the part itself: PyTorch has graphs of its own for threads with other settings
                found = part(*(x if isinstance(one, torch.Tensor) else n for one in seen[0]))
                close(found[0] if isinstance(found, tuple) else found, module(x))
        except BaseException as failure:
            failures.append(failure)

    monkeypatch.setattr(part, "_build", slow_build)
    threads = [threading.Thread(target=call, args=(n,)) for n in (40, 40, 40, 41)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and part.num_builds == 2


def test_room_that_could_not_be_built_is_asked_for_again(monkeypatch):
    module, compiled, part = dynamic_module()
    build = part._build

    def failing_build():
        raise kiln.Error("not now")

    x = torch.rand(40, 4)
    with torch.no_grad():
        monkeypatch.setattr(part, "_build", failing_build)
        for _ in range(2):
            with pytest.raises(kiln.Error, match="not now"):
                compiled(x)
        monkeypatch.setattr(part, "_build", build)
        close(compiled(x), module(x))


def test_an_engine_grows_where_no_maximum_was_said():
    module = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.GELU(), torch.nn.Linear(5, 4)).eval()
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "max_extent_factor": 2})
    limits = []
    with torch.no_grad():
        for n in (6, 12, 40, 7, 80):
            x = torch.rand(n, 4)
            torch._dynamo.mark_dynamic(x, 0)
            close(compiled(x), module(x))
            if n == 6:
                (report,) = kiln.torch.last_reports()
                (part,) = report.engines
            limits.append((part.num_builds, part.engine.inputs[0].ranges[0].max[0]))
    assert limits == [(1, 12), (1, 12), (2, 80), (2, 80), (2, 80)] and not kiln.torch.last_reports()


class WithGap(torch.nn.Module):
    """An operator in the middle that engines lack."""

    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        x = F.gelu(self.first(x)) * 2
        x = torch.special.i0(x)
        return F.gelu(self.last(x)) * 2 + 1


def test_what_kiln_lacks_stays_in_pytorch():
    module, x = WithGap().eval(), torch.rand(3, 4)
    compiled = torch.compile(module, backend="kiln", options=QUICK)
    with torch.no_grad():
        close(compiled(x), module(x))
    (report,) = kiln.torch.last_reports()
    assert len(report.engines) == 2 and list(report.in_pytorch.values()) == ["aten.i0.default"]
    assert "aten.i0" in str(report) and "in 2 engines" in str(report)


def test_strict_refuses_what_kiln_lacks():
    with pytest.raises(Exception, match="aten.i0"), torch.no_grad():
        torch.compile(WithGap().eval(), backend="kiln", options={"strict": True})(torch.rand(3, 4))


def test_strict_refuses_small_parts():
    """They stay in PyTorch for being small: an error says so, and what helps."""
    module, x = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sigmoid()).eval(), torch.rand(2, 3)
    text = "strict: 2 operators would stay in PyTorch; the first is relu: fewer than min_block_size=3 operators"
    with pytest.raises(kiln.Error, match=text):
        kiln.torch.compile(module, x, strict=True, **QUICK)
    close(kiln.torch.compile(module, x, strict=True, min_block_size=1, **QUICK)(x), module(x))
    views = torch.nn.Flatten(0).eval()  # no work for an engine
    close(kiln.torch.compile(views, x, strict=True, **QUICK)(x), views(x))


def test_small_parts_stay_in_pytorch():
    module, x = WithGap().eval(), torch.rand(3, 4)
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "min_block_size": 100})
    with torch.no_grad():
        close(compiled(x), module(x))
    (report,) = kiln.torch.last_reports()
    assert not report.engines and any("min_block_size=100" in reason for reason in report.in_pytorch.values())


def test_a_part_that_cannot_be_built_stays_in_pytorch(caplog):
    def refuse(network, config):
        raise kiln.Error("refused by the test")

    module, x = Small().eval(), image()
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "configure": refuse})
    with caplog.at_level(logging.WARNING, logger="kiln"), torch.no_grad():
        close(compiled(x), module(x))
    assert "refused by the test" in caplog.text
    (report,) = kiln.torch.last_reports()
    assert not report.engines


def test_training_runs_in_pytorch(caplog):
    from kiln.torch import _backend

    _backend._warned.clear()
    module = Small()
    compiled = torch.compile(module, backend="kiln")
    with caplog.at_level(logging.WARNING, logger="kiln"):
        compiled(image()).sum().backward()
    assert module.fc.weight.grad is not None and not kiln.torch.last_reports()
    assert "under torch.no_grad() to use engines" in caplog.text


def test_weights_that_change_are_seen():
    module, x = Small().eval(), image()
    compiled = torch.compile(module, backend="kiln", options=QUICK)
    with torch.no_grad():
        close(compiled(x), module(x))
        module.fc.weight.mul_(3)
        close(compiled(x), module(x))
        module.load_state_dict(Small().state_dict())
        close(compiled(x), module(x))


def test_buffers_that_a_module_writes(caplog):
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x):
            self.count.add_(1)
            return torch.exp(x) * self.count + x

    module, x = Counter().eval(), torch.rand(3)
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "min_block_size": 1})
    with torch.no_grad():
        for i in range(1, 4):
            close(compiled(x), torch.exp(x) * i + x)
    assert module.count.tolist() == [3, 3, 3]
    assert len(kiln.torch.last_reports()) == 1 and "have changed" not in caplog.text, "one engine serves all calls"


def test_results_that_are_inputs_and_numbers():
    class Mixed(torch.nn.Module):
        def forward(self, x, y):
            z = torch.exp(x) * 2 + y
            return z, x, z.shape[0], z + x.shape[0]

    module = Mixed().eval()
    compiled = torch.compile(module, backend="kiln", dynamic=True, options={**QUICK, "min_block_size": 1})
    with torch.no_grad():
        for n in (3, 5):
            x, y = torch.rand(n, 2), torch.rand(n, 2)
            found, wanted = compiled(x, y), module(x, y)
            assert found[2] == n and found[1] is x
            close(found[0], wanted[0])
            close(found[3], wanted[3])


def test_tensors_in_another_order():
    """Channels last, transposed: made contiguous on the way into an engine."""
    module = Small().eval()
    compiled = torch.compile(module, backend="kiln", options=QUICK)
    x = image().to(memory_format=torch.channels_last)
    with torch.no_grad():
        close(compiled(x), module(x))


def test_options_that_are_none():
    for options, text in (
        ({"presicion": "fp16"}, "'presicion' is no option"),
        ({"precision": "int3"}, "precision is"),
        ({"min_block_size": "two"}, "min_block_size is 'two'; it may be an int"),
        ({"max_extent_factor": 0}, "max_extent_factor is 0; it may be from 1 on"),
        ({"tf32": "yes"}, "tf32 is 'yes'; it may be True or False"),
        ({"strict": 1}, "strict is 1; it may be"),
        ({"configure": 3}, "configure is 3; it may be a function"),
    ):
        with pytest.raises(Exception, match=text), torch.no_grad():
            torch._dynamo.reset()
            torch.compile(Small().eval(), backend="kiln", options=options)(image())


def test_the_name_is_found_without_an_import(tmp_path):
    """By the entry point that the wheel's metadata have, which pyproject.toml says."""
    project = pathlib.Path(__file__).parents[2] / "pyproject.toml"
    points = tomllib.loads(project.read_text())["project"]["entry-points"]["torch_dynamo_backends"]
    metadata = tmp_path / "kiln_inference-0.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: kiln-inference\nVersion: 0.0\n")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[torch_dynamo_backends]", *lines]))
    program = """
import sys, torch
assert "kiln" in torch._dynamo.list_backends() and "kiln" not in sys.modules
module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 4)).eval()
x = torch.rand(2, 4)
with torch.no_grad():
    torch.testing.assert_close(torch.compile(module, backend="kiln")(x), module(x), rtol=1e-3, atol=1e-3)
import kiln.torch
assert len(kiln.torch.last_reports()[0].engines) == 1
"""
    path = os.pathsep.join([str(tmp_path), *sys.path])
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, check=True)


def test_a_package_that_is_imported_again():
    program = """
import sys, torch, kiln.torch
module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 4)).eval()
for name in [name for name in sys.modules if name.partition(".")[0] in ("kiln", "tensorrt")]:
    del sys.modules[name]
import kiln.torch
x = torch.rand(2, 4)
with torch.no_grad():
    torch.testing.assert_close(torch.compile(module, backend="kiln")(x), module(x), rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(kiln.torch.compile(module, x)(x), module(x), rtol=1e-3, atol=1e-3)
"""
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=True)


def test_kiln_before_torch():
    """Engines run before PyTorch is imported: what kiln loads must not stand in for libraries of PyTorch's."""
    program = """
import kiln, kiln_models, numpy as np, sys
model, _, _ = kiln_models.affine(2)
engine = kiln.compile(model, progress=False)
engine(np.zeros((2, 4), "f"))
assert "torch" not in sys.modules
import torch
assert isinstance(engine(torch.zeros(2, 4)), torch.Tensor)
"""
    path = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, check=True)


# kiln.torch.compile.


def test_export():
    module, x = Small().eval(), image()
    compiled = kiln.torch.compile(module, x, strict=True, **QUICK)
    close(compiled(x), module(x).detach())
    assert len(compiled.engines) == 1 and repr(compiled).endswith("in 1 engine>")


def test_export_with_dynamic_shapes():
    module = Small().eval()
    batch, size = torch.export.Dim("batch", min=1, max=8), torch.export.Dim("size", min=4, max=32)
    compiled = kiln.torch.compile(
        module, (image(),), dynamic_shapes={"x": {0: batch, 2: size, 3: size}}, strict=True, **QUICK
    )
    for n, extent in ((1, 4), (8, 32), (3, 17)):
        x = image(n, extent)
        close(compiled(x), module(x).detach())
    assert compiled.report.engines[0].num_builds == 1


def test_export_of_nested_arguments():
    class Nested(torch.nn.Module):
        def forward(self, pair, *, scale):
            a, b = pair["a"], pair["b"]
            return {"sum": torch.exp(a) + b * scale, "both": [a * b, torch.tanh(b)]}

    module = Nested().eval()
    pair = {"a": torch.rand(2, 3), "b": torch.rand(2, 3)}
    compiled = kiln.torch.compile(module, (pair,), {"scale": torch.tensor(2.0)}, strict=True, **QUICK)
    found, wanted = compiled(pair, scale=torch.tensor(3.0)), module(pair, scale=torch.tensor(3.0))
    close(found["sum"], wanted["sum"])
    close(found["both"][1], wanted["both"][1])


def test_export_keeps_what_kiln_lacks():
    module, x = WithGap().eval(), torch.rand(3, 4)
    compiled = kiln.torch.compile(module, x, **QUICK)
    close(compiled(x), module(x).detach())
    assert len(compiled.engines) == 2


def test_export_refuses():
    with pytest.raises(kiln.Error, match="in training mode"):
        kiln.torch.compile(Small().train(), image())
    with pytest.raises(TypeError, match="a torch.nn.Module or an ExportedProgram"):
        kiln.torch.compile(lambda x: x, image())
    with pytest.raises(TypeError, match="inputs is a int"):
        kiln.torch.compile(Small().eval(), 3)
    with pytest.raises(ValueError, match="no option"):
        kiln.torch.compile(Small().eval(), image(), speed=11)
    compiled = kiln.torch.compile(Small().eval(), image(), **QUICK)
    with pytest.raises(kiln.Error, match="cannot be trained"):
        compiled.train()


def test_attention_and_embeddings():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(30, 16)
            self.norm = torch.nn.LayerNorm(16)
            self.qkv, self.out = torch.nn.Linear(16, 48), torch.nn.Linear(16, 16)

        def forward(self, ids):
            x = self.embed(ids) + torch.arange(ids.shape[1], device=ids.device)[:, None] * 0.01
            n, length, _ = x.shape
            q, k, v = self.qkv(self.norm(x)).view(n, length, 3, 4, 4).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(n, length, 16)) + x

    module = Block().eval()
    n, length = torch.export.Dim("n", min=1, max=4), torch.export.Dim("length", min=2, max=32)
    ids = torch.randint(0, 30, (2, 7))
    compiled = kiln.torch.compile(module, ids, dynamic_shapes={"ids": {0: n, 1: length}}, strict=True, **QUICK)
    for shape in ((2, 7), (1, 32), (4, 3)):
        ids = torch.randint(0, 30, shape)
        close(compiled(ids), module(ids).detach())


@pytest.mark.parametrize("norm_first, activation", [(False, "relu"), (True, "gelu")])
def test_encoder_layers_that_pytorch_has_as_one_operator(norm_first, activation):
    """For inference torch.nn.TransformerEncoderLayer is one operator, whose mask is of one of three kinds."""
    layer = torch.nn.TransformerEncoderLayer(
        16, 2, 32, batch_first=True, norm_first=norm_first, activation=activation
    ).eval()
    x, causal = torch.rand(3, 5, 16), torch.ones(5, 5, dtype=torch.bool).triu(1)
    padding = torch.zeros(3, 5, dtype=torch.bool)
    padding[0, 3:] = True
    compiled = torch.compile(layer, backend="kiln", options={**QUICK, "strict": True})
    with torch.no_grad():
        for masks in ({}, {"src_mask": causal}, {"src_key_padding_mask": padding},
                      {"src_mask": causal, "src_key_padding_mask": padding}):  # fmt: skip
            close(compiled(x, **masks), layer(x, **masks))
    assert len(kiln.torch.last_reports()) == 4


def test_engines_of_torch_compile_go_with_their_graphs():
    import weakref

    compiled = torch.compile(Small().eval(), backend="kiln", options=QUICK)
    with torch.no_grad():
        compiled(image())
    (report,) = kiln.torch.last_reports()
    gone = weakref.ref(report.engines[0].engine)
    del compiled, report
    torch._dynamo.reset()
    gc.collect()
    assert gone() is None


def test_memory_of_modules_is_given_back():
    import weakref

    compiled = kiln.torch.compile(Small().eval(), image(), **QUICK)
    compiled(image())
    gone = weakref.ref(compiled.engines[0])
    del compiled
    kiln.torch.last_reports()
    gc.collect()
    assert gone() is None


needs_gpu = pytest.mark.skipif("cuda" not in DEVICES, reason="engines do not run on a GPU here")


def test_tensors_of_another_device(affine, device):
    """An engine of the CPU says that it wants no other; one of a GPU copies tensors of the host there and back."""
    engine, expected = affine
    if device == "cuda":
        x = torch.rand(2, 4, device="cpu")
        y = engine(x)
        assert y.device.type == "cpu"
        close(y, expected(x))
    elif "cuda" in DEVICES:
        with pytest.raises(ValueError, match="input 'x' is on cuda:0; this engine runs on the CPU"):
            engine(torch.rand(2, 4, device="cuda"))


@needs_gpu
def test_modules_of_both_devices():
    """One process, modules on the CPU and on the GPU, in turn."""
    for where in ("cpu", "cuda", "cpu"):
        torch._dynamo.reset()
        module, x = Small().eval().to(where), image().to(where)
        with torch.no_grad():
            close(torch.compile(module, backend="kiln", options={**QUICK, "strict": True})(x), module(x))
        (report,) = kiln.torch.last_reports()
        assert report.engines[0].engine.device.startswith(where)


@needs_gpu
def test_a_stream_that_is_given():
    """Results are made, and taken back, in the order of the stream that the run is on."""
    engine, expected = affine_on("cuda")
    stream = torch.cuda.Stream()
    for _ in range(20):
        x = torch.rand(8, 4, device="cuda")
        torch.cuda.current_stream().synchronize()
        y = engine(x, stream=stream)
        del y
        y = engine(x, stream=stream)
        stream.synchronize()
        close(y, expected(x))


@needs_gpu
def test_gpu_stream_and_graph():
    engine, expected = affine_on("cuda")
    x = torch.rand(4, 4, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        y = engine(x)
        assert y.device == x.device
    stream.synchronize()
    close(y.cpu(), expected(x.cpu()))
    graph = torch.cuda.CUDAGraph()
    engine(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = engine(x)
    x.copy_(torch.rand(4, 4))
    graph.replay()
    torch.cuda.synchronize()
    close(y.cpu(), expected(x.cpu()))
