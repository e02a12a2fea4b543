"""Counts and times of a version of a model, in the terms of the protocol's statistics extension."""

from __future__ import annotations

import bisect
import collections
import contextlib
import dataclasses
import threading
import time
from collections.abc import Iterator

from ._errors import Reason, ServeError

BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histograms' buckets."""


@dataclasses.dataclass
class Duration:
    """How often something took place, and for how long in all."""

    count: int = 0
    ns: int = 0

    def add(self, ns: int, count: int = 1) -> None:
        self.count += count
        self.ns += ns


class Histogram:
    """Times by size, for Prometheus."""

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS_S) + 1)
        self.sum_s = 0.0

    def add(self, ns: int) -> None:
        seconds = ns / 1e9
        self.buckets[bisect.bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds


@dataclasses.dataclass
class BatchTimes:
    """Times of all runs of one batch size."""

    input: Duration = dataclasses.field(default_factory=Duration)
    infer: Duration = dataclasses.field(default_factory=Duration)
    output: Duration = dataclasses.field(default_factory=Duration)


@dataclasses.dataclass(frozen=True)
class RunTimes:
    """Times of one run of a batch: its inputs are gathered, the engine runs, its outputs are divided."""

    rows: int
    input_ns: int
    infer_ns: int
    output_ns: int


class Statistics:
    """What happened to the requests of a version. Any thread may use it."""

    STAGES = ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.durations = {stage: Duration() for stage in self.STAGES}
        self.failures: dict[str, int] = {}
        self.latency, self.queueing = Histogram(), Histogram()
        self.batches: dict[int, BatchTimes] = {}
        self.last_inference_ms = 0
        self.inference_count = 0
        self.execution_count = 0

    def add_run(self, times: RunTimes, queued_ns: list[int], total_ns: list[int]) -> None:
        """Counts a batch that ran.

        queued_ns: for each request that succeeded, the time for which it waited in the queue.
        total_ns: for each of them, the time from its arrival in the queue to its results.
        """
        count = len(total_ns)
        with self._lock:
            self.execution_count += 1
            self.inference_count += times.rows
            self.last_inference_ms = int(time.time() * 1000)
            of = self.durations
            of["success"].add(sum(total_ns), count)
            of["queue"].add(sum(queued_ns), count)
            of["compute_input"].add(times.input_ns * count, count)
            of["compute_infer"].add(times.infer_ns * count, count)
            of["compute_output"].add(times.output_ns * count, count)
            batch = self.batches.setdefault(times.rows, BatchTimes())
            batch.input.add(times.input_ns)
            batch.infer.add(times.infer_ns)
            batch.output.add(times.output_ns)
            for queued, total in zip(queued_ns, total_ns):
                self.queueing.add(queued)
                self.latency.add(total)

    def add_failure(self, reason: str, ns: int = 0) -> None:
        """Counts a request that failed, by its reason."""
        with self._lock:
            self.durations["fail"].add(ns)
            self.failures[reason] = self.failures.get(reason, 0) + 1

    def snapshot(self) -> Statistics:
        """A copy that does not change any more."""
        copy = Statistics()
        with self._lock:
            copy.durations = {stage: dataclasses.replace(held) for stage, held in self.durations.items()}
            copy.failures = dict(self.failures)
            for mine, its in ((self.latency, copy.latency), (self.queueing, copy.queueing)):
                its.buckets, its.sum_s = list(mine.buckets), mine.sum_s
            copy.batches = {
                rows: BatchTimes(*(dataclasses.replace(d) for d in (b.input, b.infer, b.output)))
                for rows, b in sorted(self.batches.items())
            }
            copy.last_inference_ms = self.last_inference_ms
            copy.inference_count, copy.execution_count = self.inference_count, self.execution_count
        return copy

    def as_message(self, name: str, version: str) -> dict:
        """What the statistics endpoints say, by the field names of both protocols."""
        of = self.snapshot()
        return {
            "name": name,
            "version": version,
            "last_inference": of.last_inference_ms,
            "inference_count": of.inference_count,
            "execution_count": of.execution_count,
            "inference_stats": {stage: dataclasses.asdict(held) for stage, held in of.durations.items()},
            "batch_stats": [
                {
                    "batch_size": rows,
                    "compute_input": dataclasses.asdict(batch.input),
                    "compute_infer": dataclasses.asdict(batch.infer),
                    "compute_output": dataclasses.asdict(batch.output),
                }
                for rows, batch in of.batches.items()
            ],
        }


class Refusals:
    """Counts what was refused and no version's statistics have, by protocol and reason. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: collections.Counter[tuple[str, str]] = collections.Counter()

    def add(self, protocol: str, reason: Reason) -> None:
        with self._lock:
            self._counts[protocol, reason.name.lower()] += 1

    @contextlib.contextmanager
    def of(self, protocol: str) -> Iterator[None]:
        """Counts the failure of a request, unless a version has, or its client has left by itself."""
        try:
            yield
        except ServeError as failure:
            if not failure.is_counted and failure.reason is not Reason.CANCELLED:
                self.add(protocol, failure.reason)
            raise

    def snapshot(self) -> dict[tuple[str, str], int]:
        with self._lock:
            return dict(sorted(self._counts.items()))
