"""Kiln for PyTorch: `torch.compile(module, backend="kiln")`, and `kiln.torch.compile(module, inputs)`.

Both divide a module's graph: engines compute what Kiln has, and PyTorch the rest.
"""

import importlib.metadata as _metadata

from torch._dynamo import list_backends as _list_backends
from torch._dynamo import register_backend as _register_backend

from .._engine import keep_dynamo_out as _keep_dynamo_out
from . import _movement, _networks, _pointwise, _reductions  # noqa: F401  (they register converters)
from ._backend import backend, last_reports
from ._export import CompiledModule, compile
from ._partition import Report
from ._settings import Settings
from ._weights import refresh

__all__ = ["CompiledModule", "Report", "Settings", "backend", "compile", "last_reports", "refresh"]

_keep_dynamo_out()

# An installed wheel says where the backend is; PyTorch registers it then. A package that is imported again, after a program
# has taken it out of sys.modules, is known.
if not _metadata.entry_points(group="torch_dynamo_backends", name="kiln") and "kiln" not in _list_backends():
    _register_backend(name="kiln")(backend)
