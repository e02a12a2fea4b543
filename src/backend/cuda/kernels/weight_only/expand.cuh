// Quantized weights as floats, column by column, for products of many rows. Behind the text of the product's kernel,
// whose Element is theirs. The prelude has Scale.
#pragma once
#include "device.cuh"
#include "weight_only/numbers.cuh"

namespace kiln {

using ExpandArguments = cuda::WeightOnlyArgumentsOf<Element, Element, Scale, Epilogue>;

/// C gets [n][pitch], zeros beyond k. A thread a lane's 16 bytes.
__device__ __forceinline__ void expand_weights_of(const ExpandArguments& args) {
  constexpr int kStep = WeightPieces::step(kTile.bits);
  pdl_wait();
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int steps = (args.k + kStep - 1) / kStep, lane = thread % 32, half = thread / 32 % 2;
  const long long piece = thread / 64;
  const int step = piece % steps, group = piece / steps, in_group = half * 8 + lane / 4, t = lane % 4;
  const int column = group * WeightPieces::kColumns + in_group;
  if (column >= args.n) return;
  unsigned word[4];
  stream_global_4(word, args.weights + thread * WeightPieces::kLaneBytes);
#pragma unroll
  for (int i = 0; i < kStep / 16; ++i) {
    const int k = step * kStep + i * 16 + t * 4;
    if (k >= args.pitch) break;
    const ScaleAt<Scale> scale = load_scale(args, group, k / args.block, in_group);
    float x[4];
    Numbers<float, kTile.bits>(scale.zero).floats(word, i, x);
    Vec<float, 4> numbers;
#pragma unroll
    for (int u = 0; u < 4; ++u) numbers.at[u] = k + u < args.k ? x[u] * scale.value() : 0;
    store_floats<Element, 4>(args.c + static_cast<long long>(column) * args.pitch + k, numbers);
  }
}

}  // namespace kiln
