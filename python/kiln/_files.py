"""Files that the package writes: each is there as a whole or not at all, and only where a program may write."""

from __future__ import annotations

import contextlib
import os
import pathlib
import secrets
import stat

_WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def as_path(value: str | os.PathLike | bytes, argument: str) -> pathlib.Path:
    """The path that an argument gives. Raises TypeError, with the argument's name, for what is no path."""
    try:
        return pathlib.Path(os.fsdecode(value))
    except TypeError:
        raise TypeError(f"{argument} is {value!r}; the path of a file is needed") from None


def check_writable(path: pathlib.Path, argument: str) -> pathlib.Path:
    """Returns the file that a path stands for, which is another one behind a symbolic link. Raises an OSError, with the
    argument's name, where `replace_file` could not write it."""
    target = pathlib.Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is None and not target.parent.is_dir():
        raise FileNotFoundError(f"{argument}: there is no folder {str(target.parent)!r}")
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{argument}: {str(path)!r} is a folder; the path of a file is needed")
    # The bits are asked for as well: they protect a file from its owner and from root, whom the system would let write.
    if mode is not None and not (mode & _WRITE_BITS and os.access(target, os.W_OK)):
        raise PermissionError(f"{argument}: {str(path)!r} is write-protected; it was left as it is")
    is_replaced = mode is None or stat.S_ISREG(mode)
    if is_replaced and not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{argument}: no file can be made in {str(target.parent)!r}")
    return target


def replace_file(path: pathlib.Path, data: bytes, argument: str) -> None:
    """Writes a file. A reader sees the old file or the new one as a whole.

    A symbolic link stays, and what it names is written. A file keeps its mode; a new one has what the umask leaves of
    0666. Devices and pipes are written to, and not replaced.
    """
    target = check_writable(path, argument)
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        target.write_bytes(data)
        return
    beside = target.with_name(f".kiln-{secrets.token_hex(8)}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
        beside.replace(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
