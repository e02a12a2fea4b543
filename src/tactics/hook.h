/// Any pointwise chain behind a contraction, run on its blocks while they are in cache.
#pragma once

#include "tactics/epilogue.h"

namespace kiln {

/// How constants are stored bounds what a chain may read: in channels-last results, constants of a whole result's size
/// are out.
enum class ResultOrder : uint8_t { kRowMajor, kChannelsLast };

/// The chain that ends at `root`, if it consumes a contraction whose result only it reads. Other operands must be of
/// the result's shape, one element a channel (`channel_axis`, negative from the back), or one element. Unless `halves`,
/// contraction and chain are of f32. `has_type` says what a nest may read.
std::expected<EpilogueMatch, Reject> match_hook(const ir::Graph& graph, ir::NodeId root,
                                                bool (*is_contraction)(const Op&), int channel_axis, ResultOrder order,
                                                bool halves = false, bool (*has_type)(DType) = is_hook_type);

/// The program with input `first` moved to the front.
NestProgram reordered(NestProgram program, size_t first);

/// Makes the region of a contraction, from what its epilogue has.
using RegionOf = Match (*)(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& match);

/// A contraction whose epilogue fits in registers (epilogue.h), else one with a hook.
Match match_contraction(const TacticContext& cx, ir::NodeId root, bool (*is_contraction)(const Op&), int channel_axis,
                        ResultOrder order, RegionOf region_of, bool halves = false);

}  // namespace kiln
