#include "onnx/dtypes.h"

#include <cstring>

#include "base/mapped_pages.h"

namespace kiln::onnx {
namespace {

/// Integers of a width that Kiln lacks, as i64.
template <class T>
Result<HostTensor> widen(const TensorData& data) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kI64, data.dims));
  for (int64_t i = 0; i < data.num_elements; ++i) {
    T element;
    std::memcpy(&element, data.bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    if constexpr (sizeof(T) == 8)
      TRY(require(element <= T{INT64_MAX}, "element ", i, " is ", element, ", beyond INT64; Kiln has no UINT64"));
    const auto wide = static_cast<int64_t>(element);
    std::memcpy(fresh.data.data() + static_cast<size_t>(i) * sizeof(wide), &wide, sizeof(wide));
  }
  return std::move(fresh.tensor);
}

}  // namespace

std::optional<DType> dtype_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat: return DType::kF32;
    case ElementType::kFloat16: return DType::kF16;
    case ElementType::kBfloat16: return DType::kBF16;
    case ElementType::kDouble: return DType::kF64;
    case ElementType::kInt8: return DType::kI8;
    case ElementType::kUint8: return DType::kU8;
    case ElementType::kInt32: return DType::kI32;
    case ElementType::kInt64: return DType::kI64;
    case ElementType::kBool: return DType::kBool;
    case ElementType::kInt4: return DType::kI4;
    case ElementType::kFloat8E4M3FN: return DType::kF8E4M3;
    case ElementType::kFloat4E2M1: return DType::kF4E2M1;
    case ElementType::kFloat8E8M0: return DType::kE8M0;
    default: return std::nullopt;
  }
}

Result<DType> need_dtype(ElementType type) {
  if (const auto dtype = dtype_of(type)) return *dtype;
  return error(Code::kUnsupported, "type ", type, " is not supported");
}

Result<HostTensor> host_tensor(const TensorData& data) {
  switch (data.type) {
    case ElementType::kInt16: return widen<int16_t>(data);
    case ElementType::kUint16: return widen<uint16_t>(data);
    case ElementType::kUint32: return widen<uint32_t>(data);
    case ElementType::kUint64: return widen<uint64_t>(data);
    default: break;
  }
  const DType dtype = TRY(need_dtype(data.type));
  const size_t alignment = bits_of(dtype) < 8 ? 1 : static_cast<size_t>(bits_of(dtype)) / 8;
  if (data.owner && reinterpret_cast<uintptr_t>(data.bytes.data()) % alignment == 0)
    return HostTensor(dtype, data.dims, data.bytes, data.owner);
  HostTensor::Fresh fresh = TRY(HostTensor::make(dtype, data.dims));
  if (!data.bytes.empty()) std::memcpy(fresh.data.data(), data.bytes.data(), data.bytes.size());
  release_pages(data.bytes);
  return std::move(fresh.tensor);
}

}  // namespace kiln::onnx
