#pragma once

#include "ops/unique.h"
#include "steps/lane_extents.h"
#include "steps/step.h"
#include "steps/top_k.h"

namespace kiln::steps {

/// Elements, or slices along an axis, without those that are there already, row-major. Input: x. Outputs: y, first,
/// inverse, counts; y, first and counts have as many as fit them.
struct Unique {
  static constexpr std::string_view name = "unique";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 4, .sizes = 1};

  ops::Unique op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
  /// x of these extents as slices along the axis: each has outer * inner elements.
  LaneExtents slices(const Extents& x) const;
};

}  // namespace kiln::steps

namespace kiln {

/// Whether a step tells elements of that type apart by their sort keys. Booleans are 0 or 1.
constexpr bool is_told_apart(DType t) { return has_sort_key(t) || t == DType::kBool; }

}  // namespace kiln
