#!/usr/bin/env python3
"""Random networks through Kiln, against ONNX Runtime's outputs. Prints what failed, and steps that ran by reference.

usage: random_networks.py PROGRAM FIRST:LAST [--keep FOLDER] [--of FILE] [FLAG...]

PROGRAM is run_networks, FIRST:LAST the seeds (the same network for a seed, with the same versions of numpy and ONNX
Runtime). --keep leaves the networks in FOLDER, by seed. --of makes them of the parts in one file alone, such as
doubles. FLAGs go to the program: --config, --level, --gpu, ...
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ProcessPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from gpu import absent_gpu  # noqa: E402


def write_networks(seeds, folder, of):
    import blocks  # noqa: F401
    import bodies  # noqa: F401
    import broadcasts  # noqa: F401
    import cells  # noqa: F401
    import constants  # noqa: F401
    import doubles  # noqa: F401
    import growing  # noqa: F401
    import lists  # noqa: F401
    import networks
    import operators
    import quantized  # noqa: F401

    parts = {part: weight for part, weight in operators.OPERATORS.items() if of in (None, part.__module__)}
    return [seed for seed in seeds if succeeds(lambda: networks.generate(seed, f"{folder}/{seed:06}", parts))]


def succeeds(function):
    """In a process of its own: ONNX Runtime crashes on some nodes instead of refusing them."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if function() else 1)
        except BaseException:
            traceback.print_exc()
            os._exit(2)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 2:
        sys.exit("the generator failed")
    return status == 0


def write_all(first, last, folder, of, processes):
    with ProcessPoolExecutor(processes) as pool:
        shares = [range(first + i, last, processes) for i in range(processes)]
        return sum(len(seeds) for seeds in pool.map(write_networks, shares, [folder] * processes, [of] * processes))


def is_reference(tactic):
    return tactic == "reference" or tactic.startswith("reference:")


def report(lines):
    """Prints what failed; whether all passed."""
    cases = [json.loads(line) for line in lines]
    failed = sorted((case for case in cases if case["status"] != "pass"), key=lambda case: case["case"])
    for case in failed:
        print(f"FAILED {case['case']}: {case['reason'][:600]}")
    by_reference = collections.Counter(tactic for case in cases for tactic in case["tactics"] if is_reference(tactic))
    steps = sum(len(case["tactics"]) for case in cases)
    print(f"{len(cases)} networks, {steps} steps ({by_reference.total()} by reference): {len(failed)} networks failed")
    return not failed


def taken(flags, name):
    """The word behind a flag, both removed; None without it."""
    if name not in flags:
        return None
    at = flags.index(name)
    word = flags[at + 1]
    del flags[at : at + 2]
    return word


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 2 or ":" not in arguments[1]:
        sys.exit(__doc__)
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError:
        print("SKIP: onnx and onnxruntime are not installed; './dev venv' does")
        return 77
    if "--gpu" in arguments and absent_gpu():
        print("SKIP: no GPU:", absent_gpu())
        return 77
    program, (first, last), flags = arguments[0], map(int, arguments[1].split(":")), arguments[2:]
    keep, of = taken(flags, "--keep"), taken(flags, "--of")
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or temporary
        workers = int(flags[flags.index("--workers") + 1]) if "--workers" in flags else 2
        written = write_all(first, last, folder, of, workers)
        print(f"{written} networks of {last - first} seeds")
        result = subprocess.run([program, folder, *flags], stdout=subprocess.PIPE, text=True)
        if result.returncode not in (0, 1):
            sys.exit(f"{program} ended with {result.returncode}")
        lines = result.stdout.splitlines()
        fine = report(lines)
    return 0 if fine and len(lines) >= written > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
