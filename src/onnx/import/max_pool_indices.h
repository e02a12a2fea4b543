/// The second output of MaxPool.
#pragma once

#include "onnx/import/compose.h"
#include "ops/pooling.h"

namespace kiln::onnx {

/// Positions in x, flattened, of each maximum of y = `pool`(x), the first where there are several; i64 of y's shape.
/// With `column_major`, spatial positions count with the first axis fastest. Spatial extents must be constants: each
/// tap of the window is compared with y, which is slow, and nothing that runs networks asks for it.
Result<ValueId> max_pool_indices(ImportContext& cx, const ops::Pooling& pool, ValueId x, ValueId y, bool column_major);

}  // namespace kiln::onnx
