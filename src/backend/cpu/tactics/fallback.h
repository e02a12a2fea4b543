/// Any op by its reference: what runs where no tactic claims a node.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cpu {

class Fallback final : public Tactic {
 public:
  std::string_view name() const override { return "reference"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override;
};

/// A region of one node with all its inputs and outputs.
Region single_node_region(const ir::Graph& graph, ir::NodeId node);
/// A variant that reads and writes everything row-major.
Variant linear_variant(const Region& region, std::string name);

}  // namespace kiln::cpu
