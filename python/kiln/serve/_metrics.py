"""Metrics in Prometheus' text format, made from the versions' statistics when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, exposition
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

from ._statistics import BOUNDS_S, Histogram, Statistics

if TYPE_CHECKING:
    from ._server import Server

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LABELS = ("model", "version")
_STAGES = {
    "input": ("kiln_gather_seconds", "Time that runs took to join their inputs"),
    "infer": ("kiln_run_seconds", "Time that runs of the engine took"),
    "output": ("kiln_divide_seconds", "Time that runs took to divide their outputs"),
}


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    total, found = 0, []
    for bound, count in zip((*map(str, BOUNDS_S), "+Inf"), histogram.buckets):
        total += count
        found.append((bound, float(total)))
    return found


class _Collector:
    def __init__(self, server: Server):
        self._server = server

    def collect(self) -> Iterator[Any]:
        server = self._server
        yield GaugeMetricFamily("kiln_ready", "Whether the server takes requests", value=float(server.is_ready))
        used = float(server.budget.used)
        yield GaugeMetricFamily("kiln_request_bytes", "Bytes of requests in the server, and of answers", value=used)
        states = GaugeMetricFamily("kiln_model_ready", "Whether a version of a model is served", labels=_LABELS)
        for row in server.repository.index():
            ready = row["state"] == "READY" and not server.is_stopping
            states.add_metric([row["name"], row["version"]], float(ready))
        yield states
        for name, text, refusals in (
            ("kiln_refused", "Requests for inference that were refused without being queued", server.refusals),
            ("kiln_connections_refused", "Connections that ended because of what came on them", server.refused_connections),
        ):
            refused = CounterMetricFamily(name, text, labels=("protocol", "reason"))
            for labels, count in refusals.snapshot().items():
                refused.add_metric(labels, count)
            yield refused
        taken = [(v, v.statistics.snapshot()) for v in server.repository.all_versions()]
        waiting = GaugeMetricFamily("kiln_queue_length", "Requests that wait", labels=_LABELS)
        for version, _ in taken:
            waiting.add_metric([version.name, str(version.number)], float(version.queue_length))
        yield waiting
        yield from _of_statistics([([v.name, str(v.number)], of) for v, of in taken])


def _of_statistics(taken: list[tuple[list[str], Statistics]]) -> Iterator[Any]:
    requests = CounterMetricFamily("kiln_requests", "Requests that ended, by outcome", labels=(*_LABELS, "outcome"))
    runs = CounterMetricFamily("kiln_runs", "Runs of the engine", labels=_LABELS)
    rows = CounterMetricFamily("kiln_rows", "Rows of all runs: 1 a request where there is no batch", labels=_LABELS)
    stages = {stage: CounterMetricFamily(name, text, labels=_LABELS) for stage, (name, text) in _STAGES.items()}
    latency = HistogramMetricFamily(
        "kiln_request_seconds", "Time from a request's arrival in the queue to its results", labels=_LABELS
    )
    queueing = HistogramMetricFamily("kiln_queue_seconds", "Time for which requests waited", labels=_LABELS)
    for labels, of in taken:
        requests.add_metric([*labels, "success"], of.durations["success"].count)
        for reason, count in sorted(of.failures.items()):
            requests.add_metric([*labels, reason], count)
        runs.add_metric(labels, of.execution_count)
        rows.add_metric(labels, of.inference_count)
        for stage, family in stages.items():
            # Of runs, each once; `durations` has a run once for each of its requests.
            family.add_metric(labels, sum(getattr(times, stage).ns for times in of.batches.values()) / 1e9)
        latency.add_metric(labels, _buckets(of.latency), of.latency.sum_s)
        queueing.add_metric(labels, _buckets(of.queueing), of.queueing.sum_s)
    yield from (requests, runs, rows, *stages.values(), latency, queueing)


def metrics_text(server: Server) -> bytes:
    """The metrics of a server at this time."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(server))
    return exposition.generate_latest(registry)
