/// CUDA's tactics by op (tactics/registry.h), each in tactics/<op>.cc.
#pragma once

#include "tactics/registry.h"

namespace kiln::cuda {

/// Specialised once an op. Tactics whose region may be *rooted* (end) at T, likeliest first.
template <class T>
TacticList tactics_of();

/// The tactics of an op, by its info; empty for one that only the reference runs.
TacticList tactics_for(const OpInfo& op);

}  // namespace kiln::cuda
