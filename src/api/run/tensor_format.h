/// The API's view of a surface tensor's order in memory.
#pragma once

#include <NvInferRuntime.h>

#include <string>

#include "plan/plan.h"

namespace kiln::api {

/// Fails for an order that the API has no name for.
Result<nvinfer1::TensorFormat> format_of(const plan::IoTensor& tensor);
/// "row-major linear f32 (kLINEAR)"
std::string describe_format(const plan::IoTensor& tensor);
/// Strides by axis in elements, in vectors where the format is blocked. Extents must be known.
Extents api_strides(const Format& format, std::span<const int64_t> extents);

}  // namespace kiln::api
