#pragma once

#include <cstdint>

namespace kiln::cuda {

/// Elements from one index to the next; channels are contiguous. 0 repeats.
struct HeadStrides {
  int64_t batch = 0, head = 0, row = 0;
};
/// A mask of T; results of R; q, k and v of O.
template <class T, class R = T, class O = T>
struct AttentionArgumentsOf {
  const O *q = nullptr, *k = nullptr, *v = nullptr;
  const T* mask = nullptr;
  R* out = nullptr;
  HeadStrides q_strides, k_strides, v_strides, mask_strides, out_strides;
  int32_t batch = 0, heads = 0;
  int32_t kv_heads = 1;  ///< divides heads: head h reads k and v of h / (heads / kv_heads)
  int32_t queries = 0, keys = 0, depth = 0, value_depth = 0;
  float scale = 1;            ///< positive
  int32_t causal_offset = 0;  ///< of causal kernels: query i sees keys up to i + causal_offset
  int32_t section = 1;        ///< heads whose tiles are begun together, while their keys and values are in the L2
  float out_inverse = 1, out_zero = 0;  ///< of results of bytes: 1 / scale, and the zero point
  /// Kernels of joined keys read the first `first_keys` keys of k and v, and the others of more_k and more_v.
  int32_t first_keys = 0;
  const O *more_k = nullptr, *more_v = nullptr;
  HeadStrides more_k_strides, more_v_strides;
  /// Where operands are bytes, `sum_scale` is what sums of weights times bytes are multiplied by, and `weight_inverse`
  /// is 1 / scale of weights that are rounded.
  float sum_scale = 1, weight_inverse = 0;
};

}  // namespace kiln::cuda
