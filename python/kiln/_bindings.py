"""Finds Kiln's module of TensorRT's API.

The module is called `tensorrt`, like NVIDIA's. Where NVIDIA's is installed too, that name may belong to NVIDIA's
module, and Kiln's is then loaded under a name of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pathlib
import sys
import threading
import types

_NAME = "tensorrt"
_PRIVATE_NAME = "kiln._modules.tensorrt"
_lock = threading.Lock()
_module: types.ModuleType | None = None


def _folders() -> list[pathlib.Path]:
    """The places of the module: inside the wheel, and beside this package in a build folder."""
    here = pathlib.Path(os.path.abspath(__file__)).parent  # in a build folder a link to the source
    return [here / "_modules" / _NAME, here.parent / _NAME]


def _is_ours(file: str | None) -> bool:
    return file is not None and pathlib.Path(os.path.abspath(file)).parent in _folders()


def _find() -> types.ModuleType:
    loaded = sys.modules.get(_NAME)
    if loaded is not None and _is_ours(getattr(loaded, "__file__", None)):
        return loaded
    private = sys.modules.get(_PRIVATE_NAME)
    if private is not None:
        return private
    if loaded is None:
        spec = importlib.util.find_spec(_NAME)
        if spec is not None and _is_ours(spec.origin):
            return importlib.import_module(_NAME)
    for folder in _folders():
        start = folder / "__init__.py"
        if start.is_file():
            return _load_as(_PRIVATE_NAME, start)
    raise ImportError(
        "Kiln's module 'tensorrt' is missing; looked in " + " and ".join(str(folder) for folder in _folders())
    )


def _load_as(name: str, start: pathlib.Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, start, submodule_search_locations=[str(start.parent)])
    if spec is None or spec.loader is None:
        raise ImportError(f"{start} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def bindings() -> types.ModuleType:
    """Returns Kiln's module of TensorRT's API, under whatever name it is loaded."""
    global _module
    if _module is None:
        with _lock:
            if _module is None:
                _module = _find()
    return _module
