#include "backend/cpu/kernels/weight_only/product.h"

#include <algorithm>

#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/weight_only/few_rows.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kDepth = 640;        // of panels that are floats at a time: what the register tile takes in one pass
constexpr int64_t kMostColumns = 256;  // of such panels: A is read again for each of them

/// Most rows that read weights by numbers: two passes over a panel that is near. More are faster by panels of floats.
int64_t few_rows() { return 2 * weight_target().rows; }

/// Panels in parts of at least so many bytes of weights: what is fetched beyond the end of a part is fetched in vain.
struct Parts {
  int64_t count, panels;
};
Parts parts_of(const PackedWeights& w, int64_t most_panels) {
  constexpr int64_t kLeastBytes = 1 << 18, kMostParts = 64;
  const int64_t panels = w.panels();
  const int64_t wanted =
      std::clamp<int64_t>(panels * w.panel_bytes() / kLeastBytes, 1, std::min<int64_t>(kMostParts, panels));
  const int64_t each = std::min(most_panels, ceil_div(panels, wanted));
  return {ceil_div(panels, each), each};
}

int64_t panels_at_once(int64_t n) {
  const int64_t panel = weight_panel(), panels = ceil_div(n, panel);
  constexpr int64_t kLeastParts = 8;
  return std::clamp<int64_t>(panels / kLeastParts, 1, kMostColumns / panel);
}
int64_t depth_at_once(int64_t k) {
  const int64_t passes = std::max<int64_t>(1, ceil_div(k, kDepth));
  return round_up(std::max<int64_t>(1, ceil_div(k, passes)), kBlockStep);
}

/// Rows of A as the kernels want them, and their sums over blocks.
struct Rows {
  const float* a;
  ptrdiff_t lda;
  const float* sums;
  ptrdiff_t lds;
};
/// Sums of a row over blocks, eight of them side by side.
void sum_blocks(const float* row, int64_t block, int64_t blocks, float* sums) {
  for (int64_t b = 0; b < blocks; ++b, row += block) {
    float lanes[8] = {};
    int64_t i = 0;
    for (; i + 8 <= block; i += 8)
      for (int64_t u = 0; u < 8; ++u) lanes[u] += row[i + u];
    for (; i < block; ++i) lanes[0] += row[i];
    sums[b] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
}
Rows prepare(const WeightProduct& p, const PackedWeights& w, float* workspace) {
  const int64_t padded = w.padded_k(), blocks = w.blocks();
  Rows rows{p.a, p.lda, workspace, blocks};
  if (!w.zeros.empty())
    for (int64_t r = 0; r < p.rows; ++r) sum_blocks(p.a + r * p.lda, w.block, blocks, workspace + r * blocks);
  if (padded == w.k && !w.biased) return rows;
  float* const copies = workspace + round_up(p.rows * blocks, kCacheLine / 4);
  for (int64_t r = 0; r < p.rows; ++r) scale_row(w, p.a + r * p.lda, copies + r * padded);
  rows.a = copies, rows.lda = padded;
  return rows;
}

void apply_hook(const Epilogue& epilogue, const WeightProduct& p, int64_t row, int64_t rows, int64_t col,
                int64_t cols) {
  if (const TileHook* hook = epilogue.hook)
    hook->apply(hook->self, p.c + row * p.ldc + col, rows, cols, p.ldc, row, col);
}

void by_numbers(Team& team, const WeightProduct& p, const PackedWeights& w, const Epilogue& epilogue,
                float* workspace) {
  const Rows rows = prepare(p, w, workspace);
  const Parts parts = parts_of(w, w.panels());
  const int64_t most = weight_target().rows;
  team.run(parts.count, [&](int64_t part, int) {
    const int64_t first = part * parts.panels, last = std::min(first + parts.panels, w.panels());
    for (int64_t panel = first; panel < last; ++panel)
      for (int64_t r = 0; r < p.rows; r += most) {
        const int64_t col = panel * w.panel;
        PanelTask task{&w,
                       panel,
                       rows.a + r * rows.lda,
                       rows.lda,
                       rows.sums + r * rows.lds,
                       rows.lds,
                       static_cast<int>(std::min(most, p.rows - r)),
                       p.c + r * p.ldc + col,
                       p.ldc,
                       epilogue.bias ? epilogue.bias + col : nullptr,
                       epilogue.residual ? epilogue.residual + r * epilogue.ldr + col : nullptr,
                       epilogue.ldr,
                       epilogue.lo,
                       epilogue.hi};
        multiply_panel(task);
      }
    const int64_t col = first * w.panel;
    apply_hook(epilogue, p, 0, p.rows, col, std::min(last * w.panel, w.n) - col);
  });
}

/// Rows [row, row + count) by columns from `col` on, of which `expanded` holds rows [k0, k0 + depth) as floats.
void multiply_floats(const WeightProduct& p, const PackedWeights& w, const Epilogue& epilogue, const float* expanded,
                     int64_t k0, int64_t depth, int64_t row, int64_t count, int64_t col, int64_t cols) {
  constexpr int64_t kMostTileRows = 16;
  const float* pointers[kBlockRows + kMostTileRows];
  for (int64_t r = 0; r < count; ++r) pointers[r] = p.a + (row + r) * p.lda;
  const bool is_first = k0 == 0, is_last = k0 + depth == w.k;
  Block block{};
  block.a = pointers, block.a_offset = k0;
  block.rows = count, block.cols = cols, block.k = depth;
  block.b = expanded, block.b_is_near = true;
  block.c = p.c + row * p.ldc + col, block.ldc = p.ldc;
  block.residual = block.c, block.ldr = p.ldc;  // later passes go on from the sums so far
  if (is_first) {
    block.bias = epilogue.bias ? epilogue.bias + col : nullptr;
    block.residual = epilogue.residual ? epilogue.residual + row * epilogue.ldr + col : nullptr;
    block.ldr = epilogue.ldr;
  }
  block.lo = is_last ? epilogue.lo : Epilogue().lo;
  block.hi = is_last ? epilogue.hi : Epilogue().hi;
  run_block(block);
}

void by_floats(Team& team, const WeightProduct& p, const PackedWeights& w, const Epilogue& epilogue, float* workspace) {
  const int64_t panels = panels_at_once(w.n), depth = depth_at_once(w.k), parts = ceil_div(w.panels(), panels);
  const int64_t panel_floats = depth * w.panel;
  team.run(parts, [&](int64_t part, int worker) {
    float* const expanded = workspace + worker * panels * panel_floats;
    const int64_t first = part * panels, last = std::min(first + panels, w.panels());
    const int64_t col = first * w.panel, cols = std::min(last * w.panel, w.n) - col;
    for (int64_t k0 = 0; k0 < std::max<int64_t>(w.k, 1); k0 += depth) {
      const int64_t now = std::min(depth, w.k - k0);
      for (int64_t panel = first; panel < last; ++panel)
        expand_panel(w, panel, k0, k0 + now, expanded + (panel - first) * now * w.panel);
      for (int64_t row = 0; row < p.rows; row += kBlockRows)
        multiply_floats(p, w, epilogue, expanded, k0, now, row, std::min(kBlockRows, p.rows - row), col, cols);
    }
    apply_hook(epilogue, p, 0, p.rows, col, cols);
  });
}

}  // namespace

int64_t weight_panel() { return weight_target().panel; }
bool keeps_nibbles_biased() { return weight_target().biased; }

void multiply_weights(Team& team, const WeightProduct& product, const PackedWeights& weights, const Epilogue& epilogue,
                      void* workspace) {
  CHECK(weights.panel == weight_panel() && weights.panel == tiling().panel);
  if (product.rows <= 0 || weights.n <= 0) return;
  auto* const floats = static_cast<float*>(workspace);
  if (product.rows <= few_rows() && weights.k > 0) return by_numbers(team, product, weights, epilogue, floats);
  by_floats(team, product, weights, epilogue, floats);
}

int64_t weight_workspace_bytes(int64_t rows, int64_t k, int64_t n, int64_t block, int team_size) {
  if (rows <= few_rows() && k > 0)
    return 4 * (round_up(rows * (k / block), kCacheLine / 4) + rows * round_up(k, kBlockStep));
  return 4 * team_size * panels_at_once(n) * depth_at_once(k) * weight_panel();
}

}  // namespace kiln::cpu
