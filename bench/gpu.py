#!/usr/bin/env python3
"""Kiln on an NVIDIA GPU in FP16 beside a peer, in turns on one GPU, with the outputs of measured runs checked.

usage: gpu.py --kiln TRTEXEC --zoo FOLDER [options] [CASE...]

CASE is NAME:EXTENTS, for example resnet50:32 or bert_base:1x128: numbers for the named dimensions of FOLDER/NAME/model.onnx
in their order; without any, all of CASES below. A network is built, a process loads the plan and replays a captured graph
with inputs resident, and the outputs of the last replay are compared with ONNX Runtime's (for a batch: its first and its
last row), which are computed while the network before is measured. With a live peer the two take turns.

  --cache FOLDER     of kernels and timings (default: $KILN_CACHE_DIR, else an empty one); what is there is used
  --again 1          builds once more, to see what the caches save
  --flags=FLAGS      for trtexec's builds, with spaces between them: --flags=--tacticSources=-CUBLAS_LT leaves NVIDIA's
                     libraries out
  --half-io          FP32 inputs and outputs of the network are FP16 at the engine's edge, as they are for torch.compile:
                     caches of keys and values weigh as much as weights do
  --beside FILE      figures of another call (its --out), for the column "other flags"
  --peer SCRIPT      has cases() and measure(), as torch_gpu.py beside README.md's table of peers
  --live CASE,...    these are measured beside SCRIPT's torch.compile, which takes minutes to prepare
  --table README.md  a table of the peer's figures for all other cases; another run's, and marked so
  --blocks N         processes whose median counts, default 1; more for a live peer
  --seconds S        of a block, default 0.4
  --budget S         begins no case later than that, default 1000
  --out FILE         figures as JSON, a case a line
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime

import roofline

OFF_AT_MOST = 3e-2  # of the largest output
# The most important cases come first: a budget cuts off the end.
CASES = (
    "resnet50:1", "bert_base:1x128", "mobilenet_v3_large:1", "vit_b_16:1", "efficientnet_b0:1", "unet_256:1",
    "resnet50:32", "bert_base:8x128", "bert_base:32x128", "resnet50:8", "bert_large:1x384", "vit_b_16:32", "unet_256:8",
    "bert_large:8x384", "convnext_tiny:1", "gpt2:1x64", "mobilenet_v3_large:32", "efficientnet_b0:32",
)
# Our case without its batch: the peer's name for it in its script, and in its table.
PEERS = {
    "resnet50": ("resnet50", "resnet50"),
    "mobilenet_v3_large": ("mobilenet_v3_large", "mobilenet_v3_large"),
    "efficientnet_b0": ("efficientnet_b0", "efficientnet_b0"),
    "unet_256": ("unet_256", "unet_256"),
    "vit_b_16": ("vit_b_16", "vit_b_16"),
    "bert_base:128": ("bert_base_s128", "bert_base, sequence 128"),
    "bert_large:384": ("bert_large_s384", "bert_large, sequence 384"),
    "llama1b_decode:1024": ("llama1b_decode_kv1024", "llama1b decode, cache 1024"),
    "llama1b_prefill": ("llama1b_prefill_512", "llama1b prefill, 512 tokens"),
}


class Case:
    def __init__(self, text, zoo, half_io=False):
        self.text, self.half_io = text, half_io
        self.name, _, extents = text.partition(":")
        self.numbers = [int(number) for number in extents.split("x") if number]
        self.model = os.path.join(zoo, self.name, "model.onnx")
        self.batch = self.numbers[0] if self.numbers else 1
        rest = "x".join(map(str, self.numbers[1:]))
        self.peer = PEERS.get(f"{self.name}:{rest}" if rest else self.name)

    def prepare(self, folder):
        """Inputs on disk, the reference's outputs for two of the rows, and the extents of named dimensions."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, (os.cpu_count() or 1) // 4)  # the others compile meanwhile
        session = onnxruntime.InferenceSession(self.model, options, providers=["CPUExecutionProvider"])
        self.symbols = symbols_of(session.get_inputs(), self.numbers)
        self.folder, self.inputs, self.files, some = folder, {}, {}, {}
        for info in session.get_inputs():
            shape = [self.symbols.get(extent, extent) for extent in info.shape]
            value = random_input(info, shape)
            self.inputs[info.name] = at_the_edge(value, self.half_io)
            self.files[info.name] = os.path.join(folder, f"{len(self.files)}.bin")
            self.inputs[info.name].tofile(self.files[info.name])
            axis = info.shape.index("batch") if "batch" in info.shape else None
            some[info.name] = rows(self.inputs[info.name], axis).astype(value.dtype)
        self.formats = formats_of(session) if self.half_io else []
        # None where the outputs have no batch: then all of it is compared.
        self.outputs = {info.name: (info.shape.index("batch") if "batch" in info.shape else None, value)
                        for info, value in zip(session.get_outputs(), session.run(None, some))}
        return self

    def shapes(self):
        return ",".join(f"{name}:{'x'.join(map(str, value.shape))}" for name, value in self.inputs.items())


def at_the_edge(value, half_io):
    """An input as the engine takes it."""
    return value.astype(np.float16) if half_io and value.dtype == np.float32 else value


def formats_of(session):
    """trtexec's flags for FP16 where the network has FP32."""
    names = {"tensor(float)": "fp16", "tensor(float16)": "fp16", "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(bool)": "bool"}
    lists = (("--inputIOFormats", session.get_inputs()), ("--outputIOFormats", session.get_outputs()))
    return [f"{flag}={','.join(names[info.type] + ':chw' for info in infos)}" for flag, infos in lists]


def symbols_of(inputs, numbers):
    names = list(dict.fromkeys(extent for info in inputs for extent in info.shape if not isinstance(extent, int)))
    if len(names) != len(numbers):
        raise ValueError(f"the named dimensions are {names}, the numbers given {numbers}")
    return dict(zip(names, numbers))


def random_input(info, shape):
    generator = np.random.default_rng([len(shape), *shape])
    if info.type in ("tensor(float)", "tensor(float16)"):
        return generator.standard_normal(shape, np.float32).astype(np.float16 if "16" in info.type else np.float32)
    if "mask" in info.name:
        return np.ones(shape, np.int64)
    return generator.integers(0, 1000, shape).astype(np.int64)


def rows(value, axis):
    """The first and the last along the batch; everything where there is none."""
    if axis is None or value.shape[axis] <= 2:
        return value
    return np.take(value, [0, value.shape[axis] - 1], axis)


class Kiln:
    """trtexec on one case."""

    def __init__(self, program, case, flags):
        self.program, self.case, self.flags = program, case, flags
        self.plan = os.path.join(case.folder, "plan")
        self.times_ms = []

    def call(self, *arguments, cache=None):
        environment = dict(os.environ, KILN_CACHE_DIR=cache) if cache else None
        done = subprocess.run([self.program, *arguments], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)}\n{done.stdout[-3000:]}")
        return done.stdout

    def build(self, cache):
        """Seconds that the build took, without start and parsing."""
        shapes = [f"--{kind}Shapes={self.case.shapes()}" for kind in ("min", "opt", "max")] if self.case.numbers else []
        text = self.call(f"--onnx={self.case.model}", "--fp16", *shapes, f"--saveEngine={self.plan}", "--skipInference",
                         f"--timingCacheFile={cache}/timings", *self.case.formats, *self.flags, cache=cache)
        return float(re.search(r"Engine built in ([0-9.e+-]+) sec", text)[1])

    def block(self, seconds, outputs=None):
        """One process: loads, captures, replays; writes the outputs of the last replay."""
        files = ",".join(f"{name}:{path}" for name, path in self.case.files.items())
        more = [f"--exportOutput={outputs}"] if outputs else []
        if self.case.numbers:
            more.append(f"--shapes={self.case.shapes()}")
        text = self.call(f"--loadEngine={self.plan}", f"--loadInputs={files}", "--useCudaGraph", "--noDataTransfers",
                         "--useSpinWait", "--warmUp=100", f"--duration={seconds}", *more)
        if "CUDA graph capture failed" in text:
            raise RuntimeError(text[-3000:])
        self.times_ms.append(float(re.search(r"GPU Compute Time: .*?median = ([0-9.e+-]+) ms", text)[1]))

    def off_by(self, path):
        """The largest difference from the reference over its largest number."""
        worst = 0.0
        with open(path) as file:
            text = file.read()
        for name, (axis, want) in self.case.outputs.items():
            shape, values = re.search(rf'"name" : {re.escape(json.dumps(name))}\s*, "dimensions" : "([0-9x]*)"'
                                      r'\s*, "values" : \[([^]]*)\]', text).groups()
            found = np.fromstring(values, np.float32, sep=",")  # json takes seconds for millions
            got = rows(found.reshape([int(extent) for extent in shape.split("x")]), axis)
            difference = np.abs(got - want).max() / np.abs(want).max()
            worst = max(worst, float(difference) if np.isfinite(difference) else float("inf"))
        return worst


class Peer:
    """A process that has compiled the peer's module and measures a block when told to."""

    def __init__(self, script, name, batch):
        command = [sys.executable, os.path.abspath(__file__), "--worker", script, name, str(batch)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.prepare_s, self.times_ms = self.read(), []

    def read(self):
        while line := self.process.stdout.readline():
            if line.startswith("= "):
                return float(line[2:])
        raise RuntimeError("the peer failed; see above")

    def block(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.times_ms.append(self.read())

    def end(self):
        """Also after a failure: what it holds of the GPU would disturb the next case."""
        self.process.stdin.close()
        self.process.wait()


def serve_peer(script, name, batch):
    """Peer's other end. The script's own main() is its last line, and not wanted here."""
    with open(script) as file:
        text = file.read().rstrip()
    space = {"__name__": "peer"}
    exec(compile(text.removesuffix("main()"), script, "exec"), space)
    torch = space["torch"]
    make, inputs = next((make, inputs) for case, _, make, inputs in space["cases"]() if case == name)
    with torch.inference_mode():
        model, arguments, start = make().eval().half().to("cuda"), inputs(batch), time.time()
        compiled = torch.compile(model, mode="max-autotune", fullgraph=True)
        for _ in range(3):
            compiled(*arguments)
        torch.cuda.synchronize()
        print("=", time.time() - start, flush=True)
        for _ in sys.stdin:
            print("=", space["measure"](lambda: compiled(*arguments))[0], flush=True)


def read_table(path):
    """(row, batch): the milliseconds of torch.compile."""
    found = {}
    with open(path) as file:
        for line in file:
            cells = [cell.strip(" *") for cell in line.split("|")[1:-1]]
            if len(cells) != 5 or not re.match(r"\d", cells[1]):
                continue
            for batch, ms in zip(cells[1].split("/"), cells[3].split("/")):
                if re.fullmatch(r"\s*[0-9.]+\s*", ms):
                    found[cells[0], int(batch)] = float(ms)
    return found


def measure(case, options, table, cache):
    """The figures of a case that is prepared."""
    if case.text not in options.live.split(","):
        return measure_beside(None, case, options, table, cache)
    peer = Peer(options.peer, case.peer[0], case.batch)  # before the build: its tuning takes all cores
    try:
        return measure_beside(peer, case, options, table, cache)
    finally:
        peer.end()


def measure_beside(peer, case, options, table, cache):
    """The same with a live peer, or None."""
    kiln = Kiln(options.kiln, case, options.flags.split())
    result = {"case": case.text, "flags": options.flags, "half_io": options.half_io, "build_s": kiln.build(cache)}
    if options.again:
        result["build_again_s"] = kiln.build(cache)
    path = os.path.join(case.folder, "outputs.json")
    for block in range(options.blocks):
        kiln.block(options.seconds, path if block + 1 == options.blocks else None)
        if peer:
            peer.block()
    result |= {"kiln_ms": statistics.median(kiln.times_ms), "kiln_blocks_ms": kiln.times_ms, "off_by": kiln.off_by(path)}
    if peer:
        result |= {"peer_ms": statistics.median(peer.times_ms), "peer_blocks_ms": peer.times_ms,
                   "peer_prepared_s": peer.prepare_s, "peer_from": "this run"}
    elif case.peer and (case.peer[1], case.batch) in table:
        result |= {"peer_ms": table[case.peer[1], case.batch], "peer_from": "table"}
    try:
        work = roofline.work_of(case.model, case.symbols)
        result |= {"gflop": work.flops / 1e9, "megabytes": work.bytes / 1e6, "roofline_ms": work.ms}
    except ValueError as why:
        result["roofline_unknown"] = str(why)
    return result


HEAD = ("case", "Kiln, ms", "other flags, ms", "torch.compile, ms", "times as fast", "GFLOP", "MB", "roofline, ms",
        "its share", "built, s", "again, s", "off by")


def row_of(r, beside):
    def number(key, digits=3):
        return f"{r[key]:.{digits}f}" if key in r else "-"
    has_peer = "peer_ms" in r
    peer = number("peer_ms") + (" *" if r.get("peer_from") == "table" else "")
    times = f"{r['peer_ms'] / r['kiln_ms']:.2f}" if has_peer else "-"
    share = f"{100 * r['roofline_ms'] / r['kiln_ms']:.0f} %" if "roofline_ms" in r else "-"
    other = f"{beside[r['case']]:.3f}" if r["case"] in beside else "-"
    return (r["case"], number("kiln_ms"), other, peer, times, number("gflop", 2), number("megabytes", 1),
            number("roofline_ms"), share, number("build_s", 1), number("build_again_s", 1), f"{r['off_by']:.1e}")


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def parse_options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES)
    for name in ("--kiln", "--zoo"):
        parser.add_argument(name, required=True)
    for name, default in (("--peer", ""), ("--live", ""), ("--table", ""), ("--flags", ""), ("--beside", ""),
                          ("--cache", os.environ.get("KILN_CACHE_DIR", "")), ("--out", os.devnull)):
        parser.add_argument(name, default=default)
    parser.add_argument("--half-io", action="store_true")
    for name, default in (("--again", 0), ("--blocks", 1)):
        parser.add_argument(name, type=int, default=default)
    for name, default in (("--seconds", 0.4), ("--budget", 1000)):
        parser.add_argument(name, type=float, default=default)
    return parser.parse_args()


def main():
    options, start, failures = parse_options(), time.time(), []
    table = read_table(options.table) if options.table else {}
    beside = {}
    if options.beside:
        with open(options.beside) as file:
            beside = {r["case"]: r["kiln_ms"] for r in map(json.loads, file)}
    print_row(HEAD)
    print("|" + "---|" * len(HEAD), flush=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool, open(options.out, "a") as out:
        cache = options.cache or os.path.join(folder, "cache")
        os.makedirs(cache, exist_ok=True)

        def prepare(i):
            here = os.path.join(folder, str(i))
            os.mkdir(here)
            return Case(options.cases[i], options.zoo, options.half_io).prepare(here)

        following = pool.submit(prepare, 0)
        for i, text in enumerate(options.cases):
            if time.time() - start > options.budget:
                print(f"{', '.join(options.cases[i:])}: not measured, the budget is spent")
                break
            this = following
            try:
                case = this.result()
                following = pool.submit(prepare, i + 1) if i + 1 < len(options.cases) else None
                result = measure(case, options, table, cache)
                print(json.dumps(result), file=out, flush=True)
                print_row(row_of(result, beside))
                if result["off_by"] > OFF_AT_MOST:
                    failures.append(f"{text} is {result['off_by']:.2g} of the largest output off")
                shutil.rmtree(case.folder)
            except Exception as why:  # the others' figures are wanted all the same
                failures.append(f"{text}: {why}")
                if following is this:
                    following = pool.submit(prepare, i + 1) if i + 1 < len(options.cases) else None
    if table:
        print("* of another run, from the table")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        serve_peer(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
