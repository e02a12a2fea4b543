"""Serves engines over HTTP and gRPC, by the KServe v2 protocol (docs/serving.md).

    python -m kiln.serve model.plan

or from a program:

    with kiln.serve.Server({"model": "model.plan"}) as server:
        y = server.infer("model", {"x": x})["y"]

It needs the packages of the extra `serve`: pip install "kiln-inference[serve]".
"""

try:
    from ._server import Server
except ModuleNotFoundError as failure:
    if failure.name is None or failure.name.split(".")[0] in ("kiln", "tensorrt"):
        raise
    raise ModuleNotFoundError(
        f"kiln.serve needs the package {failure.name!r}: pip install \"kiln-inference[serve]\"", name=failure.name
    ) from None

from ._errors import Reason, ServeError
from ._settings import Settings
from ._sources import BuildShapes

__all__ = ["BuildShapes", "Reason", "ServeError", "Server", "Settings"]
