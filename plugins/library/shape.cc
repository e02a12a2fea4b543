#include "library/shape.h"

#include <algorithm>
#include <span>

namespace kiln::plugins {
namespace {

int64_t calculate(nv::DimensionOperation operation, int64_t a, int64_t b) {
  switch (operation) {
    case nv::DimensionOperation::kSUM: return a + b;
    case nv::DimensionOperation::kSUB: return a - b;
    case nv::DimensionOperation::kPROD: return a * b;
    case nv::DimensionOperation::kMAX: return std::max(a, b);
    case nv::DimensionOperation::kMIN: return std::min(a, b);
    default: return b ? a / b : 0;
  }
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

Status require_rank(std::span<const Shape> inputs, size_t input, size_t rank) {
  return require(inputs[input].size() == rank, "input ", input, " has rank ", inputs[input].size(), "; ", rank,
                 " is needed");
}

}  // namespace kiln::plugins
