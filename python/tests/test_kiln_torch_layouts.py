"""Tensors between engines and PyTorch: strides, signs, kinds, and which operators stay together."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch_devices import device  # noqa: F401  (a fixture of each test)

import kiln
import kiln.torch

F = torch.nn.functional
QUICK = {"optimization_level": 0, "tf32": False, "min_block_size": 1}


def module_of(function):
    return type("Function", (torch.nn.Module,), {"forward": lambda self, *args: function(*args)})().eval()


def by_backend(function, *inputs):
    compiled = torch.compile(module_of(function), backend="kiln", options=QUICK)

    def call(*args):
        with torch.no_grad():
            return compiled(*args)

    return call


def ahead(function, *inputs):
    return kiln.torch.compile(module_of(function), inputs, **QUICK)


both_ways = pytest.mark.parametrize("compile", [by_backend, ahead])


def same(found, wanted):
    """Equal in values, and as they lie in memory."""
    assert isinstance(found, torch.Tensor)
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)
    assert found.stride() == wanted.stride()


def attention(x):
    h = x.view(2, 5, 2, 4).transpose(1, 2) * 2 + 1
    h = torch.special.i0(h)  # which engines lack: it keeps its input's order
    return h.transpose(1, 2).reshape(2, 5, 8) * 2


LAYOUTS = {
    "a view behind a gap": (attention, (2, 5, 8)),
    "transposed": (lambda x: (x * 2 + 1).transpose(0, 1), (3, 4)),
    "permuted": (lambda x: (x * 2).permute(2, 0, 1) + 1, (2, 3, 4)),
    "channels last": (lambda x: (x * 2 + 1).to(memory_format=torch.channels_last), (2, 3, 4, 5)),
    "one channel": (lambda x: (x * 2 + 1).to(memory_format=torch.channels_last), (2, 1, 4, 5)),
    "with gaps": (lambda x: (x * 2 + 1)[:, ::2], (3, 6)),
    "with gaps and transposed": (lambda x: (x * 2 + 1)[:, 1:3].t(), (3, 6)),
    "expanded": (lambda x: (x * 2 + 1)[:, None].expand(3, 4, 6), (3, 6)),
    "expanded and transposed": (lambda x: (x * 2 + 1)[:, None].expand(3, 4, 6).transpose(0, 2), (3, 6)),
    "dense": (lambda x: (x * 2 + 1).transpose(0, 1).contiguous(), (3, 4)),
    "empty": (lambda x: (x * 2 + 1).transpose(0, 1), (0, 4)),
    "of one element": (lambda x: (x * 2 + 1).sum(), (3, 4)),
}


@both_ways
@pytest.mark.parametrize("function, shape", LAYOUTS.values(), ids=LAYOUTS)
def test_strides_are_those_of_pytorch(compile, function, shape):
    x = torch.rand(shape)
    compiled = compile(function, x)
    same(compiled(x), function(x))


def test_strides_of_inputs_in_another_order():
    """A convolution of channels-last images makes channels-last images."""
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval().to(memory_format=torch.channels_last)
    x = torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last)
    compiled = torch.compile(module, backend="kiln", options=QUICK)
    with torch.no_grad():
        same(compiled(x), module(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x * 2 + 1).transpose(0, 1),
        lambda x: (x * 2 + 1).transpose(0, 2),
        lambda x: (x * 2 + 1)[:, :, ::2],
        lambda x: (x * 2 + 1)[None].expand(2, *x.shape),
        lambda x: torch.special.i0((x * 2).transpose(1, 2)).transpose(1, 2).reshape(x.shape[0], -1) + 1,
    ],
    ids=["transposed", "reversed", "with gaps", "expanded", "a view behind a gap"],
)
def test_strides_of_shapes_that_calls_decide(function):
    n, m = torch.export.Dim("n", min=1, max=16), torch.export.Dim("m", min=2, max=16)
    module = module_of(function)
    compiled = kiln.torch.compile(module, torch.rand(3, 4, 6), dynamic_shapes=(({0: n, 1: m},),), **QUICK)
    assert compiled.engines
    for shape in ((3, 4, 6), (7, 2, 6), (16, 9, 6)):
        x = torch.rand(shape)
        same(compiled(x), function(x))


# Engines without inputs.


@both_ways
def test_results_of_no_input_are_tensors(compile):
    """What is computed of constants alone is an engine without inputs."""

    def constants(x):
        places = torch.arange(4, device=x.device)
        return torch.zeros(4, device=x.device).scatter_reduce(0, places % 2, places * 2.0 + 1, "amax") + x

    def alone(x):
        return (torch.arange(4, device=x.device) * 2 + 1).float().sin()

    for function in (constants, alone):
        x = torch.rand(4)
        found = compile(function, x)(x)
        same(found, function(x))
        assert found.device == x.device


def test_engines_of_numpy_still_give_numpy():
    compiled = ahead(lambda x: x * 2 + 1, torch.rand(3))
    x = np.ones(3, np.float32)
    if compiled.engines[0].device == "cpu":
        assert type(compiled.engines[0](x)) is np.ndarray


# Signs.


@both_ways
def test_negated_views(compile):
    """Their memory has the other sign: conjugates and imaginary parts of them."""
    x = torch.rand(8)
    function = lambda x: torch.fft.fft(x).conj().imag * 2 + 1  # noqa: E731
    same(compile(function, x)(x), function(x))
    negated = torch.view_as_complex(torch.rand(4, 2)).conj().imag
    assert negated.is_neg()
    double = lambda x: x * 2 + 1  # noqa: E731
    torch.testing.assert_close(compile(double, negated)(negated), double(negated))


def test_an_engine_refuses_negated_views(device):
    """Wherever they are: a GPU's memory has the other sign as well."""
    engine = ahead(lambda x: x * 2 + 1, torch.rand(4)).engines[0]
    with pytest.raises(ValueError, match=r"is a negated view: use .resolve_neg\(\)"):
        engine(torch.view_as_complex(torch.rand(4, 2)).conj().imag)


def test_the_sign_is_asked_for_before_the_device(monkeypatch):
    """A stand-in for a negated tensor of a GPU, where there is none."""
    from kiln import _arrays

    asked = []

    class Negated(torch.Tensor):
        def is_neg(self):
            asked.append("sign")
            return True

        @property
        def device(self):
            return torch.device("cuda", 0)

    with pytest.raises(ValueError, match="is a negated view"):
        _arrays.TorchFamily().view(torch.rand(4).as_subclass(Negated))
    assert asked == ["sign"]


# What stays together.


@both_ways
def test_one_result_that_stays_in_pytorch(compile):
    """Places of maxima have no converter: the pooling stays in PyTorch, and its neighbours have their engine."""

    def function(x):
        y, places = F.max_pool2d(torch.relu(x) * 2 + 1, 2, return_indices=True)
        return y * 3 - 1, places

    x = torch.rand(1, 2, 6, 6)
    compiled = compile(function, x)
    for found, wanted in zip(compiled(x), function(x)):
        same(found, wanted)
    report = compiled.report if compile is ahead else kiln.torch.last_reports()[0]
    names = {re.sub(r"_\d+$", "", name) for name in report.in_pytorch}
    assert names == {"max_pool2d_with_indices", "getitem"} and len(report.engines) == 2
    assert all("max_pool2d_with_indices" in reason for reason in report.in_pytorch.values())


def test_one_operator_that_fails_late_stays_alone(monkeypatch):
    """A converter that refuses only in its part takes no other operator out of an engine."""
    from kiln.torch import _emitter

    original = _emitter.converters[torch.ops.aten.tanh.default]

    def refuse(emitter, *arguments):
        if not emitter.assumes_symbols:  # not in the trial
            raise _emitter.Unsupported("refused by the test")
        return original(emitter, *arguments)

    monkeypatch.setitem(_emitter.converters, torch.ops.aten.tanh.default, refuse)
    x = torch.rand(4)
    function = lambda x: torch.exp(torch.tanh(x * 2 + 1)) - 1  # noqa: E731
    compiled = ahead(function, x)
    same(compiled(x), function(x))
    assert compiled.report.in_pytorch == {"tanh": "refused by the test"} and len(compiled.engines) == 2


def test_a_graph_that_is_always_refused_stays_in_pytorch(monkeypatch, caplog):
    from kiln.torch import _partition

    monkeypatch.setattr(_partition, "_MOST_TRIES", 2)
    refuse = lambda *arguments: ({f"never seen {len(arguments)}": "refused"}, [])  # noqa: E731
    monkeypatch.setattr(_partition, "_try", refuse)
    x = torch.rand(4)
    function = lambda x: torch.exp(x * 2 + 1)  # noqa: E731
    compiled = ahead(function, x)
    same(compiled(x), function(x))
    assert not compiled.engines and "stays in PyTorch: it was divided 2 times" in caplog.text


def test_reasons_of_views():
    compiled = ahead(lambda x: torch.special.i0(x.transpose(0, 1)), torch.rand(2, 3))
    assert "another view of memory" in str(compiled.report) and "min_block_size" not in str(compiled.report)


# Names.


def test_engines_have_the_names_of_arguments():
    class Named(torch.nn.Module):
        def forward(self, input, *, scale):  # a name that PyTorch's graphs change, since Python has it
            return input * scale + 1

    inputs = torch.rand(2, 3), torch.rand(2, 3)
    compiled = kiln.torch.compile(Named().eval(), inputs[0], {"scale": inputs[1]}, **QUICK)
    (engine,) = compiled.engines
    assert [t.name for t in engine.inputs] == ["input", "scale"] and engine.name == "Named"
    with pytest.raises(TypeError, match="Named: input 'input' is of float64; float32 is needed"):
        compiled(inputs[0].double(), scale=inputs[1])
    with pytest.raises(TypeError, match="Named: input 'scale' is a ndarray; a torch.Tensor is needed"):
        compiled(inputs[0], scale=np.zeros((2, 3), np.float32))


def test_names_that_engines_need_themselves():
    """Arguments may be called as constants of the model are."""

    class Named(torch.nn.Module):
        def forward(self, c_1, c_2, add):
            return (c_1 * 2 + c_2) * 3 + add + c_1.shape[0]

    inputs = tuple(torch.rand(2, 3) for _ in range(3))
    compiled = kiln.torch.compile(Named().eval(), inputs, strict=True, **QUICK)
    same(compiled(*inputs), Named()(*inputs))
    assert [t.name for t in compiled.engines[0].inputs] == ["c_1", "c_2", "add"]


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU])
def test_states_of_recurrent_layers_have_their_axes(kind):
    module, x = kind(4, 5, num_layers=2, batch_first=True, bidirectional=True).eval(), torch.rand(2, 3, 4)
    compiled = kiln.torch.compile(module, x, **QUICK)
    with torch.no_grad():
        wanted, states = module(x)
        found, found_states = compiled(x)
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)
    torch.testing.assert_close(found_states, states, rtol=2e-5, atol=2e-5)


def test_public_names():
    assert {name for name in vars(kiln.torch) if not name.startswith("_")} == set(kiln.torch.__all__)
