/// Shared by the backends' tactics of Slice.
#pragma once

#include "ops/slice.h"
#include "tactics/tactic.h"

namespace kiln {

/// Takes slices in any mode, of elements of whole bytes, row-major or channels last.
class SliceRegions : public Tactic {
 public:
  std::string_view name() const override { return "slice"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
  /// Starts, sizes and strides by the axes of x, from inputs where they are there, else from attributes.
  static Result<SliceSpec> spec_of(const ir::Graph& graph, const ir::Node& node);
};

}  // namespace kiln
