/// Pooling: what both backends' tactics claim, and in which formats.
#pragma once

#include "steps/pooling.h"
#include "tactics/tactic.h"

namespace kiln {

class PoolingRegions : public Tactic {
 public:
  std::string_view name() const override { return "pooling"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
  /// Why a backend's kernels do not take this; empty where they do.
  virtual std::string why_not(ops::PoolingKind kind, DType type) const = 0;
  /// The step of a region that `match` gave.
  static steps::Pooling step_of(const TacticContext& cx, const Region& region);
};

}  // namespace kiln
