/// Padding by constants, reflections or edges.
#pragma once

#include <optional>

#include "onnx/import/axes.h"

namespace kiln::onnx::importers {

/// x padded as attribute `mode` says. `pads` has those before the axes, then those behind; the axes are all unless they
/// are given. Mode constant reads `fill`, one element; kNone is 0.
Result<ValueId> padded(ImportContext& cx, ValueId x, const SymbolicValues& pads, const std::optional<Axes>& given,
                       ValueId fill);

}  // namespace kiln::onnx::importers
