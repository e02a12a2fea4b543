#pragma once

#include "ops/bodies.h"
#include "steps/step.h"

namespace kiln::steps {

/// A body of the plan, again and again; row-major. Its meaning, its inputs and its outputs are those of ops/loop.h.
/// The first parameter, if there is one, is the count.
struct Loop {
  static constexpr std::string_view name = "loop";
  static constexpr StepTensors tensors{.present = 0,
                                       .least_inputs = 2,
                                       .most_inputs = StepTensors::kAny,
                                       .outputs = StepTensors::kAny,
                                       .sizes = StepTensors::kAny};
  int carried = 0;
  std::vector<int> scans, stacks;  ///< 1: in order, -1: in reverse
  bool tests = false;
  std::vector<DecidedAxis> decided;  ///< by size: the extent that it is

  static void reflect(auto& self, auto f) {
    f("carried", self.carried), f("scans", self.scans), f("stacks", self.stacks), f("tests", self.tests);
    f("decided", self.decided);
  }
  static constexpr size_t kFirstCarried = 2;
  size_t first_scanned() const { return kFirstCarried + static_cast<size_t>(carried); }
  size_t first_captured() const { return first_scanned() + scans.size(); }
  Status check(const StepTypes& types) const;
};

}  // namespace kiln::steps
