/// Fused attention in FP32: softmax(Q K^T * scale + mask) V, a block of queries at a time, scores never in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/device/team.h"

namespace kiln::cpu {

/// Elements from one index to the next, so that [b, h, s, d] and [b, s, h, d] both come as they are.
struct HeadStrides {
  ptrdiff_t batch = 0, head = 0, row = 0, column = 1;
};

struct AttentionShape {
  int64_t batch = 1, heads = 1;
  int64_t kv_heads = 1;  ///< divides heads: head h reads K and V of h / (heads / kv_heads)
  int64_t queries = 1, keys = 1;
  int64_t depth = 1;        ///< of Q and K
  int64_t value_depth = 1;  ///< of V and the result
  float scale = 1;
  /// Query i sees the keys j <= i + lookahead. 0 or keys - queries is causal; the default hides nothing.
  int64_t lookahead = INT64_MAX;
  bool nan_rows_are_zero = false;  ///< a query whose weights are NaN, as where it sees no key, gives zeros
};

/// Columns of q, mask and out are neighbours (column 1); k and v may have any strides. A stride of 0 repeats.
struct AttentionTensors {
  const float* q;
  HeadStrides q_strides;
  const float* k;
  HeadStrides k_strides;
  const float* v;
  HeadStrides v_strides;
  float* out;
  HeadStrides out_strides;
  const float* mask = nullptr;  ///< [batch, heads, queries, keys], added to the scaled scores; -inf hides keys
  HeadStrides mask_strides;
};

/// A query that sees no key gives NaN, as the softmax of a row of -infinity does. What no query of a block sees is not
/// computed with, be it NaN.
void attention(Team& team, const AttentionShape& shape, const AttentionTensors& tensors, void* workspace);

/// Bytes of workspace, aligned to kCacheLine, of `attention` with a team of that size.
int64_t attention_workspace_bytes(const AttentionShape& shape, int team_size);

}  // namespace kiln::cpu
