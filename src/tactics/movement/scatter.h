/// Shared by the backends' tactics of Scatter.
#pragma once

#include "ops/scatter.h"
#include "tactics/tactic.h"

namespace kiln {

/// Takes scatters in both modes, of elements of whole bytes, row-major.
class ScatterRegions : public Tactic {
 public:
  std::string_view name() const override { return "scatter"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// The reason why the backend's kernels have not this reduction of elements of this type; empty where they have.
  virtual std::string_view why_not(ScatterReduction reduction, DType data) const = 0;
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
