#include "backend/cuda/kernels/move/slice.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr int64_t kFar = int64_t{1} << 29;  // coordinates and counts of 32 bits stay below

int64_t blocks_of(uint64_t count) { return static_cast<int64_t>((count + kThreads - 1) / kThreads); }
int rows_of_band(int unit_bytes) { return unit_bytes < 4 ? 8 : 4; }

/// One axis of the source and of the target.
struct Axis {
  int64_t from, to, start, step, stride;
  bool is_whole() const { return from == to && start == 0 && step == 1; }
};
/// The slice's axes. Neighbours become one if the slice takes all of both.
std::vector<Axis> merged_axes(const SliceShape& s) {
  const Extents strides = row_major_strides(s.from);
  std::vector<Axis> axes;
  for (size_t i = 0; i < s.to.size(); ++i) {
    const Axis axis{s.from[i], s.to[i], s.starts[i], s.strides[i], strides[i]};
    if (!axes.empty() && axis.is_whole() && axes.back().is_whole())
      axes.back() = {axes.back().from * axis.from, axes.back().to * axis.to, 0, 1, axis.stride};
    else
      axes.push_back(axis);
  }
  return axes;
}

SliceLaunch wide_launch(const SliceShape& s, const std::vector<Axis>& axes) {
  SliceArgument a;
  a.walk.count = static_cast<uint64_t>(volume(s.to));
  a.walk.rank = static_cast<int32_t>(axes.size());
  a.mode = static_cast<int32_t>(s.mode);
  for (size_t i = 0; i < axes.size(); ++i) {
    a.axes[i] = {axes[i].from, axes[i].start, axes[i].step, axes[i].stride};
    a.walk.axes[i] = static_cast<uint64_t>(axes[i].to);
  }
  SliceLaunch launch{"slice", {}, 1, a};
  launch.shape.block[0] = kThreads;
  launch.shape.grid[0] = grid_blocks(blocks_of(a.walk.count));
  launch.shape.pdl = true;
  return launch;
}

/// A launch in units of `unit_bytes`; none where 32 bits are too few, or there are no two axes.
std::optional<SliceLaunch> band_launch(const SliceShape& s, std::vector<Axis> axes, int element_bytes, int unit_bytes) {
  const int64_t widening = unit_bytes / element_bytes;
  if (axes.size() < 2 || volume(s.to) == 0) return std::nullopt;
  if (widening > 1 && (!axes.back().is_whole() || axes.back().to % widening != 0)) return std::nullopt;
  for (Axis& axis : axes) axis.stride /= widening;  // all but the innermost are multiples of its extent
  axes.back().from /= widening;
  axes.back().to /= widening;
  axes.back().stride = 1;
  BandSliceArgument a;
  a.rank = static_cast<int32_t>(axes.size());
  a.mode = static_cast<int32_t>(s.mode);
  const size_t band = axes.size() - 2;
  int64_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    const auto is_far = [](int64_t at) { return at <= -kFar || at >= kFar; };
    if (is_far(axis.from) || is_far(axis.to) || is_far(axis.start) || is_far(axis.step) ||
        is_far(axis.start + axis.step * (axis.to - 1)))
      return std::nullopt;
    const int rows = i == band ? rows_of_band(unit_bytes) : 1;
    a.axes[i] = divisor_of((axis.to + rows - 1) / rows);
    a.extents[i] = static_cast<int32_t>(axis.from);
    a.starts[i] = static_cast<int32_t>(axis.start);
    a.steps[i] = static_cast<int32_t>(axis.step);
    a.strides[i] = axis.stride;
    if (__builtin_mul_overflow(count, static_cast<int64_t>(a.axes[i].extent), &count) || is_far(count))
      return std::nullopt;
  }
  a.rows = static_cast<int32_t>(axes[band].to);
  a.count = static_cast<uint32_t>(count);
  SliceLaunch launch{slice_band_entry(unit_bytes), {}, unit_bytes, a};
  launch.shape.block[0] = kThreads;
  launch.shape.grid[0] = grid_blocks(blocks_of(a.count));
  launch.shape.pdl = true;
  return launch;
}

/// A launch whose threads write 16 aligned bytes of the target each; none where rows are shorter, or tensors have no
/// whole vectors.
std::optional<SliceLaunch> flat_launch(const SliceShape& s, const std::vector<Axis>& axes, int element_bytes) {
  const int64_t width = kSliceVectorBytes / element_bytes;
  const auto fits = [&](std::span<const int64_t> extents) {
    const int64_t count = volume(extents);
    return count > 0 && count < kFar && count % width == 0;
  };
  if (axes.empty() || axes.back().step != 1 || axes.back().to < width || !fits(s.from) || !fits(s.to))
    return std::nullopt;
  FlatSliceArgument a;
  a.rank = std::max(static_cast<int32_t>(axes.size()), 3);
  for (int32_t& extent : a.extents) extent = 1;
  a.mode = static_cast<int32_t>(s.mode);
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[axes.size() - 1 - i];
    const auto is_far = [](int64_t at) { return at <= -kFar || at >= kFar; };
    if (is_far(axis.start) || is_far(axis.step) || is_far(axis.start + axis.step * (axis.to - 1))) return std::nullopt;
    a.axes[i] = divisor_of(axis.to);
    a.extents[i] = static_cast<int32_t>(axis.from);
    a.starts[i] = static_cast<int32_t>(axis.start);
    a.steps[i] = static_cast<int32_t>(axis.step);
    a.strides[i] = static_cast<int32_t>(axis.stride);
  }
  a.count = static_cast<uint32_t>(volume(s.to) / width);
  a.words = static_cast<int32_t>(volume(s.from) * element_bytes / 4);
  SliceLaunch launch{std::string(kSliceFlatEntry), {}, kSliceVectorBytes, a};
  launch.shape.block[0] = kThreads;
  launch.shape.grid[0] = grid_blocks(blocks_of(a.count));
  launch.shape.pdl = true;
  return launch;
}

}  // namespace

std::string slice_band_entry(int unit_bytes) { return str("slice_band_", unit_bytes); }

std::vector<SliceLaunch> slice_launches(const SliceShape& shape, int element_bytes) {
  const std::vector<Axis> axes = merged_axes(shape);
  std::vector<SliceLaunch> launches;
  const auto add = [&](std::optional<SliceLaunch> launch) {
    if (launch) launches.push_back(std::move(*launch));
  };
  add(band_launch(shape, axes, element_bytes, kSliceVectorBytes));
  add(flat_launch(shape, axes, element_bytes));
  add(band_launch(shape, axes, element_bytes, element_bytes));
  launches.push_back(wide_launch(shape, axes));
  return launches;
}

Status SliceLaunch::run(const Stream& stream, const Function& function, const void* from, const void* fill, void* to) {
  return std::visit(
      [&](auto& a) {
        a.from = from;
        a.to = to;
        a.fill = fill;
        void* arguments[] = {&a};
        return launch(stream, function, shape, arguments);
      },
      argument);
}

}  // namespace kiln::cuda
