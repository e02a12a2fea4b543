#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// An input of a concatenation that is read at regular steps: where its elements lie in row-major memory.
struct JoinedView {
  int64_t extent = 0;  ///< along the axis
  int64_t offset = 0;
  std::span<const int64_t> strides;  ///< one an axis of the output; 0 repeats
};

/// Inputs one after the other along an axis, all in one format; or views of row-major tensors of any extents. Then the
/// parameters have of each input what JoinedView has.
struct Concatenation {
  static constexpr std::string_view name = "concatenation";
  static constexpr int version = 2;
  static constexpr StepTensors tensors{
      .present = StepTensors::kAll, .least_inputs = 1, .most_inputs = StepTensors::kAny, .outputs = 1};

  int axis = 0;           ///< by its position in memory
  bool of_views = false;  ///< then the output is row-major, too

  static void reflect(auto& self, auto f) { f("axis", self.axis), f("of_views", self.of_views); }
  static JoinedView view_of(size_t input, size_t rank, std::span<const int64_t> params) {
    const auto of_view = params.subspan(input * (rank + 2), rank + 2);
    return {of_view[0], of_view[1], of_view.subspan(2)};
  }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
