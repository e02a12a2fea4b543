#!/usr/bin/env python3
"""Kiln on an NVIDIA GPU in FP16 beside a peer, in turns on one GPU, with the outputs of measured runs checked.

usage: gpu.py --kiln TRTEXEC --zoo FOLDER [options] CASE...

CASE is NAME:EXTENTS, for example resnet50:32 or bert_base:1x128: numbers for the named dimensions of FOLDER/NAME/model.onnx
in their order. Each is built with empty caches (kernels and timings), with the caches which that left, and without
NVIDIA's libraries. Blocks of replays of a captured graph, inputs resident, then take turns: Kiln, Kiln without
libraries, the peer. Outputs of the last block are compared with ONNX Runtime's: the first and the last row of a batch.

  --peer SCRIPT      has cases() and measure(), as torch_gpu.py beside README.md's table of peers
  --live CASE,...    these are measured beside SCRIPT's torch.compile, which takes minutes to prepare
  --table README.md  a table of the peer's figures for all other cases; another run's, and marked so
  --blocks N         default 3
  --seconds S        a block's duration, default 0.4
  --own 0            leaves out the build without NVIDIA's libraries
  --flags=FLAGS      for trtexec's other builds, with spaces between them
  --out FILE         figures as JSON, a case a line
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

import roofline

OFF_AT_MOST = 3e-2  # of the largest output
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
    def __init__(self, text, zoo):
        self.text = text
        self.name, _, extents = text.partition(":")
        self.numbers = [int(number) for number in extents.split("x") if number]
        self.model = os.path.join(zoo, self.name, "model.onnx")
        self.batch = self.numbers[0] if self.numbers else 1
        rest = "x".join(map(str, self.numbers[1:]))
        self.peer = PEERS.get(f"{self.name}:{rest}" if rest else self.name)

    def prepare(self, folder):
        """Inputs on disk, the reference's outputs for two of the rows, and the extents of named dimensions."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = os.cpu_count()
        session = onnxruntime.InferenceSession(self.model, options, providers=["CPUExecutionProvider"])
        self.symbols = symbols_of(session.get_inputs(), self.numbers)
        self.inputs, self.files, some = {}, {}, {}
        for info in session.get_inputs():
            shape = [self.symbols.get(extent, extent) for extent in info.shape]
            self.inputs[info.name] = random_input(info, shape)
            self.files[info.name] = os.path.join(folder, f"{len(self.files)}.bin")
            self.inputs[info.name].tofile(self.files[info.name])
            some[info.name] = rows(self.inputs[info.name], info.shape.index("batch") if "batch" in info.shape else None)
        self.outputs = {info.name: (info.shape.index("batch") if "batch" in info.shape else None, value)
                        for info, value in zip(session.get_outputs(), session.run(None, some))}

    def shapes(self):
        return ",".join(f"{name}:{'x'.join(map(str, value.shape))}" for name, value in self.inputs.items())


def symbols_of(inputs, numbers):
    names = list(dict.fromkeys(extent for info in inputs for extent in info.shape if not isinstance(extent, int)))
    if len(names) != len(numbers):
        sys.exit(f"the named dimensions are {names}, the numbers given {numbers}")
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
    """trtexec with one choice of tactics."""

    def __init__(self, program, case, folder, label, flags=()):
        self.program, self.case, self.folder, self.flags = program, case, folder, list(flags)
        self.plan = os.path.join(folder, f"{label}.plan")
        self.times_ms = []

    def call(self, *arguments, cache=None):
        environment = dict(os.environ, KILN_CACHE_DIR=cache) if cache else None
        done = subprocess.run([self.program, *arguments], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(arguments)}\n{done.stdout[-3000:]}")
        return done.stdout

    def build(self, cache):
        """Seconds that the build took, without start and parsing."""
        shapes = [f"--{kind}Shapes={self.case.shapes()}" for kind in ("min", "opt", "max")] if self.case.numbers else []
        text = self.call(f"--onnx={self.case.model}", "--fp16", *shapes, f"--saveEngine={self.plan}", "--skipInference",
                         f"--timingCacheFile={cache}/timings", *self.flags, cache=cache)
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
            sys.exit(text[-3000:])
        self.times_ms.append(float(re.search(r"GPU Compute Time: .*?median = ([0-9.e+-]+) ms", text)[1]))

    def off_by(self, path):
        """The largest difference from the reference over its largest number."""
        worst = 0.0
        with open(path) as file:
            found = {output["name"]: output for output in json.load(file)}
        for name, (axis, want) in self.case.outputs.items():
            shape = [int(extent) for extent in found[name]["dimensions"].split("x")]
            got = rows(np.array(found[name]["values"], np.float32).reshape(shape), axis)
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
        sys.exit("the peer failed; see above")

    def block(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.times_ms.append(self.read())


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


def measure(case, options, table):
    live = case.text in options.live.split(",")
    peer = Peer(options.peer, case.peer[0], case.batch) if live else None  # before builds: its tuning takes all cores
    with tempfile.TemporaryDirectory() as folder:
        case.prepare(folder)
        full = Kiln(options.kiln, case, folder, "full", options.flags.split())
        cache = os.path.join(folder, "cache")
        os.mkdir(cache)
        result = {"case": case.text, "build_cold_s": full.build(cache), "build_warm_s": full.build(cache)}
        own = Kiln(options.kiln, case, folder, "own", ["--tacticSources=-CUBLAS_LT,-CUDNN"])
        sides = {"kiln": full} | ({"own": own} if options.own else {})
        if options.own:
            own.build(cache)
        path = os.path.join(folder, "outputs.json")
        for block in range(options.blocks):
            is_last = block + 1 == options.blocks
            for label, side in sides.items():
                side.block(options.seconds, path if is_last else None)
                if is_last:
                    result[f"{label}_off_by"] = side.off_by(path)
            if peer:
                peer.block()
        for label, side in sides.items():
            result[f"{label}_ms"] = statistics.median(side.times_ms)
            result[f"{label}_blocks_ms"] = side.times_ms
    if peer:
        result |= {"peer_ms": statistics.median(peer.times_ms), "peer_blocks_ms": peer.times_ms,
                   "peer_prepared_s": peer.prepare_s, "peer_from": "this run"}
        peer.process.stdin.close()
    elif case.peer and (case.peer[1], case.batch) in table:
        result |= {"peer_ms": table[case.peer[1], case.batch], "peer_from": "table"}
    try:
        work = roofline.work_of(case.model, case.symbols)
        result |= {"gflop": work.flops / 1e9, "megabytes": work.bytes / 1e6, "roofline_ms": work.ms}
    except ValueError as why:
        result["roofline_unknown"] = str(why)
    return result


def print_row(r):
    def number(key, digits=3):
        return f"{r[key]:.{digits}f}" if key in r else "-"
    peer = "-" if "peer_ms" not in r else f"{r['peer_ms']:.3f}" + ("" if r["peer_from"] == "this run" else " *")
    times = f"{r['peer_ms'] / r['kiln_ms']:.2f}" if "peer_ms" in r else "-"
    share = f"{100 * r['roofline_ms'] / r['kiln_ms']:.0f} %" if "roofline_ms" in r else "-"
    worst = max(r["kiln_off_by"], r.get("own_off_by", 0))
    print(f"| {r['case']} | {number('kiln_ms')} | {number('own_ms')} | {peer} | {times} | {number('gflop', 2)} | "
          f"{number('megabytes', 1)} | {number('roofline_ms')} | {share} | {number('build_cold_s', 1)} | "
          f"{number('build_warm_s', 1)} | {worst:.1e} |", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("cases", nargs="+")
    for name in ("--kiln", "--zoo"):
        parser.add_argument(name, required=True)
    for name, default in (("--peer", ""), ("--live", ""), ("--table", ""), ("--flags", ""), ("--out", os.devnull)):
        parser.add_argument(name, default=default)
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--own", type=int, default=1)
    options = parser.parse_args()
    table = read_table(options.table) if options.table else {}
    print("| case | Kiln, ms | without libraries | torch.compile | times as fast | GFLOP | MB | roofline, ms | share | "
          "built cold, s | warm | off by |\n|" + "---|" * 12, flush=True)
    wrong = []
    with open(options.out, "a") as out:
        for text in options.cases:
            result = measure(Case(text, options.zoo), options, table)
            print(json.dumps(result), file=out, flush=True)
            print_row(result)
            if max(result["kiln_off_by"], result.get("own_off_by", 0)) > OFF_AT_MOST:
                wrong.append(text)
    if table:
        print("* of another run, from the table")
    if wrong:
        sys.exit(f"further from ONNX Runtime than {OFF_AT_MOST} of the largest output: {', '.join(wrong)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        serve_peer(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
