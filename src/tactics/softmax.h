/// Softmax: what both backends' tactics claim, and in which formats.
#pragma once

#include "steps/softmax.h"
#include "tactics/tactic.h"

namespace kiln {

class SoftmaxRegions : public Tactic {
 public:
  std::string_view name() const override { return "softmax"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  static steps::Softmax step_of(const TacticContext& cx, const Region& region, const Variant& variant);
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
