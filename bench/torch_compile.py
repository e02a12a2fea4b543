"""What torch.compile(backend="kiln") costs beside the engine alone, and beside PyTorch's own compiler, in one run.

    PYTHONPATH=build/release/python python bench/torch_compile.py [--model resnet50 bert_base] [--batch 1 8]
        [--half] [--seconds 3] [--json FILE]

Weights are random. Times are medians of runs of many calls, in milliseconds a call; the ways take turns, so that a
machine that slows down slows all of them. Needs torchvision for resnet50 and transformers for bert_base.
"""

import argparse
import json
import statistics
import time

import torch

import kiln
import kiln.torch

ROUNDS = 7


def resnet50(batch):
    import torchvision

    return torchvision.models.resnet50(weights=None), (torch.rand(batch, 3, 224, 224),)


def bert_base(batch):
    import transformers

    class Hidden(torch.nn.Module):
        """The last hidden state, as a tensor."""

        def __init__(self):
            super().__init__()
            self.bert = transformers.BertModel(transformers.BertConfig())

        def forward(self, ids):
            return self.bert(ids)[0]

    return Hidden(), (torch.randint(0, 30000, (batch, 128)),)


MODELS = {"resnet50": resnet50, "bert_base": bert_base}


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def time_of(call, device, seconds):
    """Milliseconds a call, of calls that are queued one behind the other for some seconds."""
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds or calls < 3:
        call()
        calls += 1
        if calls % 50 == 0:
            wait(device)  # a queue without end would measure the host alone
    wait(device)
    return (time.perf_counter() - start) / calls * 1e3


def ways_of(module, inputs):
    """The calls to compare, by name."""
    options = {"precision": None}
    with torch.no_grad():
        torch._dynamo.reset()
        kiln.torch.last_reports()
        compiled = torch.compile(module, backend="kiln", options=options)
        found = compiled(*inputs)
        (report,) = kiln.torch.last_reports()
        expected = module(*inputs)
        error = ((found - expected).abs().max() / expected.abs().max()).item()
        inductor = torch.compile(module, backend="inductor")
        inductor(*inputs)
    if len(report.engines) != 1:
        raise SystemExit(f"the graph is not one engine: {report}")
    engine = report.engines[0].engine
    ways = {
        "engine": lambda: engine(*inputs),
        "torch.compile, kiln": lambda: compiled(*inputs),
        "torch.compile, inductor": lambda: inductor(*inputs),
        "eager": lambda: module(*inputs),
    }
    return ways, error, (compiled, inductor, report)


def measure(name, batch, half, seconds):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    module, inputs = MODELS[name](batch)
    module = module.eval().to(device, torch.float16 if half else None)
    inputs = tuple(x.to(device, torch.float16 if half and x.is_floating_point() else None) for x in inputs)
    ways, error, kept = ways_of(module, inputs)
    times = {way: [] for way in ways}
    with torch.no_grad():
        for call in ways.values():
            call()
            call()
        wait(device)
        for _ in range(ROUNDS):
            for way, call in ways.items():
                times[way].append(time_of(call, device, seconds / ROUNDS))
    del kept
    medians = {way: statistics.median(found) for way, found in times.items()}
    spread = {way: (max(found) - min(found)) / statistics.median(found) for way, found in times.items()}
    return {
        "model": name,
        "batch": batch,
        "type": "float16" if half else "float32",
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "largest_error": error,
        "ms": medians,
        "spread": spread,
        "of_the_engine": medians["engine"] / medians["torch.compile, kiln"],
        "of_inductor": medians["torch.compile, inductor"] / medians["torch.compile, kiln"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--half", action="store_true", help="weights and floats in FP16")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each way")
    parser.add_argument("--json", help="a file for the results")
    arguments = parser.parse_args()
    results = []
    for name in arguments.model:
        for batch in arguments.batch:
            result = measure(name, batch, arguments.half, arguments.seconds)
            results.append(result)
            print(f"{name}, batch {batch}, {result['type']}, {result['device']}, error {result['largest_error']:.1e}")
            for way, ms in result["ms"].items():
                print(f"  {ms:9.3f} ms  +-{result['spread'][way]:5.1%}  {way}")
            print(f"  {result['of_the_engine']:.3f} of the engine's speed, {result['of_inductor']:.2f} of inductor's", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
