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

/// The same of what a run tells.
Extent calculate(nv::DimensionOperation operation, const Extent& a, const Extent& b) {
  switch (operation) {
    case nv::DimensionOperation::kSUM: return a + b;
    case nv::DimensionOperation::kSUB: return a - b;
    case nv::DimensionOperation::kPROD: return a * b;
    case nv::DimensionOperation::kMAX: return max(a, b);
    case nv::DimensionOperation::kMIN: return min(a, b);
    case nv::DimensionOperation::kFLOOR_DIV: return a / b;
    case nv::DimensionOperation::kCEIL_DIV: return (a + b - 1) / b;
    case nv::DimensionOperation::kEQUAL:
    case nv::DimensionOperation::kLESS: break;  // no extent of a plugin is one of these
  }
  return a;
}

/// Fails where two numbers do not fulfil `holds`, with the text and what `words` say of them. `condition` says the same
/// of values, i64 [1], of a run.
template <class Holds, class Condition, class Words>
Status require_of(const Dim& a, const Dim& b, const std::string& text, Holds holds, Condition condition, Words words) {
  if (a.number() && b.number()) return require(holds(*a.number(), *b.number()), text, words(*a.number(), *b.number()));
  const auto first = a.extent(), second = b.extent();
  if (!first || !second) return {};  // expressions, of which nothing is known yet
  Layers& layers = (first->number() ? *second : *first).layers();
  layers.require(condition(first->value(layers), second->value(layers)), text);
  return {};
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
  if (const auto first = a.extent(), second = b.extent(); first && second)
    return Dim(calculate(operation, *first, *second));
  nv::IExprBuilder& builder = *(a.number_ ? b : a).builder_;
  return {builder.operation(operation, *a.expression(builder), *b.expression(builder)), builder};
}

Shape shape_of(const nv::DimsExprs& dims, nv::IExprBuilder& builder) {
  Shape shape;
  for (int i = 0; i < dims.nbDims; ++i) shape.emplace_back(dims.d[i], builder);
  return shape;
}

Shape shape_of(const Value& value) {
  Shape shape;
  for (int axis = 0; axis < value.rank(); ++axis) shape.emplace_back(value.extent(axis));
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

Dim volume_of(const Shape& shape) {
  Dim volume = 1;
  for (const Dim& extent : shape) volume = volume * extent;
  return volume;
}

std::string axis_text(size_t input, size_t axis) { return str("axis ", axis, " of input ", input); }

Status require_rank(std::span<const Shape> inputs, size_t input, size_t rank) {
  return require(inputs[input].size() == rank, "input ", input, " has rank ", inputs[input].size(), "; ", rank,
                 " is needed");
}

Status require_equal(const Dim& is, const Dim& wanted, const std::string& text) {
  return require_of(
      is, wanted, text, [](int64_t a, int64_t b) { return a == b; },
      [](const Value& a, const Value& b) { return a == b; },
      [](int64_t a, int64_t b) { return str("; it is ", a, ", not ", b); });
}

Status require_at_most(const Dim& is, const Dim& most, const std::string& text) {
  return require_of(
      is, most, text, [](int64_t a, int64_t b) { return a <= b; },
      [](const Value& a, const Value& b) { return a < b + 1.0; },
      [](int64_t a, int64_t b) { return str("; ", a, " is more than ", b); });
}

Status require_one_or(const Dim& is, const Dim& wanted, const std::string& text) {
  return require_of(
      is, wanted, text, [](int64_t a, int64_t b) { return a == 1 || a == b; },
      [](const Value& a, const Value& b) { return a == 1.0 || a == b; },
      [](int64_t a, int64_t b) { return str("; it is ", a, ", neither 1 nor ", b); });
}

Status require_divisible(std::span<const Shape> inputs, size_t input, size_t axis, int64_t by, std::string_view why) {
  const Dim& extent = inputs[input][axis];
  return require_of(
      extent, by, str(axis_text(input, axis), " has to be divisible by ", by, why.empty() ? "" : ", ", why),
      [](int64_t a, int64_t b) { return a % b == 0; },
      [](const Value& a, const Value& b) { return floor_div(a, b) * b == a; },
      [](int64_t a, int64_t) { return str("; it is ", a); });
}

Status require_extent(std::span<const Shape> inputs, size_t input, size_t axis, int64_t wanted, std::string_view why) {
  return require_equal(inputs[input][axis], wanted,
                       str(axis_text(input, axis), " has to be ", wanted, " long", why.empty() ? "" : ", ", why));
}

Status require_equal(std::span<const Shape> inputs, size_t input, size_t axis, size_t other, size_t other_axis) {
  return require_equal(inputs[other][other_axis], inputs[input][axis],
                       str(axis_text(other, other_axis), " has to be as long as ", axis_text(input, axis)));
}

Status require_same(std::span<const Shape> inputs, size_t input, size_t other) {
  TRY(require_rank(inputs, other, inputs[input].size()));
  for (size_t axis = 0; axis < inputs[input].size(); ++axis) TRY(require_equal(inputs, input, axis, other, axis));
  return {};
}

}  // namespace kiln::plugins
