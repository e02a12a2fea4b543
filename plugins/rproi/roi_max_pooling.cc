#include "rproi/roi_max_pooling.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace kiln::plugins {
namespace {

constexpr auto kIndex = nv::DataType::kINT32;

/// The nearest integers, halves upwards. `x` is not negative.
Value rounded(const Value& x) {
  const Value whole = floor(x);
  return whole + (x - whole >= 0.5).f32();
}

int64_t num_levels(int64_t length) { return std::bit_width(static_cast<uint64_t>(length)); }

/// Maxima of windows of 1, 2, 4, ... elements along the axis, as far as they fit; each at its first element.
std::vector<Value> windows(const Value& x, int axis, int64_t length) {
  std::vector<Value> levels = {x};
  for (int64_t size = 1; 2 * size <= length; size *= 2) {
    const Value& last = levels.back();
    std::vector<int64_t> before(static_cast<size_t>(x.rank()), 0), after = before;
    after[static_cast<size_t>(axis)] = size;
    const Value next = pad(slice(last, axis, size, length - size), before, after, std::numeric_limits<float>::lowest());
    levels.push_back(max(last, next));
  }
  return levels;
}

/// Where the two windows that cover a cell begin along one axis, and how long they are: i32 [N, R, cells].
struct Covers {
  Value first, second, level, is_empty;
};
Covers covers(const Value& low, const Value& high, int64_t cells, int64_t length) {
  Layers& layers = low.layers();
  const Value start = rounded(low), size = max(rounded(high) - start + 1.0, 1.0);
  const Value of_cell = size / static_cast<double>(cells);  // [N, R, 1]
  const Value cell = reshape(layers.iota(cells, nv::DataType::kFLOAT), {1, 1, cells});
  const auto last = static_cast<double>(length);
  const Value from = clamp(floor(cell * of_cell) + start, 0, last).i32(),
              to = clamp(ceil((cell + 1.0) * of_cell) + start, 0, last).i32();
  std::vector<int32_t> levels, sizes;  // by how many elements there are
  for (int64_t count = 0; count <= length; ++count) {
    levels.push_back(static_cast<int32_t>(std::max<int64_t>(num_levels(count) - 1, 0)));
    sizes.push_back(1 << levels.back());
  }
  const Value count = max(to - from, 0.0);
  const Value size_of_window = gather(layers.constant(dims_of({length + 1}), sizes), count, 0);
  return {min(from, last - 1), max(to - size_of_window, 0.0),
          gather(layers.constant(dims_of({length + 1}), levels), count, 0), to <= from};
}

}  // namespace

Value max_of_regions(const Value& map, const Value& regions, const MaxPooling& how) {
  Layers& layers = map.layers();
  const Extent batch = map.extent(0), channels = map.extent(1);
  const int64_t height = map.extent(2).number().value_or(1), width = map.extent(3).number().value_or(1);
  std::vector<Value> tables;
  for (const Value& rows : windows(transpose(map, {0, 2, 3, 1}), 1, height))
    for (const Value& both : windows(rows, 2, width)) tables.push_back(unsqueeze(both, {1}));
  const int64_t levels_x = num_levels(width), pixels = height * width, all = std::ssize(tables) * pixels;
  const Value elements = reshape(concat(tables, 1), {batch * all, channels});

  const std::vector<Value> corners = split(regions * how.scale, 2, {1, 1, 1, 1});
  const Covers y = covers(corners[1], corners[3], how.rows, height),
               x = covers(corners[0], corners[2], how.columns, width);
  const auto row = [](const Value& of_y) { return unsqueeze(of_y, {3}); };
  const auto column = [](const Value& of_x) { return unsqueeze(of_x, {2}); };
  const Value image = reshape(layers.iota(batch, kIndex), {batch, 1, 1, 1}) * static_cast<double>(all);
  const Value table = image + row(y.level) * static_cast<double>(levels_x * pixels) +
                      column(x.level) * static_cast<double>(pixels);  // [N, R, rows, columns]
  const auto element = [&](const Value& at_y, const Value& at_x) {
    return gather(elements, table + row(at_y) * static_cast<double>(width) + column(at_x), 0);
  };
  const Value greatest = max(max(element(y.first, x.first), element(y.first, x.second)),
                             max(element(y.second, x.first), element(y.second, x.second)));
  const Value is_empty = unsqueeze(row(y.is_empty) || column(x.is_empty), {4});
  return transpose(select(is_empty, layers.scalar(0, nv::DataType::kFLOAT), greatest), {0, 1, 4, 2, 3});
}

}  // namespace kiln::plugins
