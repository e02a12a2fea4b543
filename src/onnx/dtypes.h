/// ONNX's element types as ours.
#pragma once

#include <optional>

#include "base/error.h"
#include "onnx/element_type.h"
#include "onnx/tensor_data.h"
#include "tensor/dtype.h"
#include "tensor/host_tensor.h"

namespace kiln::onnx {

/// Absent where Kiln has no such type.
std::optional<DType> dtype_of(ElementType type);

/// The same, as an error that names the type.
Result<DType> need_dtype(ElementType type);

/// An integer type that Kiln's ops lack.
struct SmallInteger {
  int bits;
  bool is_signed;
};
std::optional<SmallInteger> small_integer(ElementType type);

/// An FP8 type that Kiln's ops lack. Without infinities its only NaN is the byte 0x80.
struct SmallFloat {
  int mantissa_bits;
  int least_exponent;  ///< of normal numbers
  double largest;
  bool has_infinity;
};
std::optional<SmallFloat> small_float(ElementType type);
double float8_number(uint8_t bits, const SmallFloat& type);

/// The type in which a network carries elements of a type that Kiln's ops lack: i32 for those of up to 16 bits, i64
/// for UINT32, f32 for FP8, all of which have every number of theirs; and i64 with the same bits for UINT64. None for
/// a type that Kiln has, and for one that is not a number's.
std::optional<DType> carrier_of(ElementType type);

/// The elements of `data`, in place where an owner keeps them alive and they are aligned, else copied. Those of a type
/// that Kiln lacks are of the type that carries it.
Result<HostTensor> host_tensor(const TensorData& data);

}  // namespace kiln::onnx
