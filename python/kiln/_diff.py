"""Engines compared tensor by tensor, by the program `kiln`."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from ._errors import Error
from ._install import flag_words, program


def diff(a: str | os.PathLike[str], b: str | os.PathLike[str] | None = None, **flags: Any) -> dict[str, Any]:
    """Compares a plan or ONNX file with another one, tensor by tensor, as `kiln diff` does.

    Flags are those of `kiln diff` without their dashes (`builderOptimizationLevel=0`,
    `isolate=True`, `tolerance="1e-3/1e-5"`, `with_="--noTF32"`); `o="page.html"` writes a page. Returns the report of
    `kiln diff --json`: `first_outside` is None where all tensors that were compared are within the tolerance, `complete`
    says whether none was left out for want of memory or of finite numbers. Raises Error with the program's message where
    nothing can be compared.
    """
    operands = [os.fspath(a), *([] if b is None else [os.fspath(b)])]
    command = [program("kiln"), "diff", *operands, "--json", *flag_words(flags)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode not in (0, 2, 3):
        raise Error(done.stderr.strip().removeprefix("kiln: ") or f"kiln diff ended with status {done.returncode}")
    return json.loads(done.stdout)
