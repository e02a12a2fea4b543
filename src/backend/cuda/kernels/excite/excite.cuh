// Squeeze and excitation of a picture, channels last: y = x * gate(w2 hidden(w1 mean(x) + b1) + b2), the mean of each
// channel. The blocks of a cluster share an image's pixels, and its channels between the mean and the gates. Everything
// between x and y is float, sums in a fixed order. The prelude has `hidden` and `gate` of a float.
#pragma once

#include "backend/cuda/kernels/excite/arguments.h"
#include "nest/walk.cuh"
#include "ptx/cluster.cuh"

namespace kiln {

using Excite = cuda::ExciteArgument;

/// kParts threads share a channel of the second product.
template <class T, class W, int kThreads, int kBlocks, int kParts>
struct ExciteBlock {
  static constexpr int kVec = 16 / sizeof(T), kLanes = 8;
  const Excite& e;
  static constexpr unsigned blocks = kBlocks;
  const unsigned rank, barriers;  ///< for the sums, the hidden layer, the gates
  // Shared memory, as excite_shared_bytes counts it.
  W *w1, *w2;
  float *received_sums, *received_hidden, *gates, *mean, *hidden, *partial;
  T* stage;

  __device__ __forceinline__ ExciteBlock(const Excite& excite, char* shared, uint64_t* barrier)
      : e(excite), rank(kBlocks > 1 ? cluster_rank() : 0), barriers(shared_address(barrier)) {
    w1 = reinterpret_cast<W*>(shared);
    w2 = w1 + e.hidden * e.slice;
    received_sums = reinterpret_cast<float*>(w2 + e.hidden * e.slice);
    gates = received_sums + blocks * e.slice;
    mean = gates + blocks * e.slice;
    partial = mean + e.slice;
    received_hidden = partial + kThreads * kVec;
    hidden = received_hidden + blocks * e.hidden;
    stage = reinterpret_cast<T*>(hidden + (e.hidden + 3) / 4 * 4 + (4 - blocks * e.hidden % 4) % 4);
  }

  __device__ __forceinline__ void fetch_weights() {
    constexpr int kEach = 16 / sizeof(W);
    const int vectors = 2 * e.hidden * e.slice / kEach;
    const W* from = static_cast<const W*>(e.weights) + rank * (2 * e.hidden * e.slice);
    for (int i = threadIdx.x; i < vectors; i += kThreads)
      store_vec(w1 + i * kEach, load_vec<W, kEach>(from + i * kEach));
  }

  /// Calls f(offset of a vector in the block's pixels, the vector) for all that this thread has: of one vector of
  /// channels, some pixels.
  template <class F>
  __device__ __forceinline__ void each_vector(const T* x, int count, F f) {
    constexpr int kUnroll = 8;
    const int step = e.rows * e.channels;
    int at = threadIdx.x * kVec;  // rows are pixels: a step of all threads is contiguous
    if (e.by_vectors.quotient(threadIdx.x) >= unsigned(e.rows)) return;
    for (; at < count; at += kUnroll * step) {
      Vec<T, kVec> loaded[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (at + u * step < count) loaded[u] = load_vec<T, kVec>(x + at + u * step);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (at + u * step < count) f(at + u * step, loaded[u]);
    }
  }

  __device__ __forceinline__ unsigned barrier_of_sums() const { return barriers; }
  __device__ __forceinline__ unsigned barrier_of_hidden() const { return barriers + 8; }
  __device__ __forceinline__ unsigned barrier_of_gates() const { return barriers + 16; }
  /// Channels of this block's slice that exist.
  __device__ __forceinline__ int own_channels() const { return max(0, min(e.slice, e.channels - int(rank) * e.slice)); }

  /// Sends values to a block of the cluster. Cluster instructions fault in a launch without clusters, so a block alone
  /// only waits for its own threads.
  template <class V>
  __device__ __forceinline__ void post(float* to, const V& x, unsigned barrier, unsigned block) const {
    if constexpr (kBlocks > 1)
      send(to, x, barrier, block);
    else
      *reinterpret_cast<V*>(to) = x;
  }
  __device__ __forceinline__ void wait_for(unsigned barrier) const {
    if constexpr (kBlocks > 1)
      wait_barrier(barrier, 0);
    else
      __syncthreads();
  }

  /// Initialises the barriers, and tells them how many bytes all blocks will send to this one.
  __device__ __forceinline__ void expect() {
    if constexpr (kBlocks == 1) return;
    if (threadIdx.x == 0) {
      for (int i = 0; i < 3; ++i) init_barrier(barriers + 8 * i, 1);
      expect_bytes(barrier_of_sums(), blocks * own_channels() * sizeof(float));
      expect_bytes(barrier_of_hidden(), blocks * e.hidden * sizeof(float));
      expect_bytes(barrier_of_gates(), blocks * e.slice * sizeof(float));
    }
    begin_cluster();
  }

  /// Sums of this block's pixels, rows of threads each their own, into partial[row][channel].
  __device__ __forceinline__ void sum_pixels(const T* x, int count) {
    float sums[kVec] = {};
    each_vector(x, count, [&](int at, const Vec<T, kVec>& loaded) {
#pragma unroll
      for (int i = 0; i < kVec; ++i) sums[i] += to_float(loaded.at[i]);
      if (e.staged) store_vec(stage + at, loaded);
    });
#pragma unroll
    for (int i = 0; i < kVec; ++i) partial[threadIdx.x * kVec + i] = sums[i];
    __syncthreads();
  }

  /// Four channels' sum over rows first, first + step, ...
  __device__ __forceinline__ Vec<float, 4> sum_of_rows(int quad, int first, int step, int rows) const {
    Vec<float, 4> sum = {};
#pragma unroll 4
    for (int row = first; row < rows; row += step) {
      const Vec<float, 4> part = load_vec<float, 4>(partial + row * e.channels + quad * 4);
#pragma unroll
      for (int i = 0; i < 4; ++i) sum.at[i] += part.at[i];
    }
    return sum;
  }

  /// Sends each channel's sums to the block whose slice has the channel. If rows are many, several threads add up one
  /// channel.
  __device__ __forceinline__ void exchange_sums() {
    constexpr int kManyRows = 8, kMostGroups = 16;
    const int quads = e.by_quads.extent;
    int rows = e.rows;
    if (rows > kManyRows) {
      const int groups = min(kMostGroups, int(e.by_quads.quotient(kThreads)));
      const int group = e.by_quads.quotient(threadIdx.x), quad = threadIdx.x - group * quads;
      Vec<float, 4> sum;
      if (group < groups) sum = sum_of_rows(quad, group, groups, rows);
      __syncthreads();
      if (group < groups) store_vec<float, 4>(partial + group * e.channels + quad * 4, sum);
      __syncthreads();
      rows = min(groups, rows);
    }
    for (int quad = threadIdx.x; quad < quads; quad += kThreads) {
      const int c = quad * 4, owner = e.by_slice.quotient(c);
      post(received_sums + rank * e.slice + c - owner * e.slice, sum_of_rows(quad, 0, 1, rows), barrier_of_sums(),
           owner);
    }
  }
  __device__ __forceinline__ void average() {
    const int own = own_channels();
    wait_for(barrier_of_sums());
    for (int c = threadIdx.x; c < e.slice; c += kThreads) {
      float sum = 0;
      if (c < own)
#pragma unroll
        for (int b = 0; b < kBlocks; ++b) sum += received_sums[b * e.slice + c];
      mean[c] = sum * e.share;
    }
    __syncthreads();
  }

  /// Sends this slice's part of w1 mean to all blocks; kLanes threads compute a row of w1.
  __device__ __forceinline__ void first_product() {
    const int lane = threadIdx.x % kLanes;
    for (int first = 0; first < e.hidden; first += kThreads / kLanes) {
      const int h = first + threadIdx.x / kLanes;
      float sum = 0;
      if (h < e.hidden)
        for (int c = lane * 8; c < e.slice; c += kLanes * 8) {
          const Vec<float, 8> w = load_floats<W, 8>(w1 + h * e.slice + c), m = load_floats<float, 8>(mean + c);
#pragma unroll
          for (int i = 0; i < 8; ++i) sum = fmaf(w.at[i], m.at[i], sum);
        }
      sum = warp_fold<kLanes>(sum, Plus());
      if (h < e.hidden)
        for (unsigned b = lane; b < blocks; b += kLanes)
          post(received_hidden + rank * e.hidden + h, sum, barrier_of_hidden(), b);
    }
  }
  __device__ __forceinline__ void activate() {
    wait_for(barrier_of_hidden());
    for (int h = threadIdx.x; h < e.hidden; h += kThreads) {
      float sum = e.biases[h];
#pragma unroll
      for (int b = 0; b < kBlocks; ++b) sum += received_hidden[b * e.hidden + h];
      hidden[h] = ::kiln::hidden(sum);
    }
    __syncthreads();
  }

  /// Sends the gates of this slice to all blocks.
  __device__ __forceinline__ void second_product() {
    const int part = threadIdx.x % kParts;
    for (int first = 0; first < e.slice; first += kThreads / kParts) {
      const int c = first + threadIdx.x / kParts, channel = rank * e.slice + c;
      float sum = 0;
      if (c < e.slice)
#pragma unroll 4
        for (int h = part; h < e.hidden; h += kParts) sum = fmaf(to_float(w2[h * e.slice + c]), hidden[h], sum);
      sum = warp_fold<kParts>(sum, Plus());
      if (c >= e.slice) continue;
      const float value = gate(sum + e.biases[e.hidden + channel]);
      for (unsigned b = part; b < blocks; b += kParts) post(gates + channel, value, barrier_of_gates(), b);
    }
  }

  __device__ __forceinline__ void scale_pixels(const T* x, T* y, int count) {
    const int vector = threadIdx.x - e.by_vectors.quotient(threadIdx.x) * e.by_vectors.extent;
    wait_for(barrier_of_gates());
    const Vec<float, kVec> own = load_vec<float, kVec>(gates + vector * kVec);
    each_vector(e.staged ? stage : x, count, [&](int at, const Vec<T, kVec>& loaded) {
      Vec<float, kVec> result;
#pragma unroll
      for (int i = 0; i < kVec; ++i) result.at[i] = to_float(loaded.at[i]) * own.at[i];
      store_floats<T, kVec>(y + at, result);
    });
  }

  __device__ __forceinline__ void run() {
    expect();
    fetch_weights();
    const int64_t image = blockIdx.x / blocks;
    const int first = min(int(rank) * e.pixels_of_block, e.pixels);
    const int64_t from = (image * e.pixels + first) * e.channels;
    const int count = (min(first + e.pixels_of_block, e.pixels) - first) * e.channels;
    const T* x = static_cast<const T*>(e.x) + from;
    pdl_wait();
    sum_pixels(x, count);
    if constexpr (kBlocks > 1) wait_cluster();  // every block has begun, so that its barriers are there
    exchange_sums();
    average();
    first_product();
    activate();
    second_product();
    scale_pixels(x, static_cast<T*>(e.y) + from, count);
  }
};

template <class T, class W, int kThreads, int kBlocks, int kParts>
__device__ __forceinline__ void excite(const Excite& e) {
  extern __shared__ __align__(16) char shared[];
  __shared__ uint64_t barriers[3];
  pdl_launch();
  ExciteBlock<T, W, kThreads, kBlocks, kParts>(e, shared, barriers).run();
}

}  // namespace kiln
