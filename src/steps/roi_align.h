#pragma once

#include "ops/roi_align.h"
#include "steps/step.h"

namespace kiln::steps {

/// Regions of images, resampled, row-major. Inputs: x, rois, batch_indices.
struct RoiAlign {
  static constexpr std::string_view name = "roi_align";
  static constexpr StepTensors tensors{.present = 3, .least_inputs = 3, .most_inputs = 3, .outputs = 1};

  ops::RoiAlign op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
