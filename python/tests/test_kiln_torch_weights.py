"""Weights of compiled modules: what engines copy, what they must not, and how changes are noticed."""

import copy
import gc
import logging
import pickle
import threading
import time
import weakref

import pytest

torch = pytest.importorskip("torch")

from torch_devices import device  # noqa: F401  (a fixture of each test)

import kiln
import kiln.torch
from kiln.torch import _backend

QUICK = {"optimization_level": 0, "tf32": False, "min_block_size": 1}


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


def net():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4)).eval()


def by_backend(module, *inputs):
    return torch.compile(module, backend="kiln", options=QUICK)


def ahead(module, *inputs):
    return kiln.torch.compile(module, inputs, **QUICK)


both_ways = pytest.mark.parametrize("compile", [by_backend, ahead])


class Counter(torch.nn.Module):
    """Counts its calls in a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(4))
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, x):
        self.count.add_(1)
        return torch.relu(self.fc(x)) + self.count * 2


class Alias(Counter):
    """Another buffer is a view of the one that is written to."""

    def __init__(self):
        super().__init__()
        self.register_buffer("first", self.count[:2])

    def forward(self, x):
        return super().forward(x) + self.first.sum()


class Cache(torch.nn.Module):
    """A cache of keys that each call shifts, and reads as it was and as it is."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(3, 4))
        self.register_buffer("older", torch.zeros(3, 4))

    def forward(self, x):
        before = torch.exp(self.keys)
        self.older.copy_(self.keys)
        self.keys.copy_(torch.cat([self.keys[1:], x[:1] * 2]))
        gap = torch.special.i0(self.keys)  # which engines lack
        return (gap + before) * 2 - self.older, before.sum() * 3


@pytest.mark.parametrize(
    "compile, kind",
    [(by_backend, Counter), (by_backend, Cache), (by_backend, Alias), (ahead, Counter), (ahead, Cache)],
)  # torch.export refuses buffers that share memory
def test_buffers_that_forward_writes(compile, kind, caplog):
    plain, x = kind().eval(), torch.rand(2, 4)
    module = copy.deepcopy(plain)
    compiled = compile(module, x)
    with torch.no_grad():
        for _ in range(4):
            x = torch.rand(2, 4)
            close(compiled(x), plain(x))
    for name, buffer in plain.named_buffers():
        close(module.get_buffer(name), buffer)
        if compile is ahead:  # what is exported has the original's buffers
            close(compiled.get_buffer(name), buffer)
    assert "have changed" not in caplog.text, "one engine serves all calls"


def test_writes_stay_behind_reads():
    """Parts in the middle read a buffer as it was, however the graph is put together again."""

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", torch.ones(4))
            self.register_buffer("b", torch.zeros(4))

        def forward(self, x):
            kept = self.a * 3
            self.a.add_(x[0])
            self.b.copy_(kept)
            for _ in range(3):
                kept = torch.special.i0(kept.tanh()) * 2
            return kept + self.b.sin() + self.a

    plain, x = Module().eval(), torch.rand(2, 4)
    compiled = kiln.torch.compile(copy.deepcopy(plain), x, **QUICK)
    assert len(compiled.engines) > 2
    for _ in range(3):
        close(compiled(x), plain(x))


CHANGES = {
    "in place": lambda module: module[0].weight.mul_(2),
    "data": lambda module: setattr(module[0].weight, "data", torch.rand(4, 4)),
    "data of other strides": lambda module: setattr(module[0].weight, "data", module[0].weight.data.t()),
    "vector": lambda module: torch.nn.utils.vector_to_parameters(torch.rand(40), module.parameters()),
    "load": lambda module: module.load_state_dict(net().state_dict()),
    "data of a bias": lambda module: setattr(module[2].bias, "data", module[2].bias + 3),
}


@both_ways
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changes_of_weights(compile, change):
    module, x = net(), torch.rand(2, 4)
    compiled = compile(module, x)
    with torch.no_grad():
        close(compiled(x), module(x))
        for _ in range(2):
            before = module(x)
            change(module)
            assert not torch.equal(module(x), before)
            close(compiled(x), module(x))


@both_ways
def test_writes_that_pytorch_does_not_count(compile):
    """Through .data and arrays of numpy: only the program knows of them, and says so."""
    module, x = net(), torch.rand(2, 4)
    compiled = compile(module, x)
    with torch.no_grad():
        close(compiled(x), module(x))
        module[0].weight.data.mul_(3)
        kiln.torch.refresh()
        close(compiled(x), module(x))
        if x.device.type == "cpu":
            module[2].bias.detach().numpy()[:] = 5
            kiln.torch.refresh()
            close(compiled(x), module(x))


def test_a_step_of_an_optimizer():
    module, x = net(), torch.rand(2, 4)
    compiled = by_backend(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    for _ in range(2):
        module(x).square().sum().backward()
        optimizer.step()
        with torch.no_grad():
            close(compiled(x), module(x))


def test_weights_of_what_stays_in_pytorch_are_not_copied(caplog):
    """A graph without an engine is never stale, however its weights change."""
    module, x = net(), torch.rand(2, 4)
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "min_block_size": 100})
    with torch.no_grad():
        close(compiled(x), module(x))
        module[0].weight.data.mul_(3)
        close(compiled(x), module(x))
        module[0].weight.data = torch.rand(4, 4)
        close(compiled(x), module(x))
    assert "have changed" not in caplog.text


def test_weights_that_are_not_watched():
    """The option says that engines keep what they have; what stays in PyTorch follows."""
    module, x = net(), torch.rand(2, 4)
    compiled = torch.compile(module, backend="kiln", options={**QUICK, "watch_weights": False})
    with torch.no_grad():
        before = compiled(x)
        module[0].weight.mul_(3)
        assert torch.equal(compiled(x), before)
        kiln.torch.refresh()
        close(compiled(x), module(x))


def test_a_buffer_that_another_graph_writes(caplog):
    """It is frozen until it has changed twice, and then an input: a cache does not build engines for ever."""

    class Reader(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(4))
            self.fc = torch.nn.Linear(4, 4)

        def forward(self, x):
            return torch.relu(self.fc(x)) + self.cache * 2

    module, x = Reader().eval(), torch.rand(2, 4)
    compiled = by_backend(module)
    with torch.no_grad():
        for _ in range(6):
            module.cache.add_(1)
            close(compiled(x), module(x))
        assert caplog.text.count("have changed") == 2
        module.fc.weight.mul_(2)
        close(compiled(x), module(x))
    assert caplog.text.count("have changed") == 3


@pytest.mark.parametrize("watch", [True, False])
def test_modules_of_one_class_have_engines_each(caplog, watch):
    """PyTorch has one graph for them, as for the layers of a network that are compiled one by one."""
    modules, x = [net() for _ in range(3)], torch.rand(2, 4)
    compiled = [torch.compile(m, backend="kiln", options={**QUICK, "watch_weights": watch}) for m in modules]
    with torch.no_grad(), caplog.at_level(logging.INFO, logger="kiln"):
        for _ in range(4):
            for module, function in zip(modules, compiled):
                close(function(x), module(x))
        assert caplog.text.count("graph of another one") == 2 and "have changed" not in caplog.text
        if watch:
            modules[1][0].weight.mul_(2)
            for module, function in zip(modules, compiled):
                close(function(x), module(x))
            assert caplog.text.count("have changed") == 1


def test_engines_of_modules_that_are_gone_go():
    def make():
        module = net()
        compiled = torch.compile(module, backend="kiln", options=QUICK)
        with torch.no_grad():
            close(compiled(x), module(x))
        return weakref.ref(kiln.torch.last_reports()[-1].engines[0].engine)

    x, kept = torch.rand(2, 4), net()
    compiled = torch.compile(kept, backend="kiln", options=QUICK)
    with torch.no_grad():
        close(compiled(x), kept(x))
    gone = [make() for _ in range(3)]
    gc.collect()
    assert [engine() for engine in gone] == [None] * 3, "that of the last call, too"
    with torch.no_grad():
        close(compiled(x), kept(x))


def test_engines_that_end_beside_an_update_take_no_others_with_them(caplog, monkeypatch):
    """Weights end whenever the collector runs: here in one thread, while another one adds engines."""
    are_dead = _backend._Engines.are_dead.fget
    monkeypatch.setattr(_backend._Engines, "are_dead", property(lambda engines: (time.sleep(0.002), are_dead(engines))[1]))
    x = torch.rand(2, 4)

    def call(module):
        compiled = torch.compile(module, backend="kiln", options=QUICK)
        with torch.no_grad():
            close(compiled(x), module(x))
        return compiled

    first = net()
    compiled_first = call(first)
    doomed, kept = [net() for _ in range(8)], [net() for _ in range(8)]
    for module in doomed:
        call(module)

    def end():
        while doomed:
            doomed.pop()
            gc.collect()

    module = None
    ending = threading.Thread(target=end)
    ending.start()
    compiled = [call(module) for module in kept]
    ending.join()
    with torch.no_grad(), caplog.at_level(logging.INFO, logger="kiln"):
        for module, function in zip([first, *kept], [compiled_first, *compiled]):
            close(function(x), module(x))
    assert "graph of another one" not in caplog.text, "engines that were built are built again"


# Compiled modules.


def test_the_state_of_a_compiled_module():
    module, other, x = net(), net(), torch.rand(2, 4)
    compiled = ahead(module, x)
    assert compiled.state_dict().keys() == module.state_dict().keys()
    close(compiled(x), module(x).detach())
    for assign in (False, True):
        compiled.load_state_dict(other.state_dict(), assign=assign)
        close(compiled(x), other(x).detach())
        other = net()
    with pytest.raises(RuntimeError, match="size mismatch"):
        compiled.load_state_dict({**other.state_dict(), "0.bias": torch.zeros(5)})


def test_a_part_in_pytorch_follows_the_state():
    class Gap(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            return torch.special.i0(self.scale) + x

    module, x = Gap().eval(), torch.rand(4)
    compiled = kiln.torch.compile(module, x)
    assert not compiled.engines
    compiled.load_state_dict({"scale": torch.full((4,), 2.0)}, assign=True)
    close(compiled(x), torch.special.i0(torch.full((4,), 2.0)) + x)


def test_a_compiled_module_keeps_its_types_and_device():
    compiled = ahead(net(), torch.rand(2, 4))
    assert compiled.float() is compiled and compiled.eval() is compiled
    for convert in (compiled.half, lambda: compiled.to("meta"), compiled.double):
        with pytest.raises(kiln.Error, match=r"Sequential is compiled for weights of torch.float32 on .*compile that"):
            convert()
    with pytest.raises(kiln.Error, match="cannot be trained"):
        compiled.train()


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_compiled_module_stays_in_its_process(take):
    with pytest.raises(TypeError, match="Sequential: a compiled module cannot be pickled or copied"):
        take(ahead(net(), torch.rand(2, 4)))


def test_threads_see_a_change_once(caplog):
    import threading

    module, x = net(), torch.rand(2, 4)
    compiled, failures = ahead(module, x), []
    compiled(x)
    with torch.no_grad():
        module[0].weight.mul_(2)
        wanted = module(x)

    def work():
        try:
            close(compiled(x), wanted)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(6)]
    with caplog.at_level(logging.WARNING, logger="kiln"):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures and caplog.text.count("have changed") == 1
