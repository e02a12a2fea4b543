/// Elements of inputs that nobody has given.
#pragma once

#include <random>

#include "tensor/host_tensor.h"

namespace kiln {

/// Floats in [-1, 1); integers, which may be indices, masks or lengths, that are 0 or 1. Fails for want of memory.
Result<HostTensor> made_up_tensor(DType dtype, const Extents& extents, std::mt19937_64& random);

}  // namespace kiln
