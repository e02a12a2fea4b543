/// What the backends' tactics of Expand share.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

/// Takes broadcasts that no nest could look through, of elements of whole bytes.
class ExpandRegions : public Tactic {
 public:
  std::string_view name() const override { return "expand"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
