/// The mask of attention that lets each query see no later key.
#pragma once

#include "tensor/host_tensor.h"

namespace kiln {

/// Whether `mask` [1, ..., queries, keys], added to scores, does nothing but hide keys: the last query sees all of
/// them, each one before it one fewer, and the first at least one. What is hidden is minus infinity or so low that its
/// weight is zero.
bool is_causal_mask(const HostTensor& mask);

}  // namespace kiln
