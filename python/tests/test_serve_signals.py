"""kiln.serve: signals while the command starts, and loads that the end of the server ends."""

import json
import logging
import signal
import subprocess
import sys
import threading
import time

import kiln_models
import pytest
import serving
from serving import post, wait_for

import kiln.serve

grpc = pytest.importorskip("grpc")

from kiln.serve import _repository  # noqa: E402
from kiln.serve._messages import MESSAGES  # noqa: E402
from kiln.serve._repository import Repository  # noqa: E402

LOAD = "/v2/repository/models/affine/load"

# Runs the command; what stands for {act} is done when it imports the package of its first word.
_WHILE_IT_IMPORTS = """
import os, runpy, signal, sys
watched = sys.argv.pop(1)
class Finder:
    done = False
    def find_spec(self, name, path=None, target=None):
        if name == watched and not Finder.done:
            Finder.done = True
            {act}
sys.meta_path.insert(0, Finder())
if {as_module}:
    runpy.run_module("kiln.serve", run_name="__main__", alter_sys=True)
else:  # as the commands of the wheel and of C++ do
    from kiln.serve.__main__ import main
    sys.exit(main())
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return serving.affine_engine().save(tmp_path_factory.mktemp("plans") / "affine.plan")


@pytest.fixture
def long_file(tmp_path):
    """A file whose build takes long."""
    path = tmp_path / "long.onnx"
    path.write_bytes(kiln_models.chain(1500).SerializeToString())
    return path


def started(act, package, *words, as_module=False):
    program = _WHILE_IT_IMPORTS.format(act=act, as_module=as_module)
    command = [sys.executable, "-c", program, package, "--http-port=0", "--grpc-port=0", "--refuse-seconds=0"]
    return subprocess.Popen([*command, *map(str, words)], stderr=subprocess.PIPE, text=True)


def lines_of(text):
    """Those of the log."""
    return [json.loads(line) for line in text.splitlines()]


# The start.


@pytest.mark.parametrize("package", ["uvicorn", "grpc"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("as_module", [True, False])
def test_a_signal_ends_the_start(plan, name, package, as_module):
    """Also while the server's packages are imported."""
    process = started(f"os.kill(os.getpid(), signal.{name})", package, plan, as_module=as_module)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0, said
    assert [line["message"] for line in lines_of(said)] == ["stopped before the start"]


@pytest.mark.parametrize("as_module", [True, False])
def test_a_hangup_ends_no_start(plan, as_module):
    process = started("os.kill(os.getpid(), signal.SIGHUP)", "uvicorn", plan, as_module=as_module)
    try:
        assert any('"message": "serving 1 models"' in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_package_that_is_missing(plan):
    """It is told, and where it was looked for."""
    process = started("raise ModuleNotFoundError('no module', name='uvicorn')", "uvicorn", plan)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert said == (
        f"kiln serve: kiln.serve needs the package 'uvicorn': pip install \"kiln-inference[serve]\" ({sys.executable})\n"
    )


def test_names_of_the_package():
    """They are loaded when they are first used."""
    program = "import sys, kiln.serve; assert 'uvicorn' not in sys.modules; print(kiln.serve.Server, dir(kiln.serve))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "class 'kiln.serve._server.Server'" in done.stdout, done.stderr
    assert all(name in done.stdout for name in kiln.serve.__all__)
    with pytest.raises(AttributeError, match="module 'kiln.serve' has no attribute 'nothing'"):
        kiln.serve.nothing


def test_a_start_that_a_signal_ends_is_no_fault(plan, long_file):
    """The log says which load was ended, and of no model that it cannot be loaded."""
    words = [sys.executable, "-m", "kiln.serve", f"a={plan}", f"b={long_file}", f"c={plan}", "--http-port=0",
             "--grpc-port=none", "--refuse-seconds=0"]  # fmt: skip
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        first = next(line for line in process.stderr if "building" in line)
        process.send_signal(signal.SIGTERM)
        lines = lines_of(first + process.stderr.read())
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    assert {line["level"] for line in lines} == {"info"}
    told = [line["message"] for line in lines[1:]]
    assert told[:2] == ["stopping; what is being loaded ends first", "the load of b was ended"]
    assert not [words for words in told if words.startswith("serving") or "model c" in words]


def test_a_load_that_fails_by_itself_is_a_fault_while_the_server_stops(tmp_path, monkeypatch, caplog):
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    server = kiln.serve.Server({"broken": tmp_path / "broken.onnx"}, settings=serving.settings())
    opened = _repository.open_engine

    def open_engine(*arguments):
        server.repository.stop_loading()
        return opened(*arguments)

    monkeypatch.setattr(_repository, "open_engine", open_engine)
    with caplog.at_level(logging.INFO, "kiln.serve"), server:
        assert "cannot be loaded" in server.failed["broken"]
    assert [one for one in caplog.records if one.levelno == logging.ERROR]


# Loads that clients ask for.


class Asked:
    """What clients of both protocols are told who ask for a load; it is asked for when this is made."""

    def __init__(self, server):
        self.told, self.seconds = {}, {}
        self._threads = [threading.Thread(target=ask, args=(server,)) for ask in (self._http, self._grpc)]
        for thread in self._threads:
            thread.start()

    def _http(self, server):
        answer = post(server, LOAD)
        self.told["http"] = answer.status, answer.body and answer.error
        self.seconds["http"] = time.monotonic()

    def _grpc(self, server):
        message = MESSAGES["RepositoryModelLoadRequest"](model_name="affine").SerializeToString()
        with grpc.insecure_channel(server.grpc_address) as channel:
            try:
                channel.unary_unary("/inference.GRPCInferenceService/RepositoryModelLoad")(message, timeout=60)
                self.told["grpc"] = grpc.StatusCode.OK, ""
            except grpc.RpcError as failure:
                self.told["grpc"] = failure.code(), failure.details()
        self.seconds["grpc"] = time.monotonic()

    def all_told(self):
        for thread in self._threads:
            thread.join(60)
        return self.told


REFUSED = {"http": (503, "the server stops"), "grpc": (grpc.StatusCode.UNAVAILABLE, "the server stops")}


@pytest.mark.parametrize("call", ["refuse", "stop"])
def test_clients_whose_loads_are_under_way_are_told_at_once(plan, monkeypatch, caplog, call):
    """Though one load cannot be ended for a while, and the other waits for it."""
    opened, release, begun = _repository.open_engine, threading.Event(), threading.Event()
    server = kiln.serve.Server({"affine": plan}, settings=serving.settings(model_control=True)).start()

    def open_engine(*arguments):
        begun.set()
        release.wait(30)
        return opened(*arguments)

    monkeypatch.setattr(_repository, "open_engine", open_engine)
    before = server.repository.find("affine")
    with caplog.at_level(logging.INFO):
        asked = Asked(server)
        assert begun.wait(30)
        time.sleep(0.3)  # the other has come, too
        end = time.monotonic()
        assert getattr(server, call)() in (None, 0)
        assert asked.all_told() == REFUSED
        assert max(asked.seconds.values()) < end + 5
        if call == "refuse":
            assert server.repository.find("affine") is before
        release.set()
        server.stop()
        server._loader.shutdown()
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_a_load_that_ends_after_the_server_was_told_to_stop(plan, monkeypatch):
    """Its client is not told that the model is loaded: nobody can ask it."""
    load = Repository.load

    with serving.serve({"affine": plan}, model_control=True) as server:

        def loads(self, *arguments):
            load(self, *arguments)
            server.refuse()

        monkeypatch.setattr(Repository, "load", loads)
        assert Asked(server).all_told() == REFUSED


def test_a_load_that_fails_is_told(plan, tmp_path):
    """As before, where the server goes on."""
    path = tmp_path / "affine.plan"
    path.write_bytes(plan.read_bytes())
    with serving.serve({"affine": path}, model_control=True) as server:
        assert {kind: code for kind, (code, _) in Asked(server).all_told().items()} == {
            "http": 200, "grpc": grpc.StatusCode.OK
        }  # fmt: skip
        path.write_bytes(b"no plan")
        told = Asked(server).all_told()
        assert told["http"][0] == 400 and "cannot be loaded" in told["http"][1]
        assert told["grpc"][0] is grpc.StatusCode.INVALID_ARGUMENT
        assert not server._ending._waiting


def test_the_end_ends_the_build_of_a_client(long_file, tmp_path):
    """While the ports are open still."""
    repository = tmp_path / "models"
    serving.make_model_folder(repository, "affine", None, {1: long_file.read_bytes()}, "onnx")
    (repository / "affine").rename(tmp_path / "affine")
    words = [sys.executable, "-m", "kiln.serve", f"--model-repository={repository}", "--model-control", "--http-port=0",
             "--grpc-port=0", "--refuse-seconds=20", "--drain-seconds=40"]  # fmt: skip
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        ready = next(json.loads(line) for line in process.stderr if "serving" in line)
        server = type("Addresses", (), {"http_address": ready["http"], "grpc_address": ready["grpc"]})
        (tmp_path / "affine").rename(repository / "affine")
        asked = Asked(server)
        assert any("building" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        line = json.loads(next(line for line in process.stderr))
        assert (line["level"], line["message"]) == ("info", "the load of affine was ended")
        assert asked.all_told() == REFUSED
        wait_for(lambda: serving.get(server, "/v2/health/live").status == 200)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
