/// Sparse tensors as dense ones, which is how networks hold them.
#pragma once

#include <span>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::onnx {

/// The tensor of extents `dims` that has `values` at `indices` and zeros elsewhere, called as the values are. Indices
/// are INT64: [count], of elements in row-major order, or [count, rank]. Fails where the tensor takes more than
/// `budget` bytes, from which it takes its own.
Result<TensorDef> dense_tensor(const TensorDef& values, const TensorDef& indices, std::vector<int64_t> dims,
                               size_t& budget);

}  // namespace kiln::onnx
