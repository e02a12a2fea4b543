/// The parameters of a layer as the engine inspector tells them: under TensorRT's keys, which tools look for.
#pragma once

#include <span>
#include <string>

#include "base/record.h"
#include "steps/step.h"
#include "tensor/format.h"

namespace kiln::plan {

/// A tensor of a step; an extent is -1 where it is not known, an absent tensor has no extents.
struct InspectedTensor {
  DType dtype = DType::kF32;
  Extents extents;
  Format format;
  bool is_constant = false;
};

struct InspectedStep {
  const AnyStep& step;
  std::span<const InspectedTensor> inputs, outputs;
  Extents params;   ///< -1 where they are not known
  std::string ops;  ///< that it computes, joined by " + "
};

/// "ParameterType" and what belongs to it; empty for kinds of steps that TensorRT has no parameters for.
Record layer_parameters(const InspectedStep& inspected);

}  // namespace kiln::plan
