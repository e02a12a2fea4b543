/// What may follow a contraction within its region: a bias, a residual and a clamp, fused into its registers.
#pragma once

#include <limits>

#include "tactics/tactic.h"

namespace kiln {

/// A contraction and the pointwise nodes behind it. `nodes` in topological order, the contraction first.
struct EpilogueMatch {
  ir::NodeId contraction;
  std::vector<ir::NodeId> nodes;
  ir::ValueId bias = ir::ValueId::kNone;      ///< a constant of one element a channel, added behind the contraction
  ir::ValueId residual = ir::ValueId::kNone;  ///< of the output's type
  double lo = -std::numeric_limits<double>::infinity(), hi = std::numeric_limits<double>::infinity();
};

/// Looks up from `root` through [clamp], [+ residual] and [+ bias] to a node for which `is_contraction` holds. The bias
/// runs along `channel_axis` of the output, negative from the back.
std::expected<EpilogueMatch, Reject> match_epilogue(const ir::Graph& graph, ir::NodeId root,
                                                    bool (*is_contraction)(const Op&), int channel_axis);

/// The region of a contraction's step: its two operands, its bias (its own or the epilogue's) and the residual.
Match contraction_region(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue);
/// What of a region's epilogue goes into its step: the clamp, the hook's program, the residual's memory.
Status add_epilogue(StepDraft& draft, const Region& region);

}  // namespace kiln
