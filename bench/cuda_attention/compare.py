"""Kiln's attention beside PyTorch's (cuDNN's and FlashAttention) on one GPU, in one run.

    bench/cuda_attention/compare.py build/release/test_backend_cuda [--gtest_filter=...]

Runs the disabled test AttentionRates, which prints what each of our kernels takes, and then times
scaled_dot_product_attention on the same shapes: a CUDA graph of 10 calls, replayed 20 times, the median of 3 such
timings. Prints for each shape our fastest kernel and its speed as a multiple of cuDNN's.
"""
import re
import subprocess
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

PEERS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
SHAPE = re.compile(r"(\d+) x (\d+) heads of (\d+), (\d+) rows(, causal)?")
RATE = re.compile(r"\s+([\d.]+) us\s+[\d.]+ TFLOP/s\s+(.*)")


def ours(program, flags):
    """Shapes as printed, with the time and the name of the fastest kernel."""
    flags = flags or ["--gtest_filter=AttentionOnGpu.*Rates"]
    text = subprocess.run([program, "--gtest_also_run_disabled_tests", *flags], capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        if shape := SHAPE.match(line):
            key = (*map(int, shape.groups()[:4]), shape.group(5) is not None)
        elif (rate := RATE.match(line)) and key not in found:  # sorted, the fastest first
            found[key] = (float(rate.group(1)), rate.group(2).strip())
    return found


def time_us(call, calls=10, replays=20):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    times = []
    for _ in range(3):
        graph.replay()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(replays):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / calls / replays)
    return sorted(times)[1]


def theirs(batch, heads, depth, rows, causal):
    q, k, v = (torch.randn(batch, rows, heads, depth, device="cuda", dtype=torch.float16).transpose(1, 2)
               for _ in range(3))
    result = {}
    for name, backend in PEERS.items():
        with sdpa_kernel(backend):
            result[name] = time_us(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal))
    return result


def main():
    found = ours(sys.argv[1], sys.argv[2:])
    if not found:
        sys.exit("the test printed no rates: is there a GPU?")
    print("| batch x heads, channels, rows | Kiln, us | TFLOP/s | cuDNN, us | flash, us | of cuDNN's speed | kernel |")
    print("|---|---|---|---|---|---|---|")
    for (batch, heads, depth, rows, causal), (us, kernel) in found.items():
        peer = theirs(batch, heads, depth, rows, causal)
        rate = (2 if causal else 4) * batch * heads * rows * rows * depth / us * 1e-6
        print(f"| {batch} x {heads}, {depth}, {rows}{', causal' if causal else ''} | {us:.2f} | {rate:.0f} | "
              f"{peer['cudnn']:.2f} | {peer['flash']:.2f} | {peer['cudnn'] / us:.2f} | {kernel} |")


if __name__ == "__main__":
    main()
