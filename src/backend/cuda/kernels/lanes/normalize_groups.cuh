// Normalisation by the mean and variance of groups of any size and order: a group in the shared memory of a cluster's
// blocks, or one walk for its statistics and another for the result.
#pragma once

#include "lanes/normalize.cuh"
#include "ptx/cluster.cuh"

namespace kiln {

/// Elements of a group, those of a chunk or all.
struct Chunk {
  int64_t base;
  int begin, end, first_channel;
  __device__ __forceinline__ Chunk(const Normalization& n, int64_t row, int chunk) {
    const int64_t image = row / n.groups, group = row - image * n.groups;
    base = image * n.image_stride + group * n.group_stride;
    begin = chunk * n.chunk;
    end = min(begin + n.chunk, n.length);
    first_channel = int(group) * n.channels;
  }
  /// That of a block.
  __device__ __forceinline__ explicit Chunk(const Normalization& n)
      : Chunk(n, blockIdx.x / n.chunks, int(blockIdx.x % n.chunks)) {}
};
__device__ __forceinline__ int64_t element_at(const Normalization& n, int i) {
  if (n.length == int(n.inner.extent)) return i;
  const int run = int(n.inner.quotient(i));
  return run * n.run_stride + (i - run * int(n.inner.extent));
}

/// Loads of a thread that are on their way at once.
template <int kVec>
inline constexpr int kBatch = kVec <= 2 ? 8 : 4;

/// f(vectors, where the first is, how many) for each batch of vectors of a thread. Vectors lie together, and divide
/// chunks.
template <class T, int kVec, class F>
__device__ __forceinline__ void each_batch(const Normalization& n, const Chunk& c, F f) {
  const T* x = static_cast<const T*>(n.x) + c.base;
  const int step = blockDim.x * kVec;
  for (int i = c.begin + threadIdx.x * kVec; i < c.end; i += kBatch<kVec> * step) {
    Vec<T, kVec> loaded[kBatch<kVec>];
    const bool whole = i + (kBatch<kVec> - 1) * step < c.end;
#pragma unroll
    for (int u = 0; u < kBatch<kVec>; ++u)
      if (whole || i + u * step < c.end) loaded[u] = load_vec<T, kVec>(x + element_at(n, i + u * step));
    f(loaded, i, whole ? kBatch<kVec> : (c.end - i + step - 1) / step);
  }
}

/// Mean and sum of squared differences from it, of the elements so far.
struct Statistics {
  float mean = 0, squares = 0, count = 0;
  /// Adds a batch, by its differences from its own first element. With n elements in a batch, these are at most n times
  /// as large as the differences from its mean. So their sums keep enough digits however far from 0 the elements are.
  template <class T, int kVec>
  __device__ __forceinline__ void add(const Vec<T, kVec> (&batch)[kBatch<kVec>], int size) {
    const float pivot = to_float(batch[0].at[0]);
    float sum = 0, square = 0;
#pragma unroll
    for (int u = 0; u < kBatch<kVec>; ++u) {
      if (u >= size) break;
#pragma unroll
      for (int e = 0; e < kVec; ++e) {
        const float difference = to_float(batch[u].at[e]) - pivot;
        sum += difference;
        square += difference * difference;
      }
    }
    const float more = size * kVec, center = __fdividef(sum, more);
    const float away = pivot + center - mean, share = __fdividef(more, count + more);
    squares += square - sum * center + away * away * (count * share);
    mean += away * share;
    count += more;
  }
  /// Joins the statistics of all threads that share `size` elements; sum(x) adds up their x.
  template <class Sum>
  __device__ __forceinline__ void fold(float size, Sum sum) {
    const float all = sum(mean * count) / size;
    squares = sum(squares + (mean - all) * (mean - all) * count);
    mean = all;
    count = size;
  }
};
__device__ __forceinline__ float block_sum(float x, float* scratch) { return block_fold(x, 0.0f, Plus(), scratch); }
template <class T, int kVec>
__device__ __forceinline__ Statistics chunk_statistics(const Normalization& n, const Chunk& c, float* scratch) {
  Statistics own;
  each_batch<T, kVec>(n, c, [&](const Vec<T, kVec>(&batch)[kBatch<kVec>], int, int size) { own.add(batch, size); });
  own.fold(c.end - c.begin, [=](float x) { return block_sum(x, scratch); });
  return own;
}

/// Elements i ... i + kVec - 1 of a group, normalised, to y; or to bytes of Q.
template <class T, class S, int kVec, class Q = NoBytes>
__device__ __forceinline__ void put_normalized(const Normalization& n, const Chunk& c, int i, const Vec<T, kVec>& x,
                                               float mean, float factor) {
  const S *scale = static_cast<const S*>(n.scale), *bias = static_cast<const S*>(n.bias);
  Vec<float, kVec> result;
  if (n.coefficients == 1) {
    const int k = c.first_channel + int(n.plane.quotient(i));
    const float scales = scale ? factor * to_float(scale[k]) : factor, biases = bias ? to_float(bias[k]) : 0;
#pragma unroll
    for (int e = 0; e < kVec; ++e) result.at[e] = (to_float(x.at[e]) - mean) * scales + biases;
  } else {
    const int k = n.coefficients == 0 ? i : c.first_channel + i - int(n.inner.quotient(i) * n.inner.extent);
#pragma unroll
    for (int e = 0; e < kVec; ++e) result.at[e] = (to_float(x.at[e]) - mean) * factor;
    if (scale) {
      const Vec<S, kVec> scales = load_vec<S, kVec>(scale + k);
#pragma unroll
      for (int e = 0; e < kVec; ++e) result.at[e] *= to_float(scales.at[e]);
    }
    if (bias) {
      const Vec<S, kVec> biases = load_vec<S, kVec>(bias + k);
#pragma unroll
      for (int e = 0; e < kVec; ++e) result.at[e] += to_float(biases.at[e]);
    }
  }
  put_results<T, Q, kVec>(n, c.base + element_at(n, i), result);
}
template <class T, class S, int kVec, class Q = NoBytes>
__device__ __forceinline__ void normalize_chunk(const Normalization& n, const Chunk& c, float mean, float factor) {
  each_batch<T, kVec>(n, c, [&](const Vec<T, kVec>(&batch)[kBatch<kVec>], int i, int size) {
#pragma unroll
    for (int u = 0; u < kBatch<kVec>; ++u)
      if (u < size) put_normalized<T, S, kVec, Q>(n, c, i + u * blockDim.x * kVec, batch[u], mean, factor);
  });
}

__device__ __forceinline__ float factor_of(const Normalization& n, float squares) {
  return 1.0f / sqrtf(squares / n.length + n.epsilon);
}
/// Where the mean is taken to be 0, makes squared differences from it squared differences from 0.
__device__ __forceinline__ void take_mean(const Normalization& n, float& mean, float& squares) {
  if (n.centered) return;
  squares = fmaf(mean * mean, float(n.length), squares);
  mean = 0;
}

/// Groups of few vectors: `lanes` neighbouring lanes each, a power of two, which hold them in registers.
template <class T, class S, int kVec>
__device__ __forceinline__ void normalize_teams(const Normalization& n) {
  pdl_launch();
  const int lanes = n.lanes, lane = threadIdx.x % lanes, step = lanes * kVec;
  const int64_t row = int64_t(blockIdx.x) * (blockDim.x / lanes) + threadIdx.x / lanes;
  const Chunk c(n, row < n.rows ? row : 0, 0);
  const T* x = static_cast<const T*>(n.x) + c.base;
  const int first = lane * kVec;
  const int size = row < n.rows && first < n.length ? min((n.length - first + step - 1) / step, kBatch<kVec>) : 0;
  pdl_wait();
  Vec<T, kVec> batch[kBatch<kVec>];
#pragma unroll
  for (int u = 0; u < kBatch<kVec>; ++u)
    if (u < size) batch[u] = load_vec<T, kVec>(x + element_at(n, first + u * step));
  Statistics all;
  if (size > 0) all.add(batch, size);
  all.fold(n.length, [=](float sum) {
    for (int other = lanes / 2; other > 0; other /= 2) sum += __shfl_xor_sync(kAllLanes, sum, other);
    return sum;
  });
  take_mean(n, all.mean, all.squares);
  const float factor = factor_of(n, all.squares);
#pragma unroll
  for (int u = 0; u < kBatch<kVec>; ++u)
    if (u < size) put_normalized<T, S, kVec>(n, c, first + u * step, batch[u], all.mean, factor);
}

/// A block a group.
template <class T, class S, int kVec, class Q = NoBytes>
__device__ __forceinline__ void normalize_long(const Normalization& n) {
  __shared__ float scratch[kWarp];
  pdl_launch();
  const Chunk c(n);
  pdl_wait();
  Statistics all = chunk_statistics<T, kVec>(n, c, scratch);
  take_mean(n, all.mean, all.squares);
  normalize_chunk<T, S, kVec, Q>(n, c, all.mean, factor_of(n, all.squares));
}

/// Elements of chunk i.
__device__ __forceinline__ float size_of_chunk(const Normalization& n, int i) {
  return float(min(n.chunk, n.length - i * n.chunk));
}

/// The first of two launches: several blocks a group write their statistics.
template <class T, int kVec>
__device__ __forceinline__ void normalize_parts(const Normalization& n) {
  __shared__ float scratch[kWarp];
  pdl_launch();
  const Chunk c(n);
  pdl_wait();
  const Statistics part = chunk_statistics<T, kVec>(n, c, scratch);
  if (threadIdx.x > 0) return;
  n.parts[2 * blockIdx.x] = part.mean;
  n.parts[2 * blockIdx.x + 1] = part.squares;
}
/// The second launch: every block joins the group's statistics in the same order, and writes its part of the result.
template <class T, class S, int kVec>
__device__ __forceinline__ void normalize_apply(const Normalization& n) {
  __shared__ float scratch[kWarp];
  pdl_launch();
  const Chunk c(n);
  pdl_wait();
  const float* parts = n.parts + 2 * (int64_t(blockIdx.x) - blockIdx.x % n.chunks);
  float sum = 0;
  for (int i = threadIdx.x; i < n.chunks; i += blockDim.x) sum += parts[2 * i] * size_of_chunk(n, i);
  float mean = block_fold(sum, 0.0f, Plus(), scratch) / n.length, squares = 0;
  for (int i = threadIdx.x; i < n.chunks; i += blockDim.x) {
    const float difference = parts[2 * i] - mean;
    squares += parts[2 * i + 1] + difference * difference * size_of_chunk(n, i);
  }
  squares = block_fold(squares, 0.0f, Plus(), scratch);
  take_mean(n, mean, squares);
  normalize_chunk<T, S, kVec>(n, c, mean, factor_of(n, squares));
}

/// Channels last, several blocks an image, which have whole pixels each, so that what they read lies together. A thread
/// has a vector of channels of each n.lanes-th pixel.
struct Pixels {
  int64_t base;
  int vectors, vector, lane, begin, end;
  __device__ __forceinline__ Pixels(const Normalization& n, int vec) {
    const int64_t image = blockIdx.x / n.chunks;
    const int pixels = n.chunk / n.channels;
    vectors = int(n.run_stride) / vec;
    lane = threadIdx.x / vectors;
    vector = threadIdx.x - lane * vectors;
    base = image * n.image_stride + vector * vec;
    begin = int(blockIdx.x % n.chunks) * pixels;
    end = min(begin + pixels, int(n.plane.extent));
  }
  /// f(the first pixel of a thread's in a batch of kCount) for each batch; kAgain: the last one first, for a second
  /// walk finds there what the first one has left in the cache.
  template <int kCount, bool kAgain, class F>
  __device__ __forceinline__ void each_start(const Normalization& n, F f) const {
    const int first = begin + lane, step = kCount * n.lanes;
    if (lane >= n.lanes || first >= end) return;
    const int last = first + (end - 1 - first) / step * step;
    for (int i = 0; i <= last - first; i += step) f(kAgain ? last - i : first + i);
  }
  /// f(vectors, the first one's pixel, how many)
  template <class T, int kVec, bool kAgain = false, class F>
  __device__ __forceinline__ void each_batch(const Normalization& n, F f) const {
    const T* x = static_cast<const T*>(n.x) + base;
    each_start<kBatch<kVec>, kAgain>(n, [&](int i) {
      Vec<T, kVec> loaded[kBatch<kVec>];
#pragma unroll
      for (int u = 0; u < kBatch<kVec>; ++u)
        if (i + u * n.lanes < end) loaded[u] = load_vec<T, kVec>(x + (i + u * n.lanes) * n.run_stride);
      f(loaded, i, min((end - i + n.lanes - 1) / n.lanes, kBatch<kVec>));
    });
  }
  /// f(vector, its pixel) for each of a thread's.
  template <class T, int kVec, bool kAgain = false, class F>
  __device__ __forceinline__ void each_words(const Normalization& n, F f) const {
    constexpr int kAtOnce = 8;
    const T* x = static_cast<const T*>(n.x) + base;
    each_start<kAtOnce, kAgain>(n, [&](int i) {
      Words<T, kVec> loaded[kAtOnce];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u)
        if (i + u * n.lanes < end) loaded[u] = load_words<T, kVec>(x + (i + u * n.lanes) * n.run_stride);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u)
        if (i + u * n.lanes < end) f(loaded[u], i + u * n.lanes);
    });
  }
};
/// Statistics of the chunks of an image's groups,
template <class T, int kVec>
__device__ __forceinline__ void normalize_pixel_parts(const Normalization& n) {
  extern __shared__ __align__(16) float pieces[];  // [3][threads]
  pdl_launch();
  const Pixels p(n, kVec);
  const int threads = blockDim.x, each = n.channels / kVec;
  pdl_wait();
  Statistics own;
  p.each_batch<T, kVec>(n, [&](const Vec<T, kVec>(&batch)[kBatch<kVec>], int, int size) { own.add(batch, size); });
  pieces[threadIdx.x] = own.mean;
  pieces[threads + threadIdx.x] = own.squares;
  pieces[2 * threads + threadIdx.x] = own.count;
  __syncthreads();
  const int64_t first = blockIdx.x / n.chunks * n.groups;
  for (int group = threadIdx.x; group < n.groups; group += threads) {
    float sum = 0, squares = 0;
    for (int lane = 0; lane < n.lanes; ++lane)
      for (int i = 0, at = lane * p.vectors + group * each; i < each; ++i, ++at)
        sum += pieces[at] * pieces[2 * threads + at];
    const float mean = sum / float((p.end - p.begin) * n.channels);
    for (int lane = 0; lane < n.lanes; ++lane)
      for (int i = 0, at = lane * p.vectors + group * each; i < each; ++i, ++at)
        squares += pieces[threads + at] + (pieces[at] - mean) * (pieces[at] - mean) * pieces[2 * threads + at];
    float* part = n.parts + 2 * ((first + group) * n.chunks + blockIdx.x % n.chunks);
    part[0] = mean;
    part[1] = squares;
  }
}
/// put(group, mean, factor) for the groups of a block's image, from the statistics of their chunks: a warp a group.
template <class F>
__device__ __forceinline__ void fold_chunks(const Normalization& n, F put) {
  const int lane = threadIdx.x % kWarp;
  for (int g = threadIdx.x / kWarp; g < n.groups; g += blockDim.x / kWarp) {
    const float* parts = n.parts + 2 * (blockIdx.x / n.chunks * n.groups + g) * n.chunks;
    float sum = 0, squares = 0;
    for (int i = lane; i < n.chunks; i += kWarp) sum += parts[2 * i] * size_of_chunk(n, i);
    const float mean = warp_sum(sum) / n.length;
    for (int i = lane; i < n.chunks; i += kWarp)
      squares += parts[2 * i + 1] + (parts[2 * i] - mean) * (parts[2 * i] - mean) * size_of_chunk(n, i);
    squares = warp_sum(squares);
    if (lane == 0) put(g, mean, factor_of(n, squares));
  }
  __syncthreads();
}
/// The second launch: every block joins the groups' statistics, and writes its part of the result.
template <class T, class S, int kVec>
__device__ __forceinline__ void normalize_pixels(const Normalization& n) {
  extern __shared__ __align__(16) float pieces[];  // [2][groups]
  pdl_launch();
  const Pixels p(n, kVec);
  const int group = p.vector * kVec / n.channels;
  pdl_wait();
  fold_chunks(n, [&](int g, float mean, float factor) { pieces[g] = mean, pieces[n.groups + g] = factor; });
  if (p.lane >= n.lanes) return;
  const float mean = pieces[group], factor = pieces[n.groups + group];
  float scales[kVec], biases[kVec];
#pragma unroll
  for (int e = 0; e < kVec; ++e) {
    const int channel = p.vector * kVec + e;
    scales[e] = n.scale ? factor * to_float(static_cast<const S*>(n.scale)[channel]) : factor;
    biases[e] = n.bias ? to_float(static_cast<const S*>(n.bias)[channel]) : 0;
  }
  T* y = static_cast<T*>(n.y) + p.base;
  p.each_batch<T, kVec, true>(n, [&](const Vec<T, kVec>(&batch)[kBatch<kVec>], int pixel, int size) {
#pragma unroll
    for (int u = 0; u < kBatch<kVec>; ++u) {
      if (u >= size) break;
      Vec<float, kVec> result;
#pragma unroll
      for (int e = 0; e < kVec; ++e) result.at[e] = (to_float(batch[u].at[e]) - mean) * scales[e] + biases[e];
      store_floats<T, kVec>(y + (pixel + u * n.lanes) * n.run_stride, result);
    }
  });
}

/// One cluster a group: each block keeps its chunk in shared memory, so that x is read once. Every warp of the cluster
/// sends its statistics to all blocks, and every warp joins all of them in the same order.
template <class T, class S, int kVec>
__device__ __forceinline__ void normalize_cluster(const Normalization& n) {
  constexpr int kMostWarps = 16, kMostBlocks = 8;
  extern __shared__ __align__(16) char shared[];
  __shared__ __align__(16) float parts[kMostBlocks * kMostWarps][4];  // mean, squares, count
  __shared__ uint64_t barrier;
  pdl_launch();
  const int warps = blockDim.x / kWarp, warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const unsigned arrived = shared_address(&barrier);
  if (n.chunks > 1) {  // cluster instructions fault in a launch without clusters
    if (threadIdx.x == 0) {
      init_barrier(arrived, 1);
      expect_bytes(arrived, n.chunks * warps * sizeof(parts[0]));
    }
    begin_cluster();
  }
  const Chunk c(n);
  const int step = blockDim.x * kVec;
  T* stage = reinterpret_cast<T*>(shared) - c.begin;
  pdl_wait();
  Statistics all;
  each_batch<T, kVec>(n, c, [&](const Vec<T, kVec>(&batch)[kBatch<kVec>], int i, int size) {
#pragma unroll
    for (int u = 0; u < kBatch<kVec>; ++u)
      if (u < size) store_vec<T, kVec>(stage + i + u * step, batch[u]);
    all.add(batch, size);
  });
  all.fold(fmaxf(warp_sum(all.count), 1), [](float x) { return warp_sum(x); });
  Vec<float, 4> part = {all.mean, all.squares, all.count, 0};
  if (n.chunks > 1) {
    wait_cluster();  // every block has begun, so that its barrier is there
    if (lane < n.chunks) send(parts[cluster_rank() * warps + warp], part, arrived, lane);
    wait_barrier(arrived, 0);
  } else {
    if (lane == 0) store_vec<float, 4>(parts[warp], part);
    __syncthreads();
  }
  float sum = 0, squares = 0;
#pragma unroll 1
  for (int i = lane; i < n.chunks * warps; i += kWarp) sum += parts[i][0] * parts[i][2];
  float mean = warp_sum(sum) / n.length;
#pragma unroll 1
  for (int i = lane; i < n.chunks * warps; i += kWarp)
    squares += parts[i][1] + (parts[i][0] - mean) * (parts[i][0] - mean) * parts[i][2];
  squares = warp_sum(squares);
  take_mean(n, mean, squares);
  const float factor = factor_of(n, squares);
  for (int i = c.begin + threadIdx.x * kVec; i < c.end; i += step)  // what this thread has put there
    put_normalized<T, S, kVec>(n, c, i, load_vec<T, kVec>(stage + i), mean, factor);
}

}  // namespace kiln
