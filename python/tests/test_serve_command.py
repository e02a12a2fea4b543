"""python -m kiln.serve as a process: flags, logs, signals."""

import http.client
import importlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import types

import pytest
import serving

import kiln_models
from kiln.serve._signals import Signals
from kiln.serve._sources import parse_shapes


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return serving.affine_engine().save(tmp_path_factory.mktemp("plans") / "affine.plan")


class Process:
    """A server in a process; `logs` are the objects of its lines."""

    def __init__(self, *words, command=(sys.executable, "-m", "kiln.serve"), folder=None):
        self.process = subprocess.Popen(
            [*command, "--http-port=0", "--grpc-port=0", *map(str, words)], stderr=subprocess.PIPE, text=True, cwd=folder
        )
        self.logs, self._grew = [], threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            with self._grew:
                self.logs.append(json.loads(line))
                self._grew.notify_all()

    def line(self, start):
        """The first line whose message starts so."""
        find = lambda: next((line for line in self.logs if line["message"].startswith(start)), None)  # noqa: E731
        with self._grew:
            assert self._grew.wait_for(find, 60), self.logs
        return find()

    def __enter__(self):
        ready = self.line("serving")
        self.http_address, self.grpc_address = ready["http"], ready["grpc"]
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stderr.close()


def test_serves_and_stops(plan):
    with Process(plan, f"second={plan}", "--log-requests") as server:
        x = serving.rows(2)
        answer = serving.infer(server, "affine", serving.input_of(x))
        assert answer.status == 200 and serving.infer(server, "second", serving.input_of(x)).status == 200
        line = server.line("request")
        assert line["path"] == "/v2/models/affine/infer" and line["status"] == 200 and line["level"] == "info"
        assert set(line) == {"time", "level", "logger", "message", "method", "path", "status", "ms"}
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
        assert server.line("stopped")["requests_lost"] == 0


@pytest.mark.parametrize("limit, wanted", [("-Sn 300", 2 * 1024 + 256), ("-n 600", 600)])
def test_files_that_may_be_open(plan, limit, wanted):
    """The soft limit is raised as far as the connections of both protocols want; the log says where it is not enough."""
    command = ("bash", "-c", f'ulimit {limit}; exec "$@"', "_", sys.executable, "-m", "kiln.serve")
    with Process(plan, command=command) as server:
        lines = pathlib.Path(f"/proc/{server.process.pid}/limits").read_text().splitlines()
        soft = next(line for line in lines if line.startswith("Max open files")).split()[3]
        assert int(soft) == wanted
        told = [line["message"] for line in server.logs if "files may be open" in line["message"]]
        assert told == ([] if wanted > 600 else [
            "600 files may be open (ulimit -n); 1024 connections of both protocols need 2304"
        ])  # fmt: skip


def test_files_among_the_flags(plan):
    """Wherever they stand."""
    with Process(plan, "--model-control", f"second={plan}", "--max-queue", "7", f"third={plan}") as server:
        ready = {row["name"] for row in serving.post(server, "/v2/repository/index").json if row["state"] == "READY"}
        assert ready == {"affine", "second", "third"}


def test_a_log_of_text(plan):
    """Lines for people have the ports and the fields of requests, too."""
    words = [sys.executable, "-m", "kiln.serve", plan, "--http-port=0", "--grpc-port=none"]
    process = subprocess.Popen([*words, "--log-format=text", "--log-requests"], stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if "serving" in line:
                address = re.search(r' http="(127\.0\.0\.1:\d+)" grpc=null failed=\{\}$', line).group(1)
                connection = http.client.HTTPConnection(address, timeout=30)
                connection.request("GET", "/v2")
                assert connection.getresponse().status == 200
                connection.close()
            elif "request" in line:
                assert re.search(r'INFO kiln\.serve\.access: request method="GET" path="/v2" status=200 ms=[0-9.]+$', line)
                break
        else:
            pytest.fail("there is no line of the request")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_names_repository_and_hangup(plan, tmp_path):
    folder = serving.make_model_folder(tmp_path, "other", None, {1: plan.read_bytes()})
    with Process(plan, "--name", "mine", "--model-repository", tmp_path) as server:
        assert {row["name"] for row in serving.post(server, "/v2/repository/index").json} == {"mine", "other"}
        replaced = folder / "1" / "new"
        model = serving.kiln.compile(kiln_models.affine()[0], shapes={"x": [(1, 4), (2, 4)]}, **serving.QUICK)
        replaced.write_bytes(bytes(model))
        replaced.replace(folder / "1" / "model.plan")
        server.process.send_signal(signal.SIGHUP)
        server.line("model other is ready")
        with server._grew:
            ready = lambda: [line for line in server.logs if line["message"] == "model other is ready"]  # noqa: E731
            assert server._grew.wait_for(lambda: len(ready()) == 2, 30)
        assert serving.get(server, "/v2/models/other/config").json["max_batch_size"] == 2
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 0


def test_polls(plan, tmp_path):
    with Process("--model-repository", tmp_path, "--poll-seconds=0.2", plan) as server:
        serving.make_model_folder(tmp_path, "later", None, {1: plan.read_bytes()})
        server.line("model later is ready")
        assert serving.get(server, "/v2/models/later/ready").status == 200


def test_memory_is_given_back_between_polls(monkeypatch):
    """However often the files are looked at."""
    command = importlib.import_module("kiln.serve._command")
    monkeypatch.setattr(command, "_TRIM_SECONDS", 0.3)
    done = []
    monkeypatch.setattr(command, "_give_back_memory", lambda: done.append("trim"))
    server = types.SimpleNamespace(repository=types.SimpleNamespace(rescan=lambda: done.append("poll")), failure=None)
    signals = Signals()

    def end():
        server.failure = "ended"
        signals.wake()

    timer = threading.Timer(2, end)
    timer.start()
    command._wait(server, signals, 0.05)
    timer.join()
    signals.close()
    assert 2 <= done.count("trim") < done.count("poll")


_ENDS_BY_ITSELF = """
import os, sys
import uvicorn
async def on_tick(self, counter):
    return os.path.exists(sys.argv[-1])
uvicorn.Server.on_tick = on_tick
from kiln.serve.__main__ import main
sys.exit(main(sys.argv[1:-1]))
"""


def test_a_protocol_that_ends_ends_the_process(plan, tmp_path):
    with Process(plan, tmp_path / "end", command=(sys.executable, "-c", _ENDS_BY_ITSELF)) as server:
        (tmp_path / "end").touch()
        assert server.process.wait(30) == 1
        assert "served no longer" in server.line("the server has failed")["message"]


def test_stopped_while_it_loads(tmp_path):
    """A signal ends a build that takes long."""
    path = tmp_path / "long.onnx"
    path.write_bytes(kiln_models.chain(1500).SerializeToString())
    server = Process(path)
    try:
        server.line("building")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
    finally:
        server.__exit__()


_LOADS_FOR_LONG = """
import hashlib, sys
from kiln.serve import _repository, _sources
def open_engine(*arguments):  # as Kiln's code, it lets go of the interpreter's lock and hears no signal
    _sources.log.info("loading for long")
    hashlib.pbkdf2_hmac("sha512", b"x", b"y", 1_000_000)
    _sources.log.info("loaded at last")
    raise ValueError("no engine")
_repository.open_engine = open_engine
from kiln.serve.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_signal_is_heard_while_a_model_is_loaded(plan):
    server = Process(plan, command=(sys.executable, "-c", _LOADS_FOR_LONG))
    try:
        server.line("loading for long")
        server.process.send_signal(signal.SIGTERM)
        server.line("stopping; what is being loaded ends first")
        assert not [line for line in server.logs if line["message"] == "loaded at last"]
        assert server.process.wait(60) == 0
    finally:
        server.__exit__()


@pytest.mark.parametrize("words, status, said", [
    ([], 2, "name a plan, an ONNX file or --model-repository"),
    (["a.plan", "--name", "x", "--name", "y"], 2, "2 --name for 1 files"),
    (["a.plan", "b/a.plan"], 2, "two models are called 'a'"),
    (["a.plan", "--http-port=none", "--grpc-port=none"], 2, "nobody could ask the server"),
    (["nowhere.plan"], 1, "no model could be loaded"),
    (["/usr"], 1, "'/usr' is a folder; --model-repository takes folders of models"),
    (["--model-repository", "nowhere"], 1, "there is no folder 'nowhere'"),
    (["a.plan", "--max-queue=0"], 1, "--max-queue is 0; at least 1 is needed"),
    (["a.plan", "--max-request-mib=0"], 1, "--max-request-mib is 0; at least 1 byte is needed"),
    (["a.plan", "--max-mib-in-flight=1e-9"], 1, "--max-mib-in-flight is 1e-09; at least 1 byte is needed"),
    (["a.plan", "--max-json-mib=0"], 1, "--max-json-mib is 0; at least 1 byte is needed"),
    (["a.plan", "--request-seconds=0"], 1, "--request-seconds is 0; more than 0 is needed: no request would be in time"),
    (["a.plan", "--header-seconds=0"], 1, "--header-seconds is 0; more than 0 is needed"),
    (["a.plan", "--body-seconds=0"], 1, "--body-seconds is 0; more than 0 is needed"),
    (["{onnx}", "--max-shapes=X:4x4"], 1, "shapes are given for ['X'], but the inputs of affine.onnx are ['x']"),
    (["{plan}", "--max-shapes=x:4x4"], 1, "but affine.plan is a plan, whose shapes were decided when it was built; its "
                                          "inputs are 'x' [-1, 4]"),
    (["a.plan", "--max-request-mib=2", "--max-mib-in-flight=1"], 1,
     "--max-request-mib is 2; no request may have more bytes than all together: --max-mib-in-flight allows 1048576 bytes"),
    (["a.plan", "--instances=1000"], 1, "--instances is 1000; --max-instances allows 256"),
    (["a.plan", "--http-port=70000"], 1, "--http-port is 70000; ports end at 65535"),
    (["a.plan", "--grpc-port=-1"], 1, "--grpc-port is -1; it may not be negative"),
    (["a.plan", "--idle-seconds=1e9"], 1, "--idle-seconds is 1000000000; at most 1000000 seconds are possible"),
    (["a.plan", "--max-request-mib=inf"], 2, "argument --max-request-mib: 'inf' is not a number from 0 on"),
    (["a.plan", "--header-seconds=nan"], 2, "argument --header-seconds: 'nan' is not a number from 0 on"),
    (["a.plan", "--http-port=abc"], 2, "argument --http-port: 'abc' is neither a port nor none"),
    (["a.plan", "--min-shapes=x"], 2, "argument --min-shapes: 'x' is not of the form name:1x3x224x224"),
    (["a.plan", "--poll-seconds=-1"], 2, "argument --poll-seconds: '-1' is not a number from 0 on"),
])  # fmt: skip
def test_wrong_words(plan, words, status, said):
    onnx = plan.with_suffix(".onnx")
    onnx.write_bytes(kiln_models.affine()[0].SerializeToString())
    words = [word.format(plan=plan, onnx=onnx) for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "kiln.serve", "--http-port=0", "--grpc-port=0", *words],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == status and said in done.stderr, done.stderr


def test_each_flag_has_words():
    """Those of sizes and times are the settings' own, with flags for the names of others."""
    parser = importlib.import_module("kiln.serve._command")._parser()
    told = {action.option_strings[0]: action.help for action in parser._actions if action.option_strings}
    assert not [flag for flag, words in told.items() if not words or words.startswith("(")]
    assert told["--write-seconds"] == "the time for which a client may stop reading an answer (60 s)"
    assert told["--max-connections"] == "connections of HTTP, and calls of gRPC, at one time (1024)"
    assert told["--max-request-mib"] == (
        "the largest request, decompressed. It may not be above --max-mib-in-flight (64 MiB)"
    )


def test_shapes_are_read():
    for text, found in {
        "": {},
        "x:1x3,y:8": {"x": (1, 3), "y": (8,)},
        "a:0:1x2": {"a:0": (1, 2)},
        "x:": {"x": ()},
        "it's:1x4": {"it's": (1, 4)},
        "'it''s, a:0':2x4,b:3": {"it's, a:0": (2, 4), "b": (3,)},
    }.items():
        assert parse_shapes(text) == found
    for text, said in {
        "x": "'x' is not",
        "x:1,": "'x:1' is not",
        "x:1,y": "'y' is not",
        ":1": "':1' is not",
        "x:1xx2": "'x:1xx2' is not",
        "x:1,x:2": "'x' is named twice",
    }.items():
        with pytest.raises(ValueError, match=said):
            parse_shapes(text)


def test_the_program_kiln_runs_it(plan, tmp_path):
    """It does not run Python files of the folder that it is called in."""
    for name in ("kiln", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the current folder was run')")
    program = pathlib.Path(os.environ.get("KILN_BUILD", "/nowhere")) / "kiln"
    if not program.exists():
        pytest.skip(f"KILN_BUILD has no program kiln ({program})")
    os.environ["KILN_PYTHON"] = sys.executable
    try:
        with Process(plan, command=(program, "serve"), folder=tmp_path) as server:
            assert serving.get(server, "/v2/health/ready").status == 200
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(30) == 0
    finally:
        del os.environ["KILN_PYTHON"]


def test_the_command_of_the_wheel_runs_it():
    program = "import sys; sys.argv[1:] = ['serve', '--help']; from kiln import _commands; _commands.kiln()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("usage: kiln serve"), done.stderr
