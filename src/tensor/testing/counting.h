/// A tensor for tests whose elements tell where they stood.
#pragma once

#include "tensor/host_tensor.h"

namespace kiln {

/// 0, 1, 2 ... in row-major order; of types of less than a byte the numbers from -7 to 7, again and again.
HostTensor counting(DType dtype, const Extents& extents);

}  // namespace kiln
