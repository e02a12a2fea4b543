/// Shared by the backends' tactics of Cumulative.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

/// Takes running sums and products along any axis, row-major.
class CumulativeRegions : public Tactic {
 public:
  std::string_view name() const override { return "cumulative"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
