/// Any pointwise chain behind a contraction, run on its blocks while they are in cache.
#pragma once

#include "ops/nest_program.h"
#include "tactics/epilogue.h"
#include "tactics/tactic.h"

namespace kiln {

/// A contraction and the chain that consumes it. `nodes` in topological order, the contraction first.
struct HookMatch {
  ir::NodeId contraction;
  std::vector<ir::NodeId> nodes;
  std::vector<ir::ValueId> extras;  ///< what the chain reads besides the contraction's result
  HookSpec spec;
};

/// How constants are stored bounds what a chain may read: in channels-last results, constants of a whole result's size
/// are out.
enum class ResultOrder : uint8_t { kRowMajor, kChannelsLast };

/// The chain that ends at `root`, if it consumes a contraction whose result only it reads. Other operands must be of
/// the result's shape, one element a channel (`channel_axis`, negative from the back), or one element. Unless `halves`,
/// contraction and chain are of f32.
std::expected<HookMatch, Reject> match_hook(const ir::Graph& graph, ir::NodeId root, bool (*is_contraction)(const Op&),
                                            int channel_axis, ResultOrder order, bool halves = false);

/// Makes the region of a contraction with its fixed inputs, from what its epilogue has.
using RegionOf = Match (*)(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue);

/// A contraction whose epilogue fits in registers (epilogue.h), else one with a hook: the region's inputs then end with
/// the hook's operands, and its data has the hook's record.
Match match_contraction(const TacticContext& cx, ir::NodeId root, bool (*is_contraction)(const Op&), int channel_axis,
                        ResultOrder order, RegionOf region_of, bool halves = false);

}  // namespace kiln
