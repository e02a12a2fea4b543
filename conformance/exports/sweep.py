#!/usr/bin/env python3
"""Exports of many kinds with random weights against ONNX Runtime: sweep.py RUN_NETWORK FOLDER [NAME...] [-- FLAG...]

RUN_NETWORK runs the models that are made in FOLDER. NAMEs are parts of names; FLAGs are RUN_NETWORK's. FOLDER gets a
folder a model and results.jsonl, an object a model; runs with FLAGs have a file of their own, results--gpu.jsonl for
--gpu. A model that has a result there is not run again unless it is named. 77, for skipped, where packages are
missing. README.md says what the results mean.
"""

import collections
import contextlib
import glob
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

from command_line import read_command_line

warnings.filterwarnings("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
try:
    import numpy as np
    import onnx
    import onnxruntime
    import torch
    from onnx import numpy_helper

    import sweep_forms
    import sweep_language
    import sweep_other
    import sweep_vision
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

TOLERANCE = 1e-4  # of an output's largest number
TOLERANCES = {"fp16": 3e-2, "bf16": 5e-2, "default": 1e-2}  # by --config, where they are larger
SECONDS = 300  # of processor time for a model's export, and for each run of the program
WAITED_SECONDS = 1800  # for a model in all: what hangs uses no processor time
BYTES = 10 << 30  # of addresses, beside those that the script itself has: a PyTorch for GPUs takes many


class Flat(torch.nn.Module):
    """A module whose inputs are positions and whose outputs are a tuple of tensors, as exporters like them."""

    def __init__(self, module, names):
        super().__init__()
        self.module = module
        self.names = names

    def forward(self, *arrays):
        return tuple(tensors_of(self.module(**dict(zip(self.names, arrays)))))


def tensors_of(result):
    """The tensors within tuples, lists, dicts, dataclasses and caches, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (bool, int, float, str, type(None))):
        return []
    if isinstance(result, dict):
        return [tensor for inner in result.values() for tensor in tensors_of(inner)]
    if isinstance(result, (tuple, list)):
        return [tensor for inner in result for tensor in tensors_of(inner)]
    if hasattr(result, "layers"):
        return [tensor for layer in result.layers for tensor in (layer.keys, layer.values)]
    return tensors_of(vars(result))


def stir(module, gain=1.0):
    """Replaces an initialisation that would make outputs nearly constant, and the statistics of batch norms.

    gain: of a layer, roughly: its outputs' deviation by its inputs'.
    """
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if not parameter.is_floating_point() or parameter.is_meta or not parameter.numel():
                continue
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                parameter.copy_(noise * (gain * parameter[0].numel() ** -0.5))
            else:
                parameter.add_(0.1 * noise)
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(0.1 * torch.randn(buffer.shape, generator=generator))
            elif name.endswith("running_var"):
                buffer.copy_(0.5 + torch.rand(buffer.shape, generator=generator))


def open_axes(sets):
    """The axes whose extents differ between the sets, by input."""
    return {
        name: {
            axis for axis in range(first.dim()) if any(other[name].shape[axis] != first.shape[axis] for other in sets)
        }
        for name, first in sets[0].items()
    }


def export(module, sets, exporter, path):
    """Writes the model; returns how many of the sets it takes: all, or 1 where the exporter fixes the extents."""
    names = list(sets[0])
    flat = Flat(module, names).eval()
    arrays = tuple(sets[0].values())
    axes = open_axes(sets)
    with torch.no_grad():
        outputs = [f"out_{i}" for i in range(len(flat(*arrays)))]
        if exporter == "script":
            open_names = {name: {axis: f"{name}_{axis}" for axis in axes[name]} for name in names if axes[name]}
            how = {"input_names": names, "output_names": outputs, "dynamo": False, "dynamic_axes": open_names}
            try:
                torch.onnx.export(flat, arrays, path, opset_version=17, **how)
            except torch.onnx.errors.OnnxExporterError:  # some operators came later
                torch.onnx.export(flat, arrays, path, opset_version=20, **how)
            return len(sets)
        how = {"input_names": names, "output_names": outputs, "dynamo": True, "external_data": False}
        dynamic = {name: {axis: torch.export.Dim.DYNAMIC for axis in axes[name]} for name in names}
        if any(dynamic.values()):
            with contextlib.suppress(Exception):
                torch.onnx.export(flat, arrays, path, dynamic_shapes=(tuple(dynamic.values()),), **how)
                return len(sets)
        torch.onnx.export(flat, arrays, path, **how)
        return 1


def fixed_axes(path, sets):
    """The open axes, as "input.axis", that are numbers in the file: the exporter could not keep them open."""
    axes = open_axes(sets)
    return [
        f"{given.name}.{axis}"
        for given in onnx.load(path, load_external_data=False).graph.input
        for axis in sorted(axes.get(given.name, ()))
        if given.type.tensor_type.shape.dim[axis].HasField("dim_value")
    ]


def write_data_sets(folder, sets, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    """Writes inputs and ONNX Runtime's outputs of each set; returns how many it runs: a set that it refuses ends them."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(
        os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    wanted = {given.name for given in session.get_inputs()}
    for index, tensors in enumerate(sets):
        arrays = {name: tensor.numpy() for name, tensor in tensors.items() if name in wanted}
        try:
            outputs = session.run(None, arrays)
        except Exception:
            if index == 0:
                raise
            return index
        data_set = os.path.join(folder, f"test_data_set_{index}")
        os.makedirs(data_set, exist_ok=True)
        for part, pairs in (("input", arrays.items()), ("output", zip(names, outputs))):
            for i, (name, array) in enumerate(pairs):
                with open(os.path.join(data_set, f"{part}_{i}.pb"), "wb") as file:
                    file.write(numpy_helper.from_array(np.asarray(array), name).SerializeToString())
    return len(sets)


def run(program, folder, flags, tolerance):
    """(run_network's exit status, its words)"""
    config = [] if "--config" in flags else ["--config", "noTF32"]
    command = [program, folder, *config, *flags, "--level", "0", "--rel-to-max", str(tolerance)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout


def tolerance_of(entry, flags):
    config = flags[flags.index("--config") + 1] if "--config" in flags else "noTF32"
    return max(entry.tolerance or TOLERANCE, TOLERANCES.get(config, 0))


def judge(program, folder, sets, flags, tolerance):
    """(pass, reference, runtime, failed or lost, the program's words); README.md says what each means."""
    code, words = run(program, folder, flags, tolerance)
    if code == 0:
        return "pass", ""
    if code == -signal.SIGXCPU:
        return "lost", f"the program took {SECONDS} s of processor time"
    code, other = run(program, folder, [*flags, "--allow-reference"], tolerance)
    if code == 0:
        return "reference", words
    if code < 0:
        return "failed", f"signal {-code}: {other}"
    with contextlib.suppress(Exception):
        write_data_sets(folder, sets, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        if run(program, folder, [*flags, "--allow-reference"], tolerance)[0] == 0:
            return "runtime", other
    return "failed", other


def attempt(asked, name, entry, exporter):
    """A model's whole way, in a process of its own. Returns the result as an object."""
    folder = os.path.join(asked.folder, name.replace("/", "."))
    path = os.path.join(folder, "model.onnx")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    stage = "not exported"
    try:
        module, sets = entry.make()
        module = module.eval()
        if entry.stirred:
            stir(module, entry.gain)
        if entry.convert:
            module = entry.convert(module)
        if not os.path.exists(path):
            os.makedirs(folder, exist_ok=True)
            taken = export(module, sets, exporter, path)
            if entry.finish:
                entry.finish(path, sets)
        else:
            taken = len([name for name in os.listdir(folder) if name.startswith("test_data_set_")]) or len(sets)
        fixed = fixed_axes(path, sets)
        sets = sets[:taken]
        stage = "not run by ONNX Runtime"
        sets = sets[: write_data_sets(folder, sets)]
    except BaseException as failure:  # exporters raise whatever they like
        last = traceback.extract_tb(failure.__traceback__)[-1]
        text = f"{type(failure).__name__}: {failure}"[:300] + f" ({os.path.basename(last.filename)}:{last.lineno})"
        shutil.rmtree(folder, ignore_errors=True)
        return {"name": name, "status": stage, "words": text}
    began = time.time()
    status, words = judge(asked.program, folder, sets, asked.flags, tolerance_of(entry, asked.flags))
    operators = collections.Counter(node.op_type for node in onnx.load(path, load_external_data=False).graph.node)
    return {
        "name": name,
        "status": status,
        "sets": len(sets),
        "seconds": round(time.time() - began, 1),
        "nodes": sum(operators.values()),
        "fixed": fixed,
        "words": words[-1500:],
    }


def mapped_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def in_child(work):
    """What work() returns, from a forked process that may crash, hang, or take too much time or memory."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reader)
        limit = BYTES + mapped_bytes()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        # Other work on the machine must not decide which models are lost.
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))  # SIGXCPU is told from other ends
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        with os.fdopen(writer, "w") as file:
            json.dump(work(), file)
        os._exit(0)
    os.close(writer)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.alarm(WAITED_SECONDS)
    with os.fdopen(reader) as file:
        text = file.read()
    signal.alarm(0)
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def warm_up():
    """Exports a small module by both exporters: they load much when they are first used, which every model's process
    would do anew."""
    torch.set_num_threads(1)
    module, example = torch.nn.Linear(2, 2).eval(), (torch.zeros(1, 2),)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        for is_new in (True, False):
            torch.onnx.export(module, example, os.path.join(folder, "model.onnx"), dynamo=is_new)


def main():
    asked = read_command_line(__doc__)
    results_path = os.path.join(asked.folder, "-".join(["results", *asked.flags]) + ".jsonl")
    known = {}
    if os.path.exists(results_path):
        with open(results_path) as file:
            known = {result["name"]: result for result in map(json.loads, file)}
    share, shares = map(int, os.environ.get("KILN_SWEEP_SHARE", "0/1").split("/"))
    entries = {**sweep_other.entries(), **sweep_forms.entries(), **sweep_language.entries(), **sweep_vision.entries()}
    jobs = [(f"{name}/{exporter}", entry, exporter) for name, entry in entries.items() for exporter in entry.exporters]
    warm_up()
    results = []
    for index, (name, entry, exporter) in enumerate(jobs):
        if not asked.wants(name) or index % shares != share:
            continue
        if name in known and not asked.chosen:
            results.append(known[name])
            continue
        result = in_child(lambda: attempt(asked, name, entry, exporter))
        if not result:
            made = glob.glob(os.path.join(asked.folder, name.replace("/", "."), "test_data_set_*"))
            words = f"the process died, or took {SECONDS} s of processor time"
            result = {"name": name, "status": "lost" if made else "not exported", "words": words}
        results.append(result)
        with open(results_path, "a") as file:
            file.write(json.dumps(result) + "\n")
        print(
            result["status"].ljust(24),
            name,
            result["words"].strip().splitlines()[-1:] if result["words"] else "",
            flush=True,
        )
    counts = collections.Counter(result["status"] for result in results)
    print(", ".join(f"{count} {status}" for status, count in counts.most_common()))
    print(sum(1 for result in results if result.get("fixed")), "with extents that the exporter fixed, at one set of shapes")
    is_bad = counts["failed"] + counts["lost"] + counts["reference"] or not counts["pass"]
    sys.exit(1 if is_bad else 0)


if __name__ == "__main__":
    main()
