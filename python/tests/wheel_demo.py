"""Run by test_wheel.py with an installed wheel alone: reads the held-out digits on the CPU. Arguments: the sample's folder.
Prints where the module and libnvinfer were loaded from, and how many digits it read right."""
import pathlib
import sys

import numpy as np
import tensorrt as trt

folder = pathlib.Path(sys.argv[1])
logger = trt.Logger(trt.Logger.WARNING)
builder = trt.Builder(logger)
network = builder.create_network(0)
parser = trt.OnnxParser(network, logger)
assert parser.parse_from_file(str(folder / "digits.onnx")), parser.get_error(0)

images = np.fromfile(folder / "heldout.bin", "<f4").reshape(-1, 1, 8, 8)
config = builder.create_builder_config()
profile = builder.create_optimization_profile()
profile.set_shape("image", (1, 1, 8, 8), images.shape, images.shape)
config.add_optimization_profile(profile)
plan = builder.build_serialized_network(network, config)

engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
context = engine.create_execution_context()
context.set_input_shape("image", images.shape)
probabilities = np.zeros(tuple(context.get_tensor_shape("probabilities")), np.float32)
arrays = {"image": images, "probabilities": probabilities}
assert context.execute_v2([arrays[engine.get_tensor_name(i)].ctypes.data for i in range(engine.num_io_tensors)])

labels = np.fromfile(folder / "heldout.labels", np.uint8)
libraries = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libnv" in line}
print(trt.__file__)
print(*sorted(libraries))
print(int((probabilities.argmax(axis=1) == labels).sum()))
