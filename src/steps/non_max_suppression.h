#pragma once

#include "ops/non_max_suppression.h"
#include "steps/step.h"

namespace kiln::steps {

/// The best boxes that do not overlap much. Inputs and outputs are the op's; `selected` has as many rows as fit it.
struct NonMaxSuppression {
  static constexpr std::string_view name = "non_max_suppression";
  static constexpr StepTensors tensors{.present = 2, .least_inputs = 2, .most_inputs = 5, .outputs = 2, .sizes = 1};

  ops::NonMaxSuppression op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;

  struct Sizes {
    int64_t images = 0, boxes = 0, classes = 0;
    bool boxes_by_class = false;
    int64_t candidates = 0;  ///< of a class, at most
    int64_t room = 0;        ///< of all that are selected

    int64_t lists() const { return images * classes; }
  };
  Sizes sizes(const StepShapes& shapes) const;
};

}  // namespace kiln::steps
