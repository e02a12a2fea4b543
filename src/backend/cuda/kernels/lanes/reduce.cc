#include "backend/cuda/kernels/lanes/reduce.h"

#include <algorithm>
#include <bit>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kWarp = 32, kRowsOfColumns = 8, kMostVec = 8;

/// Cuts `length` into chunks so that about twice as many blocks run as there are multiprocessors.
void cut(ReduceArgument& r, int64_t blocks, int64_t least_chunk, int num_sms) {
  const int64_t chunks =
      std::clamp<int64_t>(2 * num_sms / std::max<int64_t>(blocks, 1), 1, std::max<int64_t>(1, r.length / least_chunk));
  r.chunk = std::max<int64_t>(1, ceil_div(ceil_div(r.length, chunks), kMostVec) * kMostVec);  // starts stay aligned
  r.chunks = std::max<int64_t>(1, ceil_div(r.length, r.chunk));
}

/// Sets up a launch in which a warp has several rows of few vectors. Returns whether the shape suits it.
bool cut_short(ReduceLaunch& launch, int vec, int num_sms) {
  constexpr int64_t kLoadsOfLane = 4;
  ReduceArgument& r = launch.argument;
  const int64_t vectors = ceil_div(r.length, vec), loads = vectors > kWarp ? 2 : 1;
  const auto lanes =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(ceil_div(std::max<int64_t>(vectors, 1), loads))));
  if (vec == 1 || lanes > kWarp) return false;
  const int64_t rows = kReduceShortThreads / lanes * (kLoadsOfLane / loads);  // of a block
  if (r.outer < rows * num_sms) return false;
  r.chunk = lanes;
  launch.entry = reduce_short_entry(vec, loads);
  launch.shape.block[0] = kReduceShortThreads;
  launch.shape.grid[0] = grid_blocks(ceil_div(r.outer, rows));
  return true;
}

ReduceLaunch last_launch(const ReduceArgument& r) {
  ReduceLaunch last{"reduce_last", {}, r};
  last.argument.outer = r.outer * r.inner;
  last.argument.length = r.chunks;
  last.argument.inner = last.argument.chunks = 1;
  last.shape.block[0] = 4 * kWarp;
  last.shape.grid[0] = grid_blocks(ceil_div(last.argument.outer, 4));
  last.shape.pdl = true;
  return last;
}

}  // namespace

std::string reduce_short_entry(int vec, int64_t loads) { return str("reduce_short_", vec, 'x', loads); }

Result<AxesLaunch> reduce_axes_launch(std::span<const int64_t> extents, std::span<const int> axes, bool average) {
  const Extents strides = row_major_strides(extents);
  AxesLaunch launch;
  AxesArgument& a = launch.argument;
  const auto walk = [&](bool of_reduced, WalkArgument& to, OperandArgument<int32_t>& from) -> Result<int64_t> {
    Extents own;
    AxisStrides steps{};
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      if ((std::ranges::count(axes, static_cast<int>(axis)) > 0) != of_reduced) continue;
      steps[own.size()] = strides[axis];
      own.push_back(extents[axis]);
    }
    const MergedAxes merged = merge_axes(own, {&steps, 1}, 0);  // a dense tensor's strides keep the axes' order
    if (!is_narrow(merged))
      return error(Code::kUnsupported, "a reduction of ", extents, ", whose offsets exceed 32 bits");
    to = narrow_walk(merged, 1);
    from = operand_argument<int32_t>(merged, 0, 1);
    return merged.count();
  };
  const int64_t results = TRY(walk(false, a.kept, a.from_kept));
  a.divisor = TRY(walk(true, a.reduced, a.from_reduced));
  a.average = average;
  launch.shape.block[0] = 4 * kWarp;
  launch.shape.grid[0] = grid_blocks(ceil_div(results, 4));
  launch.shape.pdl = true;
  return launch;
}

std::vector<ReduceLaunch> reduce_launches(const ReduceShape& shape, bool columns, int vec, bool average, int num_sms) {
  ReduceLaunch first{{}, {}, {}};
  ReduceArgument& r = first.argument;
  r.outer = shape.outer;
  r.length = r.chunk = shape.length;
  r.inner = shape.inner;
  r.divisor = shape.length;
  r.average = average;
  first.shape.pdl = true;
  if (shape.outer == 0 || shape.inner == 0) return {};
  if (columns) {
    const int64_t blocks = shape.outer * ceil_div(shape.inner, kWarp * vec);
    if (blocks < num_sms) cut(r, blocks, 8 * kRowsOfColumns, num_sms);
    first.entry = str(r.chunks > 1 ? "reduce_column_parts_" : "reduce_columns_", vec);
    first.shape.block[0] = kWarp;
    first.shape.block[1] = kRowsOfColumns;
    first.shape.grid[0] = grid_blocks(blocks * r.chunks);
  } else if (cut_short(first, vec, num_sms)) {
    return {first};
  } else if (shape.length <= 512 || (shape.length <= 2048 && shape.outer >= 16 * num_sms)) {
    first.entry = str("reduce_warps_", vec);
    first.shape.block[0] = 4 * kWarp;
    first.shape.grid[0] = grid_blocks(ceil_div(shape.outer, 4));
  } else {
    if (shape.outer < num_sms) cut(r, shape.outer, 4096, num_sms);
    first.entry = str(r.chunks > 1 ? "reduce_parts_" : "reduce_blocks_", vec);
    first.shape.block[0] =
        static_cast<uint32_t>(std::clamp<int64_t>(ceil_div(r.chunk, int64_t{vec} * 4 * kWarp) * kWarp, kWarp, 512));
    first.shape.grid[0] = grid_blocks(shape.outer * r.chunks);
  }
  if (r.chunks == 1) return {first};
  return {first, last_launch(r)};
}

std::optional<ReduceLaunch> reduce_staged_launch(const ReduceShape& shape, int element_bytes, bool average,
                                                 int num_sms) {
  constexpr int64_t kStageBytes = 16 << 10;
  const int64_t vec = kStageAlign / element_bytes, row_bytes = shape.length * element_bytes;
  if (shape.inner > 1 || shape.length == 0 || row_bytes * vec > kStageBytes) return std::nullopt;
  const int64_t rows = kStageBytes / row_bytes / vec * vec;  // a block's first row lies at a vector
  if (shape.outer < rows * num_sms) return std::nullopt;
  ReduceLaunch launch{"reduce_staged", {}, {}};
  launch.argument.outer = shape.outer;
  launch.argument.length = launch.argument.divisor = shape.length;
  launch.argument.chunk = rows;
  launch.argument.average = average;
  launch.shape.block[0] = 256;
  launch.shape.grid[0] = grid_blocks(ceil_div(shape.outer, rows));
  launch.shape.shared_bytes = static_cast<uint32_t>(rows * row_bytes);
  if (element_bytes <= 2 && shape.length >= vec && shape.length % 2 == 1) {  // others are read by words
    const int64_t piece_bytes = element_bytes == 2 ? 2 * 4 : 2 * 8;          // floats; int64
    launch.entry = "reduce_pieces";
    launch.shape.shared_bytes = static_cast<uint32_t>(ceil_div(rows * shape.length, vec) * piece_bytes);
  }
  launch.shape.pdl = true;
  return launch;
}

int64_t reduce_workspace_bytes(int num_sms) { return 3 * int64_t{num_sms} * kWarp * kMostVec * 8; }

}  // namespace kiln::cuda
