"""What the scripts share that write models, have run_networks run them, and judge what it says."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from gpu import absent_gpu


def parse_arguments(usage, programs):
    """The command line after the script: `programs` paths, names, --keep FOLDER, and flags of run_networks behind "--".

    Returns (paths, names, folder or None, flags). Exits with the usage where paths are missing, and with 77, for skipped,
    where --gpu is among the flags and there is none.
    """
    arguments = sys.argv[1:]
    flags = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    arguments = arguments[: arguments.index("--")] if "--" in arguments else arguments
    keep = arguments[arguments.index("--keep") + 1] if "--keep" in arguments else None
    if keep:
        del arguments[arguments.index("--keep"): arguments.index("--keep") + 2]
    if len(arguments) < programs:
        sys.exit(usage)
    if "--gpu" in flags and absent_gpu():
        print("SKIP: no GPU:", absent_gpu())
        sys.exit(77)
    return arguments[:programs], arguments[programs:], keep, flags


def peaks_of(data_sets):
    """The largest magnitude of each output over all data sets."""
    peaks = {}
    for _, outputs in data_sets:
        for name, array in outputs.items():
            peaks[name] = max(peaks.get(name, 0.0), float(np.abs(np.asarray(array, np.float64)).max(initial=0)))
    return peaks


def bounds_of(peak, single):
    """What an output may differ by: `single` of its peak and as much again (of 1, beyond) without TF32, more in halves.

    It stays below the peak, so that an output of zeros passes nowhere.
    """
    size = peak + min(peak, 1)
    return {"single": single * size, "half": 1e-2 * size, "bf16": 5e-2 * size}


def write_model(folder, model, data_sets, bounds):
    """What run_networks reads: the model, its data sets (inputs and outputs, arrays by name), and bounds by output."""
    os.makedirs(folder)
    onnx.save(model, os.path.join(folder, "model.onnx"))
    for number, data_set in enumerate(data_sets):
        data = os.path.join(folder, f"test_data_set_{number}")
        os.makedirs(data)
        for what, arrays in zip(("input", "output"), data_set):
            for i, (name, array) in enumerate(arrays.items()):
                with open(os.path.join(data, f"{what}_{i}.pb"), "wb") as file:
                    file.write(onnx.numpy_helper.from_array(np.asarray(array), name).SerializeToString())
    with open(os.path.join(folder, "bounds.json"), "w") as file:
        json.dump(bounds, file)


def engine_layers(trtexec, folder, *flags):
    """The layers of a model's engine as the inspector has them. RuntimeError with trtexec's words where none is built."""
    path = os.path.join(folder, "layers.json")
    command = [trtexec, f"--onnx={os.path.join(folder, 'model.onnx')}", f"--exportLayerInfo={path}", "--profilingVerbosity=detailed",
               "--skipInference", *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout[-400:])
    with open(path) as file:
        return json.load(file)["Layers"]


def compare(usage, all_names, write, fault_of=None):
    """A script's whole run: writes each model, has run_networks run it, and judges. Returns the exit status.

    write(folder, name) writes a model into a folder that does not exist yet; fault_of(trtexec, folder, name), where it is
    given, says what is wrong with its engine's layers, or nothing. It is not asked on a GPU, whose builds take long.
    """
    (run_networks, *trtexec), names, keep, flags = parse_arguments(usage, 2 if fault_of else 1)
    names = names or list(all_names)
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in names:
            folder = os.path.join(keep or temporary, name)
            write(folder, name)
            if not fault_of or "--gpu" in flags:
                continue
            try:
                fault = fault_of(*trtexec, folder, name)
            except RuntimeError as failure:
                fault = str(failure)
            if fault:
                wrong.append(f"{name}: {fault}")
        cases, end = run_all(run_networks, keep or temporary, flags)
    return judge(cases, names, wrong, end)


def run_all(run_networks, folder, flags):
    """What run_networks says of each model in the folder, one object a case, and its exit status."""
    result = subprocess.run([run_networks, folder, *flags], stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in result.stdout.splitlines()], result.returncode


def judge(cases, names, wrong, end):
    """Prints what is wrong, with what else was found to be, and the count of it. Returns the exit status.

    A model of which run_networks said nothing is a failure too, as where it crashed; `end` is its exit status.
    """
    failed = [f"{case['case']}: {case['reason'][:600]}" for case in cases if case["status"] != "pass"]
    said = {case["case"] for case in cases}
    unsaid = [f"{name}: run_networks, which exited with {end}, did not come to it" for name in names if name not in said]
    if end and not failed and not unsaid:
        unsaid = [f"run_networks exited with {end} behind its last model"]
    for text in [*wrong, *failed, *unsaid]:
        print("FAILED", text)
    print(f"{len(cases)} models: {len(wrong) + len(failed) + len(unsaid)} failed")
    return 1 if wrong or failed or unsaid else 0
