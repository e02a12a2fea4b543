/// Ranges of numbers.
#pragma once

#include <array>

#include "onnx/import/context.h"

namespace kiln::onnx::importers {

/// Start, limit and delta, of one element and one type each.
using RangeParameters = std::array<ValueId, 3>;
/// Ends with the range as the node's output.
Status range_by(ImportContext& cx, const RangeParameters& of);

}  // namespace kiln::onnx::importers
