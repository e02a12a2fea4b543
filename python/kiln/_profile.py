"""Times of an engine's layers, as a table for people and programs."""

from __future__ import annotations

import dataclasses
import functools
import html
from collections.abc import Iterator
from typing import Any

from ._bindings import bindings


@dataclasses.dataclass(frozen=True)
class LayerTime:
    """What one layer of an engine took."""

    name: str
    ms: float
    """The mean of all runs, in milliseconds."""
    share: float
    """Of the sum of all layers, from 0 to 1."""


class Profile:
    """The mean times of an engine's layers, in the order in which they run."""

    def __init__(self, times: list[tuple[str, float]], runs: int):
        total = sum(ms for _, ms in times)
        self.runs = runs
        self.total_ms = total
        """The sum of all layers, in milliseconds for one run."""
        self.layers = [LayerTime(name, ms, ms / total if total > 0 else 0.0) for name, ms in times]

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[LayerTime]:
        return iter(self.layers)

    def __getitem__(self, index: Any) -> Any:
        return self.layers[index]

    def slowest(self, count: int = 10) -> list[LayerTime]:
        """The layers that took longest, the slowest first."""
        return sorted(self.layers, key=lambda layer: -layer.ms)[:count]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON or a data frame."""
        return {
            "runs": self.runs,
            "total_ms": self.total_ms,
            "layers": [dataclasses.asdict(layer) for layer in self.layers],
        }

    def __str__(self) -> str:
        lines = [f"{'ms':>10}  {'share':>6}  layer"]
        lines += [f"{layer.ms:10.4f}  {layer.share:6.1%}  {layer.name}" for layer in self.layers]
        lines.append(f"{self.total_ms:10.4f}  {1:6.1%}  sum of {len(self)} layers, mean of {self.runs} runs")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<kiln.Profile: {len(self)} layers, {self.total_ms:.4f} ms, mean of {self.runs} runs>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:right'>{layer.ms:.4f}</td><td style='text-align:right'>{layer.share:.1%}</td>"
            f"<td style='text-align:left'>{html.escape(layer.name)}</td></tr>"
            for layer in self.layers
        )
        return (
            "<table><thead><tr><th>ms</th><th>share</th><th>layer</th></tr></thead>"
            f"<tbody>{rows}</tbody><tfoot><tr><th>{self.total_ms:.4f}</th><th></th>"
            f"<th style='text-align:left'>sum of {len(self)} layers, mean of {self.runs} runs</th></tr></tfoot></table>"
        )


@functools.cache
def _profiler_class() -> type:
    trt: Any = bindings()

    class Profiler(trt.IProfiler):
        """Adds up what a context reports. A layer is told by its place: several may have one name."""

        def __init__(self) -> None:
            trt.IProfiler.__init__(self)
            self.reports: list[tuple[str, float]] = []

        def report_layer_time(self, layer_name: str, ms: float) -> None:
            self.reports.append((layer_name, ms))

    return Profiler


def make_profiler() -> Any:
    """An `IProfiler` that keeps what it is told in `reports`."""
    return _profiler_class()()


def mean_times(runs: list[list[tuple[str, float]]]) -> Profile:
    """The mean of several runs' reports. A loop's layers may report more often in one run than in another."""
    sums: dict[tuple[str, int], float] = {}
    order: list[tuple[str, int]] = []
    for run in runs:
        seen: dict[str, int] = {}
        for name, ms in run:
            key = (name, seen.get(name, 0))
            seen[name] = key[1] + 1
            if key not in sums:
                order.append(key)
                sums[key] = 0.0
            sums[key] += ms
    return Profile([(key[0], sums[key] / max(len(runs), 1)) for key in order], len(runs))
