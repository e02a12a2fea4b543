/// A segment of a bound context's steps with the addresses of an enqueue, and how one of them is launched.
#pragma once

#include <cstdint>
#include <span>

#include "device/async.h"
#include "plan/plan.h"
#include "runtime/binding.h"
#include "runtime/branches.h"
#include "runtime/step_range.h"
#include "steps/executor.h"

namespace kiln::runtime {

struct Launch {
  Binding& binding;
  size_t segment;
  const Branches& branches;
  uint64_t version;  ///< of what the binding and its pointers are now: no other's
  RangeDetail ranges = RangeDetail::kNone;

  const StepPointers& at() const { return binding.pointers_of(segment); }
  size_t first_step() const { return binding.segments[segment].first; }
  std::span<const plan::Step> steps() const {
    const plan::Segment& steps = binding.segments[segment];
    return std::span(binding.profile.steps).subspan(steps.first, steps.end - steps.first);
  }
  void* const* pointers() const { return at().pointers.data(); }
  /// Where the host waits between segments, all steps are in the enqueue's stream.
  bool has_branches() const { return branches.num_streams > 1 && binding.segments.size() == 1; }
};

/// One of our own defects must not end the host's process: it becomes an error of the stream.
Status run_step(BoundStep& step, const RunArguments& arguments);

/// Step `s` of a launch, counted from its first, whose first pointer `pointers` is. The error has its name.
Status launch_step(const Launch& launch, size_t s, void* const* pointers, Stream& stream);

}  // namespace kiln::runtime
