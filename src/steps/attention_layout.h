/// The layout of fused attention's operands: the parameters of its step, on any backend.
#pragma once

#include <array>
#include <span>

#include "base/error.h"

namespace kiln {

/// A tensor as [batch, head, row, column]; a stride of 0 repeats. In elements.
struct AttentionOperand {
  int64_t offset = 0;
  std::array<int64_t, 4> strides{};
};

/// Queries and keys are rows of q and k; columns are channels, of the mask keys.
struct AttentionLayout {
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;
  int64_t depth = 0;        ///< of q and k
  int64_t value_depth = 0;  ///< of v and out
  int64_t kv_heads = 0;     ///< of k and v, which as many neighbouring heads share as that divides heads
  AttentionOperand q, k, v, mask, out;
  /// Where keys and values are joined of two tensors: the rows of k and v, behind which those of more_k and more_v
  /// follow. -1: all keys are rows of k and v.
  int64_t first_keys = -1;
  AttentionOperand more_k, more_v;

  /// The first six extents in their order; of each operand in its order the offset and the strides; kv_heads.
  static constexpr size_t kNumParams = 6 + 5 * 5 + 1;
  /// Behind these, of joined keys and values: first_keys, more_k and more_v.
  static constexpr size_t kNumJoinedParams = kNumParams + 1 + 2 * 5;
  /// Makes a layout from a step's kNumParams or kNumJoinedParams parameters.
  static AttentionLayout of(std::span<const int64_t> params);
  /// Takes the volumes of q, k, v, mask (-1: there is none), out, more_k and more_v (which count where keys are
  /// joined). Fails where an element would lie outside of its tensor, or where the channels of q or out, or the keys of
  /// the mask, are not neighbours.
  Status check(const std::array<int64_t, 7>& volumes) const;
};

}  // namespace kiln
