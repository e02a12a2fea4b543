/// The element types that ONNX numbers in TensorProto.DataType.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::onnx {

/// A number that is not listed here may still come from a file; `is_known` tells.
enum class ElementType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

bool is_known(ElementType type);
/// Bits of one element; 0 for strings, kUndefined and unknown numbers.
int bits_of(ElementType type);
/// ONNX's own name, "FLOAT16", or "type 77".
void append(std::string& out, ElementType type);

}  // namespace kiln::onnx
