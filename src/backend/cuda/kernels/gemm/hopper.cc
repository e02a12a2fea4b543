// What kernels of sm_90a share: tensor maps, and launches.
#include "backend/cuda/kernels/gemm/hopper.h"

#include "backend/cuda/device/driver_types.h"
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {

int map_type(DType type) {
  if (bits_of(type) == 8) return kMapU8;
  return type == DType::kF16 ? kMapF16 : type == DType::kBF16 ? kMapBF16 : kMapTF32;
}

MapPlan map_of(DType type, int64_t k, int64_t rows, int64_t pitch, int64_t batches, int64_t step, int64_t box_rows) {
  const int64_t size = bytes_of(type);
  MapPlan map;
  map.type = map_type(type);
  map.extents[0] = static_cast<uint64_t>(k);
  map.extents[1] = static_cast<uint64_t>(rows);
  map.extents[2] = static_cast<uint64_t>(step ? batches : 1);
  map.strides_bytes[0] = static_cast<uint64_t>(pitch * size);
  map.strides_bytes[1] = static_cast<uint64_t>((step ? step : pitch) * size);
  map.box[0] = static_cast<uint32_t>(kLineBytes / size);
  map.box[1] = static_cast<uint32_t>(box_rows);
  return map;
}

void read_short_lines(MapPlan& map, DType type) {
  map.box[0] = static_cast<uint32_t>(kLineBytes / 2 / bytes_of(type));
  map.swizzle = kSwizzle64;
}

MapPlan interleaved_map_of(DType type, int64_t k, int64_t rows, int64_t pitch, int64_t box_rows, int64_t vec) {
  const int64_t size = bytes_of(type), lines = 4 * vec;
  const int64_t extents[] = {k, 2, 4, vec / 2, rows / lines}, steps[] = {1, vec, 2, lines};
  MapPlan map;
  map.type = map_type(type);
  map.rank = 5;
  for (size_t i = 0; i < 5; ++i) map.extents[i] = static_cast<uint64_t>(extents[i]);
  for (size_t i = 0; i < 4; ++i) map.strides_bytes[i] = static_cast<uint64_t>(steps[i] * pitch * size);
  map.box[0] = static_cast<uint32_t>(kLineBytes / size);
  for (size_t i = 1; i < 4; ++i) map.box[i] = static_cast<uint32_t>(extents[i]);
  map.box[4] = static_cast<uint32_t>(box_rows / lines);
  return map;
}

Result<GemmLaunch> plan_maps(const GemmKernel& kernel, GemmArguments& g, int64_t box_columns) {
  TRY(require_layout(g.n % kernel.vec == 0, kernel, g));
  const int64_t size = bytes_of(kernel.types.a), batches = g.batches.count();
  const BatchAxis axis = g.batches.axes ? g.batches.axis[0] : BatchAxis{};
  const auto aligned = [&](int64_t elements) { return elements * size % 16 == 0; };
  TRY(require(g.batches.axes <= 1 && g.k > 0 && g.a_k == 1 && g.b_k == 1 && aligned(g.a_row) && aligned(g.b_column) &&
                  aligned(axis.a) && aligned(axis.b),
              "a product of ", g.batches.axes, " batch axes and k = ", g.k,
              " cannot be read by tensor maps, which take one axis and rows of whole 16 bytes"));
  g.splits = 1;
  GemmLaunch launch;
  launch.batches = static_cast<int32_t>(batches);
  launch.map_a = map_of(kernel.types.a, g.k, g.m, g.a_row, batches, axis.a, kernel.tile.bm);
  launch.map_b = map_of(kernel.types.a, g.k, g.n, g.b_column, batches, axis.b, box_columns);
  return launch;
}

Status set_grid(GemmLaunch& launch, const GemmArguments& g, int64_t blocks, int64_t multiprocessors) {
  TRY(require(blocks < (int64_t{1} << 31), "a product of ", g.m, " x ", g.n,
              " has more tiles than a grid may have blocks"));
  launch.main.grid[0] = static_cast<uint32_t>(blocks);
  launch.main.pdl = blocks <= 2 * multiprocessors;
  return {};
}

}  // namespace kiln::cuda
