"""kiln.serve on a GPU that is none: the stand-in for the driver, whose kernels do nothing. What counts is which memory
is used, and that all of it is given back."""

import serving
from stand_in import run_on_stand_in

assert serving

PROGRAM = """
import numpy as np
import kiln, kiln.serve, kiln_models, serving
from kiln import _device

held, taken = {}, []
driver = type(_device.driver())
allocate, release = driver.allocate_host, driver.release_host

def counted_allocate(self, size):
    pointer = allocate(self, size)
    held[pointer] = size
    taken.append(size)
    return pointer

def counted_release(self, pointer):
    del held[pointer]
    release(self, pointer)

driver.allocate_host, driver.release_host = counted_allocate, counted_release
engine = kiln.compile(kiln_models.affine()[0], shapes={"x": [(1, 4), (8, 4)]}, optimization_level=0, progress=False)
assert engine.device == "cuda:0"
config = kiln.serve.Settings(http_port=0, grpc_port=None, max_queue_delay_us=200_000)
with kiln.serve.Server({"affine": engine}, settings=config) as server:
    (version,) = server.repository.versions("affine")
    assert len(version._threads) == 2
    for _ in range(3):
        futures = [server.submit("affine", {"x": serving.rows(2, i)}) for i in range(8)]
        assert all(future.result(60)["y"].shape == (2, 3) for future in futures)
    answer = serving.infer(server, "affine", serving.input_of(serving.rows(3)))
    assert answer.status == 200 and answer.json["outputs"][0]["shape"] == [3, 3]
    # Memory is pinned, and used by one batch after the other.
    assert len(taken) <= 4 and max(taken) == 8 * 4 * 4, taken
assert not held, held
answer = engine(serving.rows(2))
assert answer.shape == (2, 3)
"""


def test_batches_are_pinned_and_given_back():
    run_on_stand_in(PROGRAM)
