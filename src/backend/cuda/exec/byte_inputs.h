/// What products and convolutions of bytes read besides their operands.
#pragma once

#include "backend/cuda/exec/gemm_step.h"

namespace kiln::cuda {

/// w as channels of sums: element `i` of channel `c` lies at c * channel + i * element.
struct ByteWeights {
  int64_t channels = 0, sum = 0, channel = 0, element = 0;
};

/// The inputs of such a step, in the form that its kernel has them in (ByteScales): where x's scale is a constant, w's
/// are products of both; y's are numbers where they are constant; x's zero point is what it adds to the sums.
Result<ContractionInputs> byte_inputs(const LoadArguments& arguments, const ByteWeights& weights);

}  // namespace kiln::cuda
