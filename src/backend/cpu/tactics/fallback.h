/// Any op by its reference: what runs where no tactic claims a node.
#pragma once

#include "tactics/region.h"

namespace kiln::cpu {

class Fallback final : public Tactic {
 public:
  std::string_view name() const override { return "reference"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override;
};

}  // namespace kiln::cpu
