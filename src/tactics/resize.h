/// Resampling: what both backends' tactics claim, and in which formats.
#pragma once

#include <vector>

#include "steps/resize.h"
#include "tactics/tactic.h"

namespace kiln {

class ResizeRegions : public Tactic {
 public:
  std::string_view name() const override { return "resize"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
  struct Resampling {
    const ops::Resize& op;
    const TensorType &x, &y;
    bool sizes = false, roi = false, scales = false;  ///< inputs that the node has besides x
    std::vector<bool> resized;                        ///< may_be_resized
  };
  /// Fails where a backend has no kernel for it, whatever extents within the profile a run has.
  virtual Status check(const Resampling& resampling) const = 0;
  /// The step of a region that `match` gave.
  static steps::Resize step_of(const TacticContext& cx, const Region& region);
};

/// The largest extents that a type may have, as far as anything bounds them, else those of the optimum: a bind fails
/// beyond a kernel's limits.
Extents planned_extents(const TensorType& type);
/// Returns, by axis of x of the Resize `node`, whether it may be resampled at some extents, for all that its graph
/// shows.
std::vector<bool> may_be_resized(const ir::Graph& graph, ir::NodeId node);

}  // namespace kiln
