/// The order of steps around those that change the copy of an input.
#pragma once

#include <span>
#include <vector>

#include "plan/plan.h"

namespace kiln {

/// A copy that was made of a tensor for a step that changes it: tensors of a block.
struct AliasedCopy {
  int from, to;
};

/// The order in which a block's steps run so that inputs of the network are read before a step changes their copy in an
/// output: a program may give both one address, and then the copy is the input. Steps that need what was changed stay
/// behind it, whatever they read. A block whose steps decide sizes keeps its order, since its shapes depend on that.
std::vector<size_t> readers_first(const plan::Block& block, std::span<const AliasedCopy> copies);

}  // namespace kiln
