"""Algorithm selectors: programs that record what a build chose, and have the next one choose the same."""
import json

import pytest
import tensorrt as trt
from running import Messages

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Selector(trt.IAlgorithmSelector):
    """Lets the build choose, and keeps what it is told."""

    def __init__(self):
        trt.IAlgorithmSelector.__init__(self)
        self.shown, self.recorded, self.reports = {}, {}, 0

    def select_algorithms(self, context, choices):
        self.shown[context.name] = [record(context, choice) for choice in choices]
        return self.choose(context.name, self.shown[context.name])

    def choose(self, name, shown):
        return []

    def report_algorithms(self, contexts, choices):
        self.reports += 1
        self.recorded = {context.name: record(context, choice) for context, choice in zip(contexts, choices, strict=True)}


class Replayer(Selector):
    """Chooses what another selector recorded, from the text of a file."""

    def __init__(self, text):
        super().__init__()
        self.wanted = json.loads(text)

    def choose(self, name, shown):
        return [shown.index(self.wanted[name])]


def record(context, choice):
    """What makes an algorithm, as programs write it to a file."""
    variant = choice.algorithm_variant
    tensors = [choice.get_algorithm_io_info(i) for i in range(context.num_inputs + context.num_outputs)]
    return [
        variant.implementation,
        variant.tactic,
        [[int(t.dtype), list(t.strides), t.vectorized_dim, t.components_per_element] for t in tensors],
    ]


def build(selector, logger, flags=()):
    """The layers of a plan with their tactics; None where the build fails."""
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (32, 32))
    product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, x, trt.MatrixOperation.NONE)
    product.name = "product"
    softmax = network.add_softmax(product.get_output(0))
    softmax.name = "softmax"
    network.mark_output(softmax.get_output(0))
    config = builder.create_builder_config()
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    config.algorithm_selector = selector
    for flag in flags:
        config.set_flag(flag)
    plan = builder.build_serialized_network(network, config)
    if plan is None:
        return None
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    layers = json.loads(engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON))
    return {layer["Name"]: layer["TacticName"] for layer in layers["Layers"]}


def test_a_choice_is_recorded_and_replayed():
    recorder = Selector()
    recorder.choose = lambda name, shown: [len(shown) - 1]
    layers = build(recorder, Messages())
    assert recorder.reports == 1 and set(recorder.recorded) == {"product", "softmax"} == set(layers)
    assert len(recorder.shown["product"]) > 1 and recorder.recorded["product"] == recorder.shown["product"][-1]
    own = Selector()
    assert build(own, Messages())["product"] != layers["product"]
    replayer = Replayer(json.dumps(recorder.recorded))
    assert build(replayer, Messages()) == layers and replayer.recorded == recorder.recorded


def test_shapes_and_times_are_shown():
    class Looking(Selector):
        def select_algorithms(self, context, choices):
            assert context.get_shape(0) == [(32, 32)] * 3 and context.get_shape(9) == []
            assert choices[0].get_algorithm_io_info(9) is None
            assert all(choice.timing_msec >= 0 and choice.workspace_size >= 0 for choice in choices)
            times.extend(choice.timing_msec for choice in choices)
            return super().select_algorithms(context, choices)

    times = []
    assert build(Looking(), Messages()) and max(times) > 0


def test_what_is_shown_ends_with_its_call():
    class Keeping(Selector):
        def select_algorithms(self, context, choices):
            kept[:] = [context, *choices, choices[0].algorithm_variant, choices[0].get_algorithm_io_info(0)]
            return super().select_algorithms(context, choices)

        def report_algorithms(self, contexts, choices):
            told.extend([*contexts, *choices])

    kept, told = [], []
    assert build(Keeping(), Messages())
    assert len(kept) > 3 and len(told) == 4
    calls = {
        trt.IAlgorithmContext: [lambda it: it.name, lambda it: it.num_inputs, lambda it: it.get_shape(0)],
        trt.IAlgorithm: [
            lambda it: it.timing_msec,
            lambda it: it.workspace_size,
            lambda it: it.algorithm_variant,
            lambda it: it.get_algorithm_io_info(0),
        ],
        trt.IAlgorithmVariant: [lambda it: it.tactic, lambda it: it.implementation],
        trt.IAlgorithmIOInfo: [lambda it: it.dtype, lambda it: it.strides],
    }
    for item in kept + told:
        for call in calls[type(item)]:
            with pytest.raises(RuntimeError, match="used after the call that it was given to"):
                call(item)


@pytest.mark.parametrize(
    "answer, text",
    [
        ([99], "chose algorithm 99, which is outside [0, "),
        ([-1], "chose algorithm -1, which is outside [0, "),
        ([0, 0], "chose algorithm 0 twice"),
        (list(range(99)), "IAlgorithmSelector.select_algorithms chose 99 of "),
        (None, "IAlgorithmSelector.select_algorithms"),
        (["fast"], "IAlgorithmSelector.select_algorithms"),
    ],
)
def test_a_wrong_answer_fails_the_build(answer, text):
    selector = Selector()
    selector.choose = lambda name, shown: answer
    logger = Messages()
    assert build(selector, logger) is None and any(text in error for error in logger.errors()), logger.errors()
    assert any("'product'" in error for error in logger.errors()) and selector.reports == 0


def test_no_answer_is_refused_where_the_flag_says_so():
    logger = Messages()
    assert build(Selector(), logger, [trt.BuilderFlag.REJECT_EMPTY_ALGORITHMS]) is None
    assert any("chose none of" in error for error in logger.errors())


@pytest.mark.parametrize("method, builds", [("select_algorithms", False), ("report_algorithms", True)])
def test_an_exception_is_told(method, builds):
    def raising(self, *_):
        raise ValueError("as the test wants it")

    logger = Messages()
    selector = type("Raising", (Selector,), {method: raising})()
    assert (build(selector, logger) is not None) == builds
    assert any(f"IAlgorithmSelector.{method}" in error and "as the test wants it" in error for error in logger.errors())
