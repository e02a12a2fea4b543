/// Shared by the backends' tactics of Transpose.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

/// Takes transposes of elements of whole bytes: as copies, and as nothing at all where the formats around them already
/// have the order.
class TransposeRegions : public Tactic {
 public:
  std::string_view name() const override { return "transpose"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
