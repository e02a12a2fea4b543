// Bilinear sampling of planes by any scale: a block makes a strip of rows of y. It mixes rows of x by whole vectors
// into shared memory, then columns of what it has mixed; a thread finds out about its columns once.
#pragma once

#include "resize/resize.cuh"

namespace kiln {

/// How the threads of a block share rows of so many packs: each has one pack of every so-many-th row. Where a row has
/// more packs than the block threads, each has several packs of all rows.
struct StripShare {
  int pack, row, step;
  __device__ __forceinline__ StripShare(const Divisor& packs) {
    step = max(int(blockDim.x / packs.extent), 1);
    unsigned position = threadIdx.x;
    pack = split(packs, position);
    row = int(position);
    if (packs.extent > blockDim.x) pack = int(threadIdx.x), row = 0;
  }
  __device__ __forceinline__ bool is_idle() const { return row >= step; }
};

/// What a row of a strip is mixed of: where rows of x begin, and their shares.
struct alignas(16) StripRow {
  int from[2];
  float share[2];
};

/// Mixes rows of a plane `x` into `mixed`, by vectors of kVec columns.
template <class T, int kVec>
__device__ __forceinline__ void mix_rows(const Resize& r, const T* x, const StripRow* sources, int rows, float* mixed) {
  constexpr int kAtOnce = 2;  // rows, whose loads are on their way together
  const int width = int(r.strides[1]);
  const StripShare in(r.inner);
  for (int vector = in.pack; vector < int(r.inner.extent) && !in.is_idle(); vector += blockDim.x)
    for (int i = in.row; i < rows; i += kAtOnce * in.step) {
      StripRow row[kAtOnce];
      Vec<float, kVec> loaded[kAtOnce][2];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) row[u] = sources[min(i + u * in.step, rows - 1)];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u)
#pragma unroll
        for (int j = 0; j < 2; ++j) loaded[u][j] = load_floats<T, kVec>(x + row[u].from[j] + vector * kVec);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        Vec<float, kVec> sum;
#pragma unroll
        for (int e = 0; e < kVec; ++e)
          sum.at[e] = row[u].share[0] * loaded[u][0].at[e] + row[u].share[1] * loaded[u][1].at[e];
        store_vec<float, kVec>(mixed + min(i + u * in.step, rows - 1) * width + vector * kVec, sum);
      }
    }
}

/// A column of y: where its two elements are in a row, and their shares.
struct StripColumn {
  int at[2];
  float share[2];
  __device__ __forceinline__ StripColumn(const Resize& r, int column) {
    const int columns = int(r.out[2].extent);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      at[j] = r.index[r.table[2] + j * columns + column];
      share[j] = r.weight[r.table[2] + j * columns + column];
    }
    avoid_zero(at[0], share[0], at[1], share[1]);
  }
};
/// Mixes columns of what is mixed into rows of y: neighbouring threads have neighbouring columns, so that they read
/// each word of shared memory once.
template <class T>
__device__ __forceinline__ void mix_columns(const Resize& r, const StripShare& out, StripColumn mine,
                                            const float* mixed, int rows, T* y) {
  const int width = int(r.strides[1]), columns = int(r.out[2].extent);
  const int pitch = out.step * width, line = out.step * columns;
  for (int column = out.pack; column < columns && !out.is_idle();) {
    const float *from = mixed + out.row * width + mine.at[0], *other = mixed + out.row * width + mine.at[1];
    T* to = y + out.row * columns + column;
#pragma unroll 4
    for (int row = out.row; row < rows; row += out.step, from += pitch, other += pitch, to += line)
      *to = from_float<T>(mine.share[0] * *from + mine.share[1] * *other);
    column += blockDim.x;
    if (column < columns) mine = StripColumn(r, column);
  }
}

/// kVec divides the columns of x.
template <class T, int kVec>
__device__ __forceinline__ void resize_strips(const Resize& r) {
  extern __shared__ __align__(16) float mixed[];
  pdl_launch();
  unsigned plane = blockIdx.x;
  const int lines = int(r.out[1].extent), columns = int(r.out[2].extent), width = int(r.strides[1]);
  const int first = split(r.bands, plane) * r.strip, rows = min(r.strip, lines - first);
  StripRow* sources = reinterpret_cast<StripRow*>(mixed + r.strip * width);
  for (int i = threadIdx.x; i < rows; i += blockDim.x) {
    StripRow row;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      row.from[j] = r.index[r.table[1] + j * lines + first + i] * width;
      row.share[j] = r.weight[r.table[1] + j * lines + first + i];
    }
    avoid_zero(row.from[0], row.share[0], row.from[1], row.share[1]);
    sources[i] = row;
  }
  const StripShare out(r.out[2]);
  const StripColumn mine(r, out.pack);
  __syncthreads();
  pdl_wait();
  mix_rows<T, kVec>(r, static_cast<const T*>(r.x) + plane * r.plane, sources, rows, mixed);
  __syncthreads();
  mix_columns<T>(r, out, mine, mixed, rows, static_cast<T*>(r.y) + (int64_t(plane) * lines + first) * columns);
}

}  // namespace kiln
