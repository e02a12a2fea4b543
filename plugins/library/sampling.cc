#include "library/sampling.h"

namespace kiln::plugins {
namespace {

/// The pixels at whole rows and columns times their weights, [N, Q, C].
Value weighted_pixels(const Samples& from, const Value& row, const Value& column, const Value& weight) {
  const Value last_row = from.height - 1.0, last_column = from.width - 1.0;
  const Value is_inside = (row >= 0) && (row <= last_row) && (column >= 0) && (column <= last_column);
  Value place = min(max(row, 0.0), last_row) * from.width + min(max(column, 0.0), last_column);
  if (from.first.tensor()) place = place + from.first;
  const Value pixels = gather_nd(from.images, unsqueeze(place, {2}), 1);
  return pixels * unsqueeze(select(is_inside, weight, 0), {2});
}

}  // namespace

Value bilinear(const Samples& from, const Value& y, const Value& x) {
  const Value top = floor(y), left = floor(x);
  const Value below = y - top, beside = x - left;
  const Value row = top.i32(), column = left.i32();
  const Value above = 1.0 - below, before = 1.0 - beside;
  return weighted_pixels(from, row, column, above * before) + weighted_pixels(from, row, column + 1.0, above * beside) +
         weighted_pixels(from, row + 1.0, column, below * before) +
         weighted_pixels(from, row + 1.0, column + 1.0, below * beside);
}

Value i32_of(Layers& layers, const Extent& extent) { return unsqueeze(extent.value(layers).i32(), {0}); }

}  // namespace kiln::plugins
