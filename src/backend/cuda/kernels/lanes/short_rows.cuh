// Very many rows of few elements, each in the registers of a few threads.
#pragma once

#include "device.cuh"
#include "lanes/short_layout.cuh"

namespace kiln {

/// A block's rows in shared memory.
template <class T, int kCols, int kTeam, int kThreads>
struct ShortRows {
  static constexpr ShortLayout kLayout{kCols, sizeof(T), kTeam, kThreads};
  static constexpr int kRows = kLayout.rows(), kPitch = kLayout.pitch();
  static constexpr int kVec = 16 / sizeof(T), kLoads = (kRows * kCols / kVec + kThreads - 1) / kThreads;
  alignas(16) T at[kRows * kPitch];

  /// Of a vector's first element. A gap is a vector: where there is one, no vector has parts of two rows.
  static __device__ __forceinline__ int place(unsigned i) {
    return kPitch > kCols ? i / kCols * kPitch + i % kCols : i;
  }
  /// kAll: all rows of a block, where a number that is known takes fewer instructions; else of `count` elements.
  template <bool kAll>
  __device__ __forceinline__ void load(const T* from, unsigned count) {
    const unsigned vectors = kAll ? kRows * kCols / kVec : count / kVec;
    Vec<T, kVec> held[kLoads];
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i)
      if (const unsigned v = i * kThreads + threadIdx.x; v < vectors) held[i] = load_vec<T, kVec>(from + v * kVec);
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i)
      if (const unsigned v = i * kThreads + threadIdx.x; v < vectors) store_vec<T, kVec>(at + place(v * kVec), held[i]);
    if (kAll) return;
    if (const unsigned i = vectors * kVec + threadIdx.x; i < count) at[place(i)] = from[i];
  }
  template <bool kAll>
  __device__ __forceinline__ void store(T* to, unsigned count) const {
    const unsigned vectors = kAll ? kRows * kCols / kVec : count / kVec;
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i)
      if (const unsigned v = i * kThreads + threadIdx.x; v < vectors)
        store_vec<T, kVec>(to + v * kVec, load_vec<T, kVec>(at + place(v * kVec)));
    if (kAll) return;
    if (const unsigned i = vectors * kVec + threadIdx.x; i < count) to[i] = at[place(i)];
  }
};
/// Of rows that come and go as they are.
struct NoRows {};

/// What a thread has of a row: `values`, in float, of which some may not exist.
template <class T, int kCols, int kTeam, int kThreads>
struct ShortRow {
  static constexpr ShortLayout kLayout{kCols, sizeof(T), kTeam, kThreads};
  static constexpr int kPiece = kLayout.piece(), kSteps = kLayout.steps(), kCount = kSteps * kPiece;
  static constexpr bool kOdd = kLayout.is_odd();

  int lane;   ///< of the team
  int shift;  ///< 1 if the row begins with the second half of its first piece
  float values[kCount];

  static __device__ __forceinline__ constexpr bool is_last(int step) { return (step + 1) * kTeam * kPiece > kCols; }
  __device__ __forceinline__ int first(int step) const { return (step * kTeam + lane) * kPiece; }
  __device__ __forceinline__ int column(int k) const { return first(k / kPiece) + k % kPiece - (kOdd ? shift : 0); }
  /// Known when compiled but for the row's first and last pieces.
  __device__ __forceinline__ bool exists(int k) const {
    if (kOdd && k == 0 && column(k) < 0) return false;
    return !is_last(k / kPiece) || column(k) < kCols;
  }
  __device__ __forceinline__ bool exists_piece(int step) const {
    return (step + 1) * kTeam * kPiece <= kCols || first(step) < kCols;
  }

  /// From a row, or from the beginning of the word that it begins in. `beyond` stands for what does not exist.
  __device__ __forceinline__ void load(const T* from, float beyond) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      Vec<float, kPiece> piece;
#pragma unroll
      for (int e = 0; e < kPiece; ++e) piece.at[e] = beyond;
      if (exists_piece(i)) piece = load_floats<T, kPiece>(from + first(i));
#pragma unroll
      for (int e = 0; e < kPiece; ++e) values[i * kPiece + e] = !kOdd || exists(i * kPiece + e) ? piece.at[e] : beyond;
    }
  }
  /// To global memory.
  __device__ __forceinline__ void store_global(T* to) const {
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      if (exists_piece(i)) store_floats<T, kPiece>(to + first(i), piece(i));
  }
  /// To shared memory: of words that rows share each writes its half.
  __device__ __forceinline__ void store_shared(T* to) const {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (!exists_piece(i)) continue;
      const Vec<T, kPiece> rounded = round_vec<T, kPiece>(piece(i));
      if constexpr (kOdd) {
        const bool low = exists(i * kPiece), high = exists(i * kPiece + 1);
        if (low && high)
          store_vec<T, kPiece>(to + first(i), rounded);
        else if (low)
          to[first(i)] = rounded.at[0];
        else
          to[first(i) + 1] = rounded.at[1];
      } else {
        store_vec<T, kPiece>(to + first(i), rounded);
      }
    }
  }
  /// All of of(k) over the team, from `start`. Several at a time, so that no addition waits for the one before.
  template <class F, class Of>
  __device__ __forceinline__ float fold(float start, F f, Of of) const {
    constexpr int kChains = kCount < 4 ? kCount : 4;
    float parts[kChains];
#pragma unroll
    for (int k = 0; k < kChains; ++k) parts[k] = start;
#pragma unroll
    for (int k = 0; k < kCount; ++k) parts[k % kChains] = f(parts[k % kChains], of(k));
#pragma unroll
    for (int k = 1; k < kChains; ++k) parts[0] = f(parts[0], parts[k]);
    return warp_fold<kTeam>(parts[0], f);
  }

 private:
  __device__ __forceinline__ Vec<float, kPiece> piece(int i) const {
    Vec<float, kPiece> result;
#pragma unroll
    for (int e = 0; e < kPiece; ++e) result.at[e] = values[i * kPiece + e];
    return result;
  }
};

template <bool kYes, class A, class B>
struct Choice {
  using Type = A;
};
template <class A, class B>
struct Choice<false, A, B> {
  using Type = B;
};
/// What a block keeps in shared memory.
template <class T, int kCols, int kTeam, int kThreads>
using StagedRows = typename Choice<ShortLayout{kCols, sizeof(T), kTeam, kThreads}.is_staged(),
                                   ShortRows<T, kCols, kTeam, kThreads>, NoRows>::Type;

/// f(row) of each ShortRow of x: what it leaves there is y's. x, y  (rows, kCols), aligned to 16 bytes. No thread of a
/// block leaves: those beyond the last row fold with their neighbours.
template <class T, int kCols, int kTeam, int kThreads, class F>
__device__ __forceinline__ void map_short_rows(StagedRows<T, kCols, kTeam, kThreads>& staged, const T* x, T* y,
                                               int64_t rows, float beyond, F f) {
  constexpr ShortLayout kLayout{kCols, sizeof(T), kTeam, kThreads};
  constexpr int kRows = kLayout.rows();
  const int64_t first = int64_t(blockIdx.x) * kRows;
  const int here = rows - first < kRows ? int(rows - first) : kRows, mine = kLayout.row(threadIdx.x);
  ShortRow<T, kCols, kTeam, kThreads> row;
  row.lane = threadIdx.x % kTeam;
  row.shift = 0;
  if constexpr (kLayout.is_staged()) {
    if (here == kRows)
      staged.template load<true>(x + first * kCols, 0);
    else
      staged.template load<false>(x + first * kCols, here * kCols);
    __syncthreads();
    T* at = staged.at + mine * kLayout.pitch();
    if (kLayout.is_odd()) row.shift = mine % 2, at -= row.shift;
    row.load(at, beyond);
    f(row);
    if (mine < here) row.store_shared(at);
    __syncthreads();
    if (here == kRows)
      staged.template store<true>(y + first * kCols, 0);
    else
      staged.template store<false>(y + first * kCols, here * kCols);
  } else {
    const int64_t at = (first + mine) * kCols;
    row.load(x + (mine < here ? at : first * kCols), beyond);
    f(row);
    if (mine < here) row.store_global(y + at);
  }
}

}  // namespace kiln
