#include "onnx/dtypes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/mapped_pages.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

template <class T>
double load(std::span<const std::byte> bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

int two_bits(uint8_t four, int64_t index) { return four >> (index % 4 * 2) & 3; }

double load_number(const TensorData& data, int64_t index) {
  const auto byte = [&](int64_t at) { return static_cast<uint8_t>(data.bytes[static_cast<size_t>(at)]); };
  switch (data.type) {
    case ElementType::kInt16: return load<int16_t>(data.bytes, index);
    case ElementType::kUint16: return load<uint16_t>(data.bytes, index);
    case ElementType::kUint32: return load<uint32_t>(data.bytes, index);
    case ElementType::kUint2: return two_bits(byte(index / 4), index);
    case ElementType::kInt2: return (two_bits(byte(index / 4), index) ^ 2) - 2;
    case ElementType::kUint4: return index % 2 ? byte(index / 2) >> 4 : byte(index / 2) & 15;
    default: return float8_number(byte(index), *small_float(data.type));
  }
}

/// Elements of a type that Kiln lacks, in the type that carries them.
Result<HostTensor> carried(const TensorData& data, DType carrier) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(carrier, data.dims));
  if (data.type == ElementType::kUint64) {  // the same 64 bits
    if (!data.bytes.empty()) std::memcpy(fresh.data.data(), data.bytes.data(), data.bytes.size());
    return std::move(fresh.tensor);
  }
  for (int64_t i = 0; i < data.num_elements; ++i) store_number(carrier, fresh.data.data(), i, load_number(data, i));
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

std::optional<DType> carrier_of(ElementType type) {
  if (dtype_of(type)) return std::nullopt;
  if (small_float(type)) return DType::kF32;
  const auto integer = small_integer(type);
  if (!integer) return std::nullopt;
  return integer->bits > 16 ? DType::kI64 : DType::kI32;
}

std::optional<SmallInteger> small_integer(ElementType type) {
  switch (type) {
    case ElementType::kUint2: return SmallInteger{2, false};
    case ElementType::kInt2: return SmallInteger{2, true};
    case ElementType::kUint4: return SmallInteger{4, false};
    case ElementType::kInt16: return SmallInteger{16, true};
    case ElementType::kUint16: return SmallInteger{16, false};
    case ElementType::kUint32: return SmallInteger{32, false};
    case ElementType::kUint64: return SmallInteger{64, false};
    default: return std::nullopt;
  }
}

std::optional<SmallFloat> small_float(ElementType type) {
  switch (type) {
    case ElementType::kFloat8E5M2: return SmallFloat{2, -14, 57344, true};
    case ElementType::kFloat8E5M2FNUZ: return SmallFloat{2, -15, 57344, false};
    case ElementType::kFloat8E4M3FNUZ: return SmallFloat{3, -7, 240, false};
    default: return std::nullopt;
  }
}

double float8_number(uint8_t bits, const SmallFloat& type) {
  const int mantissa = bits & ((1 << type.mantissa_bits) - 1), exponent = (bits & 0x7f) >> type.mantissa_bits;
  const double sign = bits & 0x80 ? -1 : 1;
  if (!type.has_infinity && bits == 0x80) return NAN;
  if (type.has_infinity && exponent == 0x7f >> type.mantissa_bits) return mantissa ? NAN : sign * INFINITY;
  const int leading = exponent == 0 ? 0 : 1 << type.mantissa_bits;
  return sign * std::ldexp(leading + mantissa, std::max(exponent, 1) - 1 + type.least_exponent - type.mantissa_bits);
}

Result<DType> need_dtype(ElementType type) {
  if (const auto dtype = dtype_of(type)) return *dtype;
  if (!is_known(type) && type != ElementType::kUndefined)
    return error(Code::kInvalidArgument, type, " is none of ONNX's");
  return error(Code::kUnsupported, "type ", type, " is not supported");
}

Result<HostTensor> host_tensor(const TensorData& data) {
  if (const auto carrier = carrier_of(data.type)) return carried(data, *carrier);
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
