/// Shared by the backends' tactics of TopK.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

/// Takes rows along any axis, row-major, of numbers that have a sort key.
class TopKRegions : public Tactic {
 public:
  std::string_view name() const override { return "top k"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
