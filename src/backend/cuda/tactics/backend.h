/// The CUDA backend as the builder sees it.
#pragma once

#include <algorithm>

#include "backend/cuda/device/cuda_device.h"
#include "tactics/fallback.h"
#include "tactics/tactic.h"

namespace kiln::cuda {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(CudaDevice& device) : device_(device) {}
  std::string_view name() const override { return "cuda"; }
  Device& device() override { return device_; }
  std::span<const Tactic* const> tactics(const OpInfo& op) const override;
  Status lower(ir::Graph& graph, const Numerics& numerics) const override;
  bool multiplies_bytes(const ir::Graph& graph, ir::NodeId contraction) const override;
  void compile_ahead(FunctionRef<void()> ask) const override;
  /// A node of a graph behind the one that it waits for, on an H200.
  double step_overhead_us() const override { return 0.9; }
  const Tactic& fallback() const override { return fallback_; }
  StepDraft reformat(const TensorType& type, const Format& from, const Format& to) const override;
  double reformat_estimate_us(const TensorType& type, const Format& from, const Format& to) const override;

 private:
  CudaDevice& device_;
  Fallback fallback_{"cuda"};
};

/// The device that a tactic compiles for: the CUDA backend's contexts have no other.
inline CudaDevice& device_of(const TacticContext& cx) { return static_cast<CudaDevice&>(cx.device); }

/// The most shared memory that a block of a kernel may have: the device's, or the build's limit.
inline int64_t most_shared_bytes(const TacticContext& cx) {
  return std::min(device_of(cx).properties().shared_bytes_per_block, cx.numerics.most_shared_bytes);
}
/// Whether the build's limit leaves kernels less shared memory than the device has.
inline bool limits_shared_memory(const TacticContext& cx) {
  return cx.numerics.most_shared_bytes < device_of(cx).properties().shared_bytes_per_block;
}

}  // namespace kiln::cuda
