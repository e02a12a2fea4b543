/// Running sums and products, by the kernels of cumulative.cuh.
#pragma once

#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/scan/arguments.h"
#include "base/error.h"
#include "steps/cumulative.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

struct CumulativePlan {
  struct Call {
    const char* entry;
    LaunchShape shape;
  };
  CumulativeArgument argument;
  std::vector<Call> calls;
  int64_t workspace_bytes = 0;  ///< sums of chunks
};
CumulativePlan plan_cumulative(const steps::Cumulative& step, const Extents& x, DType dtype);

}  // namespace kiln::cuda
