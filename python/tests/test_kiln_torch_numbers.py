"""Numbers that calls decide: ints among the arguments, extents and what is computed from them, sizes that data decides."""

import warnings

import pytest

torch = pytest.importorskip("torch")

from torch_devices import device  # noqa: F401  (a fixture of each test)

import kiln.torch

QUICK = {"optimization_level": 0, "tf32": False, "min_block_size": 1}


def check(function, calls, **settings):
    """Compiles a function, and compares what calls give with PyTorch's. Returns the engines' parts."""
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="kiln", options={**QUICK, **settings}, dynamic=True)
    with torch.no_grad():
        for args in calls:
            torch.testing.assert_close(compiled(*args), function(*args), rtol=1e-4, atol=1e-4)
    parts = [part for report in kiln.torch.last_reports() for part in report.engines]
    assert parts, "no engine was tried"
    return parts


def test_ints_that_decide_no_shape():
    """An int is an input of an engine, whatever its range: a position, a step, a scale."""

    def function(x, k):
        return (x * 2 + k).relu().sum(-1) * k

    check(function, [(torch.rand(3, 4), k) for k in (3, 4, 100, 0, 1, -7)])
    check(function, [(torch.rand(3, 4), k) for k in (-3, 5)])


def test_ints_that_decide_shapes():
    def function(x, k):
        return (x[:k] * 2).relu() + k, x.new_ones(k, 2) * 3

    check(function, [(torch.rand(30, 4), k) for k in (3, 4, 29, 2)])


def test_quotients_round_as_in_python():
    """ONNX's Div rounds towards zero."""

    def ceiling(x):
        count = -(-x.shape[0] // 2)
        return (x * count).relu() + 1, x[:count] * 2, x.new_zeros(count) + 1

    check(ceiling, [(torch.rand(n, 4),) for n in (4, 5, 7, 8, 3)])

    def function(x, k):
        return (x * (k // 2)).relu() + k % 3, x + k // -2, x + k % -3

    check(function, [(torch.rand(3, 4), k) for k in (4, -5, 7, -8, 3)])


@pytest.mark.parametrize(
    "extent, sizes",
    [
        (lambda n, k: n - k, [(10, 3), (12, 2), (40, 30), (40, 2), (100, 1), (200, 190)]),
        (lambda n, k: n % 4 + k * 0, [(10, 1), (11, 1), (14, 1), (15, 1), (1023, 1)]),
    ],
    ids=["difference", "remainder"],
)
def test_extents_that_do_not_rise_with_their_symbols(extent, sizes):
    """An engine gets an input whose extent leaves what it is for the least and the largest symbols."""

    def function(x, k):
        part = torch.special.i0(x[: extent(x.shape[0], k)])  # which engines lack
        return torch.relu(part + 1) * 2

    check(function, [(torch.rand(n, 4), k) for n, k in sizes])


def test_sizes_that_data_decides():
    def function(x):
        found = torch.nonzero(x > 0)
        return (found * 2 + 1).sum(0), found.float().relu() + 1

    x = torch.rand(6, 4)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True), warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*var_to_val.*")
        check(function, [(x - 0.5,), (x + 1,), (x - 2,)])


def test_conditions_and_fractions_stay_what_they_are():
    """Numbers that are no ints leave a part as what they are: here a condition that is asserted, and a quotient."""

    def function(x):
        return (x * 2).relu().sum(0), torch.special.i0(x) * (x.shape[0] / 4)

    check(function, [(torch.rand(n, 4),) for n in (5, 6, 7)])

    x = torch.rand(5, 4)
    torch._dynamo.decorators.mark_unbacked(x, 0)
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: ((x * 2).relu().sum(0), x.t() + 1), backend="kiln", options=QUICK)
    with torch.no_grad():
        for n in (5, 1, 0, 33):
            given = x if n == 5 else torch.rand(n, 4)
            torch._dynamo.decorators.mark_unbacked(given, 0)
            torch.testing.assert_close(compiled(given), ((given * 2).relu().sum(0), given.t() + 1))
