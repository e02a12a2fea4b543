/// How large a constant's numbers are.
#pragma once

#include "tensor/host_tensor.h"

namespace kiln {

/// The largest finite magnitude; 0 if there is none.
double largest_magnitude(const HostTensor& constant);

}  // namespace kiln
