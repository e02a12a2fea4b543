/// The place of the largest element.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

enum class Extreme : uint8_t { kMax, kMin };
enum class Tie : uint8_t { kFirst, kLast };
/// The index, i64, along `axis` of each lane's extreme; that axis keeps extent 1. Of NaNs alone: outside the axis.
Result<ValueId> arg_extreme(ImportContext& cx, ValueId x, int axis, Extreme extreme, Tie tie);

}  // namespace kiln::onnx
