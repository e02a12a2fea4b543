// Tiles of operands in shared memory: lines of contiguous elements, in 16-byte chunks that are swizzled so that neither
// copies nor matrix loads meet in a bank.
#pragma once
#include "ptx/mma.cuh"

namespace kiln {

/// kLines lines of kLength elements. A K-major operand has a line a row (or column) and k along it; another has a line
/// a k. Element types of four bytes that are not K-major are read word by word, with a swizzle of their own.
template <class T, int kLines, int kLength, bool kKMajor>
struct Tile {
  static constexpr int kLineBytes = kLength * sizeof(T), kChunks = kLineBytes / 16, kBytes = kLines * kLineBytes;
  static constexpr bool kAlongK = kKMajor, kWords = sizeof(T) == 4 && !kKMajor;
  static_assert(kLineBytes % 32 == 0 && (kLineBytes < 128 || kLineBytes % 128 == 0), "lines fill banks evenly");

  static __device__ __forceinline__ int swizzled(int line, int chunk) {
    if constexpr (kWords) return chunk ^ ((line & 3) << 1);
    if constexpr (kLineBytes >= 128) return chunk ^ (line & 7);
    if constexpr (kLineBytes == 64) return chunk ^ ((line >> 1) & 3);
    return chunk ^ ((line >> 2) & 1);
  }
  static __device__ __forceinline__ unsigned at(unsigned tile, int line, int chunk) {
    return tile + line * kLineBytes + swizzled(line, chunk) * 16;
  }

  /// Copies a tile whose element (line, i) is from[line * pitch + i], with zeros from `lines` and `length` on.
  /// Pieces of kPiece bytes are aligned and wholly inside or outside.
  template <int kThreads, int kPiece>
  static __device__ __forceinline__ void copy(unsigned tile, const T* from, long long pitch, int lines, int length) {
    constexpr int kTotal = kLines * kChunks, kEach = (kTotal + kThreads - 1) / kThreads, kElements = kPiece / sizeof(T);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at_chunk = i * kThreads + threadIdx.x;
      if (kTotal % kThreads != 0 && at_chunk >= kTotal) break;
      const int line = at_chunk / kChunks, chunk = at_chunk % kChunks, first = chunk * (16 / sizeof(T));
      const unsigned to = at(tile, line, chunk);
      const T* source = from + line * pitch + first;
#pragma unroll
      for (int piece = 0; piece < 16 / kPiece; ++piece) {
        const bool valid = line < lines && first + piece * kElements < length;
        copy_async<kPiece>(to + piece * kPiece, valid ? source + piece * kElements : from, valid);
      }
    }
  }
};

/// The 16 rows from `row` on of A, at step `step` of 32 bytes of k.
template <class T, class ATile, bool kKMajor>
__device__ __forceinline__ void load_a(unsigned (&a)[4], unsigned tile, int row, int step) {
  const int lane = threadIdx.x % 32, matrix = lane / 8, line = lane % 8;
  if constexpr (kKMajor) {
    load_matrices(a, ATile::at(tile, row + (matrix & 1) * 8 + line, step * 2 + (matrix >> 1)));
  } else if constexpr (sizeof(T) == 2) {
    load_matrices_transposed(a, ATile::at(tile, step * 16 + (matrix >> 1) * 8 + line, row / 8 + (matrix & 1)));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = step * 8 + lane % 4 + (i >> 1) * 4, m = row + lane / 4 + (i & 1) * 8;
      a[i] = load_shared(ATile::at(tile, k, m / 4) + m % 4 * 4);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = round_operand(a[i], T{});
}
/// The 16 columns from `column` on of B: b[0], b[1] for the first eight, b[2], b[3] for the others.
template <class T, class BTile, bool kKMajor>
__device__ __forceinline__ void load_b(unsigned (&b)[4], unsigned tile, int column, int step) {
  const int lane = threadIdx.x % 32, matrix = lane / 8, line = lane % 8;
  if constexpr (kKMajor) {
    load_matrices(b, BTile::at(tile, column + (matrix >> 1) * 8 + line, step * 2 + (matrix & 1)));
  } else if constexpr (sizeof(T) == 2) {
    load_matrices_transposed(b, BTile::at(tile, step * 16 + (matrix & 1) * 8 + line, column / 8 + (matrix >> 1)));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = step * 8 + lane % 4 + (i & 1) * 4, n = column + lane / 4 + (i >> 1) * 8;
      b[i] = load_shared(BTile::at(tile, k, n / 4) + n % 4 * 4);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) b[i] = round_operand(b[i], T{});
}

}  // namespace kiln
