// Bilinear sampling of planes by any scale: a block makes a strip of rows of y. It mixes rows of x by whole vectors
// into shared memory, then columns of what it has mixed; a thread finds out about its columns once.
#pragma once

#include "resize/resize.cuh"

namespace kiln {

/// How the threads of a block share `rows` of so many packs: each has one pack of every so-many-th row. Where a row has
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

/// Mixes columns of what is mixed into rows of y, by kPack columns.
template <class T, int kPack>
__device__ __forceinline__ void mix_columns(const Resize& r, const float* mixed, int rows, T* y) {
  const int width = int(r.strides[1]), columns = int(r.out[2].extent);
  const StripShare out(r.packs);
  const int pitch = out.step * width, line = out.step * columns;
  for (int pack = out.pack; pack < int(r.packs.extent) && !out.is_idle(); pack += blockDim.x) {
    const float* from[2][kPack];
    float share[2][kPack];
#pragma unroll
    for (int e = 0; e < kPack; ++e) {
      int at[2];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        at[j] = r.index[r.table[2] + j * columns + pack * kPack + e];
        share[j][e] = r.weight[r.table[2] + j * columns + pack * kPack + e];
      }
      avoid_zero(at[0], share[0][e], at[1], share[1][e]);
#pragma unroll
      for (int j = 0; j < 2; ++j) from[j][e] = mixed + out.row * width + at[j];
    }
    T* to = y + out.row * columns + pack * kPack;
#pragma unroll 2
    for (int row = out.row; row < rows; row += out.step, to += line) {
      Vec<float, kPack> sum;
#pragma unroll
      for (int e = 0; e < kPack; ++e) {
        sum.at[e] = share[0][e] * *from[0][e] + share[1][e] * *from[1][e];
        from[0][e] += pitch, from[1][e] += pitch;
      }
      store_floats<T, kPack>(to, sum);
    }
  }
}

/// kVec divides the columns of x, kPack those of y.
template <class T, int kVec, int kPack>
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
  __syncthreads();
  pdl_wait();
  mix_rows<T, kVec>(r, static_cast<const T*>(r.x) + plane * r.plane, sources, rows, mixed);
  __syncthreads();
  mix_columns<T, kPack>(r, mixed, rows, static_cast<T*>(r.y) + (int64_t(plane) * lines + first) * columns);
}

}  // namespace kiln
