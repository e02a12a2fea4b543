// How sums leave the registers: sixteen rows of a warp at a time go through shared memory, so that operands of the
// epilogue are read, and results written, in whole vectors along the rows.
// The columns of a vector, kTile.vec, divide the columns and the row stride of the result.
#pragma once
#include "device.cuh"

namespace kiln {

/// Sixteen rows of kColumns sums of one warp; the padding keeps the writes of a quarter warp apart.
template <int kColumns>
struct Slab {
  static constexpr int kPitch = kColumns + 8;
  alignas(16) float at[16][kPitch];

  /// Where a column of a row lies: fours of odd rows are swapped, so that vectors of two rows meet in no bank.
  static __device__ __forceinline__ int place_of(int row, int column) { return column ^ (row & 1) * 4; }
  /// The V elements of a row from a column on, a multiple of V.
  template <int V>
  __device__ __forceinline__ void read(float (&x)[V], int row, int column) const {
    constexpr int kAtOnce = V < 4 ? V : 4;
#pragma unroll
    for (int v = 0; v < V; v += kAtOnce) {
      const Vec<float, kAtOnce> loaded = load_vec<float, kAtOnce>(&at[row][place_of(row, column + v)]);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) x[v + i] = loaded.at[i];
    }
  }

  /// Writes what `multiply` left of the blocks side by side.
  template <int kBlocks>
  __device__ __forceinline__ void fill(const float (&blocks)[kBlocks][4]) {
    static_assert(kBlocks * 8 == kColumns, "as wide as the blocks");
    const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      const int place = place_of(row, j * 8 + column);  // that of the row eight below, too
      *reinterpret_cast<float2*>(&at[row][place]) = {blocks[j][0], blocks[j][1]};
      *reinterpret_cast<float2*>(&at[row + 8][place]) = {blocks[j][2], blocks[j][3]};
    }
    __syncwarp();
  }
  /// The vectors of a lane: `use(i, row, column)` for the i-th, i a constant below kEach. Neighbours are in
  /// neighbouring lanes.
  static constexpr int kVectors = kColumns / kTile.vec, kEach = (16 * kVectors + 31) / 32;
  template <class Use>
  static __device__ __forceinline__ void for_each_place(int rows, int columns, const Use& use) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = i * 32 + threadIdx.x % 32, row = at / kVectors, column = at % kVectors * kTile.vec;
      if (row < min(rows, 16) && column < columns) use(i, row, column);
    }
  }
  /// Calls use(values, row, column) for the vectors within `rows` and `columns`, neighbours in neighbouring lanes.
  template <class Use>
  __device__ __forceinline__ void for_each(int rows, int columns, const Use& use) const {
#pragma unroll 4
    for (int i = threadIdx.x % 32; i < 16 * kVectors; i += 32) {
      const int row = i / kVectors, column = i % kVectors * kTile.vec;
      if (row >= rows || column >= columns) continue;
      float x[kTile.vec];
      read(x, row, column);
      use(x, row, column);
    }
  }
};

}  // namespace kiln
