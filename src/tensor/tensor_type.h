/// A tensor's type, known before the tensor exists: element type, symbolic extents and, for small integer tensors, the
/// symbolic values that shape arithmetic needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sym/expr.h"
#include "tensor/dtype.h"
#include "tensor/extents.h"

namespace kiln {

using Shape = std::vector<sym::Expr>;
using SymbolicValues = std::vector<sym::Expr>;  ///< row-major, one an element
inline constexpr int64_t kMaxSymbolicValues = 64;

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  /// Null where unknown. Integers, booleans as 0 and 1, floats as reals (sym/real.h).
  std::shared_ptr<const SymbolicValues> values;

  TensorType() = default;
  TensorType(DType dtype, Shape shape) : dtype(dtype), shape(std::move(shape)) {}
  TensorType(DType dtype, Shape shape, SymbolicValues values)
      : dtype(dtype), shape(std::move(shape)), values(std::make_shared<const SymbolicValues>(std::move(values))) {}

  int rank() const { return static_cast<int>(shape.size()); }
  sym::Expr volume() const;
  bool is_static() const;
  /// The extents, where all are constant.
  Result<Extents> extents() const;
  /// Extents at the profile's maximum and optimum.
  Extents max_extents() const;
  Extents opt_extents() const;
  /// Same dtype and shape; values are not compared.
  bool same_type(const TensorType& other) const { return dtype == other.dtype && shape == other.shape; }
};
void append(std::string& out, const TensorType& type);  ///< "f32[batch, 3, 224]"
/// A type with constant extents, for tests and constants.
TensorType tensor_type(DType dtype, std::span<const int64_t> extents);

}  // namespace kiln
