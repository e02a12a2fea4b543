// What kernels of attention are given. Defines: ELEMENT (f16, bf16 or float), HAS_MASK, CAUSAL, NAN_ROWS_ARE_ZERO.
#pragma once
#include "device.cuh"
#include "ptx/mma.cuh"

namespace kiln {

/// Elements from one index to the next; channels are contiguous. 0 repeats.
struct HeadStrides {
  long long batch, head, row;
};
/// The host's struct of the same name (attention/attention.h) has this layout.
struct AttentionArguments {
  const ELEMENT *q, *k, *v, *mask;
  ELEMENT* out;
  HeadStrides q_strides, k_strides, v_strides, mask_strides, out_strides;
  int batch, heads, kv_heads, queries, keys, depth, value_depth;
  float scale;
  int causal_offset;  ///< of CAUSAL: query i sees keys up to i + causal_offset
  int section;        ///< heads whose tiles are begun together, while their keys and values are in the L2
};

/// A tile of queries of one head.
struct AttentionTile {
  int first, head, batch;  ///< its first query
  int keys;                ///< that its last query sees; at least one if there are any
};
/// Of CAUSAL the longest come first.
template <int kQueries>
__device__ __forceinline__ AttentionTile attention_tile(const AttentionArguments& args, int index) {
  const int tiles = (args.queries + kQueries - 1) / kQueries;
#if CAUSAL
  const int each = args.section * tiles, section = index / each, in_section = index % each,
            heads = min(args.section, args.batch * args.heads - section * args.section);
  const int tile = tiles - 1 - in_section / heads, head = section * args.section + in_section % heads;
  const int last = min(args.queries, (tile + 1) * kQueries) - 1;
  return {tile * kQueries, head % args.heads, head / args.heads, min(args.keys, max(1, last + args.causal_offset + 1))};
#else
  return {index % tiles * kQueries, index / tiles % args.heads, index / tiles / args.heads, args.keys};
#endif
}

}  // namespace kiln
