#include "backend/cpu/kernels/winograd/winograd.h"

#include <algorithm>

#include "backend/cpu/kernels/conv/family.h"
#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/split.h"
#include "backend/cpu/kernels/winograd/transform.h"

namespace kiln::cpu {
namespace {

// A block of tiles stays within an L2 cache of 512 KiB. Fewer than two tiles' rows would read the weights too often.
constexpr int64_t kBlockBytes = 448 << 10;

/// Tiles are worked on in blocks: whole blocks side by side, a worker each, where there are plenty of tiles; else the
/// whole team transforms, multiplies and transforms back one block after the other.
struct Plan {
  WinogradTiles grid;
  int64_t points, tiles, block_tiles, blocks;
  ptrdiff_t in_ld, out_ld, u_ld, m_ld;
  bool side_by_side;

  Plan(const ConvShape& shape, int64_t ic, int64_t oc) : grid(shape.window) {
    constexpr int64_t kMostRows = 16;  // a multiple of every target's lanes
    tiles = shape.n * grid.of_image();
    in_ld = shape.in_ld ? shape.in_ld : ic;
    out_ld = shape.out_ld ? shape.out_ld : oc;
    u_ld = round_up(ic, kMostRows);
    m_ld = round_up(oc, kMostRows);
    const int64_t rows = tiling().rows;
    points = grid.points();
    const int64_t fits = kBlockBytes / (points * 4 * (u_ld + m_ld));
    const int64_t small = std::clamp(fits / rows * rows, 2 * rows, kBlockRows);
    side_by_side = tiles >= 8 * small;
    const int64_t most = side_by_side ? small : kBlockRows;
    blocks = ceil_div(tiles, most);
    block_tiles = blocks ? std::min(tiles, round_up(ceil_div(tiles, blocks), rows)) : 0;
  }
  int64_t u_floats() const { return points * block_tiles * u_ld; }
  int64_t m_floats() const { return points * block_tiles * m_ld; }
};

/// One call's data, and the phases of a block: first tile, number of tiles.
struct Run {
  const Plan& plan;
  const PackedWinograd& packed;
  const float* in;
  float* out;
  const Epilogue& epilogue;

  void transform_in(float* u, int64_t tile0, int64_t count, int64_t slot0) const {
    transform_input(
        {plan.grid, in, plan.in_ld, packed.ic, packed.zeros.data(), u, plan.u_ld, plan.block_tiles * plan.u_ld}, tile0,
        count, slot0);
  }

  void multiply(const float* u, float* m, int64_t point, int64_t count, int64_t col0, int64_t cols) const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float* rows[kBlockRows];
    for (int64_t i = 0; i < count; ++i) rows[i] = u + (point * plan.block_tiles + i) * plan.u_ld;
    Block block{};
    block.a = rows;
    block.rows = count;
    block.cols = cols;
    block.taps = 1;
    block.k = packed.ic;
    block.b = packed.b.at(point) + col0 * packed.ic;
    block.c = m + point * plan.block_tiles * plan.m_ld + col0;
    block.ldc = plan.m_ld;
    block.lo = -kInfinity;
    block.hi = kInfinity;
    run_block(block);
  }

  void transform_out(const float* m, int64_t tile0, int64_t count, int64_t slot0) const {
    transform_output({plan.grid, m, plan.m_ld, plan.block_tiles * plan.m_ld, packed.oc, out, plan.out_ld, epilogue},
                     tile0, count, slot0);
    if (epilogue.hook) run_hook(tile0, count);
  }

  /// Tiles next to each other in one row of tiles share output rows: one call for each of those.
  void run_hook(int64_t tile0, int64_t count) const {
    const Window& w = plan.grid.window;
    const int64_t across = plan.grid.across;
    for (int64_t tile = tile0; tile < tile0 + count;) {
      const int64_t run = std::min(tile0 + count - tile, across - tile % across);
      const int64_t y0 = tile / across % plan.grid.down * plan.grid.out_rows;
      const int64_t x0 = tile % across * plan.grid.out_cols;
      const int64_t image = tile / plan.grid.of_image();
      const int64_t pixels = std::min(w.out[2] - x0, run * plan.grid.out_cols);
      for (int64_t y = y0; y < std::min(w.out[1], y0 + plan.grid.out_rows); ++y) {
        const int64_t row = (image * w.out[1] + y) * w.out[2] + x0;
        epilogue.hook->apply(epilogue.hook->self, out + row * plan.out_ld, pixels, packed.oc, plan.out_ld, row, 0);
      }
      tile += run;
    }
  }
};

void run_side_by_side(Team& team, const Run& run, float* workspace) {
  const Plan& plan = run.plan;
  team.run(plan.blocks, [&](int64_t block, int worker) {
    float* u = workspace + worker * (plan.u_floats() + plan.m_floats());
    float* m = u + plan.u_floats();
    const int64_t tile0 = block * plan.block_tiles, count = std::min(plan.block_tiles, plan.tiles - tile0);
    if (count <= 0) return;
    run.transform_in(u, tile0, count, 0);
    for (int64_t point = 0; point < plan.points; ++point) run.multiply(u, m, point, count, 0, run.packed.oc);
    run.transform_out(m, tile0, count, 0);
  });
}

void run_in_turn(Team& team, const Run& run, float* u) {
  const Plan& plan = run.plan;
  float* m = u + plan.u_floats();
  const int64_t oc = run.packed.oc;
  const Split split = split_result(plan.block_tiles, oc, run.packed.ic, plan.points);
  constexpr int64_t kTilesOfPart = 4;
  for (int64_t tile0 = 0; tile0 < plan.tiles; tile0 += plan.block_tiles) {
    const int64_t count = std::min(plan.block_tiles, plan.tiles - tile0);
    const int64_t parts = ceil_div(count, kTilesOfPart);
    const auto tiles_of = [&](int64_t part) { return std::min(kTilesOfPart, count - part * kTilesOfPart); };
    team.run(parts, [&](int64_t part, int) {
      run.transform_in(u, tile0 + part * kTilesOfPart, tiles_of(part), part * kTilesOfPart);
    });
    team.run(plan.points * split.col_blocks, [&](int64_t part, int) {
      const int64_t point = part / split.col_blocks, col0 = part % split.col_blocks * split.cols;
      run.multiply(u, m, point, count, col0, std::min(split.cols, oc - col0));
    });
    team.run(parts, [&](int64_t part, int) {
      run.transform_out(m, tile0 + part * kTilesOfPart, tiles_of(part), part * kTilesOfPart);
    });
  }
}

/// Whether there are transforms for a window: of 3x3, or 3 or 5 along one of one or two axes, stride and dilation 1.
bool has_transforms(const steps::Window& window) {
  const Extents &kernel = window.kernel, ones(kernel.size(), 1);
  if (kernel.size() > 2 || window.strides != ones || window.dilations != ones) return false;
  const int64_t x = kernel.back(), y = kernel.size() > 1 ? kernel[0] : 1;
  return (x == 3 && y == 3) || (std::min(x, y) == 1 && (x * y == 3 || x * y == 5));
}

}  // namespace

void winograd(Team& team, const ConvShape& shape, const float* in, const PackedWinograd& packed, float* out,
              const Epilogue& epilogue, void* workspace) {
  CHECK(packed.b.panel == tiling().panel);
  const Plan plan(shape, packed.ic, packed.oc);
  if (plan.tiles == 0 || packed.oc == 0) return;
  const Run run{plan, packed, in, out, epilogue};
  if (plan.side_by_side)
    run_side_by_side(team, run, static_cast<float*>(workspace));
  else
    run_in_turn(team, run, static_cast<float*>(workspace));
}

int64_t winograd_workspace_bytes(const ConvShape& shape, const ConvWeights& weights, int team_size) {
  const Plan plan(shape, weights.ic, weights.oc);
  return 4 * (plan.u_floats() + plan.m_floats()) * (plan.side_by_side ? team_size : 1);
}

const ConvFamily kConvWinograd = {
    .name = "winograd",
    .serves = [](const ConvProblem& c) { return c.weights.groups == 1 && has_transforms(c.window); },
    // The error is about 10 times the direct convolution's.
    .suits = [](const ConvProblem& c) { return c.tf32 && c.weights.ic >= 8 && c.weights.oc >= 8; },
    .pack = [](const ConvProblem& c, const float* w) { return packed_filter<winograd>(pack_winograd(c.weights, w)); },
    .workspace_bytes = winograd_workspace_bytes};

}  // namespace kiln::cpu
