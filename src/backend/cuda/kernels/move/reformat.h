/// Copies between formats of which one or both are blocked: those of TensorRT's inputs and outputs (kHWC8, kCHW32 ...).
#pragma once

#include <span>
#include <vector>

#include "backend/cuda/kernels/move/move.h"
#include "base/error.h"

namespace kiln::cuda {

/// Fails where the formats are none of a tensor of that rank, or are blocked in ways that do not fit each other: along
/// different axes, or by blocks neither of which divides the other.
Status check_reformat(int rank, const Format& from, const Format& to);

/// The same elements in another format, after `check_reformat`. What pads an axis to whole blocks is neither read nor
/// written: no kernel of ours reads it.
std::vector<StridedCopy> reformat_copies(std::span<const int64_t> extents, const Format& from, const Format& to);

}  // namespace kiln::cuda
