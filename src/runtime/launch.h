/// A bound context's steps with the addresses of an enqueue, and how one of them is launched.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "device/async.h"
#include "device/device.h"
#include "plan/plan.h"
#include "runtime/binding.h"
#include "runtime/branches.h"
#include "steps/executor.h"

namespace kiln::runtime {

struct Launch {
  std::span<const plan::Step> steps;
  std::span<const std::unique_ptr<BoundStep>> bound;
  uint64_t binding;                ///< no other steps', nor the same ones' with other memory or shapes
  void* const* pointers;           ///< inputs then outputs of step 0, of step 1, ...
  std::span<const Patch> patches;  ///< which of them may differ from run to run, in the order of steps
  uint64_t version;                ///< of what they and `binding` are now: no other's
  std::byte* workspace;
  Event* inputs_consumed = nullptr;  ///< recorded once the first `steps_to_inputs` steps are done; null: none
  size_t steps_to_inputs = 0;
  const Branches* branches = nullptr;  ///< null: all steps follow each other
  int64_t workspace_step = 0;          ///< from one stream's workspace to the next one's

  bool has_branches() const { return branches && branches->num_streams > 1; }
};

/// One of our own defects must not end the host's process: it becomes an error of the stream.
Status run_step(BoundStep& step, const RunArguments& arguments);

/// Step `s` of a launch, whose first pointer `pointers` is. The error has its name.
Status launch_step(const Launch& launch, size_t s, void* const* pointers, Stream& stream);

}  // namespace kiln::runtime
