/// The CPU backend as the builder sees it.
#pragma once

#include "backend/cpu/device/cpu_device.h"
#include "tactics/fallback.h"
#include "tactics/tactic.h"

namespace kiln::cpu {

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(CpuDevice& device) : device_(device) {}
  std::string_view name() const override { return "cpu"; }
  Device& device() override { return device_; }
  std::span<const Tactic* const> tactics(const OpInfo& op) const override;
  Status lower(ir::Graph& graph, const Numerics& numerics) const override;
  bool multiplies_bytes(const ir::Graph& graph, ir::NodeId contraction) const override;
  bool multiplies_in_kind() const override { return true; }
  const Tactic& fallback() const override { return fallback_; }
  StepDraft reformat(const TensorType& type, const Format& from, const Format& to) const override;
  double reformat_estimate_us(const TensorType& type, const Format& from, const Format& to) const override;

 private:
  CpuDevice& device_;
  Fallback fallback_{"cpu"};
};

}  // namespace kiln::cpu
