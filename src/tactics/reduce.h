/// Reductions: what both backends' tactics claim, and in which formats.
#pragma once

#include "steps/reduce.h"
#include "tactics/tactic.h"

namespace kiln {

/// The reduction of a node whose input has this format.
steps::Reduce reduce_step(const ir::Graph& graph, ir::NodeId node, const Format& format);

/// Along axes that are neighbours in memory.
class ReduceRegions : public Tactic {
 public:
  std::string_view name() const override { return "reduce"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
  /// Why a backend's kernels do not take these types; empty where they do.
  virtual std::string_view why_not(DType x, DType y) const = 0;
  /// Whether there are variants where the axes of a row-major x are no neighbours: others, with these axes last.
  virtual bool moves_axes() const = 0;
};

}  // namespace kiln
