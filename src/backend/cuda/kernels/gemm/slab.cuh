// How sums leave the registers: sixteen rows of a warp at a time go through shared memory, so that operands of the
// epilogue are read, and results written, in whole vectors along the rows.
// The columns of a vector, kTile.vec, divide the columns and the row stride of the result.
#pragma once

namespace kiln {

/// Sixteen rows of kColumns sums of one warp; the padding keeps the writes of a quarter warp apart.
template <int kColumns>
struct Slab {
  static constexpr int kPitch = kColumns + 8;
  float at[16][kPitch];

  /// Writes what `multiply` left of the blocks side by side.
  template <int kBlocks>
  __device__ __forceinline__ void fill(const float (&blocks)[kBlocks][4]) {
    static_assert(kBlocks * 8 == kColumns, "as wide as the blocks");
    const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      *reinterpret_cast<float2*>(&at[row][j * 8 + column]) = {blocks[j][0], blocks[j][1]};
      *reinterpret_cast<float2*>(&at[row + 8][j * 8 + column]) = {blocks[j][2], blocks[j][3]};
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
#pragma unroll
      for (int v = 0; v < kTile.vec; ++v) x[v] = at[row][column + v];
      use(x, row, column);
    }
  }
};

}  // namespace kiln
