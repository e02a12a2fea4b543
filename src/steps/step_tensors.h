/// How many tensors a step has, and what checks of its types and shapes share. A plan is input, and loaders index what
/// it names.
#pragma once

#include <string_view>

#include "base/error.h"
#include "steps/step_types.h"

namespace kiln {

struct StepTensors {
  static constexpr int kAll = -1, kAny = 255;
  int present;  ///< inputs that are there, the first ones; kAll
  int least_inputs, most_inputs;
  int outputs;           ///< kAny: one or more
  bool blocked = false;  ///< whether they may lie in blocks: only copies take that
  int sizes = 0;         ///< that its runs decide; kAny

  /// Fails if a step of kind `kind` has others.
  Status check(std::string_view kind, const StepTypes& types) const;
};

/// Fails unless `tensor` has the type and the format of `like`.
Status require_alike(const StepTensor& tensor, const StepTensor& like, std::string_view what);

/// Fails unless all of the step's tensors that are there, inputs and outputs, are of one type.
Status require_one_type(const StepTypes& types);

/// Fails unless input `i` is row-major. For kernels that read a constant's elements when they are loaded (to pack them,
/// or to compute by them): constants come in the order that the step declares.
Status require_linear(const StepTypes& types, size_t i);

/// Bytes of an element; an error for types of less than a byte.
Result<int> element_bytes(DType dtype);

/// Fails unless a tensor of these extents has `count` elements.
Status require_count(const Extents& extents, int64_t count, std::string_view what);

/// Fails where `found`, the extents of a step's `what`, are not those that its other tensors imply.
Status require_extents(const Extents& found, const Extents& implied, std::string_view what);

}  // namespace kiln
