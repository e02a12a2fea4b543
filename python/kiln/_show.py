"""Pages that show an engine: what `kiln show` writes, from Python and inline in a notebook."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from html import escape

from ._errors import Error
from ._install import program
from ._profile import Profile

_LONGEST_NAME = 255  # bytes of a file's name
_BEGINS, _KINDS = b"<!doctypehtml>", (b"<!--kilnshow-->", b"<title>kilndiff")  # without the spaces
_ENOUGH = 4096


def _is_replaceable(path: pathlib.Path) -> bool:
    """Whether a page may be written there: no file is lost but an older page, as with `kiln show -o`."""
    if not path.is_file():
        return True
    with path.open("rb") as file:
        start = b"".join(file.read(_ENOUGH).split())
    return not start or (start.startswith(_BEGINS) and any(kind in start for kind in _KINDS))


class Page:
    """A page that shows an engine: one HTML text that asks no network. In a notebook it is shown where it is returned."""

    def __init__(self, html: str, height: int = 640):
        self.html = html
        """The whole file."""
        self.height = height
        """Of the frame in a notebook, in pixels."""

    def save(self, path: str | os.PathLike) -> pathlib.Path:
        """Writes the page to a file, which any browser opens.

        Raises FileExistsError where something else than a page of Kiln has that name.
        """
        path = pathlib.Path(path)
        if not _is_replaceable(path):
            raise FileExistsError(
                f"{path} exists and is not a page of Kiln; it was left as it is. Name another file, or remove that one"
            )
        path.write_text(self.html, encoding="utf-8")
        return path

    def __repr__(self) -> str:
        return f"<kiln.Page: {len(self.html) / 1e3:.0f} KB of HTML>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:{self.height}px;'
            'border:1px solid #8884;border-radius:8px" title="Kiln engine"></iframe>'
        )


def profile_json(profile: Profile) -> str:
    """Times as `trtexec --exportProfile` writes them."""
    layers = [{"name": layer.name, "averageMs": layer.ms} for layer in profile.layers]
    return json.dumps([{"count": profile.runs}, *layers])


def _file_name(name: str) -> str:
    """A name for a file, of which the page takes its title."""
    title = name.replace("/", "_")
    if len(title.encode(errors="replace")) > _LONGEST_NAME:
        title = title.encode(errors="replace")[: _LONGEST_NAME - 3].decode(errors="ignore") + "..."
    return "engine" if title in ("", ".", "..") else title


def make_page(plan: bytes, name: str, profile: Profile | None, flags: Sequence[str]) -> Page:
    """The page of a plan, made by the program `kiln`. Raises `Error` with what that says."""
    with tempfile.TemporaryDirectory(prefix="kiln-show-") as folder:
        named = pathlib.Path(folder, "named")  # where no name is that of another file here
        named.mkdir()
        shown = named / _file_name(name)
        shown.write_bytes(plan)
        command = [program("kiln"), "show", str(shown), "--noRun", "-o", "-", *flags]
        if profile is not None:
            times = pathlib.Path(folder, "profile.json")
            times.write_text(profile_json(profile), encoding="utf-8")
            command.append(f"--layerTimes={times}")
        done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise Error(f"{name} cannot be shown: " + done.stderr.decode(errors="replace").strip().removeprefix("kiln: "))
    return Page(done.stdout.decode("utf-8"))
