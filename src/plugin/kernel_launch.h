/// The launch of a quick plugin's kernel, as the plugin tells it: expressions of the inputs' extents.
#pragma once

#include <impl/NvInferPythonPlugin.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "ops/plugin_object.h"
#include "plugin/shape_expressions.h"

namespace kiln::plugin {

/// Number `what` of a plugin's ISymExpr, read at once: a plugin may delete it after the call that handed it over. Fails
/// unless it is made of `expressions`.
Result<sym::Expr> read_expression(nvinfer1::ISymExpr* given, const ShapeExpressions& expressions,
                                  std::string_view what);

/// Grid, block and shared memory. What the plugin does not set is 1, and no shared memory.
class LaunchNumbers final : public nvinfer1::IKernelLaunchParams, public nvinfer1::IKernelLaunchParamsImpl {
 public:
  /// `expressions` outlive it.
  explicit LaunchNumbers(const ShapeExpressions& expressions) : expressions_(expressions) { mImpl = this; }

  const std::array<sym::Expr, kNumLaunchNumbers>& numbers() const { return numbers_; }
  /// The first number that could not be set, which a plugin may not have looked at.
  const Status& failure() const { return failure_; }

  nvinfer1::ISymExpr* getGridX() noexcept override { return get(LaunchNumber::kGridX); }
  nvinfer1::ISymExpr* getGridY() noexcept override { return get(LaunchNumber::kGridY); }
  nvinfer1::ISymExpr* getGridZ() noexcept override { return get(LaunchNumber::kGridZ); }
  nvinfer1::ISymExpr* getBlockX() noexcept override { return get(LaunchNumber::kBlockX); }
  nvinfer1::ISymExpr* getBlockY() noexcept override { return get(LaunchNumber::kBlockY); }
  nvinfer1::ISymExpr* getBlockZ() noexcept override { return get(LaunchNumber::kBlockZ); }
  nvinfer1::ISymExpr* getSharedMem() noexcept override { return get(LaunchNumber::kSharedBytes); }
  bool setGridX(nvinfer1::ISymExpr* by) noexcept override { return set(LaunchNumber::kGridX, by); }
  bool setGridY(nvinfer1::ISymExpr* by) noexcept override { return set(LaunchNumber::kGridY, by); }
  bool setGridZ(nvinfer1::ISymExpr* by) noexcept override { return set(LaunchNumber::kGridZ, by); }
  bool setBlockX(nvinfer1::ISymExpr* by) noexcept override { return set(LaunchNumber::kBlockX, by); }
  bool setBlockY(nvinfer1::ISymExpr* by) noexcept override { return set(LaunchNumber::kBlockY, by); }
  bool setBlockZ(nvinfer1::ISymExpr* by) noexcept override { return set(LaunchNumber::kBlockZ, by); }
  bool setSharedMem(nvinfer1::ISymExpr* by) noexcept override { return set(LaunchNumber::kSharedBytes, by); }

 private:
  nvinfer1::ISymExpr* get(LaunchNumber which) const { return given_[static_cast<size_t>(which)]; }
  bool set(LaunchNumber which, nvinfer1::ISymExpr* by) noexcept;

  const ShapeExpressions& expressions_;
  std::array<nvinfer1::ISymExpr*, kNumLaunchNumbers> given_{};  ///< handed back, and never looked at again
  std::array<sym::Expr, kNumLaunchNumbers> numbers_{1, 1, 1, 1, 1, 1, 0};
  Status failure_;
};

/// Scalar arguments beside the tensors.
class ExtraArguments final : public nvinfer1::ISymExprs, public nvinfer1::ISymExprsImpl {
 public:
  /// `expressions` outlive it.
  explicit ExtraArguments(const ShapeExpressions& expressions) : expressions_(expressions) { mImpl = this; }

  /// Puts them into the kernel. Fails where one of them was not set, or could not be.
  Status take(PluginKernel& kernel) const;

  nvinfer1::ISymExpr* getSymExpr(int32_t index) const noexcept override;
  bool setSymExpr(int32_t index, nvinfer1::ISymExpr* by) noexcept override;
  int32_t getNbSymExprs() const noexcept override { return static_cast<int32_t>(arguments_.size()); }
  bool setNbSymExprs(int32_t count) noexcept override;

 private:
  struct Argument {
    nvinfer1::ISymExpr* given = nullptr;  ///< handed back, and never looked at again
    sym::Expr value;
    int bytes = 0;
  };
  const ShapeExpressions& expressions_;
  std::vector<Argument> arguments_;
  Status failure_;
};

/// The kernel of a plugin for such tensors. `shapes` are the inputs' extents in `expressions`.
Result<PluginKernel> ask_kernel(nvinfer1::IPluginV3QuickAOTBuild& plugin, const PluginIdentity& identity,
                                std::span<const nvinfer1::DimsExprs> shapes, ShapeExpressions& expressions,
                                std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs);

}  // namespace kiln::plugin
