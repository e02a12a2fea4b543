/// Extents of outputs, as plugins tell them before shapes are known.
#pragma once

#include <NvInferRuntime.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace kiln::plugins {

namespace nv = nvinfer1;

/// A number, or an expression of the builder's.
class Dim {
 public:
  Dim(int64_t number) : number_(number) {}  // NOLINT(google-explicit-constructor): shapes are readable
  Dim(const nv::IDimensionExpr* expression, nv::IExprBuilder& builder);
  std::optional<int64_t> number() const { return number_; }
  const nv::IDimensionExpr* expression(nv::IExprBuilder& builder) const;
  /// The builder of the operand that has one; both operands are numbers otherwise.
  static Dim operation(nv::DimensionOperation operation, const Dim& a, const Dim& b);

 private:
  std::optional<int64_t> number_;
  const nv::IDimensionExpr* expression_ = nullptr;
  nv::IExprBuilder* builder_ = nullptr;
};
inline Dim operator+(const Dim& a, const Dim& b) { return Dim::operation(nv::DimensionOperation::kSUM, a, b); }
inline Dim operator-(const Dim& a, const Dim& b) { return Dim::operation(nv::DimensionOperation::kSUB, a, b); }
inline Dim operator*(const Dim& a, const Dim& b) { return Dim::operation(nv::DimensionOperation::kPROD, a, b); }
/// Rounds down.
inline Dim operator/(const Dim& a, const Dim& b) { return Dim::operation(nv::DimensionOperation::kFLOOR_DIV, a, b); }
inline Dim min(const Dim& a, const Dim& b) { return Dim::operation(nv::DimensionOperation::kMIN, a, b); }
inline Dim max(const Dim& a, const Dim& b) { return Dim::operation(nv::DimensionOperation::kMAX, a, b); }

using Shape = std::vector<Dim>;
Shape shape_of(const nv::DimsExprs& dims, nv::IExprBuilder& builder);
nv::DimsExprs dims_of(const Shape& shape, nv::IExprBuilder& builder);
/// "[2, 3]", for errors.
std::string text_of(const nv::Dims& dims);
/// Fails unless the shape has that rank: "input 0 has rank 3; 4 is needed".
Status require_rank(std::span<const Shape> inputs, size_t input, size_t rank);
/// Fails unless two axes may be equal: "input 1 has extent 3 in axis 0; input 0 has 2 in axis 1".
Status require_equal(std::span<const Shape> inputs, size_t input, size_t axis, size_t other, size_t other_axis);
/// Fails unless two inputs may have the same shape.
Status require_same(std::span<const Shape> inputs, size_t input, size_t other);

}  // namespace kiln::plugins
