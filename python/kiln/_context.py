"""Runs of an engine: an execution context with what Python keeps for it."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ._arrays import HOST, NumpyFamily, View, family_of, numpy_dtype, where_is
from ._bindings import bindings
from ._device import current_device, driver
from ._errors import Error, Messages, ShapeError, make_recorder
from ._tensors import Tensor, is_aligned, num_bytes

if TYPE_CHECKING:
    from ._engine import Engine

_NOTHING = np.zeros(256, np.uint8)  # memory for arrays without elements, which have no address of their own
_NO_ADDRESS = _NOTHING.__array_interface__["data"][0]


def _on(ordinal: int, function: Any, handle: int) -> None:
    with current_device(ordinal):
        function(handle)


class DeviceMemory:
    """Memory of a GPU, the current one, freed with the object."""

    def __init__(self, size: int, ordinal: int):
        self.size = max(size, 1)
        self.pointer = driver().allocate(self.size)
        self._free = weakref.finalize(self, _on, ordinal, driver().release, self.pointer)

    def free(self) -> None:
        self._free()


@functools.cache
def _allocator_class() -> type:
    trt: Any = bindings()

    class Allocator(trt.IOutputAllocator):
        """Gives an output whose size data decides memory of the results' library."""

        def __init__(self) -> None:
            trt.IOutputAllocator.__init__(self)
            self.family: Any = None
            self.device = HOST
            self.reset(None, HOST)

        def reset(self, family: Any, device: int) -> None:
            """Starts a run. Memory of the last one belongs to its results. Without a family memory is the device's."""
            self.family, self.device = family, device
            self.memory: Any = None
            self.offset = 0
            self.shape: tuple | None = None
            self.failure: BaseException | None = None

        def reallocate_output(self, tensor_name: str, memory: int, size: int, alignment: int) -> int:
            try:
                alignment = max(alignment, 1)
                if self.family is None:
                    self.memory = DeviceMemory(size, self.device)
                    return self.memory.pointer
                self.memory = self.family.empty_bytes(size + alignment, self.device)
                start = self.family.pointer(self.memory)
                self.offset = -start % alignment
                return start + self.offset
            except BaseException as failure:  # no memory: told by the run, which fails
                self.failure = failure
                return 0

        def reallocate_output_async(
            self, tensor_name: str, memory: int, size: int, alignment: int, stream: int
        ) -> int:
            return self.reallocate_output(tensor_name, memory, size, alignment)

        def notify_shape(self, tensor_name: str, shape: Any) -> None:
            self.shape = tuple(shape)

        def result(self, tensor: Tensor) -> Any:
            assert self.shape is not None  # the run has told it
            size = num_bytes(self.shape, tensor.dtype)
            return self.family.from_bytes(self.memory[self.offset :], size, self.shape, tensor.dtype)

    return Allocator


class Slot:
    """An execution context of one profile. One thread uses it at a time."""

    def __init__(self, engine: Engine, loaded: Any, profile: int):
        self.profile = profile
        self._name = engine.name
        self._inputs, self._outputs = engine.inputs, engine.outputs
        self._on_gpu = engine._on_gpu
        self._ordinal: int = HOST if engine._ordinal is None else engine._ordinal
        self._has_shape_inputs = engine._has_shape_inputs
        self._messages = Messages()
        self._recorder = make_recorder(self._messages)
        self._context = loaded.create_execution_context()
        if self._context is None:
            raise Error(f"{self._name}: there is no execution context", engine._messages.take())
        self._context.error_recorder = self._recorder
        self._stream = 0
        self._staged: dict[str, DeviceMemory] = {}
        self._shapes: tuple | None = None
        self._output_shapes: list[tuple] = []
        self._addresses: dict[str, int] = {}
        self._allocators: dict[int, Any] = {}
        self.numpy_call: Any = None
        """Runs with numpy's arrays of the shapes that are bound, without asking again what these shapes decide; None
        where there is no such short way. Binding other shapes ends it."""
        if profile and not self._context.set_optimization_profile_async(profile, 0):
            raise self._failure(f"profile {profile} cannot be used")
        if self._on_gpu:
            self._stream = driver().create_stream()
            self._end_stream = weakref.finalize(self, _on, self._ordinal, driver().destroy_stream, self._stream)
            driver().synchronize(0)

    def close(self) -> None:
        """Frees the context."""
        self._context = None  # first: a call that makes the short way meanwhile sees it
        self._forget_shapes()
        for memory in self._staged.values():
            memory.free()
        self._staged.clear()

    def set_profiler(self, profiler: Any) -> None:
        self._context.profiler = profiler

    def synchronize(self) -> None:
        """Waits for what runs on the slot's own stream."""
        if self._on_gpu:
            _on(self._ordinal, driver().synchronize, self._stream)

    def _forget_shapes(self) -> None:
        self._shapes = None
        if self.numpy_call is not None:
            self.numpy_call.end()
            self.numpy_call = None

    def _failure(self, what: str) -> Error:
        self._forget_shapes()
        return Error(f"{self._name}: {what}", self._messages.take())

    def _misfit(self, what: str) -> Exception:
        """The failure of telling shapes: a ShapeError where the inputs contradict the model, as two extents of one name."""
        self._forget_shapes()
        messages = self._messages.take()
        reasons = [message.text for message in messages if message.code == "INVALID_ARGUMENT"]
        if reasons:
            return ShapeError("\n  ".join([f"{self._name}: {what}:", *reasons]))
        return Error(f"{self._name}: {what}", messages)

    def run(
        self, views: list[View], shapes: tuple, family: Any, lead: Any, given: list[Any] | None, stream: Any
    ) -> list[Any]:
        """Runs the model and returns the outputs: arrays of the family, of the library of `lead`, or those given."""
        if self._context is None:
            raise Error(f"{self._name} was closed")
        if self._shapes != shapes or self._has_shape_inputs:
            self._bind(views, shapes)
        elif self.numpy_call is None:  # in the second run of these shapes: others may change them in each run
            self._shorten(family)
        if not self._on_gpu:
            _stream_handle(stream, None, HOST)  # raises for what is no stream, as on a GPU
            return self._run_on_host(views, family, lead, given)
        if any(view.device != HOST for view in views):
            return self._run_on_gpu(views, family, lead, given, stream)
        with current_device(self._ordinal):
            return self._run_staged(views, family, lead, given, stream)

    def _bind(self, views: list[View], shapes: tuple) -> None:
        """Tells the context the inputs' shapes, and asks for the outputs'."""
        context = self._context
        self._forget_shapes()
        for tensor, view, shape in zip(self._inputs, views, shapes):
            if tensor.is_dynamic and not context.set_input_shape(tensor.name, shape):
                raise self._misfit(f"input {tensor.name!r} cannot have shape {shape}")
            if tensor.on_host:
                self._set_address(tensor.name, view.pointer or _NO_ADDRESS)
        self._output_shapes = []
        for tensor in self._outputs:
            shape = tensor.shape
            if tensor.is_dynamic:
                try:
                    shape = tuple(context.get_tensor_shape(tensor.name))
                except ValueError:  # the shape of a call that failed; the recorder has the reason
                    raise self._misfit(f"the shape of output {tensor.name!r} cannot be told") from None
            self._output_shapes.append(shape)
        self._shapes = shapes

    def _shorten(self, family: Any) -> None:
        """Makes the short way for the shapes that are bound."""
        if self._on_gpu or not isinstance(family, NumpyFamily) or any(-1 in shape for shape in self._output_shapes):
            return
        assert self._shapes is not None
        try:
            inputs = [(numpy_dtype(tensor.dtype), shape) for tensor, shape in zip(self._inputs, self._shapes)]
            outputs = [(numpy_dtype(tensor.dtype), shape) for tensor, shape in zip(self._outputs, self._output_shapes)]
        except TypeError:  # numpy lacks a type: the arrays are of another library
            return
        names = tuple(tensor.name for tensor in self._inputs)
        context = self._context
        if context is None:  # closed meanwhile
            return
        self.numpy_call = bindings().tensorrt._KilnNumpyCall(context, names, inputs, outputs)
        if self._context is None:
            self._forget_shapes()

    def raise_run_failure(self) -> NoReturn:
        """Raises what made a run of the short way fail."""
        raise self._failure("the run failed")

    def _set_address(self, name: str, pointer: int) -> None:
        if self._addresses.get(name) != pointer:
            if not self._context.set_tensor_address(name, pointer):
                raise self._failure(f"tensor {name!r} cannot be at address {pointer:#x}")
            self._addresses[name] = pointer

    # Results.

    def _check_given(self, i: int, array: Any, device: int, views: list[View]) -> View:
        tensor, shape = self._outputs[i], self._output_shapes[i]
        try:
            view = family_of(array).view(array)
            if -1 in shape:
                raise ValueError("has a size that data decides, so out= cannot have it: leave it out, or give None")
            if view.dtype != tensor.dtype:
                raise TypeError(f"is of {view.dtype}; {tensor.dtype} is needed")
            if view.shape != shape:
                raise ValueError(f"has shape {view.shape}; {shape} is needed")
            if not view.contiguous:
                raise ValueError(f"is not contiguous in memory (strides {view.strides})")
            if not is_aligned(view.pointer, shape, view.dtype):
                raise ValueError(f"is not aligned in memory: it begins at {view.pointer:#x}")
            if not view.writable:
                raise ValueError("is read-only")
            if view.device != (HOST if tensor.on_host else device):
                raise ValueError(f"is on {where_is(view.device)}; {where_is(device)} is needed")
            size = num_bytes(shape, tensor.dtype)
            for other, known in zip(self._inputs, views):
                if shares_memory(view, size, known, num_bytes(known.shape, known.dtype)):
                    raise ValueError(f"shares memory with input {other.name!r}")
        except (TypeError, ValueError, BufferError) as failure:
            raise type(failure)(f"{self._name}: output {tensor.name!r} in out= {failure}") from None
        return view

    def _allocator(self, i: int) -> Any:
        """The allocator of an output whose size data decides."""
        allocator = self._allocators.get(i)
        if allocator is None:
            allocator = self._allocators[i] = _allocator_class()()
            if not self._context.set_output_allocator(self._outputs[i].name, allocator):
                raise self._failure(f"output {self._outputs[i].name!r} cannot have an allocator")
        return allocator

    def _prepare(
        self, views: list[View], family: Any, given: list[Any] | None, device: int
    ) -> tuple[list[Any], list[int], list[int]]:
        """Arrays for the outputs, their addresses, and the places of those whose size data decides."""
        arrays, pointers, open_ones = [], [], []
        for i, (tensor, shape) in enumerate(zip(self._outputs, self._output_shapes)):
            array = given[i] if given is not None else None
            if array is not None:
                pointer = self._check_given(i, array, device, views).pointer
            elif -1 in shape:
                self._allocator(i).reset(family, device)
                open_ones.append(i)
                pointer = 0
            else:
                array = family.empty(shape, tensor.dtype, HOST if tensor.on_host else device)
                pointer = family.pointer(array)
            arrays.append(array)
            pointers.append(pointer or _NO_ADDRESS)
        if given is not None and len(given) > 1:
            self._check_apart(pointers)
        return arrays, pointers, open_ones

    def _check_apart(self, pointers: list[int]) -> None:
        spans = []
        for i, (tensor, shape, pointer) in enumerate(zip(self._outputs, self._output_shapes, pointers)):
            size = 0 if -1 in shape else num_bytes(shape, tensor.dtype)
            if size:
                spans.append((pointer, pointer + size, i))
        spans.sort()
        for (_, end, i), (start, _, k) in zip(spans, spans[1:]):
            if start < end:
                raise ValueError(
                    f"{self._name}: outputs {self._outputs[i].name!r} and {self._outputs[k].name!r} in out= share memory"
                )

    def _collect(self, arrays: list[Any], open_ones: list[int], given: list[Any] | None, family: Any, lead: Any) -> list:
        for i in open_ones:
            allocator = self._allocators[i]
            if allocator.shape is None:
                raise self._failure(f"the run did not tell the shape of output {self._outputs[i].name!r}")
            arrays[i] = allocator.result(self._outputs[i])
        return [
            array if given is not None and given[i] is not None else family.finish(array, lead)
            for i, array in enumerate(arrays)
        ]

    def _raise_run_failure(self, open_ones: list[int]) -> None:
        for i in open_ones:
            failure = self._allocators[i].failure
            if failure is not None:
                self._messages.take()
                raise failure
        raise self._failure("the run failed")

    # Ways to run.

    def _run_on_host(self, views: list[View], family: Any, lead: Any, given: list[Any] | None) -> list[Any]:
        arrays, pointers, open_ones = self._prepare(views, family, given, HOST)
        addresses = [view.pointer or _NO_ADDRESS for view in views]
        if not open_ones:
            self._addresses.clear()  # the call below changes them
            if not self._context.execute_v2(addresses + pointers):
                self._raise_run_failure(open_ones)
        else:
            for tensor, address in zip(self._inputs + self._outputs, addresses + pointers):
                self._set_address(tensor.name, address)
            self._execute(0, open_ones, waits=True)
        return self._collect(arrays, open_ones, given, family, lead)

    def _run_on_gpu(
        self, views: list[View], family: Any, lead: Any, given: list[Any] | None, stream: Any
    ) -> list[Any]:
        for tensor, view in zip(self._inputs, views):
            if view.device == HOST and not tensor.on_host:
                raise ValueError(
                    f"{self._name}: input {tensor.name!r} is on the host and another is on a GPU; "
                    f"all are needed on {where_is(self._ordinal)}"
                )
        handle = _stream_handle(stream, family, self._ordinal)
        if handle is None:
            self._wait_for_producers(views, self._stream)
            _on(self._ordinal, driver().synchronize, 0)  # whose order DLPack's producers were asked for
            return self._enqueue(views, family, lead, given, self._stream)
        self._wait_for_producers(views, handle)
        with family.on_stream(handle, self._ordinal):
            return self._enqueue(views, family, lead, given, handle)

    def _wait_for_producers(self, views: list[View], handle: int) -> None:
        for producer in {view.producer for view in views if view.producer is not None} - {handle}:
            _on(self._ordinal, driver().synchronize, producer)

    def _enqueue(self, views: list[View], family: Any, lead: Any, given: list[Any] | None, handle: int) -> list[Any]:
        """Puts a run with arrays of the GPU on a stream."""
        arrays, pointers, open_ones = self._prepare(views, family, given, self._ordinal)
        for tensor, view in zip(self._inputs, views):
            self._set_address(tensor.name, view.pointer or self._empty_address())
        for tensor, pointer in zip(self._outputs, pointers):
            self._set_address(tensor.name, pointer if pointer != _NO_ADDRESS else self._empty_address())
        self._execute(handle, open_ones, waits=handle == self._stream)
        return self._collect(arrays, open_ones, given, family, lead)

    def _execute(self, handle: int, open_ones: list[int], *, waits: bool) -> None:
        """Puts the run on a stream. Where it `waits`, a fault of this run is told now, and not by the next one."""
        self._context.debug_sync = waits
        if not self._context.execute_async_v3(handle):
            self._raise_run_failure(open_ones)

    def _empty_address(self) -> int:
        with current_device(self._ordinal):
            return self._staging("", 256).pointer

    def _staging(self, name: str, size: int) -> DeviceMemory:
        memory = self._staged.get(name)
        if memory is None or memory.size < size:
            memory = self._staged[name] = DeviceMemory(size, self._ordinal)
        return memory

    def _run_staged(
        self, views: list[View], family: Any, lead: Any, given: list[Any] | None, stream: Any
    ) -> list[Any]:
        """Arrays of the host on a GPU: copied there, and results back."""
        handle = _stream_handle(stream, None, self._ordinal) or self._stream
        gpu = driver()
        arrays, pointers, open_ones = self._prepare(views, family, given, HOST)
        for tensor, view in zip(self._inputs, views):
            if tensor.on_host:
                continue
            size = num_bytes(view.shape, view.dtype)
            memory = self._staging("in " + tensor.name, size)
            if size:
                gpu.copy_in(memory.pointer, view.pointer, size, handle)
            self._set_address(tensor.name, memory.pointer)
        back = []
        for i, (tensor, shape) in enumerate(zip(self._outputs, self._output_shapes)):
            if i in open_ones:
                self._allocators[i].reset(None, self._ordinal)
                self._set_address(tensor.name, self._empty_address())
            elif tensor.on_host:
                self._set_address(tensor.name, pointers[i])
            else:
                size = num_bytes(shape, tensor.dtype)
                memory = self._staging("out " + tensor.name, size)
                self._set_address(tensor.name, memory.pointer)
                back.append((pointers[i], memory, size))
        self._execute(handle, open_ones, waits=True)
        for i in open_ones:
            allocator = self._allocators[i]
            if allocator.shape is None:
                raise self._failure(f"the run did not tell the shape of output {self._outputs[i].name!r}")
            arrays[i] = family.empty(allocator.shape, self._outputs[i].dtype, HOST)
            size = num_bytes(allocator.shape, self._outputs[i].dtype)
            back.append((family.pointer(arrays[i]), allocator.memory, size))
        for pointer, memory, size in back:
            if size:
                gpu.copy_out(pointer, memory.pointer, size, handle)
        gpu.synchronize(handle)
        return self._collect(arrays, [], given, family, lead)


def shares_memory(a: View, a_bytes: int, b: View, b_bytes: int) -> bool:
    """Whether two arrays have bytes in common."""
    if a.device != b.device or not a_bytes or not b_bytes:
        return False
    return a.pointer < b.pointer + b_bytes and b.pointer < a.pointer + a_bytes


def _stream_handle(stream: Any, family: Any, ordinal: int) -> int | None:
    """The handle of the stream to run on; None for one of the context's own."""
    if stream is None:
        return family.stream(ordinal) if family is not None else None
    for attribute in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return handle
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    raise TypeError(f"stream is {stream!r}; a stream of PyTorch or CuPy, or its handle, is needed")
