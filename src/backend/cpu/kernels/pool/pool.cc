#include "backend/cpu/kernels/pool/pool.h"

#include <algorithm>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/pool/row.h"

namespace kiln::cpu {
namespace {

// Some microseconds of work: ten times what a fork costs.
constexpr int64_t kWorkOfPart = 1 << 16;
constexpr int64_t kChannelsOfPart = 128;

using RowKernel = void (*)(const PoolRow&);

/// Gathers the input rows of an output row (z, y) of a plane or image and runs the kernel on them, a pass at a time.
void run_row(PoolRow row, const float* in, ptrdiff_t pixel_stride, int64_t z, int64_t y, RowKernel kernel) {
  const Window& w = row.shape.window;
  const TapRange depth = taps_inside(w, 0, z), height = taps_inside(w, 1, y);
  row.lines_counted =
      static_cast<double>(taps_counted(row.shape, 0, z)) * static_cast<double>(taps_counted(row.shape, 1, y));
  row.first = true;
  row.num_lines = 0;
  for (int64_t kz = depth.begin; kz < depth.end; ++kz)
    for (int64_t ky = height.begin; ky < height.end; ++ky) {
      if (row.num_lines == PoolRow::kMostLines) {
        kernel(row);
        row.first = false;
        row.num_lines = 0;
      }
      const int64_t from_z = w.start(0, z) + kz * w.dilation[0], from_y = w.start(1, y) + ky * w.dilation[1];
      row.lines[row.num_lines++] = in + (from_z * w.in[1] + from_y) * w.in[2] * pixel_stride;
    }
  row.last = true;
  kernel(row);
}

void pool_channels_last(Team& team, const PoolShape& shape, const float* in, float* out) {
  const Window& w = shape.window;
  const ptrdiff_t in_ld = shape.in_ld ? shape.in_ld : shape.c, out_ld = shape.out_ld ? shape.out_ld : shape.c;
  const int64_t rows = shape.n * w.out[0] * w.out[1];
  const int64_t slices = ceil_div(shape.c, kChannelsOfPart);
  const int64_t work = std::max<int64_t>(1, w.out[2] * std::min(shape.c, kChannelsOfPart) * w.taps());
  const int64_t rows_of_part = std::max<int64_t>(1, kWorkOfPart / work);
  const int64_t row_parts = ceil_div(rows, rows_of_part);
  team.run(row_parts * slices, [&](int64_t part, int) {
    const int64_t c = part % slices * kChannelsOfPart, row0 = part / slices * rows_of_part;
    for (int64_t at = row0; at < std::min(rows, row0 + rows_of_part); ++at) {
      const int64_t y = at % w.out[1], z = at / w.out[1] % w.out[0], image = at / (w.out[0] * w.out[1]);
      PoolRow row{shape, {}, 0, std::min(kChannelsOfPart, shape.c - c), in_ld, out_ld, nullptr, 0, true, false};
      row.out = out + at * w.out[2] * out_ld + c;
      run_row(row, in + image * w.in_pixels() * in_ld + c, in_ld, z, y, run_pool_row);
    }
  });
}

void pool_channels_first(Team& team, const PoolShape& shape, const float* in, float* out) {
  const Window& w = shape.window;
  const int64_t rows_of_plane = w.out[0] * w.out[1], rows = shape.n * shape.c * rows_of_plane;
  const int64_t rows_of_part = std::max<int64_t>(1, kWorkOfPart / std::max<int64_t>(1, w.out[2] * w.taps()));
  team.run(ceil_div(rows, rows_of_part), [&](int64_t part, int) {
    const int64_t row0 = part * rows_of_part;
    for (int64_t at = row0; at < std::min(rows, row0 + rows_of_part); ++at) {
      const int64_t y = at % w.out[1], z = at / w.out[1] % w.out[0], plane = at / rows_of_plane;
      PoolRow row{shape, {}, 0, 1, 1, 1, out + at * w.out[2], 0, true, false};
      run_row(row, in + plane * w.in_pixels(), 1, z, y, run_pool_plane_row);
    }
  });
}

}  // namespace

void pool(Team& team, const PoolShape& shape, const float* in, float* out) {
  if (shape.n * shape.c * shape.window.out_pixels() == 0) return;
  if (shape.layout == PoolLayout::kChannelsLast)
    pool_channels_last(team, shape, in, out);
  else
    pool_channels_first(team, shape, in, out);
}

}  // namespace kiln::cpu
