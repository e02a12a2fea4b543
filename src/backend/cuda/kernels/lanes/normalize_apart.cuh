// Normalisation of each channel by itself, channels last: a thread has a vector of channels of some pixels, whose
// statistics it keeps apart. A slice of channels stays in a cluster where it fits, else x is read twice.
#pragma once

#include "lanes/normalize_groups.cuh"
#include "lanes/normalize_held.cuh"

namespace kiln {

/// Means and squares of a thread's channels, all of as many elements. A thread's sums are of differences from its first
/// pixel, so that they keep their digits however far from 0 elements are.
template <int kVec>
struct ApartStatistics {
  float mean[kVec], squares[kVec], count;

  template <class T>
  __device__ __forceinline__ void begin(const Words<T, kVec>& x) {
    count = 0;
#pragma unroll
    for (int e = 0; e < kVec; ++e) pivot[e] = x[e], mean[e] = squares[e] = 0;
  }
  template <class T>
  __device__ __forceinline__ void add(const Words<T, kVec>& x) {
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      const float difference = x[e] - pivot[e];
      mean[e] += difference;
      squares[e] += difference * difference;
    }
  }
  __device__ __forceinline__ void end(int pixels) {
    count = float(pixels);
    const float share = 1 / fmaxf(count, 1);
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      const float center = mean[e] * share;
      squares[e] = fmaxf(squares[e] - mean[e] * center, 0);
      mean[e] = pivot[e] + center;
    }
  }
  /// Of all lanes of a warp that have the same channels, which are `width` lanes apart, a power of two.
  __device__ __forceinline__ void fold(int width) {
    for (int other = width; other < kWarp; other *= 2) {
      const float theirs = __shfl_xor_sync(kAllLanes, count, other), all = count + theirs;
      const float share = theirs / fmaxf(all, 1), own = 1 - share;
#pragma unroll
      for (int e = 0; e < kVec; ++e) {
        const float away = __shfl_xor_sync(kAllLanes, mean[e], other) - mean[e];
        squares[e] += __shfl_xor_sync(kAllLanes, squares[e], other) + away * away * (share * own * all);
        mean[e] += away * share;
      }
      count = all;
    }
  }

 private:
  float pivot[kVec];
};

/// The statistics of `count` parts, of which get(i) is one: mean, squares, count.
template <class F>
__device__ __forceinline__ HeldPart join_parts(int count, F get) {
  float sum = 0, all = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const HeldPart part = get(i);
    sum += part.mean * part.count;
    all += part.count;
  }
  const float mean = sum / fmaxf(all, 1);
  for (int i = 0; i < count; ++i) {
    const HeldPart part = get(i);
    squares += part.squares + (part.mean - mean) * (part.mean - mean) * part.count;
  }
  return {mean, squares, all};
}

/// What makes kVec neighbouring channels normalised ones.
template <class T, class S, int kVec>
struct ApartCoefficients {
  float scales[kVec], biases[kVec], means[kVec];
  /// moments: mean and factor of a channel each.
  __device__ __forceinline__ void load(const Normalization& n, int channel, const float (*moments)[2]) {
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      const float mean = moments[e][0], factor = moments[e][1];
      scales[e] = n.scale ? factor * to_float(static_cast<const S*>(n.scale)[channel + e]) : factor;
      biases[e] = n.bias ? to_float(static_cast<const S*>(n.bias)[channel + e]) : 0;
      means[e] = sizeof(T) == 2 ? 0 : mean;
      if (sizeof(T) == 2) biases[e] -= mean * scales[e];
    }
  }
  __device__ __forceinline__ void put(T* to, const Words<T, kVec>& x) const {
    Vec<float, kVec> result;
#pragma unroll
    for (int e = 0; e < kVec; ++e) result.at[e] = (sizeof(T) == 2 ? x[e] : x[e] - means[e]) * scales[e] + biases[e];
    store_floats<T, kVec>(to, result);
  }
};

/// Shared memory of normalize_apart: statistics of a slice's channels, kMostChannels at most.
template <int kMostChannels>
struct ApartShared {
  static constexpr int kMostBlocks = 16, kMostWarps = 8;
  alignas(16) float parts[kMostChannels][kMostBlocks][4];  // of the cluster's blocks: mean, squares, count
  float of_warps[kMostWarps][kMostChannels][2], counts[kMostWarps];
  float moments[kMostChannels][2];  // mean and factor
  uint64_t barrier;

  /// All threads of all blocks: from each warp's statistics to the moments.
  template <int kVec>
  __device__ __forceinline__ void exchange(const Normalization& n, ApartStatistics<kVec>& own, int vector, int rank) {
    const int width = int(n.inner.extent), channels = width * kVec, warps = blockDim.x / kWarp;
    const int thread = threadIdx.x, warp = thread / kWarp, lane = thread % kWarp;
    own.fold(width);
    if (lane < width)
#pragma unroll
      for (int e = 0; e < kVec; ++e) {
        of_warps[warp][vector * kVec + e][0] = own.mean[e];
        of_warps[warp][vector * kVec + e][1] = own.squares[e];
      }
    if (lane == 0) counts[warp] = own.count;
    if (n.chunks > 1) wait_cluster();  // every block has begun, so that its barrier is there
    __syncthreads();
    const int channel = thread % channels, teams = blockDim.x / channels;  // all of a team tell the same
    const HeldPart all = join_parts(warps, [&](int i) {
      return HeldPart{of_warps[i][channel][0], of_warps[i][channel][1], counts[i]};
    });
    const Vec<float, 4> sent = {all.mean, all.squares, all.count, 0};
    if (n.chunks > 1) {
      for (int block = thread / channels; block < n.chunks; block += teams)
        send(parts[channel][rank], sent, shared_place(&barrier), block);
      wait_barrier(shared_place(&barrier), 0);
    } else {
      if (thread < channels) store_vec<float, 4>(parts[channel][0], sent);
      __syncthreads();
    }
    if (thread < channels) {
      const HeldPart whole = join_parts(n.chunks, [&](int i) {
        const Vec<float, 4> part = load_vec<float, 4>(parts[channel][i]);
        return HeldPart{part.at[0], part.at[1], part.at[2]};
      });
      moments[channel][0] = whole.mean;
      moments[channel][1] = rsqrtf(whole.squares * n.share + n.epsilon);
    }
    __syncthreads();
  }
};

/// A slice of n.inner vectors of each pixel, a power of two up to 8, in the registers and shared memory of a cluster.
template <class T, class S, int kVec, int kHeld>
__device__ __forceinline__ void normalize_apart(const Normalization& n) {
  constexpr int kMostWidth = 8;
  extern __shared__ __align__(16) char shared[];
  __shared__ ApartShared<kMostWidth * kVec> exchange;
  pdl_launch();
  if (n.chunks > 1) {
    if (threadIdx.x == 0) {
      init_barrier(shared_place(&exchange.barrier), 1);
      expect_bytes(shared_place(&exchange.barrier), n.chunks * n.inner.extent * kVec * sizeof(exchange.parts[0][0]));
    }
    begin_cluster();
  }
  const HeldPlace<kVec, true> place(n, blockIdx.x / n.chunks);
  HeldVectors<T, kVec, kHeld> vectors;
  vectors.stage = reinterpret_cast<T*>(shared) + threadIdx.x * kVec;
  vectors.stage_step = blockDim.x * kVec;
  vectors.count = place.count, vectors.step = place.step;
  pdl_wait();
  vectors.load(static_cast<const T*>(n.x) + place.first);
  ApartStatistics<kVec> own;
  own.begin(vectors.held[0]);
  vectors.each([&](const Words<T, kVec>& x) { own.add(x); });
  own.end(place.count);
  exchange.exchange(n, own, place.vector, place.rank);
  ApartCoefficients<T, S, kVec> coefficients;
  coefficients.load(n, place.channel, exchange.moments + place.vector * kVec);
  T* y = static_cast<T*>(n.y) + place.first;
  vectors.put_all([&](int i, const Words<T, kVec>& from) { coefficients.put(y + i * vectors.step, from); });
}

/// Several blocks an image, which have whole pixels each: first the statistics of their channels,
template <class T, int kVec>
__device__ __forceinline__ void normalize_apart_parts(const Normalization& n) {
  extern __shared__ __align__(16) float pieces[];  // [2 * kVec][threads], [threads]
  pdl_launch();
  const Pixels p(n, kVec);
  const int threads = blockDim.x, thread = threadIdx.x;
  pdl_wait();
  ApartStatistics<kVec> own;
  int count = 0;
  p.each_words<T, kVec>(n, [&](const Words<T, kVec>& x, int) {
    if (count++ == 0) own.begin(x);
    own.add(x);
  });
  if (count == 0) own.begin(Words<T, kVec>{});
  own.end(count);
#pragma unroll
  for (int e = 0; e < kVec; ++e) {
    pieces[e * threads + thread] = own.mean[e];
    pieces[(kVec + e) * threads + thread] = own.squares[e];
  }
  pieces[2 * kVec * threads + thread] = own.count;
  __syncthreads();
  const int64_t first = blockIdx.x / n.chunks * n.groups;
  for (int channel = thread; channel < n.groups; channel += threads) {
    const int at = channel / kVec, e = channel % kVec;
    const HeldPart all = join_parts(n.lanes, [&](int lane) {
      const int i = lane * p.vectors + at;
      return HeldPart{pieces[e * threads + i], pieces[(kVec + e) * threads + i], pieces[2 * kVec * threads + i]};
    });
    float* part = n.parts + 2 * ((first + channel) * n.chunks + blockIdx.x % n.chunks);
    part[0] = all.mean;
    part[1] = all.squares;
  }
}
/// then the result, after each block has put those of all chunks together.
template <class T, class S, int kVec>
__device__ __forceinline__ void normalize_apart_pixels(const Normalization& n) {
  extern __shared__ __align__(16) float pieces[];  // [groups][2]
  pdl_launch();
  const Pixels p(n, kVec);
  float(*moments)[2] = reinterpret_cast<float(*)[2]>(pieces);
  pdl_wait();
  fold_chunks(n, [&](int channel, float mean, float factor) {
    moments[channel][0] = mean;
    moments[channel][1] = factor;
  });
  if (p.lane >= n.lanes) return;
  ApartCoefficients<T, S, kVec> coefficients;
  coefficients.load(n, p.vector * kVec, moments + p.vector * kVec);
  T* y = static_cast<T*>(n.y) + p.base;
  p.each_words<T, kVec>(n, [&](const Words<T, kVec>& x, int pixel) { coefficients.put(y + pixel * n.run_stride, x); });
}

}  // namespace kiln

#define KILN_NORMALIZE_APART(entry, call)                                                                     \
  extern "C" __global__ void __launch_bounds__(256, 2) entry(const __grid_constant__ kiln::Normalization n) { \
    using namespace kiln;                                                                                     \
    call(n);                                                                                                  \
  }
