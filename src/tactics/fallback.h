/// Any op by its reference: what runs where no tactic claims a node.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

class Fallback final : public Tactic {
 public:
  /// `executor` has a kernel "reference", whose payload is the op's record.
  explicit Fallback(std::string executor) : executor_(std::move(executor)) {}
  std::string_view name() const override { return "reference"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override;

 private:
  std::string executor_;
};

}  // namespace kiln
