// The inner product of the exact kernels: tiles of A and B in shared memory as floats, sums in registers, plain FMA.
#pragma once

namespace kiln {

constexpr int kThreads = (kTile.bm / kTile.tm) * (kTile.bn / kTile.tn);
constexpr int kLoadsA = kTile.bm * kTile.bk / kThreads, kLoadsB = kTile.bn * kTile.bk / kThreads;
static_assert(kTile.bm * kTile.bk % kThreads == 0 && kTile.bn * kTile.bk % kThreads == 0,
              "threads share the loads evenly");

/// Element `i` of thread `t` of a tile of `rows` lines of bk: neighbours in memory go to neighbouring threads.
template <int kRows, bool kKFast>
struct Spot {
  int row, k;
  __device__ explicit Spot(int i) {
    const int at = i * kThreads + threadIdx.x;
    row = kKFast ? at / kTile.bk : at % kRows;
    k = kKFast ? at % kTile.bk : at / kRows;
  }
};

/// Two of each, so that one is filled while the other is read. Rows are padded against bank conflicts.
struct SharedTiles {
  float a[2][kTile.bk][kTile.bm + 4];
  float b[2][kTile.bk][kTile.bn + 4];
};

/// sum[i][j] += A[row of i][k] * B[k][column of j] for k in [first, last).
/// load_a(row, k) and load_b(column, k) give an element of the block's tile, 0 outside.
/// Layout: thread (y, x) has rows y * TM + i and columns x * TN + j, x fastest.
template <bool kAKFast, bool kBKFast, class LoadA, class LoadB>
__device__ __forceinline__ void simt_product(float (&sum)[kTile.tm][kTile.tn], SharedTiles& tiles, int first, int last,
                                             const LoadA& load_a, const LoadB& load_b) {
  float next_a[kLoadsA], next_b[kLoadsB];
  const auto fetch = [&](int k) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const Spot<kTile.bm, kAKFast> at(i);
      next_a[i] = k + at.k < last ? load_a(at.row, k + at.k) : 0.f;
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const Spot<kTile.bn, kBKFast> at(i);
      next_b[i] = k + at.k < last ? load_b(at.row, k + at.k) : 0.f;
    }
  };
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const Spot<kTile.bm, kAKFast> at(i);
      tiles.a[buffer][at.k][at.row] = next_a[i];
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const Spot<kTile.bn, kBKFast> at(i);
      tiles.b[buffer][at.k][at.row] = next_b[i];
    }
  };
  const int y = threadIdx.x / (kTile.bn / kTile.tn), x = threadIdx.x % (kTile.bn / kTile.tn);
  int buffer = 0;
  if (first < last) {
    fetch(first);
    keep(0);
  }
  __syncthreads();
  for (int k = first; k < last; k += kTile.bk) {
    const bool more = k + kTile.bk < last;
    if (more) fetch(k + kTile.bk);
#pragma unroll
    for (int kk = 0; kk < kTile.bk; ++kk) {
      float a[kTile.tm], b[kTile.tn];
#pragma unroll
      for (int i = 0; i < kTile.tm; ++i) a[i] = tiles.a[buffer][kk][y * kTile.tm + i];
#pragma unroll
      for (int j = 0; j < kTile.tn; ++j) b[j] = tiles.b[buffer][kk][x * kTile.tn + j];
#pragma unroll
      for (int i = 0; i < kTile.tm; ++i)
#pragma unroll
        for (int j = 0; j < kTile.tn; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
    buffer ^= 1;
    if (more) keep(buffer);
    __syncthreads();
  }
}

}  // namespace kiln
