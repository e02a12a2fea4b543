"""A cluster of several nodes on this machine, load on it, and replicas that are killed meanwhile.

    python -m serve_ray.soak --model m.onnx --input x --shape 3,224,224 --seconds 600 --clients 50 --kill-every 5

Every request has to be answered, and rightly: the answers are compared with those of an engine in this process.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

BINARY = "Inference-Header-Content-Length"
# How long Serve waits for its own processes before it ends them. Its defaults are of seconds, and nodes that start at
# once on one busy machine take longer.
_PATIENCE = (
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S",
)
_START_S = 300


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _wait_for(port: int, seconds: float) -> None:
    """Returns when a server listens. Raises the connection's error after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=seconds).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(0.5)


@contextlib.contextmanager
def local_cluster(cpus: Sequence[int]) -> Iterator[tuple[Any, int]]:
    """A cluster with a node for each of `cpus`, the head first, and Serve on it: (the cluster, the port of HTTP)."""
    import ray
    from ray import serve
    from ray.cluster_utils import Cluster

    # Workers find what this process finds.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    for name in _PATIENCE:
        os.environ.setdefault(name, str(_START_S))
    memory = 128 << 20
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": cpus[0],
            "object_store_memory": memory,
            "include_dashboard": False,
            # Workers get the priority of their parents: by Ray's default of 15 whatever else runs here would starve them.
            "_system_config": {"enable_worker_prestart": False, "health_check_period_ms": 500, "worker_niceness": 0},
        },
    )
    try:
        for count in cpus[1:]:
            cluster.add_node(num_cpus=count, object_store_memory=memory)
        ray.init(address=cluster.address, log_to_driver=False)
        port = free_port()
        options = {"host": "127.0.0.1", "port": port}
        try:
            serve.start(proxy_location="HeadOnly", http_options=options)
        except TimeoutError:  # after 60 s; the proxy is starting still
            serve.start(proxy_location="HeadOnly", http_options=options)
            _wait_for(port, _START_S)
        yield cluster, port
    finally:
        with contextlib.suppress(Exception):
            serve.shutdown()
        ray.shutdown()
        cluster.shutdown()


def _parent(pid: int) -> int:
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def _is_ours(pid: int) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = _parent(pid)
    return False


def replicas(deployment: str) -> list[int]:
    """Processes of a deployment's replicas in clusters that this process started."""
    # Ray's title of a process: the application, the deployment, and the method that runs.
    wanted = re.compile(rf"ray::ServeReplica:[^:]*:{re.escape(deployment)}(\.\w*|)[\0 ]*$")
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if wanted.match(title.decode(errors="replace")):
            found.append(int(folder.name))
    return [pid for pid in sorted(found) if _is_ours(pid)]


def kill_one(deployment: str) -> int | None:
    """Ends one replica as a crash would (SIGKILL); its process, or None where there is none."""
    found = replicas(deployment)
    if not found:
        return None
    pid = random.choice(found)
    os.kill(pid, signal.SIGKILL)
    return pid


def infer_body(name: str, array: np.ndarray) -> tuple[bytes, dict[str, str]]:
    """A request of KServe v2 with one FP32 input as bytes, all outputs wanted as bytes."""
    tensor = {"name": name, "datatype": "FP32", "shape": array.shape, "parameters": {"binary_data_size": array.nbytes}}
    head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
    return head + array.tobytes(), {BINARY: str(len(head)), "Content-Type": "application/octet-stream"}


class Client:
    """A connection that stays open. `tries` more than 1 repeat what a server's end broke: status 5xx, no answer."""

    def __init__(self, port: int, tries: int = 1):
        self._port, self._tries, self._connection = port, tries, None
        self.repeated = 0

    def ask(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Any:
        """(status, headers, body); (0, {}, the reason) where the connection broke."""
        for left in reversed(range(self._tries)):
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=90)
                self._connection.request(method, path, body, headers or {})
                answer = self._connection.getresponse()
                found = answer.status, answer.headers, answer.read()
            except (OSError, http.client.HTTPException) as failure:
                self.close()
                found = 0, {}, repr(failure).encode()
            if found[0] and found[0] < 500:
                break
            if left:
                self.repeated += 1
                time.sleep(0.2)
        return found

    def infer(self, model: str, name: str, array: np.ndarray) -> tuple[int, Any]:
        """(200, (outputs, who answered)), or a status with the server's words."""
        body, headers = infer_body(name, array)
        status, answered, content = self.ask("POST", f"/v2/models/{model}/infer", body, headers)
        if status != 200:
            return status, content.decode(errors="replace")
        length = int(answered[BINARY])
        head, place, outputs = json.loads(content[:length]), length, {}
        for tensor in head["outputs"]:
            size = tensor["parameters"]["binary_data_size"]
            outputs[tensor["name"]] = np.frombuffer(content[place : place + size], "f4").reshape(tensor["shape"])
            place += size
        told = {"pid": int(answered["Kiln-Pid"]), "rows": int(answered["Kiln-Rows"]), "version": head["model_version"]}
        return status, (outputs, told)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Load:
    """Clients that ask one model again and again, each in a thread, until `stop`.

    check(input, outputs, parameters) says what is wrong with an answer, or None.
    """

    def __init__(
        self, port: int, model: str, name: str, make: Callable, check: Callable, clients: int, tries: int = 1
    ):
        self.answered, self.wrong, self.times, self.pids, self.rows = 0, [], [], set(), []
        self.repeated = 0
        self._lock, self._end = threading.Lock(), threading.Event()
        arguments = (port, model, name, make, check, tries)
        self._threads = [threading.Thread(target=self._ask, args=(i, *arguments), daemon=True) for i in range(clients)]
        for thread in self._threads:
            thread.start()

    def _ask(self, *arguments: Any) -> None:
        try:
            self._ask_again_and_again(*arguments)
        except Exception as failure:  # of an answer that is none, or of a check: a client that ends is a fault
            with self._lock:
                self.wrong.append(f"a client has ended: {type(failure).__name__}: {failure}")

    def _ask_again_and_again(
        self, seed: int, port: int, model: str, name: str, make: Callable, check: Callable, tries: int
    ) -> None:
        client, rng = Client(port, tries), np.random.default_rng(seed)
        while not self._end.is_set():
            array, start = make(rng), time.monotonic()
            status, found = client.infer(model, name, array)
            took = time.monotonic() - start
            fault = f"status {status}: {found}" if status != 200 else check(array, *found)
            with self._lock:
                self.times.append(took)
                if fault:
                    self.wrong.append(fault)
                else:
                    self.answered += 1
                    self.pids.add(found[1]["pid"])
                    self.rows.append(found[1]["rows"])
        with self._lock:
            self.repeated += client.repeated
        client.close()

    def stop(self) -> None:
        """Ends the clients when they have their answers."""
        self._end.set()
        for thread in self._threads:
            thread.join(timeout=120)
            if thread.is_alive():
                self.wrong.append("a client waits for its answer still")

    def summary(self) -> str:
        times = sorted(self.times) or [0.0]
        p50, p99 = statistics.median(times), times[int(0.99 * (len(times) - 1))]
        rows = statistics.fmean(self.rows) if self.rows else 0
        return (
            f"{self.answered} answers, {len(self.wrong)} wrong or refused, {self.repeated} repeated; "
            f"p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms; {rows:.1f} rows a run; "
            f"{len(self.pids)} processes answered"
        )


def close_to(expected: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """A check of single outputs: within 1e-4 of the largest number, as joined runs may sum in another order."""

    def check(array: np.ndarray, outputs: dict[str, np.ndarray], _: dict) -> str | None:
        (found,) = outputs.values()
        wanted = expected(array)
        if found.shape != wanted.shape:
            return f"shape {found.shape}, not {wanted.shape}"
        error = np.abs(found - wanted).max(initial=0)
        return None if error <= 1e-4 * max(np.abs(wanted).max(initial=0), 1) else f"an error of {error}"

    return check


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="an ONNX file of one FP32 input and output; axis 0 is the batch")
    parser.add_argument("--input", default="x", help="the input's name")
    parser.add_argument("--shape", required=True, help="the shape of a row, as 3,224,224")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--kill-every", type=float, default=5, help="seconds between kills; 0: none")
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    options = parser.parse_args()

    import kiln
    from ray import serve

    from .app import build

    row = tuple(int(extent) for extent in options.shape.split(","))
    with contextlib.ExitStack() as stack:
        # The oracle, one run a request. Before the cluster: its processes are not forked from this one.
        single = stack.enter_context(kiln.compile(options.model, shapes={options.input: (1, *row)}))
        name = options.input
        shapes = {name: [(1, *row), (options.batch, *row), (options.batch, *row)]}
        _, port = stack.enter_context(local_cluster([2, 2, 2]))
        model = {
            "name": "model",
            "path": options.model,
            "shapes": shapes,
            "max_batch_size": options.batch,
            "min_replicas": options.replicas,
            "max_replicas": options.replicas,
        }
        serve.run(build({"models": [model], "gateway_cpus": 0.5}), name="soak", route_prefix="/")
        def make(rng: np.random.Generator) -> np.ndarray:
            return rng.random((1, *row), np.float32)

        load = Load(port, "model", name, make, close_to(single), options.clients)
        end, kills = time.monotonic() + options.seconds, 0
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, options.kill_every or left))
            if options.kill_every and time.monotonic() < end and kill_one("model"):
                kills += 1
        load.stop()
        print(f"{options.seconds:g} s, {options.clients} clients, {kills} replicas killed: {load.summary()}")
        for fault in load.wrong[:10]:
            print("  ", fault)
        return 1 if load.wrong or not load.answered else 0


if __name__ == "__main__":
    sys.exit(main())
