/// Expressions for extents, as a plugin in Python sees them.
#pragma once

#include <NvInferRuntime.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <vector>

namespace kiln::python {

namespace nb = nanobind;

/// One call of a plugin that is given a builder of expressions: they live as long as it.
struct ShapeCall {
  nvinfer1::IExprBuilder* builder = nullptr;  ///< null once the call has returned

  /// Throws RuntimeError once the call has returned.
  nvinfer1::IExprBuilder& open_builder() const;
};

/// `tensorrt.IDimensionExpr`.
struct DimensionExpr {
  const nvinfer1::IDimensionExpr* expr = nullptr;
  std::shared_ptr<const ShapeCall> call;

  /// Throws RuntimeError once the call that it belongs to has returned.
  const nvinfer1::IDimensionExpr& get() const;
};

/// `tensorrt.DimsExprs`: an expression for each extent; none where the program has set none yet.
struct ShapeExprs {
  std::vector<std::optional<DimensionExpr>> extents;

  ShapeExprs() = default;
  ShapeExprs(const nvinfer1::DimsExprs& dims, const std::shared_ptr<const ShapeCall>& call);
  /// Throws RuntimeError for an expression of another call.
  nvinfer1::DimsExprs to_api(const ShapeCall& call) const;
};

/// `tensorrt.IExprBuilder`.
struct ExprBuilder {
  std::shared_ptr<const ShapeCall> call;
};

/// Ends a ShapeCall with the block that made it.
class ShapeScope {
 public:
  explicit ShapeScope(nvinfer1::IExprBuilder& builder) : call_(std::make_shared<ShapeCall>(&builder)) {}
  ShapeScope(const ShapeScope&) = delete;
  ShapeScope& operator=(const ShapeScope&) = delete;
  ~ShapeScope() { call_->builder = nullptr; }

  const std::shared_ptr<ShapeCall>& call() const { return call_; }
  nb::object builder() const { return nb::cast(ExprBuilder{call_}); }
  nb::list list_of(const nvinfer1::DimsExprs* dims, int32_t count) const;
  /// Writes what a method returned, a list of `count` DimsExprs. Throws what is wrong with it.
  void write(nb::handle result, nvinfer1::DimsExprs* dims, int32_t count) const;

 private:
  const std::shared_ptr<ShapeCall> call_;
};

}  // namespace kiln::python
