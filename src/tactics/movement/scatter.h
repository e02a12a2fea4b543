/// Shared by the backends' tactics of Scatter.
#pragma once

#include "ops/scatter.h"
#include "tactics/tactic.h"

namespace kiln {

/// Takes scatters that can_scatter (steps/scatter.h), in both modes, row-major.
class ScatterRegions : public Tactic {
 public:
  std::string_view name() const override { return "scatter"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
