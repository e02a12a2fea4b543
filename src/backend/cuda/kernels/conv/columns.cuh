// Sums of out channels by pixels, on their way to channels last.
#pragma once
#include "conv/arguments.cuh"
#include "gemm/column_epilogue.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

constexpr int kChunk = 16;  ///< pixels that leave the registers at once

/// Sums of kChunk pixels of 64 out channels; the padding keeps a warp's writes apart.
struct Chunk {
  alignas(16) float at[kChunk][68];
};

/// Four warps wait for each other.
__device__ __forceinline__ void wait_group(int group) { sync_threads<128>(1 + group); }

/// Finishes a group's kRows times 64 out channels of kPixels pixels, by way of shared memory. `place(i, index)` sets
/// where pixel i lies in y, and returns false if it lies outside.
template <int kRows, int kPixels, class Place>
__device__ __forceinline__ void write_columns(const ConvArguments& args, const Epilogue& epilogue,
                                              const float (&sums)[kRows][kPixels / 8][4], Chunk (&chunks)[2], int group,
                                              const Place& place) {
  const int thread = threadIdx.x % 128, lane = thread % 32, column = thread / 32 * 16 + lane / 4;
  constexpr int kVectors = 64 / kTile.vec;
  if constexpr (kRows * (kPixels / kChunk) % 2 != 0) wait_group(group);  // the last chunk used the first's memory
#pragma unroll
  for (int row = 0; row < kRows; ++row)
#pragma unroll
    for (int part = 0; part < kPixels / kChunk; ++part) {
      Chunk& chunk = chunks[(row * (kPixels / kChunk) + part) % 2];
#pragma unroll
      for (int j = 0; j < kChunk / 8; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          chunk.at[j * 8 + lane % 4 * 2 + i % 2][column + i / 2 * 8] = sums[row][part * (kChunk / 8) + j][i];
      wait_group(group);  // all threads have left the other chunk, so it is free too
#pragma unroll
      for (int i = thread; i < kChunk * kVectors; i += 128) {
        const int pixel = i / kVectors, channel = row * 64 + i % kVectors * kTile.vec;
        long long index;
        if (!place(part * kChunk + pixel, index) || channel >= args.out_channels) continue;
        float value[kTile.vec];
        load_vector(value, &chunk.at[pixel][i % kVectors * kTile.vec]);
        index += channel;
        epilogue.apply(value, index, channel);
        store_vector(args.y + index, value);
      }
    }
}

}  // namespace kiln
