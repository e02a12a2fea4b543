"""Servers and raw requests for the tests of kiln.serve."""

import contextlib
import http.client
import json
import pathlib
import socket
import threading
import time

import kiln_models
import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="kiln.serve needs uvicorn")
pytest.importorskip("starlette", reason="kiln.serve needs starlette")
pytest.importorskip("httptools", reason="kiln.serve needs httptools")
pytest.importorskip("grpc", reason="kiln.serve needs grpcio")
pytest.importorskip("prometheus_client", reason="kiln.serve needs prometheus_client")

import kiln
import kiln.serve

QUICK = {"optimization_level": 0, "tf32": False, "progress": False}


def settings(**changed):
    """Settings with free ports."""
    return kiln.serve.Settings(**{"http_port": 0, "grpc_port": 0, **changed})


def affine_engine(most=8):
    """y = relu(x @ w + b) for batches from 1 to `most`."""
    return kiln.compile(kiln_models.affine()[0], shapes={"x": [(1, 4), (2, 4), (most, 4)]}, **QUICK)


class HeldEngine:
    """An engine whose runs end when `release` is set; the first sets `begun`. A run fails after `seconds`."""

    def __init__(self, engine, seconds):
        self.engine, self.seconds = engine, seconds
        self.begun, self.release = threading.Event(), threading.Event()

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def __call__(self, *arrays):
        self.begun.set()
        assert self.release.wait(self.seconds)
        return self.engine(*arrays)


@contextlib.contextmanager
def serve(models=None, *, repositories=(), **changed):
    """A server that runs."""
    with kiln.serve.Server(models, repositories=repositories, settings=settings(**changed)) as server:
        yield server


class Answer:
    """An answer of HTTP."""

    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]


def request(server, method, path, body=None, headers=None):
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(server.http_address, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return Answer(response, response.read())
    finally:
        connection.close()


def get(server, path):
    return request(server, "GET", path)


def post(server, path, value=None):
    body = value if isinstance(value, (bytes, type(None))) else json.dumps(value).encode()
    return request(server, "POST", path, body)


def input_of(array, name="x", datatype="FP32"):
    """An input with its numbers in JSON."""
    return {"name": name, "datatype": datatype, "shape": list(array.shape), "data": array.reshape(-1).tolist()}


def infer(server, model, *inputs, path="", **fields):
    """POST .../infer with inputs of `input_of`."""
    return post(server, f"/v2/models/{model}{path}/infer", {"inputs": list(inputs), **fields})


def infer_binary(server, model, head, data, headers=None):
    """POST .../infer with the binary extension."""
    text = json.dumps(head).encode()
    all_headers = {"Inference-Header-Content-Length": str(len(text)), **(headers or {})}
    return request(server, "POST", f"/v2/models/{model}/infer", text + data, all_headers)


def split_binary(answer):
    """The JSON and the bytes behind it."""
    size = int(answer.headers["Inference-Header-Content-Length"])
    return json.loads(answer.body[:size]), answer.body[size:]


def connect(server):
    """A plain connection to the HTTP port."""
    host, _, port = server.http_address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def make_model_folder(repository, name, config, versions, suffix="plan"):
    """A model of a repository: config.pbtxt (None for none), and bytes for each version."""
    folder = pathlib.Path(repository) / name
    for version, data in versions.items():
        (folder / str(version)).mkdir(parents=True)
        (folder / str(version) / f"model.{suffix}").write_bytes(data)
    if config is not None:
        (folder / "config.pbtxt").write_text(config)
    return folder


def rows(n, seed=0, width=4):
    return np.random.default_rng(seed).standard_normal((n, width)).astype("f")


def wait_for(condition, seconds=20):
    """Waits until a condition holds; fails where it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
