/// Bounds of tensors that steps read at strides which a plan gives.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "tensor/extents.h"

namespace kiln {

/// Fails unless elements offset + i . strides, for every index i of `extents`, lie within a dense tensor of extents
/// `tensor`. Strides may be 0 or negative. `what` names who reads them.
Status check_view_bounds(int64_t offset, std::span<const int64_t> strides, const Extents& extents,
                         const Extents& tensor, std::string_view what);

}  // namespace kiln
