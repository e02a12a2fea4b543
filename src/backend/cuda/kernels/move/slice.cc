#include "backend/cuda/kernels/move/slice.h"

#include <utility>

namespace kiln::cuda {

KernelSource slice_source(int element_bytes) {
  KernelSource source;
  source.entry = "slice";
  source.prelude = str("#include \"move/slice.cuh\"\nKILN_SLICE(slice, uint", 8 * element_bytes, "_t)\n");
  return source;
}

BoundSlice::BoundSlice(SliceMode mode, std::span<const int64_t> from, std::span<const int64_t> to,
                       std::span<const int64_t> starts, std::span<const int64_t> strides) {
  constexpr uint32_t kThreads = 256;
  const Extents steps = row_major_strides(from);
  WideWalkArgument& walk = argument_.walk;
  walk.count = static_cast<uint64_t>(volume(to));
  walk.rank = 0;
  argument_.mode = static_cast<int32_t>(mode);
  for (size_t i = 0; i < to.size(); ++i) {
    const bool whole = from[i] == to[i] && starts[i] == 0 && strides[i] == 1;
    const bool merges = walk.rank > 0 && whole &&
                        argument_.axes[walk.rank - 1].extent == static_cast<int64_t>(walk.axes[walk.rank - 1]) &&
                        argument_.axes[walk.rank - 1].start == 0 && argument_.axes[walk.rank - 1].step == 1;
    if (merges) {  // two whole axes are one
      Axis& before = argument_.axes[walk.rank - 1];
      before.extent *= from[i];
      before.stride = steps[i];
      walk.axes[walk.rank - 1] *= static_cast<uint64_t>(to[i]);
      continue;
    }
    argument_.axes[walk.rank] = {from[i], starts[i], strides[i], steps[i]};
    walk.axes[walk.rank++] = static_cast<uint64_t>(to[i]);
  }
  shape_.block[0] = kThreads;
  shape_.grid[0] = grid_blocks(static_cast<int64_t>((walk.count + kThreads - 1) / kThreads));
  shape_.pdl = true;
}

Status BoundSlice::run(const Stream& stream, const Function& function, const void* from, const void* fill, void* to) {
  argument_.from = from;
  argument_.to = to;
  argument_.fill = fill;
  void* arguments[] = {&argument_};
  return launch(stream, function, shape_, arguments);
}

}  // namespace kiln::cuda
