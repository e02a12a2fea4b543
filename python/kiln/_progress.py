"""Shows how far a build is: in a terminal, in a notebook, or to a function."""

from __future__ import annotations

import contextlib
import functools
import html
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ._bindings import bindings

_SECONDS_BETWEEN = 0.1


class _Phase:
    def __init__(self, name: str, parent: str | None, steps: int):
        self.name, self.parent, self.steps, self.done = name, parent, max(steps, 1), 0


class Phases:
    """The phases of a build that are under way, and what part of the build is done by them."""

    def __init__(self) -> None:
        self._open: list[_Phase] = []
        self._fraction = 0.0

    def start(self, name: str, parent: str | None, steps: int) -> None:
        self._open.append(_Phase(name, parent, steps))

    def step(self, name: str, step: int) -> None:
        for phase in self._open:
            if phase.name == name:
                phase.done = min(step + 1, phase.steps)

    def finish(self, name: str) -> None:
        for i, phase in enumerate(self._open):
            if phase.name == name:
                del self._open[i]
                break
        if not self._open:
            self._fraction = 1.0

    @property
    def text(self) -> str:
        """The innermost phase with its count of steps."""
        if not self._open:
            return ""
        phase = self._open[-1]
        return f"{phase.name} {phase.done}/{phase.steps}"

    @property
    def fraction(self) -> float:
        """From 0 to 1. A phase within another fills one step of it. It never falls."""
        part, width = 0.0, 1.0
        for phase in self._open:
            part += width * phase.done / phase.steps
            width /= phase.steps
        if self._open:
            self._fraction = max(self._fraction, min(part, 1.0))
        return self._fraction


class TerminalBar:
    """One line of a terminal, written again and again."""

    def __init__(self, title: str, stream: Any = None):
        self._title = title
        self._stream = stream or sys.stderr
        self._start = time.monotonic()

    def show(self, fraction: float, text: str) -> None:
        columns = max(shutil.get_terminal_size().columns, 40)
        seconds = time.monotonic() - self._start
        width = 24
        full = int(width * fraction + 0.5)
        line = f"{self._title} [{'#' * full}{'.' * (width - full)}] {fraction:4.0%} {seconds:5.1f} s  {text}"
        self._write("\r\x1b[2K" + line[: columns - 1])

    def close(self, succeeded: bool) -> None:
        seconds = time.monotonic() - self._start
        end = f"{self._title}: built in {seconds:.1f} s\n" if succeeded else ""
        self._write("\r\x1b[2K" + end)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # a stream that was closed is no reason to stop a build
            pass


class NotebookBar:
    """A bar below a notebook's cell."""

    def __init__(self, title: str):
        from IPython import display

        self._title = title
        self._display = display
        self._start = time.monotonic()
        self._handle = display.display(self._html(0.0, ""), display_id=True)

    def _html(self, fraction: float, text: str) -> Any:
        seconds = time.monotonic() - self._start
        return self._display.HTML(
            f"<div><b>{html.escape(self._title)}</b> <progress value='{fraction:.3f}' max='1'></progress> "
            f"{fraction:.0%} {seconds:.1f} s <small>{html.escape(text)}</small></div>"
        )

    def show(self, fraction: float, text: str) -> None:
        self._handle.update(self._html(fraction, text))

    def close(self, succeeded: bool) -> None:
        self._handle.update(self._html(1.0 if succeeded else 0.0, "built" if succeeded else "failed"))


class TqdmBar:
    """A bar of the package tqdm."""

    def __init__(self, title: str):
        from tqdm.auto import tqdm

        self._bar = tqdm(total=100, desc=title, unit="%", leave=False)

    def show(self, fraction: float, text: str) -> None:
        self._bar.n = int(fraction * 100)
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.refresh()

    def close(self, succeeded: bool) -> None:
        self._bar.close()


class _Silent:
    """Shows nothing. A build is watched all the same: Ctrl-C is seen while Python code runs."""

    def show(self, fraction: float, text: str) -> None:
        pass

    def close(self, succeeded: bool) -> None:
        pass


class _Calls:
    """Tells a function of the program."""

    def __init__(self, function: Callable[[float, str], Any]):
        self._function = function

    def show(self, fraction: float, text: str) -> Any:
        return self._function(fraction, text)

    def close(self, succeeded: bool) -> None:
        if succeeded:
            self._function(1.0, "")


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


@contextlib.contextmanager
def shown_bar(progress: Any, title: str) -> Iterator[Any]:
    """The bar that the argument `progress` of `compile` asks for. It is closed at the end, also where the model cannot be read."""
    bar = _choose_bar(progress, title)
    succeeded = False
    try:
        yield bar
        succeeded = True
    finally:
        bar.close(succeeded)


def _choose_bar(progress: Any, title: str) -> Any:
    if progress is None:
        if _in_notebook():
            return NotebookBar(title)
        terminal = getattr(sys.stderr, "isatty", lambda: False)()
        return TerminalBar(title) if terminal else _Silent()
    if progress is False:
        return _Silent()
    if progress is True:
        return NotebookBar(title) if _in_notebook() else TerminalBar(title)
    if progress == "tqdm":
        return TqdmBar(title)
    if callable(progress):
        return _Calls(progress)
    raise TypeError(f"progress is {progress!r}; it may be None, True, False, 'tqdm' or a function(fraction, text)")


@functools.cache
def _monitor_class() -> type:
    trt: Any = bindings()

    class Monitor(trt.IProgressMonitor):
        """Hands a build's progress to a bar, at most ten times a second, and ends the build where a bar says so."""

        def __init__(self, bar: Any):
            trt.IProgressMonitor.__init__(self)
            self._bar = bar
            self._phases = Phases()
            self._lock = threading.Lock()
            self._shown = -1.0
            self.failure: BaseException | None = None
            self.stopped = False

        def phase_start(self, phase_name: str, parent_phase: str | None, num_steps: int) -> None:
            self._keeping(lambda: self._phases.start(phase_name, parent_phase, num_steps))

        def step_complete(self, phase_name: str, step: int) -> bool:
            self._keeping(lambda: self._phases.step(phase_name, step))
            return not self.stopped and self.failure is None

        def phase_finish(self, phase_name: str) -> None:
            self._keeping(lambda: self._phases.finish(phase_name))

        def _keeping(self, change: Callable[[], None]) -> None:
            """Changes the phases and shows them. What is raised meanwhile, Ctrl-C too, is raised after the build."""
            try:
                with self._lock:
                    change()
                self._show()
            except BaseException as failure:
                self.failure = self.failure or failure

        def _show(self) -> None:
            now = time.monotonic()
            with self._lock:
                if self.failure is not None or now - self._shown < _SECONDS_BETWEEN:
                    return
                self._shown = now
                fraction, text = self._phases.fraction, self._phases.text
            # The bar may be the program's function: it is called without the lock.
            if self._bar.show(fraction, text) is False:
                self.stopped = True

    return Monitor


def make_monitor(bar: Any) -> Any:
    """An `IProgressMonitor` that shows what it is told by `bar`."""
    return _monitor_class()(bar)
