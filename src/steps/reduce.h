#pragma once

#include "ops/reduce.h"
#include "steps/lane_extents.h"
#include "steps/step.h"

namespace kiln::steps {

/// A reduction along axes of x.
struct Reduce {
  static constexpr std::string_view name = "reduce";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1};

  ops::ReduceKind kind = ops::ReduceKind::kSum;
  std::vector<int> axes;  ///< by their positions in memory, increasing

  static void reflect(auto& self, auto f) { f("kind", self.kind), f("axes", self.axes); }
  bool averages() const { return kind == ops::ReduceKind::kAvg; }
  bool are_neighbours() const {
    return !axes.empty() && axes.back() - axes.front() + 1 == static_cast<int>(axes.size());
  }
  /// The lanes of axes that are neighbours, for x of these extents and format.
  LaneExtents lanes(const Format& format, const Extents& x) const {
    return lane_extents(in_memory_order(format, x), static_cast<size_t>(axes.front()),
                        static_cast<size_t>(axes.back()));
  }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
