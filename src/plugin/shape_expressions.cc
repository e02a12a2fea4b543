#include "plugin/shape_expressions.h"

#include <algorithm>

#include "base/address_of.h"

namespace kiln::plugin {

using nvinfer1::DimensionOperation;
using nvinfer1::DimsExprs;
using nvinfer1::IDimensionExpr;

namespace {

constexpr sym::Kind kind_of(DimensionOperation op) {
  return static_cast<sym::Kind>(static_cast<int32_t>(sym::Kind::kSum) + static_cast<int32_t>(op));
}
static_assert(kind_of(DimensionOperation::kSUM) == sym::Kind::kSum);
static_assert(kind_of(DimensionOperation::kPROD) == sym::Kind::kProd);
static_assert(kind_of(DimensionOperation::kMAX) == sym::Kind::kMax);
static_assert(kind_of(DimensionOperation::kMIN) == sym::Kind::kMin);
static_assert(kind_of(DimensionOperation::kSUB) == sym::Kind::kSub);
static_assert(kind_of(DimensionOperation::kEQUAL) == sym::Kind::kEqual);
static_assert(kind_of(DimensionOperation::kLESS) == sym::Kind::kLess);
static_assert(kind_of(DimensionOperation::kFLOOR_DIV) == sym::Kind::kFloorDiv);
static_assert(kind_of(DimensionOperation::kCEIL_DIV) == sym::Kind::kCeilDiv);

}  // namespace

ShapeExpressions::ShapeExpressions(InferContext& cx, int num_outputs) : cx_(cx), num_outputs_(num_outputs) {
  mImpl = this;
}

const ShapeExpressions::Expression* ShapeExpressions::keep(sym::Expr value, bool is_size) {
  const Expression& kept = expressions_.emplace_back(value, is_size);
  values_[static_cast<const IDimensionExpr*>(&kept)] = &kept.value;
  return &kept;
}

/// Takes note of the first failure.
template <class... Why>
std::nullptr_t ShapeExpressions::fail(const Why&... why) {
  if (failure_) failure_ = error(Code::kInvalidArgument, why...);
  return nullptr;
}

/// What `make` returns; null where it throws.
template <class F>
const IDimensionExpr* ShapeExpressions::guarded(F make) noexcept {
  try {
    return make();
  } catch (CheckFailed& failed) {
    if (failure_) failure_ = std::unexpected(Error{Code::kInternal, std::move(failed.message)});
  } catch (...) {
    if (failure_)
      failure_ = std::unexpected(Error{Code::kOutOfMemory, "out of memory"});  // which a string has room for
  }
  return nullptr;
}

const IDimensionExpr* ShapeExpressions::constant(int64_t value) {
  return guarded([&] { return keep(value); });
}

const IDimensionExpr* ShapeExpressions::operation(DimensionOperation op, const IDimensionExpr& first,
                                                  const IDimensionExpr& second) {
  const auto index = static_cast<int32_t>(op);
  if (!address_of(first) || !address_of(second)) return nullptr;
  if (index < 0 || index >= nvinfer1::EnumMax<DimensionOperation>()) return nullptr;
  return guarded([&]() -> const IDimensionExpr* {
    const sym::Expr *const a = find(&first), *const b = find(&second);
    if (!a || !b) return fail("operation: the ", a ? "second" : "first", " operand is an expression of another call");
    return keep(sym::apply(kind_of(op), *a, *b));
  });
}

const IDimensionExpr* ShapeExpressions::declareSizeTensor(int32_t output, const IDimensionExpr& opt,
                                                          const IDimensionExpr& upper) {
  return guarded([&] { return declare_size(output, address_of(opt), address_of(upper)); });
}

const IDimensionExpr* ShapeExpressions::declare_size(int32_t output, const IDimensionExpr* opt,
                                                     const IDimensionExpr* upper) {
  const auto refuse = [&](const auto&... why) { return fail("declareSizeTensor: ", why...); };
  if (!opt) return refuse("the optimum is null");
  if (!upper) return refuse("the upper bound is null");
  if (output < 0 || output >= num_outputs_) return refuse("output ", output, " is outside [0, ", num_outputs_, ")");
  if (size_of(output)) return refuse("output ", output, " is a size tensor already");
  const sym::Expr *const likely = find(opt), *const most = find(upper);
  if (!likely) return refuse("the optimum is an expression of another call");
  if (!most) return refuse("the upper bound is an expression of another call");
  if (sym::provably_less(*most, *likely))
    return refuse("output ", output, ": the optimum ", *likely, " is above the upper bound ", *most);
  const sym::Expr size = cx_.decided_size(str("size ", output), *most, likely->opt());
  size_outputs_.push_back(output);
  sizes_.push_back(size);
  return keep(size, true);
}

DimsExprs ShapeExpressions::of(std::span<const sym::Expr> expressions) {
  DimsExprs dims{};
  dims.nbDims = static_cast<int32_t>(expressions.size());
  for (size_t i = 0; i < expressions.size(); ++i) dims.d[i] = keep(expressions[i]);
  return dims;
}

Result<Shape> ShapeExpressions::shape_of(const DimsExprs& dims, int output) const {
  TRY(require(dims.nbDims >= 0 && dims.nbDims <= nvinfer1::Dims::MAX_DIMS, "output ", output, " would have ",
              dims.nbDims, " dimensions; at most ", nvinfer1::Dims::MAX_DIMS, " are possible"));
  Shape shape;
  for (int32_t i = 0; i < dims.nbDims; ++i) {
    TRY(require(dims.d[i] != nullptr, "dimension ", i, " of output ", output, " has no expression"));
    const sym::Expr* const extent = find(dims.d[i]);
    TRY(require(extent != nullptr, "dimension ", i, " of output ", output, " is an expression of another call"));
    shape.push_back(*extent);
  }
  return shape;
}

const sym::Expr* ShapeExpressions::find(const void* expression) const {
  const auto found = values_.find(expression);
  return found == values_.end() ? nullptr : found->second;
}

const sym::Expr* ShapeExpressions::size_of(int output) const {
  const auto found = std::ranges::find(size_outputs_, output);
  return found == size_outputs_.end() ? nullptr : &sizes_[static_cast<size_t>(found - size_outputs_.begin())];
}

}  // namespace kiln::plugin
