// How sums leave the registers without shared memory. The rows of B's tile are interleaved (lane_rows in hopper.h), so
// that each lane of wgmma's layout has kTile.vec neighbouring columns of every kSpan: operands of the epilogue are
// read, and results written, in whole vectors.
#pragma once
#include "gemm/column_epilogue.cuh"
#include "gemm/vectors.cuh"
#include "ptx/mma.cuh"

namespace kiln {

constexpr int kSpan = 4 * kTile.vec;  ///< columns of which a lane has a vector

/// The sums of a lane in a span: row l / 4 of the warp's 16, or eight below (half 1), columns l % 4 * kTile.vec and on.
template <int kBlocks>
__device__ __forceinline__ void take_lane(float (&x)[kTile.vec], const float (&sums)[kBlocks][4], int span, int half) {
#pragma unroll
  for (int i = 0; i < kTile.vec; ++i) x[i] = sums[(span * kTile.vec + i) / 2][half * 2 + i % 2];
}

/// Where a lane's part of a tile of results lies: its first row and column, and the index of that element.
struct LanePlace {
  long long index;
  int row, column;
};

/// Ends tiles of kBands times 64 rows of a group of warps, kTile.bn columns wide. What the epilogue reads for each
/// result is copied to shared memory a tile ahead. A thread reads only what it has copied itself, so threads need not
/// wait for each other.
template <int kBands, int kThreads>
class LaneEnd {
  using Whole = Epilogue::Whole<kTile.vec>;
  static constexpr int kSpans = kTile.bn / kSpan, kParts = kBands * kSpans, kHalfBytes = kThreads * Whole::kBytes;
  static_assert(kTile.bn % kSpan == 0, "whole spans");

 public:
  /// `held` is the thread's place in kParts * 2 * kHalfBytes of shared memory: 16 bytes in every kThreads * 16.
  __device__ __forceinline__ LaneEnd(const Epilogue& epilogue, long long row_stride, int rows, int columns,
                                     unsigned held)
      : row_stride_(row_stride), rows_(rows), columns_(columns), held_(held) {
    scalars_.fetch(epilogue);
  }

  /// Begins to copy what the first tile reads.
  __device__ __forceinline__ void begin(const Epilogue& epilogue, const LanePlace& at) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) copy(epilogue, at, part);
  }
  /// Ends a tile, and begins to copy what the next one reads; there is none where its row is beyond the last.
  __device__ __forceinline__ void write(const Epilogue& epilogue, Result* y,
                                        const float (&sums)[kBands][kTile.bn / 8][4], const LanePlace& at,
                                        const LanePlace& next) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int column = at.column + part % kSpans * kSpan;
      Whole whole[2];
      if constexpr (Whole::kBytes > 0) {
        wait_for_copies<kParts - 1>();
#pragma unroll
        for (int half = 0; half < 2; ++half) whole[half].template take<kThreads * 16>(held_at(part, half));
      }
      Epilogue::Channels<kTile.vec> channels;
      if (column < columns_) channels.fetch(epilogue, column);
      float x[2][kTile.vec];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        take_lane(x[half], sums[part / kSpans], part % kSpans, half);
        Epilogue::apply(x[half], whole[half], channels, scalars_);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half)
        if (is_inside(at, part, half)) store_vector(y + index_of(at, part, half), x[half]);
      copy(epilogue, next, part);
    }
  }

 private:
  __device__ __forceinline__ bool is_inside(const LanePlace& at, int part, int half) const {
    return at.row + part / kSpans * 64 + half * 8 < rows_ && at.column + part % kSpans * kSpan < columns_;
  }
  __device__ __forceinline__ long long index_of(const LanePlace& at, int part, int half) const {
    return at.index + (part / kSpans * 64 + half * 8) * row_stride_ + part % kSpans * kSpan;
  }
  __device__ __forceinline__ unsigned held_at(int part, int half) const {
    return held_ + (part * 2 + half) * kHalfBytes;
  }
  __device__ __forceinline__ void copy(const Epilogue& epilogue, const LanePlace& at, int part) {
    if constexpr (Whole::kBytes > 0) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        if (is_inside(at, part, half))
          Whole::template copy<kThreads * 16>(epilogue, index_of(at, part, half), held_at(part, half));
      commit_copies();
    }
  }

  const long long row_stride_;
  const int rows_, columns_;
  const unsigned held_;
  Epilogue::Scalars scalars_;
};

}  // namespace kiln
