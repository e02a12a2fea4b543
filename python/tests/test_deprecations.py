"""What TensorRT's module warns of as deprecated, ours warns of too, and of nothing else that the same program does."""
import json
import pathlib
import warnings

import numpy as np
import pytest
import tensorrt as trt

MANIFEST = pathlib.Path(__file__).resolve().parents[1] / "api" / "tensorrt-10.16.json"
# Not `__del__`: what calls it may be the collector of garbage, which a program cannot help.
ENTRIES = [(kind, entry) for kind, entries in json.loads(MANIFEST.read_text())["warns"].items() for entry in entries
           if entry != "__del__"]


class Allocator(trt.IGpuAllocator):
    def __init__(self):
        trt.IGpuAllocator.__init__(self)


class AsyncAllocator(trt.IGpuAsyncAllocator):
    def __init__(self):
        trt.IGpuAsyncAllocator.__init__(self)


def calibrator(base):
    class Calibrator(base):
        def __init__(self):
            base.__init__(self)

    return Calibrator()


class Objects:
    """An object of each class that has something deprecated, made where it is asked for."""

    def __init__(self):
        self.logger = trt.Logger(trt.Logger.ERROR)
        self.builder = trt.Builder(self.logger)
        self.network = self.builder.create_network(0)
        self.config = self.builder.create_builder_config()
        self.tensor = self.network.add_input("x", trt.float32, (2, 3))
        self.layer = self.network.add_constant((2, 3), np.ones((2, 3), np.float32))
        total = self.network.add_elementwise(self.tensor, self.layer.get_output(0), trt.ElementWiseOperation.SUM)
        self.network.mark_output(total.get_output(0))

    def plan(self):
        return self.builder.build_serialized_network(self.network, self.config)

    def runtime(self):
        return trt.Runtime(self.logger)

    def engine(self):
        return self.runtime().deserialize_cuda_engine(self.plan())

    def refitter(self):
        self.config.set_flag(trt.BuilderFlag.REFIT)
        plan = self.plan()
        if plan is None:
            pytest.skip("engines cannot be refitted yet")
        return trt.Refitter(self.runtime().deserialize_cuda_engine(plan), self.logger)

    def make(self, kind):
        made = {
            "Builder": lambda: self.builder,
            "IBuilderConfig": lambda: self.config,
            "ICudaEngine": self.engine,
            "IExecutionContext": lambda: self.engine().create_execution_context(),
            "IGpuAllocator": Allocator,
            "IGpuAsyncAllocator": AsyncAllocator,
            "IHostMemory": self.plan,
            "ILayer": lambda: self.layer,
            "INetworkDefinition": lambda: self.network,
            "ITensor": lambda: self.tensor,
            "OnnxParser": lambda: trt.OnnxParser(self.network, self.logger),
            "Refitter": self.refitter,
            "Runtime": self.runtime,
        }
        return made[kind]() if kind in made else calibrator(getattr(trt, kind))

    def arguments(self, kind, method):
        if method == "set_dynamic_range":
            return (-1.0, 1.0) if kind == "ITensor" else ("x", -1.0, 1.0)
        return {
            "allocate": (16, 16, 0),
            "deallocate": (0,),
            "get_device_memory_size_for_profile": (0,),
            "get_dynamic_range": ("x",),
            "output_type_is_set": (0,),
            "reset_output_type": (0,),
            "set_calibration_profile": (self.builder.create_optimization_profile(),),
            "set_output_type": (0, trt.float32),
        }.get(method, ())


VALUES = {"algorithm_selector": None, "broadcast_across_batch": False, "dtype": trt.float32, "dynamic_range": (-1.0, 1.0),
          "int8_calibrator": None, "precision": trt.float32, "weight_streaming_budget": 0}


def actions(objects, kind, entry):
    """What a program would do: functions without arguments."""
    name, _, access = entry.partition(" ")
    target = objects.make(kind)
    if isinstance(getattr(type(target), name, None), property) or access:
        access = access or "(get)"
        if "get" in access:
            yield lambda: getattr(target, name)
        if "set" in access:
            yield lambda: setattr(target, name, VALUES[name])
        return
    yield lambda: getattr(target, name)(*objects.arguments(kind, name))


@pytest.mark.parametrize("kind, entry", ENTRIES, ids=[f"{kind}.{entry}".replace(" ", "") for kind, entry in ENTRIES])
def test_what_is_deprecated_warns(kind, entry):
    objects = Objects()
    for action in actions(objects, kind, entry):
        with pytest.warns(DeprecationWarning):
            try:
                action()
            except RuntimeError:
                pass  # what Kiln has not yet fails behind the warning


def test_an_ordinary_program_is_not_warned():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        objects = Objects()
        context = objects.engine().create_execution_context()
        del context, objects
