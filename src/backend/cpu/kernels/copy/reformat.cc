#include <array>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/copy/copy.h"

namespace kiln::cpu {
namespace {

/// Strides in elements by axis; those of a blocked axis step from block to block, elements within lie side by side.
Extents block_strides(const Format& format, std::span<const int64_t> extents) {
  Extents strides(extents.size());
  int64_t stride = format.block();
  for (int position = static_cast<int>(extents.size()) - 1; position >= 0; --position) {
    const int axis = format.axis_at(position);
    const auto at = static_cast<size_t>(axis);
    strides[at] = stride;
    stride *= format.is_blocked() && axis == format.block_axis() ? ceil_div(extents[at], format.block()) : extents[at];
  }
  return strides;
}

/// Bytes from element to element of one side, along the blocked axis.
struct Side {
  Extents strides;
  bool blocked;
  int64_t block_step(size_t axis, int64_t block) const { return blocked ? strides[axis] : strides[axis] * block; }
  int64_t element_step(size_t axis) const { return blocked ? 1 : strides[axis]; }
};

}  // namespace

Copy plan_reformat(int element_bytes, std::span<const int64_t> extents, const Format& from, const Format& to) {
  if (!from.is_blocked() && !to.is_blocked())
    return plan_strided(element_bytes, extents, from.strides(extents), to.strides(extents));
  CHECK(!from.is_blocked() || !to.is_blocked() || (from.block() == to.block() && from.block_axis() == to.block_axis()));
  const int64_t block = to.is_blocked() ? to.block() : from.block();
  const auto axis = static_cast<size_t>(to.is_blocked() ? to.block_axis() : from.block_axis());
  const Side source{block_strides(from, extents), from.is_blocked()};
  const Side target{block_strides(to, extents), to.is_blocked()};
  const int64_t whole = extents[axis] / block, rest = extents[axis] % block;

  // `count` elements within each of `blocks` blocks, from element `within` of block `first`.
  const auto box = [&](int64_t first, int64_t blocks, int64_t within, int64_t count, bool padding) {
    const ptrdiff_t size = element_bytes, read = padding ? 0 : size;
    std::vector<BoxAxis> axes;
    for (size_t i = 0; i < extents.size(); ++i)
      if (i != axis) axes.push_back({extents[i], source.strides[i] * read, target.strides[i] * size});
    axes.push_back({blocks, source.block_step(axis, block) * read, target.block_step(axis, block) * size});
    axes.push_back({count, source.element_step(axis) * read, target.element_step(axis) * size});
    return make_box(element_bytes, axes,
                    (first * source.block_step(axis, block) + within * source.element_step(axis)) * read,
                    (first * target.block_step(axis, block) + within * target.element_step(axis)) * size, padding);
  };
  std::vector<Box> boxes = {box(0, whole, 0, block, false), box(whole, rest ? 1 : 0, 0, rest, false)};
  if (to.is_blocked() && rest) boxes.push_back(box(whole, 1, rest, block - rest, true));
  return make_copy(std::move(boxes));
}

}  // namespace kiln::cpu
