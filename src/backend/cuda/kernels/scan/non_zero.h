/// Coordinates of the elements that are not zero, by the kernels of non_zero.cuh.
#pragma once

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/scan/arguments.h"
#include "tensor/dtype.h"
#include "tensor/extents.h"

namespace kiln::cuda {

inline constexpr const char *kNonZeroMarkEntry = "non_zero_mark", *kNonZeroWriteEntry = "non_zero_write";

struct NonZeroPlan {
  NonZeroArgument argument;
  LaunchShape shape;  ///< of both launches; no blocks where x has no elements
  int64_t workspace_bytes = 0;

  /// Gives the argument its parts of the workspace.
  void place(std::byte* workspace);
};
/// `most`: coordinates that y has room for.
NonZeroPlan plan_non_zero(DType dtype, const Extents& x, int64_t most);

}  // namespace kiln::cuda
