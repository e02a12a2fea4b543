/// IExprBuilder over the compiler's own expressions.
#pragma once

#include <NvInferRuntime.h>

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <vector>

#include "ops/infer_context.h"

namespace kiln::plugin {

/// Lives as long as one call of getOutputShapes; the expressions that it made go with it. Its calls, which are made by
/// the plugin's code, return null where they fail, as for an expression that another call made.
class ShapeExpressions final : public nvinfer1::IExprBuilder, public nvinfer1::apiv::VExprBuilder {
 public:
  ShapeExpressions(InferContext& cx, int num_outputs);

  const nvinfer1::IDimensionExpr* constant(int64_t value) override;
  /// Null for an operation that is none.
  const nvinfer1::IDimensionExpr* operation(nvinfer1::DimensionOperation op, const nvinfer1::IDimensionExpr& first,
                                            const nvinfer1::IDimensionExpr& second) override;
  /// Null where the index is no output's, or was declared before, or where the optimum is above the upper bound,
  /// whatever the shapes are.
  const nvinfer1::IDimensionExpr* declareSizeTensor(int32_t output, const nvinfer1::IDimensionExpr& opt,
                                                    const nvinfer1::IDimensionExpr& upper) override;

  /// The type's extents, or its values, as the plugin reads them.
  nvinfer1::DimsExprs of(std::span<const sym::Expr> expressions);
  /// Fails where the plugin left an expression out, gave one of another call, or wrote more than a tensor may have.
  Result<Shape> shape_of(const nvinfer1::DimsExprs& dims, int output) const;
  const std::vector<int>& size_outputs() const { return size_outputs_; }
  /// The first failure of a call that a plugin may not have looked at: of declareSizeTensor, for an expression of
  /// another call, or for want of memory.
  const Status& failure() const { return failure_; }
  /// The size that an output tells; null where it tells none.
  const sym::Expr* size_of(int output) const;
  /// The value of one of its own expressions; null where `expression` is none, as one of another call, which is gone.
  const sym::Expr* find(const void* expression) const;

 private:
  class Expression final : public nvinfer1::IDimensionExpr, public nvinfer1::apiv::VDimensionExpr {
   public:
    Expression(sym::Expr value, bool is_size) : value(value), is_size_(is_size) { this->mImpl = this; }
    bool isConstant() const override { return value.is_const() && value.is_valid(); }
    int64_t getConstantValue() const override { return value.constant().value_or(INT64_MIN); }
    bool isSizeTensor() const override { return is_size_; }

    const sym::Expr value;

   private:
    const bool is_size_;
  };
  const Expression* keep(sym::Expr value, bool is_size = false);
  const nvinfer1::IDimensionExpr* declare_size(int32_t output, const nvinfer1::IDimensionExpr* opt,
                                               const nvinfer1::IDimensionExpr* upper);
  template <class F>
  const nvinfer1::IDimensionExpr* guarded(F make) noexcept;
  template <class... Why>
  std::nullptr_t fail(const Why&... why);

  InferContext& cx_;
  const int num_outputs_;
  std::deque<Expression> expressions_;
  std::unordered_map<const void*, const sym::Expr*> values_;  ///< of the expressions, by their addresses
  std::vector<int> size_outputs_;
  std::vector<sym::Expr> sizes_;
  Status failure_;
};

}  // namespace kiln::plugin
