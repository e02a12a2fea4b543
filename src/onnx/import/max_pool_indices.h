/// The second output of MaxPool.
#pragma once

#include "onnx/import/compose.h"
#include "ops/pooling.h"

namespace kiln::onnx {

/// Positions in x, flattened, of each maximum of y = `pool`(x), the first where there are several; i64 of y's shape.
/// With `column_major`, spatial positions count with the first axis fastest. Each tap of the window is compared with
/// y, which is slow; segmentation networks that unpool by indices are what asks for it.
Result<ValueId> max_pool_indices(ImportContext& cx, const ops::Pooling& pool, ValueId x, ValueId y, bool column_major);

}  // namespace kiln::onnx
