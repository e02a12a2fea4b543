#include "library/shape.h"

#include <algorithm>
#include <limits>
#include <span>

namespace kiln::plugins {
namespace {

enum class Rounding : bool { kDown, kUp };

/// A division by 0 gives 0.
int64_t divide(int64_t a, int64_t b, Rounding rounding) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (b == 0) return 0;
  if (b == -1) return a < -kMost ? kMost : -a;
  const bool is_below = a % b != 0 && (a < 0) != (b < 0), is_above = a % b != 0 && !is_below;
  return a / b + (rounding == Rounding::kDown ? -int64_t{is_below} : int64_t{is_above});
}

/// What exceeds 64 bits is the greatest extent, which no tensor has.
int64_t calculate(nv::DimensionOperation operation, int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t result = 0;
  switch (operation) {
    case nv::DimensionOperation::kSUM: return __builtin_add_overflow(a, b, &result) ? kMost : result;
    case nv::DimensionOperation::kSUB: return __builtin_sub_overflow(a, b, &result) ? kMost : result;
    case nv::DimensionOperation::kPROD: return __builtin_mul_overflow(a, b, &result) ? kMost : result;
    case nv::DimensionOperation::kMAX: return std::max(a, b);
    case nv::DimensionOperation::kMIN: return std::min(a, b);
    case nv::DimensionOperation::kEQUAL: return int64_t{a == b};
    case nv::DimensionOperation::kLESS: return int64_t{a < b};
    case nv::DimensionOperation::kFLOOR_DIV: return divide(a, b, Rounding::kDown);
    case nv::DimensionOperation::kCEIL_DIV: return divide(a, b, Rounding::kUp);
  }
  return result;
}

}  // namespace

Dim::Dim(const nv::IDimensionExpr* expression, nv::IExprBuilder& builder)
    : expression_(expression), builder_(&builder) {
  if (expression && expression->isConstant()) number_ = expression->getConstantValue();
}

const nv::IDimensionExpr* Dim::expression(nv::IExprBuilder& builder) const {
  return number_ ? builder.constant(*number_) : expression_;
}

Dim Dim::operation(nv::DimensionOperation operation, const Dim& a, const Dim& b) {
  if (a.number_ && b.number_) return calculate(operation, *a.number_, *b.number_);
  nv::IExprBuilder& builder = *(a.number_ ? b : a).builder_;
  return {builder.operation(operation, *a.expression(builder), *b.expression(builder)), builder};
}

Shape shape_of(const nv::DimsExprs& dims, nv::IExprBuilder& builder) {
  Shape shape;
  for (int i = 0; i < dims.nbDims; ++i) shape.emplace_back(dims.d[i], builder);
  return shape;
}

nv::DimsExprs dims_of(const Shape& shape, nv::IExprBuilder& builder) {
  nv::DimsExprs dims{static_cast<int32_t>(shape.size()), {}};
  for (size_t i = 0; i < shape.size(); ++i) dims.d[i] = shape[i].expression(builder);
  return dims;
}

std::string text_of(const nv::Dims& dims) {
  std::string text;
  for (int i = 0; i < dims.nbDims; ++i) text += str(i == 0 ? "" : ", ", dims.d[i]);
  return str('[', text, ']');
}

Status require_rank(std::span<const Shape> inputs, size_t input, size_t rank) {
  return require(inputs[input].size() == rank, "input ", input, " has rank ", inputs[input].size(), "; ", rank,
                 " is needed");
}

Status require_equal(std::span<const Shape> inputs, size_t input, size_t axis, size_t other, size_t other_axis) {
  const auto first = inputs[input][axis].number(), second = inputs[other][other_axis].number();
  return require(!first || !second || *first == *second, "input ", other, " has extent ", second.value_or(0),
                 " in axis ", other_axis, "; input ", input, " has ", first.value_or(0), " in axis ", axis);
}

Status require_same(std::span<const Shape> inputs, size_t input, size_t other) {
  TRY(require_rank(inputs, other, inputs[input].size()));
  for (size_t axis = 0; axis < inputs[input].size(); ++axis) TRY(require_equal(inputs, input, axis, other, axis));
  return {};
}

}  // namespace kiln::plugins
