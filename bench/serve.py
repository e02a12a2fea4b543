"""Requests a second of kiln.serve beside the engine alone, in one run.

    PYTHONPATH=build/release/python python bench/serve.py model.onnx --batch 8 [--seconds 10] [--precision fp16]
        [--device cuda] [--instances N] [--delay-us 2000] [--json FILE]

The engine alone runs batches of --batch rows: called by one thread, one call after the other, and called by as many
threads as the server has instances. Clients of the program send one row each to a server that joins them, with 4 batches
an instance on the way; then to one that joins none. All arrays are the host's. The ways take turns, so that a machine that
slows down slows all of them; figures are medians over the turns. The model's first axis has to be its batch.

Exit status 1 where the server has less than --least of the engine's rate, the better of the two.
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import threading
import time

import numpy as np

import kiln
import kiln.serve
from kiln.serve._instance import default_instances
from kiln.serve._sources import inputs_of
from kiln.serve._trial import made_inputs


def build(path, batch, precision, device):
    """An engine for batches of 1 to `batch`, tuned for `batch`."""
    if path.suffix != ".onnx":
        return kiln.load(path, device=device)
    shapes = {}
    for name, declared in inputs_of(path):
        if declared[:1] != (-1,) or -1 in declared[1:]:
            raise SystemExit(f"input {name!r} has shape {declared}; one whose first extent alone is open is needed")
        shapes[name] = [(rows, *declared[1:]) for rows in (1, batch, batch)]
    return kiln.compile(path, shapes=shapes, precision=precision, device=device, progress=False)


def rows_of(engine, rows, seed):
    """Inputs of so many rows by name."""
    made = made_inputs(engine, 0, rows, np.random.default_rng(seed))
    return {tensor.name: array for tensor, array in zip(engine.inputs, made)}


def engine_alone(engine, batch, seconds, threads):
    """Rows a second of calls by so many threads, each one call after the other."""
    inputs = [rows_of(engine, batch, i) for i in range(threads)]
    calls, ready = [0] * threads, threading.Barrier(threads + 1)
    end = [0.0]

    def work(i):
        engine(inputs[i])
        ready.wait()
        ready.wait()
        while time.perf_counter() < end[0] or calls[i] < 2:
            engine(inputs[i])
            calls[i] += 1

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    ready.wait()
    start = time.perf_counter()
    end[0] = start + seconds
    ready.wait()
    for worker in workers:
        worker.join()
    return sum(calls) * batch / (time.perf_counter() - start)


def served(server, engine, window, seconds):
    """Rows a second of requests of one row, `window` of them on the way at any time."""
    sent = [rows_of(engine, 1, seed) for seed in range(32)]
    room, failures, ended = threading.Semaphore(window), [], [0]

    def done(future: concurrent.futures.Future):
        if future.exception() is not None:
            failures.append(future.exception())
        ended[0] += 1  # under the GIL, and a lost count would only make the figure smaller
        room.release()

    i, start = 0, None
    begin = time.perf_counter()
    while True:
        now = time.perf_counter()
        if start is None and now - begin > seconds * 0.2:  # warm
            start, first = now, ended[0]
        if start is not None and now - start > seconds and ended[0] - first >= window:
            break
        room.acquire()
        server.submit("model", sent[i % len(sent)]).add_done_callback(done)
        i += 1
    rate = (ended[0] - first) / (time.perf_counter() - start)
    for _ in range(window):
        room.acquire()
    if failures:
        raise failures[0]
    return rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--precision")
    parser.add_argument("--device")
    parser.add_argument("--instances", type=int)
    parser.add_argument("--delay-us", type=int, default=2000)
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    engine = build(arguments.model, arguments.batch, arguments.precision, arguments.device)
    common = {"http_port": None, "grpc_port": None, "instances": arguments.instances, "request_seconds": 600}
    joined = kiln.serve.Settings(max_batch_size=arguments.batch, max_queue_delay_us=arguments.delay_us, **common)
    apart = kiln.serve.Settings(max_batch_size=0, **common)
    instances = arguments.instances or default_instances(engine.device.partition(":")[0])
    window = 4 * arguments.batch * instances
    rates = {"engine": [], "engine_threads": [], "joined": [], "apart": []}
    models = {"model": engine}
    with kiln.serve.Server(models, settings=joined) as one, kiln.serve.Server(models, settings=apart) as other:
        (version,) = one.repository.versions("model")
        if not version.rules.joins:
            raise SystemExit("the server does not join requests for this model; its log says why")
        for _ in range(arguments.turns):
            rates["engine"].append(engine_alone(engine, arguments.batch, arguments.seconds, 1))
            rates["engine_threads"].append(engine_alone(engine, arguments.batch, arguments.seconds, instances))
            rates["joined"].append(served(one, engine, window, arguments.seconds))
            rates["apart"].append(served(other, engine, 4 * instances, arguments.seconds))
        known = version.statistics.snapshot().batches
        batches = {rows: times.infer.count for rows, times in known.items()}
        stages = {
            name: getattr(known[arguments.batch], name).ns / 1e6 / batches[arguments.batch]
            for name in ("input", "infer", "output")
            if arguments.batch in batches
        }
    found = {name: statistics.median(values) for name, values in rates.items()}
    best = max(found["engine"], found["engine_threads"])
    found |= {"joined_of_engine": found["joined"] / best, "gain": found["joined"] / found["apart"]}
    print(f"engine alone, batch {arguments.batch}, 1 thread:  {found['engine']:9.1f} rows/s")
    print(f"engine alone, {instances} threads:           {found['engine_threads']:9.1f} rows/s")
    print(f"server, requests joined:           {found['joined']:9.1f} rows/s, {found['joined_of_engine']:.3f} of the engine's")
    print(f"server, requests apart:            {found['apart']:9.1f} rows/s; joining gains {found['gain']:.2f}")
    print(f"each turn: { {name: [round(v, 1) for v in values] for name, values in rates.items()} }")
    print(f"runs by batch size: {batches}; ms of a batch of {arguments.batch}: "
          + ", ".join(f"{name} {ms:.3f}" for name, ms in stages.items()))  # fmt: skip
    if arguments.json:
        told = {**found, "rates": rates, "batches": batches, "device": engine.device, "instances": instances, "ms": stages}
        arguments.json.write_text(json.dumps(told, indent=1))
    if found["joined_of_engine"] < arguments.least:
        raise SystemExit(f"the server has {found['joined_of_engine']:.3f} of the engine's rate; {arguments.least} is asked")


if __name__ == "__main__":
    main()
