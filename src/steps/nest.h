#pragma once

#include <optional>

#include "ops/nest_program.h"
#include "steps/step.h"

namespace kiln::steps {

/// The elements of an input that a nest reads at regular steps: for index i of output 0, element offset + i . strides.
struct NestView {
  int64_t offset = 0;
  std::span<const int64_t> strides;  ///< one an axis of output 0; 0 repeats, negative ones run backwards
};

/// A chain of pointwise ops in one pass over memory. Inputs broadcast against output 0, axes aligned at the right, but
/// for those that are views: row-major tensors of any extents. The parameters have each view's offset and strides.
/// In place is allowed for an input of an output's extents and format where there are no views.
struct Nest {
  static constexpr std::string_view name = "nest";
  static constexpr int version = 2;
  static constexpr StepTensors tensors{
      .present = StepTensors::kAll, .least_inputs = 0, .most_inputs = StepTensors::kAny, .outputs = StepTensors::kAny};

  NestProgram program;         ///< of the step's inputs and outputs, in order
  std::vector<int64_t> views;  ///< the inputs that are views, ascending

  static void reflect(auto& self, auto f) { f("program", self.program), f("views", self.views); }
  /// How a nest of `rank` axes reads an input; nothing where the input broadcasts. `params` are those of all views.
  std::optional<NestView> view_of(size_t input, size_t rank, std::span<const int64_t> params) const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
