#include "backend/cuda/kernels/scan/cumulative.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

LaunchShape blocks_of(int64_t blocks) {
  LaunchShape shape;
  shape.grid[0] = grid_blocks(blocks);
  shape.block[0] = kScanThreads;
  shape.pdl = true;
  return shape;
}

}  // namespace

CumulativePlan plan_cumulative(const steps::Cumulative& step, const Extents& x, DType dtype) {
  CumulativePlan plan;
  CumulativeArgument& c = plan.argument;
  const LaneExtents lanes = step.lanes(x);
  c.rows = lanes.outer * lanes.inner;
  c.inner = lanes.inner;
  c.length = lanes.length;
  c.exclusive = step.exclusive;
  c.reverse = step.reverse;
  if (c.rows == 0 || c.length == 0) return plan;
  if (step.operation == CumulativeOperation::kProd) {
    plan.calls.push_back({"cumulative", blocks_of(ceil_div(c.rows, kScanThreads))});
    return plan;
  }
  // Chunks are as long as is worth a block, and as many as fill a GPU.
  constexpr int64_t kBlocks = 2048;
  constexpr int64_t kShort = 64;
  c.per_thread = c.inner > 1 || c.length <= kShort;
  const int64_t blocks = c.per_thread ? ceil_div(c.rows, kScanThreads) : c.rows, least = c.per_thread ? 256 : 4096;
  const int64_t most = std::max<int64_t>(1, kBlocks / blocks);
  c.chunk_length = ceil_div(c.length, std::clamp<int64_t>(c.length / least, 1, most));
  c.chunks = ceil_div(c.length, c.chunk_length);
  if (c.chunks > 1) {
    plan.workspace_bytes = c.rows * c.chunks * std::max(4, bits_of(dtype) / 8);
    plan.calls.push_back({"cumulative_sums", blocks_of(blocks * c.chunks)});
    plan.calls.push_back({"cumulative_starts", blocks_of(c.rows)});
  }
  plan.calls.push_back({"cumulative", blocks_of(blocks * c.chunks)});
  return plan;
}

}  // namespace kiln::cuda
