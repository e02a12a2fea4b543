"""Pages that show an engine: what `kiln show` writes, from Python and inline in a notebook."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from html import escape
from typing import Any

from ._errors import Error
from ._install import flag_words, program
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
            f'<iframe sandbox="allow-scripts" srcdoc="{escape(self.html)}" style="width:100%;height:{self.height}px;'
            'border:1px solid #8884;border-radius:8px" title="Kiln engine"></iframe>'
        )


def profile_json(profile: Profile) -> str:
    """Times as `trtexec --exportProfile` writes them."""
    layers = [{"name": layer.name, "averageMs": layer.ms} for layer in profile.layers]
    return json.dumps([{"count": profile.runs}, *layers])


def name_word(name: str) -> str:
    """A tensor's name as flags of lists take it: in quotes, which those of the name do not end."""
    return "'" + name.replace("'", "''") + "'"


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
        words = [str(shown), "--noRun", *flags]
        if profile is not None:
            times = pathlib.Path(folder, "profile.json")
            times.write_text(profile_json(profile), encoding="utf-8")
            words.append(f"--layerTimes={times}")
        return _page_of(words, f"{name} cannot be shown: ")


def _page_of(words: Sequence[str], context: str = "") -> Page:
    """What `kiln show` writes. Raises `Error` with what it says."""
    done = subprocess.run([program("kiln"), "show", *words, "-o", "-"], capture_output=True, check=False)
    if done.returncode != 0:
        told = done.stderr.decode(errors="replace").strip().removeprefix("kiln: ")
        raise Error(context + (told or f"kiln show ended with status {done.returncode}"))
    return Page(done.stdout.decode("utf-8"))


def show(path: str | os.PathLike[str], **flags: Any) -> Page:
    """The page of a file: a plan, also one for another device, an ONNX file, which is built, or reports of trtexec.

    Flags are those of `kiln show` without their dashes (`noRun=True`, `runs=5`, `shapes="x:1x4"`, `fp16=True`,
    `layerTimes="profile.json"`). A plan runs where a device for it is here; the page says where it did not. `Page.save`
    writes the page, and a notebook shows it. Raises Error with the program's message where nothing can be shown.
    `Engine.show` makes the page of an engine, with times on arrays.
    """
    if "o" in flags:
        raise TypeError("kiln.show has no o: it returns the page, and its save() writes it")
    return _page_of([os.fspath(path), *flag_words(flags)])
