/// Shared by the backends' tactics of Recurrence.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

/// Takes recurrences whose weights are constants, row-major.
class RecurrenceRegions : public Tactic {
 public:
  std::string_view name() const override { return "recurrence"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
