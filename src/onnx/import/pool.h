/// Pooling of tensors that other importers computed.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// The average pooling of x, [N, C, spatial...], that the node's attributes say. x has as many axes as input 0.
Result<ValueId> average_pool_of(ImportContext& cx, ValueId x);

}  // namespace kiln::onnx
