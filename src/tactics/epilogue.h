/// Epilogues of contractions within their regions: a bias, a residual and a clamp, fused into its registers.
#pragma once

#include "steps/epilogue.h"
#include "tactics/tactic.h"

namespace kiln {

/// A contraction and the pointwise nodes behind it. `nodes` in topological order, the contraction first.
struct EpilogueMatch {
  ir::NodeId contraction;
  std::vector<ir::NodeId> nodes;
  ir::ValueId bias = ir::ValueId::kNone;      ///< a constant of one element a channel, added behind the contraction
  ir::ValueId residual = ir::ValueId::kNone;  ///< of the output's type
  std::vector<ir::ValueId> extras;            ///< what the hook reads besides the contraction's result
  steps::Epilogue epilogue = {};              ///< its clamp and hook; the region's has types, too
};

/// Looks up from `root` through [clamp], [+ residual] and [+ bias] to a node for which `is_contraction` holds. The bias
/// runs along `channel_axis` of the output, negative from the back.
std::expected<EpilogueMatch, Reject> match_epilogue(const ir::Graph& graph, ir::NodeId root,
                                                    bool (*is_contraction)(const Op&), int channel_axis);

/// The region of a contraction's step: its two operands, its bias (its own or the epilogue's), the residual and what
/// the hook reads. `data` is {epilogue}.
Match contraction_region(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& match);
/// The epilogue of such a region.
Result<steps::Epilogue> epilogue_of(const Region& region);
bool has_hook(const Region& region);
/// A variant with the result in `format`, and inputs that lie against it likewise.
Variant contraction_variant(const TacticContext& cx, const Region& region, std::string name, const Format& format,
                            double estimate_us = 0);
/// The input whose memory such a region's output may take, or -1.
int in_place_input(const Region& region);

}  // namespace kiln
