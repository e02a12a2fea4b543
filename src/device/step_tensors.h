/// How many tensors a kernel's step has. A plan is input, and loaders index what it names.
#pragma once

#include <string_view>

#include "device/executor.h"

namespace kiln {

struct StepTensors {
  static constexpr int kAll = -1, kAny = 255;
  int present;  ///< inputs that are there, the first ones; kAll
  int least_inputs, most_inputs;
  int outputs;  ///< kAny: one or more

  /// Fails if a step of kernel `kernel` of executor `executor` has others.
  Status check(std::string_view executor, std::string_view kernel, const StepSpec& spec) const;
};

/// Fails unless `tensor` has the type and the format of `like`.
Status require_alike(const StepTensor& tensor, const StepTensor& like, std::string_view what);

/// Fails unless all of the step's tensors that are there, inputs and outputs, are of one type.
Status require_one_type(const StepSpec& spec);

/// Fails if one of the tensors lies in blocks: those are what copies are for.
Status require_unblocked(std::string_view executor, const StepSpec& spec);

/// Fails unless a tensor of these extents has `count` elements.
Status require_count(const Extents& extents, int64_t count, std::string_view what);

/// Fails where `found`, the extents of a step's `what`, are not those that its other tensors imply.
Status require_extents(const Extents& found, const Extents& implied, std::string_view what);

}  // namespace kiln
