#include "backend/cuda/kernels/scan/non_zero.h"

#include <algorithm>

#include "backend/cuda/kernels/nest/walk.h"
#include "backend/cuda/kernels/sizes.h"
#include "steps/non_zero.h"

namespace kiln::cuda {

static_assert(kMaxAxes >= kMaxRank);

NonZeroPlan plan_non_zero(DType dtype, const Extents& x, int64_t most) {
  NonZeroPlan plan;
  NonZeroArgument& z = plan.argument;
  z.tested = value_bits(dtype);
  z.count = volume(x);
  z.most = most;
  z.rank = static_cast<int32_t>(x.size());
  z.is_wide = z.count >= int64_t{1} << 31;
  plan.shape.grid[0] = 0;
  if (z.count == 0) return plan;
  for (size_t axis = 0; axis < x.size(); ++axis) {
    z.extents[axis] = x[axis];
    if (!z.is_wide) z.axes[axis] = divisor_of(x[axis]);
  }
  // As many blocks as a GPU of 132 multiprocessors has at once, few enough for each to read the numbers of all.
  constexpr int64_t kMostBlocks = 1056;
  z.groups = ceil_div(z.count, kMarkGroup);
  z.of_a_warp = ceil_div(z.groups, kMarkWarps * kMostBlocks);
  const int64_t blocks = ceil_div(z.groups, kMarkWarps * z.of_a_warp);
  plan.shape = flat_shape(blocks * kMarkThreads, kMarkThreads);
  plan.workspace_bytes = 8 + 8 * blocks * (1 + kMarkWarps) + z.groups * (kMarkGroup / 8);
  return plan;
}

void NonZeroPlan::place(std::byte* workspace) {
  argument.found = reinterpret_cast<int64_t*>(workspace);
  argument.of_blocks = reinterpret_cast<uint64_t*>(workspace) + 1;
  argument.of_warps = argument.of_blocks + shape.grid[0];
  argument.marks = reinterpret_cast<uint32_t*>(argument.of_warps + int64_t{shape.grid[0]} * kMarkWarps);
}

}  // namespace kiln::cuda
