"""Calls of a network that C++ does not have yet: they return False and say so. And: every call has a test."""

import pathlib
import re

import tensorrt as trt

from networks import Bench


def test_refitting():
    bench = Bench()
    assert bench.network.mark_weights_refittable("w") is False
    assert bench.network.unmark_weights_refittable("w") is False
    assert bench.network.are_weights_marked_refittable("w") is False
    assert bench.log.take_errors().count("not in Kiln yet") == 2


def text_of_tests():
    return "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("test_*.py"))


def test_every_call_has_a_test():
    """Plugins have tests of their own."""
    text = text_of_tests()
    calls = {name for name in dir(trt.INetworkDefinition) if name.startswith("add_")}
    called = set(re.findall(r"\badd_\w+(?=\()", text)) | {"add_plugin", "add_plugin_v2", "add_plugin_v3"}
    assert calls - called == set()
    assert len(calls) >= 50


# Layers that no network has yet, so that their properties cannot be tried.
NOT_MADE = "IPluginV2Layer IPluginV3Layer".split()


def test_every_property_has_a_test():
    text = text_of_tests()
    classes = [c for c in vars(trt).values() if isinstance(c, type) and issubclass(c, trt.ILayer)]
    assert len(classes) >= 58
    for c in classes:
        if c.__name__ in NOT_MADE:
            continue
        for name, member in vars(c).items():
            if type(member).__name__ == "property" or hasattr(member, "fset"):
                assert f'"{name}":' in text or f".{name}" in text, f"{c.__name__}.{name}"
