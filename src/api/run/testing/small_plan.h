/// A small network for tests of the runtime's classes, as a plan and as its bytes.
///   inputs   x      f32[n, 4]   n of profile 0: 1, 2, 4; of profile 1: 4, 6, 8
///            shape  i64[2]      a shape tensor, 1 to 32 each
///            index  i32[1]
///   outputs  y      Relu(x)
///            z      Reshape(y, shape)
///            picked Gather(x, index) along n, which fails where the index is outside
#pragma once

#include <NvInferRuntime.h>

#include <cstddef>
#include <vector>

#include "ops/activation.h"
#include "plan/plan.h"

namespace kiln::api {

/// A small plan, with another Activation than Relu where that is asked for.
Result<plan::Plan> small_plan(nvinfer1::ProfilingVerbosity verbosity,
                              ops::ActivationKind kind = ops::ActivationKind::kRelu);
std::vector<std::byte> small_plan_bytes(
    nvinfer1::ProfilingVerbosity verbosity = nvinfer1::ProfilingVerbosity::kLAYER_NAMES_ONLY);

}  // namespace kiln::api
