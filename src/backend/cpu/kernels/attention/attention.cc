#include "backend/cpu/kernels/attention/attention.h"

#include <algorithm>
#include <limits>

#include "backend/cpu/kernels/attention/scores.h"
#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/pack.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kScoresOfBlock = 64 << 10;  // floats; with their keys they stay within an L2 cache
constexpr int64_t kMostTileRows = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// How the work is cut, and the workspace: [K^T packed a head][V packed a head][a worker's scores, each].
struct Plan {
  int64_t kv, k_floats, v_floats;          // heads of K and V in all, floats of each when packed
  int64_t rows, blocks, ld, score_floats;  // queries of a block, blocks of a head, floats of a row and of a block

  explicit Plan(const AttentionShape& s) {
    const int64_t tile = tiling().rows;
    kv = s.batch * s.kv_heads;
    k_floats = packed_size(1, s.depth, s.keys);
    v_floats = packed_size(1, s.keys, s.value_depth);
    ld = round_up(std::max<int64_t>(s.keys, 1), 16);
    const int64_t most = std::clamp(kScoresOfBlock / ld / tile * tile, 2 * tile, kBlockRows);
    blocks = ceil_div(s.queries, most);
    rows = blocks ? std::min(s.queries, round_up(ceil_div(s.queries, blocks), tile)) : 0;
    score_floats = round_up(rows * ld, 16);
  }
};

const float* head_of(const float* data, const HeadStrides& strides, int64_t batch, int64_t head) {
  return data + batch * strides.batch + head * strides.head;
}

/// Packs K^T and V of one head, panel by panel.
void pack_heads(Team& team, const AttentionShape& s, const AttentionTensors& t, const Plan& plan, float* k, float* v) {
  const int64_t panel = tiling().panel;
  const int64_t k_panels = ceil_div(s.keys, panel), panels = k_panels + ceil_div(s.value_depth, panel);
  team.run(plan.kv * panels, [&](int64_t part, int) {
    const int64_t head = part / panels, at = part % panels;
    const int64_t b = head / s.kv_heads, h = head % s.kv_heads;
    if (at < k_panels)
      pack_panels({head_of(t.k, t.k_strides, b, h), t.k_strides.column, t.k_strides.row}, 1, s.depth, s.keys, at,
                  at + 1, k + head * plan.k_floats);
    else
      pack_panels({head_of(t.v, t.v_strides, b, h), t.v_strides.row, t.v_strides.column}, 1, s.keys, s.value_depth,
                  at - k_panels, at - k_panels + 1, v + head * plan.v_floats);
  });
}

/// A packed B: [k, n], of which a product may take the first rows and columns.
struct Packed {
  const float* data;
  int64_t k;
};

/// result[rows, cols] = A [rows, depth] * packed B.
void multiply(const float* a, ptrdiff_t lda, int64_t rows, int64_t depth, const Packed& b, int64_t cols, float* result,
              ptrdiff_t ld) {
  const float* table[kBlockRows + kMostTileRows];
  for (int64_t r = 0; r < rows; ++r) table[r] = a + r * lda;
  Block block{};
  block.a = table;
  block.rows = rows;
  block.cols = cols;
  block.taps = 1;
  block.k = depth;
  block.b = b.data;
  block.packed_k = b.k;
  block.c = result;
  block.ldc = ld;
  block.lo = -kInfinity;
  block.hi = kInfinity;
  run_block(block);
}

/// Queries [row0, row0 + rows) of one head.
void attend(const AttentionShape& s, const AttentionTensors& t, const Plan& plan, const float* k, const float* v,
            float* scores, int64_t b, int64_t h, int64_t row0) {
  const int64_t rows = std::min(plan.rows, s.queries - row0);
  const auto mask_of = [&](int64_t r) {
    return t.mask ? head_of(t.mask, t.mask_strides, b, h) + (row0 + r) * t.mask_strides.row : nullptr;
  };
  int64_t visible[kBlockRows], most = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const bool all = s.lookahead >= s.keys;
    visible[r] = all ? s.keys : std::clamp<int64_t>(row0 + r + s.lookahead + 1, 0, s.keys);
    if (const float* mask = mask_of(r)) visible[r] = count_visible(mask, visible[r]);
    most = std::max(most, visible[r]);
  }
  const float* q = head_of(t.q, t.q_strides, b, h) + row0 * t.q_strides.row;
  multiply(q, t.q_strides.row, rows, s.depth, {k, s.depth}, most, scores, plan.ld);
  float sums[kBlockRows];
  for (int64_t r = 0; r < rows; ++r)
    sums[r] = exponentiate(scores + r * plan.ld, visible[r], most, s.scale, mask_of(r));
  float* out = t.out + b * t.out_strides.batch + h * t.out_strides.head + row0 * t.out_strides.row;
  multiply(scores, plan.ld, rows, most, {v, s.keys}, s.value_depth, out, t.out_strides.row);
  for (int64_t r = 0; r < rows; ++r) {
    float* row = out + r * t.out_strides.row;
    if (s.nan_rows_are_zero && !(sums[r] > 0))
      std::fill_n(row, s.value_depth, 0.0f);
    else
      multiply_row(row, s.value_depth, 1 / sums[r]);
  }
}

}  // namespace

void attention(Team& team, const AttentionShape& s, const AttentionTensors& t, void* workspace) {
  const Plan plan(s);
  auto* k = static_cast<float*>(workspace);
  float* v = k + plan.kv * plan.k_floats;
  float* scores = v + plan.kv * plan.v_floats;
  pack_heads(team, s, t, plan, k, v);
  team.run(s.batch * s.heads * plan.blocks, [&](int64_t part, int worker) {
    const int64_t block = part % plan.blocks, head = part / plan.blocks, b = head / s.heads, h = head % s.heads;
    const int64_t kv = b * s.kv_heads + h / (s.heads / s.kv_heads);
    attend(s, t, plan, k + kv * plan.k_floats, v + kv * plan.v_floats, scores + worker * plan.score_floats, b, h,
           block * plan.rows);
  });
}

int64_t attention_workspace_bytes(const AttentionShape& s, int team_size) {
  const Plan plan(s);
  return 4 * (plan.kv * (plan.k_floats + plan.v_floats) + team_size * plan.score_floats);
}

}  // namespace kiln::cpu
