"""Data that calibrate a build: what a program gives, as a calibrator of TensorRT's API."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._arrays import HOST, family_of, where_is
from ._bindings import bindings
from ._context import DeviceMemory
from ._device import driver
from ._files import as_path
from ._shapes import Shape
from ._tensors import dtype_name, num_bytes

PRECISIONS = ("int8", "fp16", "best")
"""Those that calibration data change: they give INT8 its scales, and keep what leaves FP16's range in FP32."""


@functools.cache
def _calibrator_class() -> type:
    trt: Any = bindings()

    class Calibrator(trt.IInt8EntropyCalibrator2):
        """Hands batches, or a cache, to a build. What a batch has wrong ends the build, and is `failure` then."""

        def __init__(self, batches: Iterator[Any], cache: bytes | None, inputs: dict[str, tuple[str, Shape]], ordinal: int | None):
            trt.IInt8EntropyCalibrator2.__init__(self)
            self.failure: BaseException | None = None
            self._batches, self._cache, self._inputs, self._ordinal = batches, cache, inputs, ordinal
            self._count = 0
            self._memory: dict[str, DeviceMemory] = {}
            self._keep: Any = None

        def get_batch_size(self) -> int:
            return 1  # batches are whole inputs: their first axis is an axis like the others

        def get_batch(self, names: list[str]) -> list[int] | None:
            try:
                batch = next(self._batches, None)
                if batch is None:
                    if not self._count:
                        raise ValueError("calibration: there is no batch")
                    return None
                where = f"calibration: batch {self._count}"
                self._count += 1
                arrays = self._named(batch, where)
                self._keep = [arrays]
                return [self._address(name, arrays[name], where) for name in names]
            except BaseException as failure:
                self.failure = failure
                raise  # which ends the build

        def _named(self, batch: Any, where: str) -> Mapping[str, Any]:
            if isinstance(batch, Mapping):
                arrays = batch
            else:
                given = list(batch) if isinstance(batch, (tuple, list)) else [batch]
                if len(given) != len(self._inputs):
                    raise ValueError(f"{where} has {len(given)} arrays; the inputs are {list(self._inputs)}")
                arrays = dict(zip(self._inputs, given))
            if arrays.keys() != self._inputs.keys():
                raise ValueError(f"{where} has {sorted(map(str, arrays))}; the inputs are {list(self._inputs)}")
            return arrays

        def _address(self, name: str, array: Any, where: str) -> int:
            dtype, shape = self._inputs[name]
            try:
                view = family_of(array).view(array)
                if view.dtype != dtype:
                    raise TypeError(f"is of {view.dtype}; {dtype} is needed")
                if view.shape != shape:
                    raise ValueError(f"has shape {view.shape}; {shape} is needed, for which the build tunes")
                if not view.contiguous:
                    raise ValueError(f"is not contiguous in memory (strides {view.strides})")
                if view.device not in (HOST, HOST if self._ordinal is None else self._ordinal):
                    raise ValueError(f"is on {where_is(view.device)}, where this build does not run")
            except (TypeError, ValueError, BufferError) as failure:
                raise type(failure)(f"{where}: input {name!r} {failure}") from None
            self._keep.append(view)
            if self._ordinal is None or view.device != HOST:
                return view.pointer
            size = num_bytes(shape, dtype)
            memory = self._memory.get(name)
            if memory is None:
                memory = self._memory[name] = DeviceMemory(size, self._ordinal)
            driver().copy_in(memory.pointer, view.pointer, size, 0)
            driver().synchronize(0)
            return memory.pointer

        def read_calibration_cache(self) -> bytes | None:
            return self._cache

        def write_calibration_cache(self, cache: Any) -> None:
            pass

    return Calibrator


def read_calibration(calibration: Any, precision: str | None) -> tuple[Iterator[Any], bytes | None]:
    """Batches and the text of a cache, of which one is given. Raises for arguments before anything is built."""
    if precision not in PRECISIONS:
        raise ValueError(f"calibration does nothing for precision {precision!r}; it is for {', '.join(map(repr, PRECISIONS))}")
    if isinstance(calibration, (str, bytes, os.PathLike)):
        cache = as_path(calibration, "calibration").read_bytes()
        if not cache.startswith(b"TRT-"):
            raise ValueError(f"calibration: {os.fsdecode(calibration)!r} is no calibration cache: it does not begin with TRT-")
        return iter(()), cache
    if isinstance(calibration, Mapping) or hasattr(calibration, "dtype") or not hasattr(calibration, "__iter__"):
        kind = type(calibration).__name__
        raise TypeError(f"calibration is a {kind}; an iterable of batches, or the path of a calibration cache, is needed")
    return iter(calibration), None


def set_calibrator(
    config: Any, network: Any, given: tuple[Iterator[Any], bytes | None], opt: Mapping[str, Sequence[int]], ordinal: int | None
) -> Any:
    """Gives a build its calibrator, and returns it. `opt` has the shapes that the build tunes for, where calls decide them."""
    tensors = [network.get_input(i) for i in range(network.num_inputs)]
    inputs = {t.name: (dtype_name(t.dtype), tuple(opt.get(t.name, t.shape))) for t in tensors}
    calibrator = _calibrator_class()(*given, inputs, ordinal)
    with warnings.catch_warnings():  # TensorRT calls INT8 by ranges deprecated, and has it
        warnings.simplefilter("ignore", DeprecationWarning)
        config.int8_calibrator = calibrator
    return calibrator
