"""The module has what TensorRT's has, and the check that says so would notice what is not."""
import copy
import json
import pathlib
import sys

import pytest

API = pathlib.Path(__file__).resolve().parents[1] / "api"
sys.path.insert(0, str(API))
import check_api  # noqa: E402
import describe  # noqa: E402

MANIFEST = json.loads(check_api.MANIFEST.read_text())
INTENDED = json.loads(check_api.INTENDED.read_text())


def test_the_module_is_tensorrts():
    found = check_api.found_modules(MANIFEST["modules"])
    comparison, left, unused = check_api.check(MANIFEST, found, INTENDED)
    assert comparison.counts["methods"] > 500, "the manifest is not complete"
    assert [f"{difference.where}: {difference.what}" for difference in left] == []
    assert unused == [], "these intended differences are no longer there"


def as_found():
    """The manifest as if it were what a module under test has: each class with its ancestors and what it inherits."""
    modules = copy.deepcopy(MANIFEST["modules"])
    for module in modules.values():
        classes = module.get("classes", {})
        for name, facts in classes.items():
            facts["mro"] = [name, *ancestors(classes, facts)]
    return modules


def ancestors(classes, facts):
    found = []
    for base in facts["bases"]:
        found += [base, *ancestors(classes, classes.get(base, {"bases": []}))]
    return found


def problems(found):
    comparison = check_api.Comparison(MANIFEST["modules"], found).run()
    return [f"{difference.where.split('.', 1)[1]}: {difference.what}" for difference in comparison.differences]


def test_what_the_manifest_says_has_no_difference():
    assert problems(as_found()) == []


def change(path, value):
    """What is told where the fact at `path` of the module `tensorrt` is `value` (None: is not there)."""
    found = as_found()
    place = found["tensorrt"]
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        assert place.get(path[-1]) != value
        place[path[-1]] = value
    return problems(found)


@pytest.mark.parametrize("path, value, told", [
    (["classes", "Builder"], None, "Builder: is missing"),
    (["classes", "IConvolutionLayer", "mro"], [], "IConvolutionLayer: is not derived from ILayer"),
    (["classes", "Builder", "methods", "create_network"], None, "Builder.create_network: is missing"),
    (["classes", "Builder", "methods", "create_network"], ["(self) -> INetworkDefinition"],
     "Builder.create_network: lacks the argument flags"),
    (["classes", "Builder", "methods", "create_network"], ["(self, flag: int = 0) -> INetworkDefinition"],
     "Builder.create_network: takes flags as flag"),
    (["classes", "Builder", "methods", "create_network"], ["(self, flags: int = 0, /) -> INetworkDefinition"],
     "Builder.create_network: takes flags by position only"),
    (["classes", "Builder", "methods", "create_network"], ["(self, flags: int = 1) -> INetworkDefinition"],
     "Builder.create_network: flags: the default is 1, in TensorRT 0"),
    (["classes", "Builder", "methods", "create_network"], ["(self, flags: int = 0, *, more: int) -> INetworkDefinition"],
     "Builder.create_network: has one argument more: more"),
    (["classes", "Builder", "methods", "create_network"], ["(self, flags: int = 0) -> ICudaEngine"],
     "Builder.create_network: returns: ICudaEngine does not say INetworkDefinition, in TensorRT INetworkDefinition"),
    (["enums", "DataType", "members", "HALF"], 7, "DataType.HALF: is 7, in TensorRT 1"),
    (["enums", "DataType", "members", "HALF"], None, "DataType.HALF: is missing"),
    (["enums", "DataType", "members", "DOUBLE"], 99, "DataType.DOUBLE: is not TensorRT's (member)"),
    (["values", "float32"], "DataType.HALF", "float32: is DataType.HALF, in TensorRT DataType.FLOAT"),
    (["functions", "volume"], None, "volume: is missing"),
    (["functions", "surface"], ["()"], "surface: is not TensorRT's (functions)"),
])
def test_a_difference_is_told(path, value, told):
    assert change(path, value) == [told]


def test_a_property_that_cannot_be_set_is_told():
    found = as_found()
    facts = found["tensorrt"]["classes"]["ILayer"]
    facts["readonly"]["name"] = facts["writable"].pop("name")
    assert problems(found) == ["ILayer.name: cannot be set"]
    facts["writable"]["type"] = facts["readonly"].pop("type")
    assert problems(found) == ["ILayer.name: cannot be set", "ILayer.type: can be set, in TensorRT it cannot"]


def test_an_intended_difference_that_is_gone_is_told():
    found = as_found()
    del found["tensorrt"]["functions"]["volume"]
    intended = {"tensorrt.volume: is missing": "a reason", "tensorrt.Builder: *": "a reason"}
    assert check_api.check(MANIFEST, found, intended)[1:] == ([], ["tensorrt.Builder: *"])


class Sample:
    """What describe.py reads of a class of plain Python."""

    LIMIT = 3
    weight: float

    def __init__(self, name, count: int = 2):
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, value):
        self._name = value

    @property
    def size(self) -> int:
        return 0

    @staticmethod
    def make(*names, deep=False) -> "Sample":
        return Sample(names)

    def _hidden(self):
        return None


def test_a_class_is_described():
    assert describe.describe_class(Sample, __name__) == {
        "bases": [],
        "constants": {"LIMIT": "3"},
        "methods": {"__init__": ["(self, name, count: int = 2)"]},
        "static": {"make": ["(*names, deep=False) -> 'Sample'"]},
        "readonly": {"size": "int"},
        "writable": {"name": "str"},
        "annotated": {"weight": "float"},
    }


def test_a_signature_is_parsed():
    assert describe.parameters("(self, a: int, /, b: str = 'x', *c, d: bool = True, **e) -> float") == (
        [("self", "positional", None, None), ("a", "positional", None, "int"), ("b", "any", "'x'", "str"),
         ("c", "star", None, None), ("d", "named", "True", "bool"), ("e", "stars", None, None)], "float")
    assert describe.parameters("(self, size: tuple[int, int] = (1, 2), mode: str = 'a,b', last: int)")[0][1:] == [
        ("size", "any", "(1, 2)", "tuple[int, int]"), ("mode", "any", "'a,b'", "str"), ("last", "any", None, "int")]
    assert describe.parameters("(...)") is None
