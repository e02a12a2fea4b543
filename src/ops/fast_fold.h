/// Folds of large constants without the references' generality.
#pragma once

#include <optional>
#include <span>

#include "base/error.h"
#include "ops/op.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// Output 0 of `op` on constants, of type `y`: reshapes share memory; transposes, casts between floats and sums,
/// products, differences and quotients of f32 are plain loops, equal to the reference bit for bit. Nothing for
/// other ops and small tensors. Fails for lack of memory only.
Result<std::optional<HostTensor>> fast_fold(const Op& op, std::span<const HostTensor* const> inputs,
                                            const TensorType& y);

}  // namespace kiln
