#include "library/anchors.h"

#include <algorithm>

namespace kiln::plugins {
namespace {

/// The lower or upper edges of all boxes along one axis, [H, W, P, 1].
Value edges(Layers& layers, const Value& centre, const std::vector<float>& sizes, double side, const Value& image) {
  const Value half = layers.constant(dims_of({static_cast<int64_t>(sizes.size())}), sizes) * (side * 0.5);
  return unsqueeze((centre + half) / image, {3});
}

}  // namespace

Value anchors(Layers& layers, const Grid& grid) {
  const auto count = static_cast<int64_t>(grid.widths.size());
  const auto centres = [&](const Extent& extent, const Value& step, const Extents& cells) {
    const Value centre = (layers.iota(extent, nv::DataType::kFLOAT) + grid.offset) * reshape(step, {1});
    return broadcast(reshape(centre, cells), {grid.height, grid.width, count});
  };
  const Value y = centres(grid.height, grid.step_y, {grid.height, 1, 1});
  const Value x = centres(grid.width, grid.step_x, {1, grid.width, 1});
  const Value image_y = reshape(grid.image_height, {1}), image_x = reshape(grid.image_width, {1});
  Value boxes = concat({edges(layers, x, grid.widths, -1, image_x), edges(layers, y, grid.heights, -1, image_y),
                        edges(layers, x, grid.widths, 1, image_x), edges(layers, y, grid.heights, 1, image_y)},
                       3);
  if (grid.clips) boxes = clamp(boxes, 0, 1);
  const Value variance = broadcast(layers.constant(dims_of({1, 1, 1, 4}), grid.variance), boxes.extents());
  const Extent all = grid.height * grid.width * (4 * count);
  return concat({reshape(boxes, {1, 1, all, 1}), reshape(variance, {1, 1, all, 1})}, 1);
}

}  // namespace kiln::plugins
