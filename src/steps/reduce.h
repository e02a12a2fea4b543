#pragma once

#include "ops/reduce.h"
#include "steps/step.h"

namespace kiln::steps {

/// A reduction along axes that are neighbours in memory.
struct Reduce {
  static constexpr std::string_view name = "reduce";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1};

  ops::ReduceKind kind = ops::ReduceKind::kSum;
  int first = 0, last = 0;  ///< of the axes, by their positions in memory

  static void reflect(auto& self, auto f) { f("kind", self.kind), f("first", self.first), f("last", self.last); }
  bool averages() const { return kind == ops::ReduceKind::kAvg; }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
