"""Serves engines over HTTP and gRPC, by the KServe v2 protocol (docs/serving.md).

    python -m kiln.serve model.plan

or from a program:

    with kiln.serve.Server({"model": "model.plan"}) as server:
        y = server.infer("model", {"x": x})["y"]

It needs the packages of the extra `serve`: pip install "kiln-inference[serve]".
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from ._errors import Reason, ServeError
    from ._server import Server
    from ._settings import Settings
    from ._sources import BuildShapes

__all__ = ["BuildShapes", "Reason", "ServeError", "Server", "Settings"]

_MODULES = {
    "BuildShapes": "_sources",
    "Reason": "_errors",
    "ServeError": "_errors",
    "Server": "_server",
    "Settings": "_settings",
}


def __getattr__(name: str) -> object:
    # Imported when first used: the command hears signals before it loads the packages of the server.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = getattr(_importlib.import_module(f".{_MODULES[name]}", __name__), name)
    except ModuleNotFoundError as failure:
        if failure.name is None or failure.name.split(".")[0] in ("kiln", "tensorrt"):
            raise
        raise ModuleNotFoundError(
            f"kiln.serve needs the package {failure.name!r}: pip install \"kiln-inference[serve]\"", name=failure.name
        ) from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
