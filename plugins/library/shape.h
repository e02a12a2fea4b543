/// Extents of outputs, as plugins tell them before shapes are known.
#pragma once

#include <NvInferRuntime.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "library/value.h"

namespace kiln::plugins {

namespace nv = nvinfer1;

/// A number; an expression of the builder's; or, where layers are added, what a run tells them.
class Dim {
 public:
  Dim(int64_t number) : number_(number) {}  // NOLINT(google-explicit-constructor): shapes are readable
  Dim(const nv::IDimensionExpr* expression, nv::IExprBuilder& builder);
  explicit Dim(const Extent& extent) : number_(extent.number()), extent_(extent) {}
  std::optional<int64_t> number() const { return number_; }
  /// Of a number, and of what a run tells.
  std::optional<Extent> extent() const { return number_ ? Extent(*number_) : extent_; }
  const nv::IDimensionExpr* expression(nv::IExprBuilder& builder) const;
  /// Operands that are no numbers are of one kind.
  static Dim operation(nv::DimensionOperation operation, const Dim& a, const Dim& b);

 private:
  std::optional<int64_t> number_;
  std::optional<Extent> extent_;
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
Shape shape_of(const Value& value);
nv::DimsExprs dims_of(const Shape& shape, nv::IExprBuilder& builder);
/// "[2, 3]", for errors.
std::string text_of(const nv::Dims& dims);
/// The product of all extents.
Dim volume_of(const Shape& shape);
/// "axis 1 of input 0", for conditions.
std::string axis_text(size_t input, size_t axis);

// What inputs have to fulfil. A condition on numbers is checked at once: "axis 1 of input 0 has to be 3 long; it is 4,
// not 3". Where layers are added, one on what a run tells is checked whenever shapes are told. While the builder has
// expressions alone it counts as fulfilled.

/// Fails unless the shape has that rank: "input 0 has rank 3; 4 is needed".
Status require_rank(std::span<const Shape> inputs, size_t input, size_t rank);
/// Fails unless the extents are equal; `text` says that they have to be.
Status require_equal(const Dim& is, const Dim& wanted, const std::string& text);
Status require_at_most(const Dim& is, const Dim& most, const std::string& text);
/// Fails unless an extent is 1 or another one.
Status require_one_or(const Dim& is, const Dim& wanted, const std::string& text);
/// "axis 1 of input 0 has to be divisible by 3, which num_groups is"
Status require_divisible(std::span<const Shape> inputs, size_t input, size_t axis, int64_t by, std::string_view why);
/// "axis 1 of input 0 has to be 3 long, as many as there are scales"
Status require_extent(std::span<const Shape> inputs, size_t input, size_t axis, int64_t wanted, std::string_view why);
/// "axis 0 of input 1 has to be as long as axis 1 of input 0"
Status require_equal(std::span<const Shape> inputs, size_t input, size_t axis, size_t other, size_t other_axis);
/// Fails unless two inputs have the same shape.
Status require_same(std::span<const Shape> inputs, size_t input, size_t other);

}  // namespace kiln::plugins
