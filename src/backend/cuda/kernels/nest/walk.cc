#include "backend/cuda/kernels/nest/walk.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/error.h"

namespace kiln::cuda {
namespace {

/// Whether `outer` steps over exactly all of `inner` in every tensor, so that the two are one axis.
bool can_merge(const MergedAxes& axes, size_t outer, size_t inner) {
  return std::ranges::all_of(axes.strides,
                             [&](const AxisStrides& s) { return s[outer] == s[inner] * axes.extents[inner]; });
}

/// ceil(extent / width): what a walk counts along the innermost axis.
int64_t vectors_of(int64_t extent, int width) { return (extent + width - 1) / width; }

}  // namespace

int64_t MergedAxes::reach() const {
  int64_t farthest = 0;
  for (const AxisStrides& s : strides) {
    int64_t distance = 0;
    for (int axis = 0; axis < rank; ++axis)
      distance += std::abs(s[static_cast<size_t>(axis)]) * std::max<int64_t>(extents[static_cast<size_t>(axis)] - 1, 0);
    farthest = std::max(farthest, distance);
  }
  return farthest;
}

MergedAxes merge_axes(std::span<const int64_t> extents, std::span<const AxisStrides> tensors, size_t leader) {
  MergedAxes result;
  result.strides.resize(tensors.size());
  std::array<size_t, kMaxRank> order{};
  size_t count = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] != 1) order[count++] = axis;
  std::stable_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count),
                   [&](size_t a, size_t b) { return std::abs(tensors[leader][a]) > std::abs(tensors[leader][b]); });
  for (size_t i = 0; i < count; ++i) {
    const auto to = static_cast<size_t>(result.rank++);
    result.extents[to] = extents[order[i]];
    for (size_t k = 0; k < tensors.size(); ++k) result.strides[k][to] = tensors[k][order[i]];
    if (to == 0 || !can_merge(result, to - 1, to)) continue;
    result.extents[to - 1] *= result.extents[to];
    for (AxisStrides& s : result.strides) s[to - 1] = s[to];
    --result.rank;
  }
  if (result.rank == 0) {  // one element
    result.extents[0] = 1;
    result.rank = 1;
    for (AxisStrides& s : result.strides) s[0] = 1;
  }
  return result;
}

AxisStrides broadcast_strides(std::span<const int64_t> extents, std::span<const int64_t> own,
                              std::span<const int64_t> space) {
  AxisStrides result{};
  const size_t missing = space.size() - extents.size();
  for (size_t axis = missing; axis < space.size(); ++axis)
    result[axis] = extents[axis - missing] == 1 ? 0 : own[axis - missing];
  return result;
}

Divisor divisor_of(int64_t extent) {
  CHECK(extent >= 1 && extent < int64_t{1} << 31);
  const auto d = static_cast<uint64_t>(extent);
  const auto shift = static_cast<uint32_t>(std::bit_width(d - 1));  // ceil(log2)
  // n / d == (n * (2^32 + m) / 2^32) >> shift for every n < 2^31.
  const uint64_t m = (uint64_t{1} << 32) * ((uint64_t{1} << shift) - d) / d + 1;
  return {static_cast<uint32_t>(d), static_cast<uint32_t>(m), shift};
}

bool is_narrow(const MergedAxes& axes) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 4096;  // and a block of positions beyond the last
  return axes.count() < kMost && axes.reach() < kMost;
}

WalkArgument narrow_walk(const MergedAxes& axes, int width) {
  WalkArgument walk;
  walk.count = static_cast<uint32_t>(axes.count());
  walk.rank = axes.rank;
  for (int axis = 0; axis < axes.rank; ++axis) {
    const int64_t extent = axes.extents[static_cast<size_t>(axis)];
    walk.axes[axis] = divisor_of(std::max<int64_t>(1, axis + 1 == axes.rank ? vectors_of(extent, width) : extent));
  }
  return walk;
}

WideWalkArgument wide_walk(const MergedAxes& axes, int width) {
  WideWalkArgument walk;
  walk.count = static_cast<uint64_t>(axes.count());
  walk.rank = axes.rank;
  for (int axis = 0; axis < axes.rank; ++axis) {
    const int64_t extent = axes.extents[static_cast<size_t>(axis)];
    walk.axes[axis] =
        static_cast<uint64_t>(std::max<int64_t>(1, axis + 1 == axes.rank ? vectors_of(extent, width) : extent));
  }
  return walk;
}

}  // namespace kiln::cuda
