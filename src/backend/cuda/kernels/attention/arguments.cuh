// The arguments of attention's kernels. The prelude has Element (f16, bf16 or float), Result, which is Element or
// bytes, and Operand, the type of q, k and v, which likewise is Element or bytes.
#pragma once
#include "backend/cuda/kernels/attention/arguments.h"
#include "device.cuh"
#include "ptx/mma.cuh"

namespace kiln {

using cuda::HeadStrides;
using AttentionArguments = cuda::AttentionArgumentsOf<Element, Result, Operand>;

/// A tile of queries of one head.
struct AttentionTile {
  int first, head, batch;  ///< its first query
  int keys;                ///< that its last query sees; at least one if there are any
};
/// The tile of a block. In causal attention the tiles that see the most keys come first.
template <int kQueries>
__device__ __forceinline__ AttentionTile attention_tile(const AttentionArguments& args, int index) {
  const int tiles = (args.queries + kQueries - 1) / kQueries;
  if constexpr (kTile.causal) {
    const int each = args.section * tiles, section = index / each, in_section = index % each,
              heads = min(args.section, args.batch * args.heads - section * args.section);
    const int tile = tiles - 1 - in_section / heads, head = section * args.section + in_section % heads;
    const int last = min(args.queries, (tile + 1) * kQueries) - 1;
    return {tile * kQueries, head % args.heads, head / args.heads,
            min(args.keys, max(1, last + args.causal_offset + 1))};
  } else {
    return {index % tiles * kQueries, index / tiles % args.heads, index / tiles / args.heads, args.keys};
  }
}

}  // namespace kiln
