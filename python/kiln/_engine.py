"""Engines: what a model was compiled to, as a function of arrays."""

from __future__ import annotations

import ctypes
import functools
import json
import math
import numbers
import os
import pathlib
import sys
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import HOST, View, family_of, numpy_dtype, where_is
from ._bindings import bindings
from ._context import Slot
from ._device import choose_device, current_device, engines_on
from ._errors import Error, Messages, ShapeError, counted, make_logger, make_recorder
from ._files import as_path, replace_file
from ._profile import Profile, make_profiler, mean_times
from ._shapes import Range, Shape
from ._show import Page, make_page, name_word
from ._tensors import Layer, Layers, Outputs, Tensor, dtype_name, is_aligned

_MOST_KNOWN_SHAPES = 1024


class _ThreadSlots:
    """The contexts of one thread. When the thread ends, they go to whoever needs one next."""

    def __init__(self, pool: list[Slot]):
        self._pool = pool
        self.by_profile: dict[int, Slot] = {}

    def __del__(self) -> None:
        self._pool.extend(self.by_profile.values())


class _ThreadState(threading.local):
    """What an engine keeps for each thread that calls it."""

    slots: _ThreadSlots | None = None
    latest: Slot | None = None
    """The context of the call before, where that has a short way for calls like it."""


_is_dynamo_told = False


def keep_dynamo_out() -> None:
    """Has `torch.compile` not look into this package, once it has been imported: an engine's call is outside of graphs."""
    global _is_dynamo_told
    rules = sys.modules.get("torch._dynamo.trace_rules")
    if rules is not None and not _is_dynamo_told:
        rules.add(__package__)
        _is_dynamo_told = True


# What PyTorch's compiler asks functions for: a graph ends before the call, and goes on behind it.
keep_dynamo_out._torchdynamo_disable = True  # type: ignore[attr-defined]
keep_dynamo_out._torchdynamo_disable_msg = "an engine's call is outside of graphs"  # type: ignore[attr-defined]


def load_plugins(registry: Any, plugins: Sequence[str | os.PathLike], name: str, messages: Messages) -> None:
    """Loads libraries of plugins for the engine called `name`; raises `Error` for one that cannot be loaded."""
    if isinstance(plugins, (str, bytes, os.PathLike)) or not isinstance(plugins, Iterable):
        raise TypeError(f"plugins is {plugins!r}; a list of paths is needed")
    for library in [str(as_path(library, "an item of plugins")) for library in plugins]:
        if registry.load_library(library) is None:
            raise Error(f"{name}: plugins={library!r} cannot be loaded", messages.take())


class Engine:
    """A compiled model. Calling it with arrays runs it; `kiln.compile` and `kiln.load` make engines.

    Inputs come by position, by name, or as one dict. Results are what the first array was: numpy arrays of numpy's,
    torch tensors of torch's. One output is returned as itself, several as `Outputs`, a tuple that also knows names.

    An engine may be called from several threads at once; each thread gets an execution context of its own. It belongs to
    its process: it is not pickled or copied, and after a fork it does not run in the child.
    """

    def __init__(self, plan: Any, *, device: str | None = None, name: str = "engine", plugins: Sequence[str | os.PathLike] = ()):
        trt = bindings()
        kind, self._ordinal = choose_device(device)
        self.name = name
        self._on_gpu = kind == "cuda"
        self._messages = Messages()
        self._logger = make_logger(self._messages)
        recorder = make_recorder(self._messages)
        with engines_on(self._ordinal):
            self._runtime = trt.Runtime(self._logger)
            self._runtime.error_recorder = recorder
            load_plugins(self._runtime.get_plugin_registry(), plugins, name, self._messages)
            if isinstance(plan, pathlib.Path):
                self._engine = trt.tensorrt._kiln_load_mapped(self._runtime, os.fsencode(plan))
            else:
                self._engine = self._runtime.deserialize_cuda_engine(plan)
        if self._engine is None:
            raise Error(f"{name} cannot be loaded", self._messages.take())
        self._process = os.getpid()
        self._read_tensors()
        self._pool: list[Slot] = []
        self._local = _ThreadState()
        self._known: dict[tuple, int] = {}
        self._all_slots: weakref.WeakSet[Slot] = weakref.WeakSet()

    def _read_tensors(self) -> None:
        trt, engine = bindings(), self._engine
        self.num_profiles: int = engine.num_optimization_profiles
        inputs: list[Tensor] = []
        outputs: list[Tensor] = []
        for i in range(engine.num_io_tensors):
            name = engine.get_tensor_name(i)
            is_input = engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT
            (inputs if is_input else outputs).append(self._read_tensor(name, is_input))
        self.inputs: tuple[Tensor, ...] = tuple(inputs)
        self.outputs: tuple[Tensor, ...] = tuple(outputs)
        self._input_names = tuple(t.name for t in inputs)
        self._output_names = tuple(t.name for t in outputs)
        self._has_shape_inputs = any(t.on_host for t in inputs)

    def _read_tensor(self, name: str, is_input: bool) -> Tensor:
        trt, engine = bindings(), self._engine
        ranges: list[Range] = []
        values: list[Range | None] = []
        on_host = engine.get_tensor_location(name) == trt.TensorLocation.HOST
        for profile in range(self.num_profiles if is_input else 0):
            ranges.append(Range(*(tuple(shape) for shape in engine.get_tensor_profile_shape(name, profile))))
            limits = engine.get_tensor_profile_values(profile, name) if on_host else None
            values.append(Range(*(tuple(part) for part in limits)) if limits else None)
        dtype = dtype_name(engine.get_tensor_dtype(name))
        shape = tuple(engine.get_tensor_shape(name))
        return Tensor(name, dtype, shape, tuple(ranges), tuple(values), on_host)

    # What the engine is.

    @property
    def device(self) -> str:
        """'cpu', or 'cuda:N'."""
        return f"cuda:{self._ordinal}" if self._on_gpu else "cpu"

    @functools.cached_property
    def layers(self) -> Layers:
        """The layers that the model became, in the order in which they run."""
        trt = bindings()
        inspector = self._need_engine().create_engine_inspector()
        text = inspector.get_engine_information(trt.LayerInformationFormat.JSON)
        if not text:
            raise Error(f"{self.name}: its layers cannot be told", self._messages.take())
        found = json.loads(text).get("Layers", [])
        return Layers(Layer(f, {}) if isinstance(f, str) else Layer(f.get("Name", ""), f) for f in found)

    def __bytes__(self) -> bytes:
        """The plan: what `save` writes."""
        plan = self._need_engine().serialize()
        if plan is None:
            raise Error(f"{self.name} cannot be serialized", self._messages.take())
        return bytes(plan)

    def save(self, path: str | os.PathLike) -> pathlib.Path:
        """Writes the plan to a file, which `kiln.load` and trtexec read. The file is there as a whole or not at all.

        A file that is there is replaced and keeps its mode, unless it is write-protected; of a symbolic link the file that
        it names.
        """
        path = as_path(path, "path")
        replace_file(path, bytes(self), "path")
        return path

    def close(self) -> None:
        """Frees contexts and weights. Calls raise from now on. Without it they go with the last reference."""
        for slot in list(self._all_slots):
            slot.close()
        self._pool.clear()
        self._local = _ThreadState()
        self._engine = None
        self._runtime = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        takes, gives = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<kiln.Engine {self.name!r} on {self.device}: ({takes}) -> ({gives})>"

    def _need_engine(self) -> Any:
        if self._engine is None:
            raise Error(f"{self.name} was closed")
        if self._process != os.getpid():  # the threads and the GPU's context of a process are not in its children
            raise Error(
                f"{self.name} belongs to process {self._process}, which this one was forked from: load the plan here, in "
                'a process that was started anew (multiprocessing.set_start_method("spawn"))'
            )
        return self._engine

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"{self.name}: an engine cannot be pickled or copied, for it belongs to its process: save() the plan, and "
            "kiln.load() it where it is needed"
        )

    # Calls.

    def __call__(self, *arrays: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        """Runs the model.

        With CUDA tensors the call returns when the run is queued on `stream`: PyTorch's current stream, if it is not
        given (an int, or a stream of PyTorch or CuPy). Otherwise it returns when the results are there; on the CPU
        `stream` has no effect.
        `out` takes the results: an array, or arrays in the order of the outputs, or a dict of names to arrays.
        """
        if not _is_dynamo_told:
            keep_dynamo_out()  # before anything that it would follow
        slot = self._local.latest
        if slot is not None and stream is None:
            results = self._run_shortly(slot, arrays, named, out)
            if results is not None:
                return results[0] if len(results) == 1 else Outputs(results, self._output_names)
        return self._run(self._arguments(arrays, named), None, out, stream)

    def _run(self, given: list[Any], like: Any, out: Any = None, stream: Any = None) -> Any:
        """Runs the model with arrays in the order of the inputs. Results are what `like` is, or the first array."""
        self._need_engine()
        views, lead = self._view_inputs(given)
        lead = lead if like is None else like
        shapes = tuple([view.shape for view in views])
        profile = self._known.get(shapes)
        if profile is None:
            profile = self._choose_profile(shapes, views)
        slot = self._slot(profile)
        self._local.latest = None
        # The lead is the array whose library makes the results.
        results = slot.run(views, shapes, family_of(lead), lead, self._outputs_given(out), stream)
        if slot.numpy_call is not None:
            self._local.latest = slot
        return results[0] if len(results) == 1 else Outputs(results, self._output_names)

    @staticmethod
    def _run_shortly(slot: Slot, arrays: tuple, named: dict[str, Any], out: Any) -> list[Any] | None:
        """The results of a call whose arrays are like those of the call before; None for a call that has to be looked at."""
        call = slot.numpy_call
        results = None if call is None else call.run(arrays, named, out)
        if results is False:
            slot.raise_run_failure()
        return results

    def _arguments(self, arrays: tuple, named: Mapping[str, Any]) -> list[Any]:
        """The arrays in the order of the inputs."""
        names = self._input_names
        if not named and len(arrays) == len(names) and not (arrays and isinstance(arrays[0], Mapping)):
            return list(arrays)
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            if named:
                raise TypeError(f"{self.name}: inputs come as one dict or by keywords, not as both")
            named, arrays = arrays[0], ()
        if len(arrays) > len(names):
            raise TypeError(f"{self.name} takes {counted(len(names), 'input')}, {list(names)}; {len(arrays)} were given")
        found = dict(zip(names, arrays))
        for name, array in named.items():
            if name not in names:
                raise TypeError(f"{self.name} has no input {name!r}; its inputs are {list(names)}")
            if name in found:
                raise TypeError(f"{self.name}: input {name!r} was given by position and by name")
            found[name] = array
        missing = [name for name in names if name not in found]
        if missing:
            raise TypeError(f"{self.name}: missing {'inputs' if len(missing) > 1 else 'input'} "
                            + ", ".join(repr(name) for name in missing))  # fmt: skip
        return [found[name] for name in names]

    def _view_inputs(self, given: list[Any]) -> tuple[list[View], Any]:
        """The arrays' memory, and the array that says what results are: the first that is not of a shape input."""
        views: list[View] = []
        lead: Any = None
        for tensor, array in zip(self.inputs, given):
            if tensor.on_host and isinstance(array, (int, list, tuple)):
                array = np.asarray(array, numpy_dtype(tensor.dtype))
            elif lead is None and not (tensor.on_host and len(self.inputs) > 1):
                lead = array
            try:
                view = family_of(array).view(array)
                self._check_input(tensor, view)
            except (TypeError, ValueError, BufferError) as failure:
                raise type(failure)(f"{self.name}: input {tensor.name!r} {failure}") from None
            views.append(view)
        if lead is None:
            lead = given[0] if given and not isinstance(given[0], (int, list, tuple)) else np.empty(0)
        return views, lead

    def _check_input(self, tensor: Tensor, view: View) -> None:
        if view.dtype != tensor.dtype:
            raise TypeError(f"is of {view.dtype}; {tensor.dtype} is needed")
        if not view.contiguous:
            raise ValueError(
                f"of shape {view.shape} is not contiguous in memory (strides {view.strides}): "
                "use numpy.ascontiguousarray(x) or x.contiguous()"
            )
        if not is_aligned(view.pointer, view.shape, view.dtype):
            raise ValueError(f"is not aligned in memory: its elements are of {view.dtype}, and begin at {view.pointer:#x}")
        if view.device != HOST:
            if not self._on_gpu:
                raise ValueError(f"is on {where_is(view.device)}; this engine runs on the CPU")
            if tensor.on_host:
                raise ValueError(f"is on {where_is(view.device)}; its values decide shapes, so the host needs them")
            if view.device != self._ordinal:
                raise ValueError(f"is on {where_is(view.device)}; this engine runs on {self.device}")

    def _choose_profile(self, shapes: tuple[Shape, ...], views: list[View]) -> int:
        """The first profile that has the shapes. Remembers it, unless values of shape inputs matter."""
        for tensor, shape in zip(self.inputs, shapes):
            self._check_shape(tensor, shape)
        host_values = [self._values_of(view) if t.on_host else None for t, view in zip(self.inputs, views)]
        for profile in range(self.num_profiles):
            fits = True
            for tensor, shape, values in zip(self.inputs, shapes, host_values):
                limits = tensor.values[profile]
                fits = fits and tensor.ranges[profile].holds(shape)
                fits = fits and (limits is None or values is None or limits.holds(values))
            if fits:
                if not self._has_shape_inputs and len(self._known) < _MOST_KNOWN_SHAPES:
                    self._known[shapes] = profile
                return profile
        given = ", ".join(
            f"{t.name!r} {s}" + ("" if v is None else f" of values {v}")
            for t, s, v in zip(self.inputs, shapes, host_values)
        )
        there = "; ".join(
            f"profile {p}: " + ", ".join(self._limits(t, p) for t in self.inputs) for p in range(self.num_profiles)
        )
        raise ShapeError(f"{self.name}: no profile has the shapes {given} together; there are {there}")

    @staticmethod
    def _limits(tensor: Tensor, profile: int) -> str:
        """What a profile allows for an input."""
        values = tensor.values[profile]
        return f"{tensor.name!r} {tensor.ranges[profile]}" + ("" if values is None else f" of values {values}")

    def _check_shape(self, tensor: Tensor, shape: Shape) -> None:
        if len(shape) != len(tensor.shape):
            raise ShapeError(
                f"{self.name}: input {tensor.name!r} has shape {shape}; {len(tensor.shape)} axes are needed, "
                f"{tensor.shape}"
            )
        if not any(limits.holds(shape) for limits in tensor.ranges):
            raise ShapeError(
                f"{self.name}: input {tensor.name!r} has shape {shape}; the engine was built for "
                + " or ".join(str(limits) for limits in tensor.ranges)
            )

    @staticmethod
    def _values_of(view: View) -> Shape | None:
        kind = np.dtype(view.dtype)  # of a shape input: whole numbers, or a truth value
        count = math.prod(view.shape)
        if kind.kind not in "iu" or not count:
            return () if kind.kind in "iu" else None
        memory = (ctypes.c_char * (count * kind.itemsize)).from_address(view.pointer)
        return tuple(int(value) for value in np.frombuffer(memory, kind))

    def _outputs_given(self, out: Any) -> list[Any] | None:
        if out is None:
            return None
        names = self._output_names
        if isinstance(out, Mapping):
            unknown = [name for name in out if name not in names]
            if unknown:
                raise TypeError(f"{self.name} has no output {unknown[0]!r}; its outputs are {list(names)}")
            return [out.get(name) for name in names]
        found = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(found) != len(names):
            raise TypeError(f"{self.name} has {counted(len(names), 'output')}, {list(names)}; out= has {len(found)}")
        return found

    # Contexts.

    def _slot(self, profile: int) -> Slot:
        """The calling thread's context of a profile."""
        local = self._local
        slots = local.slots
        if slots is None:
            slots = local.slots = _ThreadSlots(self._pool)
        slot = slots.by_profile.get(profile)
        if slot is None:
            slot = slots.by_profile[profile] = self._pooled(profile) or self._new_slot(profile)
        return slot

    def _pooled(self, profile: int) -> Slot | None:
        for _ in range(len(self._pool)):
            try:
                slot = self._pool.pop()
            except IndexError:
                return None
            if slot.profile == profile:
                return slot
            self._pool.insert(0, slot)
        return None

    def _new_slot(self, profile: int) -> Slot:
        with current_device(self._ordinal):
            slot = Slot(self, self._engine, profile)
        self._all_slots.add(slot)
        return slot

    # Times.

    def profile(self, *arrays: Any, runs: int = 10, warmup: int = 2, **named: Any) -> Profile:
        """Runs the model with each layer timed, and returns the layers' mean times. Without arrays it makes some.

        Timing layer by layer makes a run slower than a call is.
        """
        for argument, value in (("runs", runs), ("warmup", warmup)):
            if not isinstance(value, numbers.Integral):
                raise TypeError(f"{argument} is {value!r}; an int is needed")
        if runs < 1 or warmup < 0:
            raise ValueError(f"runs is {runs} and warmup {warmup}; at least 1 and 0 are needed")
        self._need_engine()
        given = self._arguments(arrays, named) if arrays or named else self.example_inputs()
        views, lead = self._view_inputs(given)
        shapes = tuple(view.shape for view in views)
        slot = self._new_slot(self._choose_profile(shapes, views))
        profiler = make_profiler()
        slot.set_profiler(profiler)
        times = []
        for run in range(warmup + runs):
            profiler.reports = []
            slot.run(views, shapes, family_of(lead), lead, None, None)
            if self._on_gpu and not profiler.reports:
                slot.synchronize()
            if run >= warmup:
                times.append(profiler.reports)
        slot.close()
        return mean_times(times)

    # Pages.

    def show(self, *arrays: Any, run: bool = True, runs: int = 10, **named: Any) -> Page:
        """A page of the engine: its graph, the layers' times, memory, and what else could have run each layer.

        The layers are timed in `runs` runs on the arrays given, or on some that are made, as `profile` does it. Without
        `run` the page has the times of the build; arrays then only say which shapes to show. Shapes that follow from values of
        shape inputs are those of the values that the profile is tuned for, and the page says so. `Page.save` writes it.
        """
        given = self._arguments(arrays, named) if arrays or named else self.example_inputs()
        plan = bytes(self)
        views, _ = self._view_inputs(given)
        profile = self._choose_profile(tuple(view.shape for view in views), views)
        flags = [f"--useProfile={profile}"]
        shapes = [
            name_word(tensor.name) + ":" + ("x".join(map(str, view.shape)) or "scalar")
            for tensor, view in zip(self.inputs, views)
            if not tensor.on_host
        ]
        if shapes:
            flags.append("--shapes=" + ",".join(shapes))
        return make_page(plan, self.name, self.profile(*given, runs=runs) if run else None, flags)

    def _repr_html_(self) -> str:
        """The page without a run, for notebooks."""
        return self._page._repr_html_()

    @functools.cached_property
    def _page(self) -> Page:
        return self.show(run=False)

    def example_inputs(self, profile: int = 0, seed: int = 0) -> list[np.ndarray]:
        """Numpy arrays of the shapes that a profile is tuned for: random floats from 0 to 1, integers of zero."""
        if not 0 <= profile < self.num_profiles:
            raise ValueError(f"{self.name}: profile is {profile}; the engine has {counted(self.num_profiles, 'profile')}, from 0 on")
        random = np.random.default_rng(seed)
        made = []
        for tensor in self.inputs:
            shape, dtype = tensor.ranges[profile].opt, numpy_dtype(tensor.dtype)
            limits = tensor.values[profile] if tensor.values else None
            if limits is not None:
                made.append(np.asarray(limits.opt, dtype).reshape(shape))
            elif tensor.dtype in ("bool", "int8", "uint8", "int32", "int64"):
                made.append(np.zeros(shape, dtype))
            else:
                made.append(random.random(shape).astype(dtype))
        return made
