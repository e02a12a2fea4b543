/// A context's steps, prepared for one set of shapes, and where their tensors are.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "runtime/device_runner.h"
#include "steps/executor.h"

namespace kiln::runtime {

class Context;

/// One queued run: a pointer for every step's tensors, with the addresses of its enqueue.
struct Invocation {
  Context* context = nullptr;
  Stream* stream = nullptr;
  std::vector<void*> pointers;  ///< inputs then outputs of step 0, of step 1, ...
  std::vector<Patch> patches;   ///< in the order of their steps
  std::byte* workspace = nullptr;
  std::vector<float> times_ms;
  bool timed = false;
  std::atomic<bool> has_times{false};  ///< of its latest run, which is done and did not fail
  uint64_t binding = 0;                ///< that it is for
  std::mutex running;                  ///< held while it runs: graphs run it without `in_flight`
  std::atomic<bool> in_flight{false};
};

struct Binding {
  uint64_t id = 0;  ///< no other's of the context, of before or later
  std::vector<Extents> input_extents;
  std::vector<std::vector<int64_t>> input_values;  ///< of shape inputs
  std::vector<Extents> tensor_extents;
  std::map<int, Buffer> shape_values;  ///< by input: what steps on a device of its own read of shape inputs
  std::vector<std::unique_ptr<BoundStep>> steps;
  std::vector<size_t> checked_steps;  ///< those with a check
  int64_t workspace_bytes = 0;
  std::vector<std::unique_ptr<Invocation>> invocations;
  size_t next_invocation = 0;
};

}  // namespace kiln::runtime
