/// The API's types and extents as ONNX's.
#pragma once

#include <NvInferRuntime.h>

#include <vector>

#include "onnx/element_type.h"

namespace kiln::conformance {

onnx::ElementType to_onnx(nvinfer1::DataType type);
nvinfer1::Dims to_dims(const std::vector<int64_t>& extents);
/// Bytes of a dense tensor whose extents are all known.
int64_t size_bytes(onnx::ElementType type, const nvinfer1::Dims& dims);

}  // namespace kiln::conformance
