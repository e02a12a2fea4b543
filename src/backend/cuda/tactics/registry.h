/// CUDA's tactics by op. Each op of ops.def has its list in tactics/<op>.cc, or a line in gaps.cc with the reason why
/// it has none; one that has neither fails to link.
#pragma once

#include "tactics/tactic_list.h"

namespace kiln::cuda {

/// Specialised once an op. Tactics whose region may be *rooted* (end) at T, likeliest first.
template <class T>
TacticList tactics_of();

/// The tactics of an op, by its info; empty for one that only the reference runs.
TacticList tactics_for(const OpInfo& op);

}  // namespace kiln::cuda
