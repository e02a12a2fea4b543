"""Many clients, mixed models and shapes, bad requests among them, for a long time: is every answer right, and is the
server's memory the same at the end?

    PYTHONPATH=build/release/python python bench/serve_soak.py [--seconds 600] [--clients 200] [--json FILE]

A server runs in a process of its own. Its models are made here: a network whose requests are joined, one that runs
each request alone, one with shapes other than the batch, one whose output's size data decides, one of FP16. A quarter
of the clients speak gRPC. Some requests are bad and have to fail by the right status, and some clients leave before
their answer. Others send bytes that are not HTTP, stop halfway, or send more at once than a queue has room for
(serve_faults.py). Every 20 s a model's file is replaced and loaded anew. Answers are compared with direct runs: every bit
where requests run alone or the network works element by element, else within a tolerance.
Afterwards shorter runs without bad requests compare requests a second with joining and without. The two take turns, so
that other work on the machine slows both.

Exit status 1 where an answer was wrong, a good request failed, a bad one did not, memory grew, or files and threads
of the server are more behind the soak than before.
"""

import argparse
import asyncio
import collections
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import grpc
import numpy as np
import serve_faults
from onnx import TensorProto, helper, numpy_helper

import kiln
from kiln.serve._messages import MESSAGES

QUICK = {"optimization_level": 1, "tf32": False, "progress": False}
FLOAT, HALF, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
TYPES = {"float32": "FP32", "float16": "FP16", "int64": "INT64"}
_MOST_GROWTH = 0.05  # of the memory between the second and the last quarter
_MOST_GROWTH_BYTES = 8 << 20
_MOST_MORE_FILES = 8
_MOST_MORE_THREADS = 2 * min(32, (os.cpu_count() or 1) + 4) + 4  # each protocol's pool has so many at most, and loads theirs


def model(nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(
        nodes,
        "soak",
        [helper.make_tensor_value_info(*value) for value in inputs],
        [helper.make_tensor_value_info(*value) for value in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def perceptron(width, hidden):
    """Three products: one row reads all weights, so joined rows cost little more."""
    values = np.random.default_rng(3)
    nodes, weights, before, size = [], [], "x", width
    for i, to in enumerate((hidden, hidden, width)):
        weights.append((f"w{i}", (values.standard_normal((size, to)) / np.sqrt(size)).astype("f")))
        nodes.append(helper.make_node("MatMul", [before, f"w{i}"], [f"p{i}"]))
        nodes.append(helper.make_node("Relu", [f"p{i}"], [f"r{i}" if i < 2 else "y"]))
        before, size = f"r{i}", to
    return model(nodes, [("x", FLOAT, ["n", width])], [("y", FLOAT, ["n", width])], weights)


def tanh(kind):
    node = helper.make_node("Tanh", ["x"], ["y"])
    return model([node], [("x", kind, ["n", "k"])], [("y", kind, ["n", "k"])])


class Served:
    """A model of the repository with a pool of inputs and the answers to them."""

    def __init__(self, name, engine, pool, config, exact):
        self.name, self.engine, self.pool, self.config, self.exact = name, engine, pool, config, exact
        self.answers = [np.array(engine(x)) for x in pool]
        self.largest = max(float(np.max(np.abs(y.astype(np.float64)), initial=0)) for y in self.answers)

    def is_right(self, i, y):
        wanted = self.answers[i]
        if y.shape != wanted.shape or y.dtype != wanted.dtype:
            return False
        if self.exact:
            return y.tobytes() == wanted.tobytes()
        # Another batch size may take another kernel, which sums in another order.
        epsilon = float(np.finfo(y.dtype).eps)
        return bool(np.max(np.abs(y.astype(np.float64) - wanted)) <= 64 * epsilon * max(self.largest, 1e-30))


def make_models():
    values = np.random.default_rng(5)
    draw = lambda *shape, dtype="f": values.standard_normal(shape).astype(dtype)  # noqa: E731
    batching = "dynamic_batching { max_queue_delay_microseconds: 1000 }"
    dense = kiln.compile(perceptron(256, 1024), shapes={"x": [(1, 256), (16, 256), (32, 256)]}, **QUICK)
    ranges = {"x": [(1, 1), (4, 64), (16, 512)]}
    wide, half = kiln.compile(tanh(FLOAT), shapes=ranges, **QUICK), kiln.compile(tanh(HALF), shapes=ranges, **QUICK)
    places = kiln.compile(
        model([helper.make_node("NonZero", ["x"], ["y"])], [("x", FLOAT, [16, 16])], [("y", INT64, [2, "k"])]), **QUICK
    )
    sparse = [(values.random((16, 16)) < share).astype("f") for share in (0, 0.02, 0.3, 0.5, 1)]
    rows_and_widths = [(1, 512), (2, 3), (16, 64), (5, 512), (1, 1)]
    return [
        Served("dense", dense, [draw(1 + i % 4, 256) for i in range(24)], f"max_batch_size: 32 {batching}", False),
        Served("alone", dense, [draw(1 + i % 4, 256) for i in range(24)], "instance_group { count: 2 }", True),
        Served("wide", wide, [draw(*s) for s in rows_and_widths], f"max_batch_size: 16 {batching}", True),
        Served("half", half, [draw(*s, dtype="f2") for s in rows_and_widths], f"max_batch_size: 16 {batching}", True),
        Served("places", places, sparse, None, True),
    ]


def make_crowded(dense):
    """The model `dense` with a short queue."""
    return Served(serve_faults.CROWDED, dense.engine, dense.pool, serve_faults.CROWDED_CONFIG, False)


def make_heavy():
    """72 MB of weights: one row reads as much memory as 32 rows do."""
    engine = kiln.compile(perceptron(256, 4096), shapes={"x": [(1, 256), (16, 256), (32, 256)]}, **QUICK)
    pool = [np.random.default_rng(i).standard_normal((1, 256)).astype("f") for i in range(24)]
    return Served("heavy", engine, pool, "max_batch_size: 32 dynamic_batching { }", False)


def write_repository(folder, models):
    for one in models:
        inside = folder / one.name / "1"
        inside.mkdir(parents=True)
        one.engine.save(inside / "model.plan")
        if one.config:
            (folder / one.name / "config.pbtxt").write_text(one.config)


def has_more(before, after):
    """Whether files or threads are more than they may be."""
    return any(now > then + most for then, now, most in zip(before, after, (_MOST_MORE_FILES, _MOST_MORE_THREADS)))


class Process:
    """The server."""

    def __init__(self, repository, *words):
        self._log = tempfile.NamedTemporaryFile(suffix=".log", delete=False)
        command = [sys.executable, "-m", "kiln.serve", "--http-port=0", "--grpc-port=0"]
        command += ["--model-repository", str(repository)]
        self.process = subprocess.Popen([*command, *words], stderr=self._log)
        ready = self._wait_for("serving")
        self.http, self.grpc = ready["http"], ready["grpc"]

    def _wait_for(self, start):
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            for line in pathlib.Path(self._log.name).read_text().splitlines(keepends=True):
                if line.endswith("\n") and json.loads(line)["message"].startswith(start):
                    return json.loads(line)
            time.sleep(0.05)
        raise SystemExit(f"the server does not start: {pathlib.Path(self._log.name).read_text()}")

    def memory(self):
        """Resident bytes."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def files_and_threads(self):
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        return len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir()))

    def files_and_threads_when_settled(self, before, seconds=10):
        """Those that are left when connections have had some time to end."""
        end = time.monotonic() + seconds
        while (found := self.files_and_threads()) and has_more(before, found) and time.monotonic() < end:
            time.sleep(0.2)
        return found

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        lost = self._wait_lost()
        os.unlink(self._log.name)
        return status, lost

    def _wait_lost(self):
        lines = pathlib.Path(self._log.name).read_text().splitlines()
        return next((json.loads(line)["requests_lost"] for line in lines if '"stopped"' in line), None)


class Tally:
    """What happened."""

    def __init__(self):
        self.times = collections.defaultdict(list)
        """Seconds of good requests by protocol and model."""
        self.good = 0
        self.refused = 0
        """Bad requests that got the status which tells so."""
        self.left = 0
        """Clients that left before their answer."""
        self.faults = collections.Counter()
        """What else went wrong and was told so, by kind."""
        self.problems = []

    def problem(self, text):
        if len(self.problems) < 50:
            self.problems.append(text)


def bad_body(datatype, shape, data):
    return json.dumps({"inputs": [{"name": "x", "datatype": datatype, "shape": shape, "data": data}]}).encode()


class HttpClient:
    """A connection that is kept."""

    protocol = "http"

    def __init__(self, address):
        self._host, _, self._port = address.rpartition(":")
        self._reader = self._writer = None

    async def ask(self, path, body, headers=b""):
        """(status, headers, body)"""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, int(self._port), limit=1 << 20)
        head = f"POST {path} HTTP/1.1\r\nhost: soak\r\ncontent-length: {len(body)}\r\n".encode() + headers + b"\r\n"
        self._writer.write(head + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        status = int(answer[9:12])
        fields = dict(line.lower().split(b": ", 1) for line in answer.split(b"\r\n")[1:-2])
        data = await self._reader.readexactly(int(fields[b"content-length"]))
        if fields.get(b"connection") == b"close":
            await self.close()
        return status, fields, data

    async def close(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    async def infer(self, one, x):
        """(y, or None and the error)"""
        size = x.nbytes
        entry = {"name": "x", "datatype": TYPES[x.dtype.name], "shape": x.shape}
        entry["parameters"] = {"binary_data_size": size}
        text = json.dumps({"inputs": [entry], "parameters": {"binary_data_output": True}}).encode()
        header = b"inference-header-content-length: %d\r\n" % len(text)
        status, fields, data = await self.ask(f"/v2/models/{one.name}/infer", text + x.tobytes(), header)
        if status != 200:
            return None, f"{status}: {data[:200]!r}"
        cut = int(fields[b"inference-header-content-length"])
        told = json.loads(data[:cut])["outputs"][0]
        dtype = next(name for name, said in TYPES.items() if said == told["datatype"])
        return np.frombuffer(data[cut:], dtype).reshape(told["shape"]), ""

    BAD = (
        ("/v2/models/dense/infer", b"{", 400),
        ("/v2/models/dense/infer", bad_body("FP32", [1, 3], [1, 2, 3]), 400),
        ("/v2/models/dense/infer", bad_body("BYTES", [1], ["a"]), 400),
        ("/v2/models/dense/infer", bad_body("FP32", [99, 256], []), 400),
        ("/v2/models/nobody/infer", b"{}", 404),
        ("/v2/models/dense/versions/9/infer", b"{}", 404),
        ("/v2/models/dense/infer", b" " * (5 << 20), 413),
    )

    async def ask_badly(self, tally):
        """Counts a bad request that is refused by the right status."""
        path, body, wanted = random.choice(self.BAD)
        status, _, data = await self.ask(path, body)
        if status != wanted or b"error" not in data:
            tally.problem(f"a bad request got {status} for {wanted}: {data[:200]!r}")
        else:
            tally.refused += 1

    async def leave(self, one, x):
        """Sends a part of a request, or all of it, and goes."""
        host_reader, writer = await asyncio.open_connection(self._host, int(self._port))
        body = x.tobytes()
        start = f"POST /v2/models/{one.name}/infer HTTP/1.1"
        head = f"{start}\r\nhost: soak\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        writer.write(head + body[: random.choice((0, len(body) // 2, len(body)))])
        await writer.drain()
        writer.close()
        del host_reader


class GrpcClient:
    """A channel."""

    protocol = "grpc"

    def __init__(self, address):
        self._channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self._call = self._channel.unary_unary(
            "/inference.GRPCInferenceService/ModelInfer",
            lambda message: message.SerializeToString(),
            MESSAGES["ModelInferResponse"].FromString,
        )

    @staticmethod
    def _request(name, x):
        tensor = {"name": "x", "datatype": TYPES[x.dtype.name], "shape": x.shape}
        return MESSAGES["ModelInferRequest"](model_name=name, inputs=[tensor], raw_input_contents=[x.tobytes()])

    async def infer(self, one, x):
        try:
            told = await self._call(self._request(one.name, x), timeout=120)
        except grpc.aio.AioRpcError as failure:
            return None, f"{failure.code()}: {failure.details()}"
        (output,) = told.outputs
        dtype = next(name for name, said in TYPES.items() if said == output.datatype)
        return np.frombuffer(told.raw_output_contents[0], dtype).reshape(output.shape), ""

    async def ask_badly(self, tally):
        name, x, wanted = random.choice(
            (
                ("nobody", np.zeros((1, 256), "f"), grpc.StatusCode.NOT_FOUND),
                ("dense", np.zeros((1, 3), "f"), grpc.StatusCode.INVALID_ARGUMENT),
                ("dense", np.zeros((1, 256), "i8"), grpc.StatusCode.INVALID_ARGUMENT),
                ("dense", np.zeros((6000, 256), "f"), grpc.StatusCode.RESOURCE_EXHAUSTED),
            )
        )
        try:
            await self._call(self._request(name, x), timeout=120)
            tally.problem(f"a bad request of gRPC was answered: {name} {x.shape}")
        except grpc.aio.AioRpcError as failure:
            if failure.code() is not wanted:
                tally.problem(f"a bad request of gRPC got {failure.code()} for {wanted}: {failure.details()}")
            else:
                tally.refused += 1

    async def leave(self, one, x):
        call = self._call(self._request(one.name, x), timeout=120)
        await asyncio.sleep(random.random() / 1000)
        call.cancel()

    async def close(self):
        await self._channel.close()


async def client(i, server, models, end, tally, share_bad, pause):
    one_client = GrpcClient(server.grpc) if i % 4 == 0 else HttpClient(server.http)
    await asyncio.sleep(random.random())
    while time.monotonic() < end:
        model = random.choice(models)
        k = random.randrange(len(model.pool))
        try:
            dice = random.random()
            if dice < share_bad:
                if dice < share_bad * 0.8:
                    await one_client.ask_badly(tally)
                else:
                    await one_client.leave(model, model.pool[k])
                    tally.left += 1
                continue
            started = time.perf_counter()
            y, error = await one_client.infer(model, model.pool[k])
            tally.times[one_client.protocol, model.name].append(time.perf_counter() - started)
            if y is None:
                tally.problem(f"{model.name} {model.pool[k].shape}: {error}")
            elif not model.is_right(k, y):
                tally.problem(f"{model.name} {model.pool[k].shape}: the answer is wrong")
            else:
                tally.good += 1
        except (OSError, asyncio.IncompleteReadError) as failure:
            tally.problem(f"{model.name}: {type(failure).__name__}: {failure}")
            await one_client.close()
        if pause:
            await asyncio.sleep(random.expovariate(1 / pause))
    await one_client.close()


async def misbehave(server, kind, end, tally, crowded):
    """Does one kind of fault again and again."""
    channel = grpc.aio.insecure_channel(server.grpc)
    makers = {"http": lambda: HttpClient(server.http), "grpc": lambda: GrpcClient(server.grpc)}
    clients = [makers[kind.removeprefix("crowd_")]() for _ in range(serve_faults.BURST)] if "crowd" in kind else []
    while time.monotonic() < end:
        count = 1
        if kind == "no_http":
            problem = await serve_faults.send_no_http(server.http)
        elif kind == "halfway":
            problem = await serve_faults.stop_halfway(server.http)
        elif kind == "never_sent":
            problem = await serve_faults.never_send(channel)
        else:
            problem, count = await serve_faults.crowd(clients, crowded)
        if problem is not None:
            tally.problem(problem)
        else:
            tally.faults[kind] += count
        await asyncio.sleep(random.random() / 10)
    for one in (channel, *clients):
        await one.close()


FAULTS = ("no_http", "halfway", "halfway", "never_sent", "never_sent", "crowd_http", "crowd_grpc")
"""The kinds of fault, one client each."""


async def watch(server, repository, models, end, memory):
    """Notes the memory, and replaces a model's file now and then."""
    ticks = 0
    while time.monotonic() < end:
        memory.append(server.memory())
        await asyncio.sleep(1)
        ticks += 1
        if ticks % 20 == 0:
            one = models[ticks // 20 % len(models)]
            # In a thread, so that the clients' own times do not have it.
            await asyncio.to_thread(one.engine.save, repository / one.name / "1" / "model.plan")
            server.process.send_signal(signal.SIGHUP)


# `crowded` is the model with a short queue, of the soak with faults and with models that are loaded anew.
async def run(server, repository, models, clients, seconds, *, share_bad=0.0, pause=0.0, crowded=None):
    tally, memory = Tally(), []
    end = time.monotonic() + seconds
    jobs = [client(i, server, models, end, tally, share_bad, pause) for i in range(clients)]
    if crowded is not None:
        jobs += [misbehave(server, kind, end, tally, crowded) for kind in FAULTS]
        jobs.append(watch(server, repository, models, end, memory))
    await asyncio.gather(*jobs)
    return tally, memory


def percentiles(times, place=None, wanted=None):
    """p50 and p99 in ms: of all times, or of those with `wanted` at a place of their key."""
    ordered = sorted(t for key, some in times.items() if place is None or key[place] == wanted for t in some)
    return {f"p{p}": round(1000 * ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 2) for p in (50, 99)}


def grown(memory):
    """Bytes by which the median of the last quarter is above that of the second."""
    quarter = len(memory) // 4
    return statistics.median(memory[-quarter:]) - statistics.median(memory[quarter : 2 * quarter])


async def measure_gain(folder, seconds, turns, tally):
    """Requests a second of 64 clients with joining and without, in turns of so many seconds; medians."""
    heavy, servers, rates, times = make_heavy(), {}, {}, {}
    try:
        for kind, config in (("joined", heavy.config), ("apart", "max_batch_size: 32")):
            heavy.config = config
            write_repository(folder / kind, [heavy])
            servers[kind] = Process(folder / kind)
            rates[kind], times[kind] = [], collections.defaultdict(list)
        for _ in range(turns):
            for kind, server in servers.items():
                found, _ = await run(server, None, [heavy], 64, seconds)
                rates[kind].append(round(found.good / seconds, 1))
                for key, some in found.times.items():
                    times[kind][key] += some
                tally.problems += found.problems
    finally:
        for server in servers.values():
            server.stop()
    told = {kind: {"requests_per_s": rates[kind], **percentiles(times[kind])} for kind in servers}
    return {**told, "ratio": round(statistics.median(rates["joined"]) / statistics.median(rates["apart"]), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--gain-seconds", type=float, default=6, help="of a turn")
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--pause-ms", type=float, default=0, help="mean time that a client waits between requests")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    models = make_models()
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        repository = pathlib.Path(folder)
        crowded = make_crowded(models[0])
        write_repository(repository, [*models, crowded])
        limits = [f"--header-seconds={serve_faults.HEADER_SECONDS}", f"--body-seconds={serve_faults.BODY_SECONDS}"]
        server = Process(repository, "--max-request-mib=4", *limits)
        try:
            before = server.files_and_threads()
            tally, memory = asyncio.run(
                run(server, repository, models, arguments.clients, arguments.seconds,
                    share_bad=0.1, pause=arguments.pause_ms / 1000, crowded=crowded)
            )  # fmt: skip
            after = server.files_and_threads_when_settled(before)
        finally:
            status, lost = server.stop()
        growth = grown(memory)
        result["soak"] = {
            "seconds": arguments.seconds, "clients": arguments.clients, "good": tally.good,
            "refused": tally.refused, "left": tally.left, "faults": dict(sorted(tally.faults.items())),
            "requests_per_s": round(tally.good / arguments.seconds, 1),
            "ms": {
                **{name: percentiles(tally.times, 1, name) for name in sorted({key[1] for key in tally.times})},
                **{name: percentiles(tally.times, 0, name) for name in ("http", "grpc")},
            },
            "ms_all": percentiles(tally.times),
            "memory_mib": [round(m / 2**20, 1) for m in memory[:: max(1, len(memory) // 20)]],
            "growth_mib": round(growth / 2**20, 2), "files_threads_before": before, "files_threads_after": after,
            "exit_status": status, "requests_lost": lost, "problems": tally.problems,
        }  # fmt: skip
        result["gain"] = asyncio.run(measure_gain(pathlib.Path(folder), arguments.gain_seconds, arguments.turns, tally))
    print(json.dumps(result, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1))
    too_much = growth > max(_MOST_GROWTH * memory[len(memory) // 4], _MOST_GROWTH_BYTES)
    if too_much:
        print(f"memory grew by {growth / 2**20:.1f} MiB", file=sys.stderr)
    leaks = has_more(before, after)
    if leaks:
        print(f"files and threads were {before} and are {after}", file=sys.stderr)
    missing = sorted(kind for kind in {*FAULTS} if not tally.faults[kind])
    if missing:
        tally.problem(f"no fault of these kinds was told: {missing}")
        print(tally.problems[-1], file=sys.stderr)
    sys.exit(1 if tally.problems or too_much or leaks or status != 0 or lost else 0)


if __name__ == "__main__":
    main()
