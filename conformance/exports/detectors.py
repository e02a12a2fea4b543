#!/usr/bin/env python3
"""torchvision's detectors with random weights against ONNX Runtime: detectors.py TRTEXEC FOLDER [NAME...] [-- FLAG...]

TRTEXEC runs the models that are made in FOLDER. FLAGs are trtexec's. 77, for skipped, where packages are missing.
"""
import json
import os
import subprocess
import sys
import tempfile
import warnings

from command_line import read_command_line

try:
    import numpy as np
    import onnxruntime
    import torch
    import torchvision.models.detection as detection
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

SIZE = 160
RCNN = {"min_size": SIZE, "max_size": SIZE, "box_score_thresh": 0.0, "rpn_pre_nms_top_n_test": 200,
        "rpn_post_nms_top_n_test": 100}
DENSE = {"min_size": SIZE, "max_size": SIZE, "score_thresh": 0.0, "topk_candidates": 300, "num_classes": 11}
NETWORKS = {
    "fasterrcnn_resnet50_fpn": {**RCNN, "num_classes": 11},
    "maskrcnn_resnet50_fpn": {**RCNN, "num_classes": 11},
    "keypointrcnn_resnet50_fpn": RCNN,
    "retinanet_resnet50_fpn": DENSE,
    "fcos_resnet50_fpn": DENSE,
    "ssdlite320_mobilenet_v3_large": {"score_thresh": 0.0, "num_classes": 11},
}
HEADS = ("cls_logits", "cls_score", "bbox_pred", "bbox_reg", "bbox_ctrness", "classification_head", "regression_head",
         "mask_fcn_logits", "kps_score")
NUM_SETS = 4
# Of an output's largest number. These random weights amplify rounding: with and without its optimisations, ONNX Runtime
# differs from itself by 2e-4 of Mask R-CNN's masks.
TOLERANCE = 1e-3
# Part of the detections that may be others, because a selection stood at its threshold: noise of 3e-5 in the image does
# that to ONNX Runtime too.
MOST_FLIPPED = 0.05


def image(size, seed):
    return torch.rand(3, size, size, generator=torch.Generator().manual_seed(seed))


def with_telling_heads(network, size):
    """Random heads say nearly the same everywhere: gives their weights a scale at which scores and boxes differ."""
    generator = torch.Generator().manual_seed(1)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.train()
            module.momentum = 1.0
        elif hasattr(module, "running_var"):  # frozen
            module.running_mean.normal_(0, 0.1, generator=generator)
            module.running_var.uniform_(0.5, 1.5, generator=generator)
    scaled = set()

    def scale(goal):
        def before_forward(module, inputs):
            if module in scaled:
                return
            scaled.add(module)
            module.weight.normal_(0, 1, generator=generator)
            spread = 3.0
            if module.weight.dim() == 2:
                spread = torch.nn.functional.linear(inputs[0], module.weight).std()
            elif module.groups == 1:
                spread = torch.nn.functional.conv2d(inputs[0], module.weight).std()
            module.weight.mul_(goal / spread)
        return before_forward

    handles = []
    for name, module in network.named_modules():
        if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)) and any(head in name for head in HEADS):
            is_box = "bbox" in name or "regression" in name
            handles.append(module.register_forward_pre_hook(scale(0.2 if is_box else 1.5)))
    with torch.no_grad():
        network([image(size, seed) for seed in range(100, 104)])
    for handle in handles:
        handle.remove()
    return network.eval()


def export(name, path):
    torch.manual_seed(0)
    network = getattr(detection, name)(weights=None, weights_backbone=None, **NETWORKS[name]).eval()
    size = 320 if "320" in name else SIZE
    with torch.no_grad():
        network = with_telling_heads(network, size)
        outputs = list(network([image(size, 0)])[0])
        torch.onnx.export(network, ([image(size, 0)],), path, input_names=["image"], output_names=outputs,
                          opset_version=17, dynamo=False)


def run_by_trtexec(program, path, inputs, flags):
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, array in inputs.items():
            array.tofile(os.path.join(folder, f"{name}.bin"))
            files.append(f"{name}:{folder}/{name}.bin")
        result = os.path.join(folder, "outputs.json")
        command = [program, f"--onnx={path}", "--loadInputs=" + ",".join(files), f"--exportOutput={result}",
                   "--iterations=1", "--duration=0", "--warmUp=0", *(flags or ["--noTF32"])]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout[-2000:])
        outputs = {}
        for entry in json.load(open(result)):
            extents = [int(extent) for extent in str(entry["dimensions"]).split("x") if extent]
            outputs[entry["name"]] = np.array(entry["values"], np.float64).reshape(extents)
        return outputs


def rows_of(outputs, scales):
    """A row for each detection, with all that belongs to it, each output by its own scale."""
    parts = [outputs[name].reshape(len(outputs[name]), -1).astype(np.float64) / scale for name, scale in scales.items()]
    return np.concatenate(parts, 1)


def matched(expected, got, tolerance):
    """For each row of `expected` the row of `got` that it is, or -1; each counts once. And how far the farthest is."""
    free = np.ones(len(got), bool)
    places, farthest = [], 0.0
    for row in expected:
        distance = np.where(free, np.abs(got - row).max(1, initial=0), np.inf)
        nearest = distance.argmin() if len(distance) else 0
        if len(distance) and distance[nearest] < tolerance:
            free[nearest] = False
            farthest = max(farthest, distance[nearest])
            places.append(nearest)
        else:
            places.append(-1)
    return places, farthest


def largest_exchange(scores, places):
    """How far apart the scores are of two detections that stand in another order: ties, up to rounding, may do so."""
    found = [(place, score) for place, score in zip(places, scores) if place >= 0]
    gaps = [abs(a - b) for i, (p, a) in enumerate(found) for q, b in found[i + 1 :] if p > q]
    return float(max(gaps, default=0))


def check(program, name, path, flags):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    info = session.get_inputs()[0]
    agrees = True
    for seed in range(NUM_SETS):
        inputs = {info.name: image(info.shape[-1], seed).numpy()}
        expected = dict(zip((o.name for o in session.get_outputs()), session.run(None, inputs)))
        got = run_by_trtexec(program, path, inputs, flags)
        scales = {key: max(1.0, np.abs(value.astype(np.float64)).max(initial=0)) for key, value in expected.items()}
        places, farthest = matched(rows_of(expected, scales), rows_of(got, scales), TOLERANCE)
        count, missing = len(places), places.count(-1)
        exchange = largest_exchange(expected["scores"], places)
        is_sorted = bool(np.all(np.diff(got["scores"]) <= 0))
        print(f"{name} image {seed}: {count} detections, {missing} not found; others differ by {farthest:.1e}; those in"
              f" another order have scores {exchange:.1e} apart{'' if is_sorted else '; NOT SORTED'}", flush=True)
        extra = max(0, len(got["scores"]) - count)
        agrees &= missing + extra <= MOST_FLIPPED * count and exchange < TOLERANCE and is_sorted
    return agrees


def main():
    asked = read_command_line(__doc__)
    warnings.filterwarnings("ignore")
    agree = True
    for name in filter(asked.wants, NETWORKS):
        path = os.path.join(asked.folder, name + ".onnx")
        if not os.path.exists(path):
            export(name, path)
        agree &= check(asked.program, name, path, asked.flags)
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
