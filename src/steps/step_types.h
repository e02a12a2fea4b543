/// Types of a step's tensors as a plan has them, and shapes once they are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/extents.h"
#include "tensor/format.h"

namespace kiln {

/// A tensor of a step as far as a plan knows it; extents come at bind.
struct StepTensor {
  DType dtype = DType::kF32;
  Format format;
  int rank = 0;
  bool present = true;  ///< false: an optional input that is not there
  bool operator==(const StepTensor&) const = default;
};

struct StepTypes {
  std::vector<StepTensor> inputs, outputs;
  int num_params = 0, num_sizes = 0;  ///< parameters, and sizes that its runs decide
};

/// Extents of a step's tensors (logical order, whatever the format) and the values of its parameters. Outputs whose
/// size the step decides have the largest possible.
struct StepShapes {
  std::span<const Extents> inputs, outputs;
  std::span<const int64_t> params;
};

}  // namespace kiln
