/// The type that the API shows where a tensor's may be FP64.
#pragma once

#include "tensor/dtype.h"

namespace kiln::api {

/// FP32 for FP64, which exists inside a network only and which the API has no name for.
constexpr DType shown_type(DType type) { return type == DType::kF64 ? DType::kF32 : type; }

}  // namespace kiln::api
