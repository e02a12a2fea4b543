#include "backend/cuda/kernels/lanes/softmax.h"

#include <algorithm>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kMostRows = 64;  // of threads, which share columns
}  // namespace

std::string SoftmaxColumns::entry() const {
  if (stored) return str("softmax_stored_", vec, 'x', held);
  return held > 0 ? str("softmax_held_", vec, 'x', held) : str("softmax_columns_", vec);
}

Status SoftmaxColumns::check() const {
  TRY(require(vec == 1 || vec == 2 || vec == 4 || vec == 8, "a softmax loads ", vec, " elements at once"));
  return require(held >= 0 && held <= kMostHeld, "a softmax holds ", held, " elements of a column");
}

SoftmaxLaunch softmax_launch(const SoftmaxShape& shape, const RowTile* tile) {
  SoftmaxLaunch launch{"softmax_long", {}, {shape.outer, shape.length, shape.inner}};
  if (tile) {
    launch.entry = "softmax_" + tile->name();
    launch.shape = tile->shape(shape.outer, shape.length);
  } else {
    launch.shape.grid[0] = grid_blocks(shape.outer);
    launch.shape.block[0] = static_cast<uint32_t>(std::clamp<int64_t>((shape.length + 127) / 128 * 32, 32, 1024));
  }
  launch.shape.pdl = true;
  return launch;
}

int64_t most_held(int held) { return kMostRows * held; }

SoftmaxLaunch softmax_columns_launch(const SoftmaxShape& shape, const SoftmaxColumns& columns) {
  constexpr int64_t kThreads = 128, kMostAcross = 128;
  constexpr int64_t kManyBlocks = 264;  // multiprocessors of large devices, twice
  const int held = columns.held > 0 ? columns.held : SoftmaxColumns::kShared;
  const int64_t vectors = ceil_div(shape.inner, columns.vec),
                rows = std::clamp<int64_t>(ceil_div(shape.length, held), 1, kMostRows);
  const int64_t least = rows == 1 ? 32 : 8;  // a warp; a line of 128 bytes
  int64_t across = kMostAcross;
  const auto blocks = [&] { return shape.outer * ceil_div(vectors, across); };
  while (across > least && (across * rows > kThreads || across >= 2 * vectors || blocks() < kManyBlocks)) across /= 2;
  SoftmaxLaunch launch{columns.entry(), {}, {shape.outer, shape.length, shape.inner}};
  launch.shape.grid[0] = grid_blocks(blocks());
  launch.shape.block[0] = static_cast<uint32_t>(across);
  launch.shape.block[1] = static_cast<uint32_t>(rows);
  if (rows > 1) launch.shape.shared_bytes = static_cast<uint32_t>(2 * rows * across * columns.vec * 4);
  launch.shape.pdl = true;
  return launch;
}

}  // namespace kiln::cuda
