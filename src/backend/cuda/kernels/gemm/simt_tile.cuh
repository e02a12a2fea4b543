// The inner product of the exact kernels: tiles of A and B in shared memory as floats, sums in registers, plain FMA.
// Defines: BM BN BK TM TN (sums a thread: TM rows, TN columns), A_K_FAST B_K_FAST (1: k is contiguous in memory).
#pragma once

namespace kiln {

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kLoadsA = BM * BK / kThreads, kLoadsB = BN * BK / kThreads;
static_assert(BM * BK % kThreads == 0 && BN * BK % kThreads == 0, "threads share the loads evenly");

/// Element `i` of thread `t` of a tile of `rows` lines of BK: neighbours in memory go to neighbouring threads.
template <int kRows, bool kKFast>
struct Spot {
  int row, k;
  __device__ explicit Spot(int i) {
    const int at = i * kThreads + threadIdx.x;
    row = kKFast ? at / BK : at % kRows;
    k = kKFast ? at % BK : at / kRows;
  }
};

/// Two of each, so that one is filled while the other is read. Rows are padded against bank conflicts.
struct SharedTiles {
  float a[2][BK][BM + 4];
  float b[2][BK][BN + 4];
};

/// sum[i][j] += A[row of i][k] * B[k][column of j] for k in [first, last).
/// load_a(row, k) and load_b(column, k) give an element of the block's tile, 0 outside.
/// Layout: thread (y, x) has rows y * TM + i and columns x * TN + j, x fastest.
template <class LoadA, class LoadB>
__device__ __forceinline__ void simt_product(float (&sum)[TM][TN], SharedTiles& tiles, int first, int last,
                                             const LoadA& load_a, const LoadB& load_b) {
  float next_a[kLoadsA], next_b[kLoadsB];
  const auto fetch = [&](int k) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const Spot<BM, A_K_FAST> at(i);
      next_a[i] = k + at.k < last ? load_a(at.row, k + at.k) : 0.f;
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const Spot<BN, B_K_FAST> at(i);
      next_b[i] = k + at.k < last ? load_b(at.row, k + at.k) : 0.f;
    }
  };
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const Spot<BM, A_K_FAST> at(i);
      tiles.a[buffer][at.k][at.row] = next_a[i];
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const Spot<BN, B_K_FAST> at(i);
      tiles.b[buffer][at.k][at.row] = next_b[i];
    }
  };
  const int y = threadIdx.x / (BN / TN), x = threadIdx.x % (BN / TN);
  int buffer = 0;
  if (first < last) {
    fetch(first);
    keep(0);
  }
  __syncthreads();
  for (int k = first; k < last; k += BK) {
    const bool more = k + BK < last;
    if (more) fetch(k + BK);
#pragma unroll
    for (int kk = 0; kk < BK; ++kk) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = tiles.a[buffer][kk][y * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = tiles.b[buffer][kk][x * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
    buffer ^= 1;
    if (more) keep(buffer);
    __syncthreads();
  }
}

}  // namespace kiln
