#include "support/api_types.h"

#include <algorithm>

namespace kiln::conformance {

using onnx::ElementType;

ElementType to_onnx(nvinfer1::DataType type) {
  using nvinfer1::DataType;
  switch (type) {
    case DataType::kFLOAT: return ElementType::kFloat;
    case DataType::kHALF: return ElementType::kFloat16;
    case DataType::kINT8: return ElementType::kInt8;
    case DataType::kINT32: return ElementType::kInt32;
    case DataType::kBOOL: return ElementType::kBool;
    case DataType::kUINT8: return ElementType::kUint8;
    case DataType::kFP8: return ElementType::kFloat8E4M3FN;
    case DataType::kBF16: return ElementType::kBfloat16;
    case DataType::kINT64: return ElementType::kInt64;
    case DataType::kINT4: return ElementType::kInt4;
    case DataType::kFP4: return ElementType::kFloat4E2M1;
    case DataType::kE8M0: return ElementType::kFloat8E8M0;
  }
  return ElementType::kUndefined;
}

nvinfer1::Dims to_dims(const std::vector<int64_t>& extents) {
  nvinfer1::Dims dims{};
  if (extents.size() > static_cast<size_t>(nvinfer1::Dims::MAX_DIMS)) return nvinfer1::Dims{-1, {}};
  dims.nbDims = static_cast<int32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), dims.d);
  return dims;
}

int64_t size_bytes(ElementType type, const nvinfer1::Dims& dims) {
  int64_t bits = onnx::bits_of(type);
  for (int i = 0; i < dims.nbDims; ++i) bits *= dims.d[i];
  return (bits + 7) / 8;
}

}  // namespace kiln::conformance
