/// The ranges of a run's steps, for profilers.
#pragma once

#include <string>

#include "base/nvtx.h"
#include "plan/kernel_name.h"
#include "plan/plan.h"

namespace kiln::runtime {

/// How much of a run profilers are told. Steps of bodies are within the range of the loop or branch that runs them.
enum class RangeDetail : uint8_t {
  kNone,
  kNames,   ///< of runs and steps
  kTactics  ///< and of what runs the steps
};

/// A step's range on the thread that runs or launches it.
class StepRange {
 public:
  StepRange(const plan::Step& step, RangeDetail detail)
      : range_(detail != RangeDetail::kNone, [&] {
          if (detail == RangeDetail::kNames) return step.name;
          return str(step.name, " [", plan::kernel_name(step.info.tactic, step.info.variant), "]");
        }) {}

 private:
  nvtx::Range range_;
};

}  // namespace kiln::runtime
