/// Element types: TensorRT's, with its numbers, and FP64, which exists only inside a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

enum class DType : uint8_t {
  kF32 = 0,
  kF16 = 1,
  kI8 = 2,
  kI32 = 3,
  kBool = 4,
  kU8 = 5,
  kF8E4M3 = 6,
  kBF16 = 7,
  kI64 = 8,
  kI4 = 9,       ///< two to a byte, the first in the low half
  kF4E2M1 = 10,  ///< two to a byte, the first in the low half
  kE8M0 = 11,
  kF64 = 12  ///< ONNX's DOUBLE: a network's inputs and outputs cannot have it
};
inline constexpr int kNumDTypes = 13;

constexpr bool is_float(DType t) {
  return t == DType::kF32 || t == DType::kF16 || t == DType::kBF16 || t == DType::kF64 || t == DType::kF8E4M3 ||
         t == DType::kF4E2M1 || t == DType::kE8M0;
}
/// The floats that most kernels load and store; they compute in FP32. What is elementwise, and sums, take f64, too.
constexpr bool is_kernel_float(DType t) { return t == DType::kF32 || t == DType::kF16 || t == DType::kBF16; }
constexpr bool is_integer(DType t) {
  return t == DType::kI8 || t == DType::kI32 || t == DType::kU8 || t == DType::kI64 || t == DType::kI4;
}
/// Types that shape arithmetic may have.
constexpr bool is_index(DType t) { return t == DType::kI32 || t == DType::kI64; }
constexpr int bits_of(DType t) {
  switch (t) {
    case DType::kF64:
    case DType::kI64: return 64;
    case DType::kF32:
    case DType::kI32: return 32;
    case DType::kF16:
    case DType::kBF16: return 16;
    case DType::kI4:
    case DType::kF4E2M1: return 4;
    default: return 8;
  }
}
/// Bytes of `count` dense elements, count >= 0.
constexpr int64_t size_bytes(DType t, int64_t count) {
  const int bits = bits_of(t);
  return bits >= 8 ? count * (bits / 8) : (count + 1) / 2;
}
std::string_view name_of(DType t);  ///< "f32", "i64", "bool", ...
std::optional<DType> dtype_named(std::string_view name);
inline void append(std::string& out, DType t) { out += name_of(t); }

}  // namespace kiln
