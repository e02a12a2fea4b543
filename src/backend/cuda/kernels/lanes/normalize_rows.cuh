// Normalisation by the mean and variance of rows in registers.
#pragma once

#include "lanes/normalize.cuh"
#include "lanes/row.cuh"

namespace kiln {

/// Scale and bias of the columns that a thread has.
template <class S, int kVec, int kLoads>
struct Coefficients {
  Stored<S, kVec> scale[kLoads], bias[kLoads];
  __device__ __forceinline__ void load(const Normalization& n, int i, int col) {
    if (n.scale) scale[i].load(static_cast<const S*>(n.scale) + col);
    if (n.bias) bias[i].load(static_cast<const S*>(n.bias) + col);
  }
};

/// A row a team: x and y of T; scale and bias of S, an element a column, or null for 1 and 0. Everything is computed in
/// float. kHold: coefficients are read before the row, and while earlier kernels still run if none of them writes them;
/// where rows are many, their registers are better spent on more rows at once. Not kCentered: the mean is taken to be
/// 0. Q: bytes that y is quantized to.
template <class T, class S, int kVec, int kLoads, bool kHold, bool kCentered, class Q, class Team>
__device__ __forceinline__ void normalize_row(const Team& team, const Normalization& n) {
  const int thread = team.thread(), threads = team.threads(), cols = n.length;
  const int64_t at = team.first();
  if (at >= n.rows) return;  // teams leave whole
  const auto col_of = [&](int i) { return (i * threads + thread) * kVec; };
  Coefficients<S, kVec, kHold ? kLoads : 1> coefficients;
  const auto hold = [&](bool now) {
    if constexpr (kHold)
#pragma unroll
      for (int i = 0; i < kLoads; ++i)
        if (now && col_of(i) < cols) coefficients.load(n, i, col_of(i));
  };
  hold(n.constant);
  pdl_wait();
  Row<T, kVec, kLoads> row;
  row.load(static_cast<const T*>(n.x) + at * cols, cols, thread, threads, 0);
  hold(!n.constant);
  float mean = 0, squares = 0;
  if constexpr (kCentered) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kLoads * kVec; ++k) sum += row[k];
    mean = team.template fold<0>(sum, 0.0f, Plus()) * n.share;
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    float part = 0;
#pragma unroll
    for (int e = 0; e < kVec; ++e) part += (row.at[i][e] - mean) * (row.at[i][e] - mean);
    squares += col_of(i) < cols ? part : 0;
  }
  const float factor = rsqrtf(team.template fold<1>(squares, 0.0f, Plus()) * n.share + n.epsilon);
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int held = kHold ? i : 0;
    if (col_of(i) >= cols) continue;
    if (!kHold) coefficients.load(n, 0, col_of(i));
    Vec<float, kVec> result;
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      const float value = (row.at[i][e] - mean) * factor;
      const float scaled = n.scale ? value * coefficients.scale[held][e] : value;
      result.at[e] = n.bias ? scaled + coefficients.bias[held][e] : scaled;
    }
    put_results<T, Q, kVec>(n, at * cols + col_of(i), result);
  }
}

template <class T, class S, int kVec, int kLoads, bool kHold, bool kCentered = true, class Q = NoBytes>
__device__ __forceinline__ void normalize_warp(const Normalization& n) {
  pdl_launch();
  normalize_row<T, S, kVec, kLoads, kHold, kCentered, Q>(WarpTeam(), n);
}
template <class T, class S, int kVec, int kLoads, bool kHold, bool kCentered = true, class Q = NoBytes>
__device__ __forceinline__ void normalize_block(const Normalization& n) {
  __shared__ float scratch[2 * kWarp];
  pdl_launch();
  normalize_row<T, S, kVec, kLoads, kHold, kCentered, Q>(BlockTeam{scratch}, n);
}

}  // namespace kiln
