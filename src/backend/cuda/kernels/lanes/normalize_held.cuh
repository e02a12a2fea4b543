// Normalisation of groups that a cluster holds in registers and shared memory both, so that memory is read once and a
// multiprocessor has several blocks, of which some load while others store.
#pragma once

#include "lanes/normalize.cuh"
#include "ptx/cluster.cuh"
#include "ptx/mma.cuh"

namespace kiln {

/// Statistics of a group, of some of its elements.
struct HeldPart {
  float mean, squares, count;
};

/// Where the vectors of a thread lie: count of them, `step` elements apart. A group's elements lie together, or are
/// pieces of pixels (kLast); then a block has a slice of some pixels: n.inner vectors of each, whole groups, n.lanes
/// pixels at once.
template <int kVec, bool kLast>
struct HeldPlace {
  int64_t first;  ///< of the thread's elements in x
  int step, count;
  int vector, channel;  ///< of a slice's vectors; the first one's channel (or where it lies in its group)
  int rank;
  __device__ __forceinline__ HeldPlace(const Normalization& n, int64_t slice) {
    rank = int(blockIdx.x % n.chunks);
    const int thread = threadIdx.x;
    if constexpr (kLast) {
      const int width = int(n.inner.extent), pixels = n.chunk / n.channels;
      const int slices = int(n.run_stride) / (width * kVec), lane = int(n.inner.quotient(thread));
      const int64_t image = slice / slices;
      vector = thread - lane * width;
      channel = (int(slice - image * slices) * width + vector) * kVec;
      const int begin = rank * pixels, end = min(begin + pixels, int(n.plane.extent));
      step = n.lanes * int(n.run_stride);
      count = lane < n.lanes && begin + lane < end ? (end - begin - lane - 1) / n.lanes + 1 : 0;
      first = image * n.image_stride + int64_t(begin + lane) * n.run_stride + channel;
    } else {
      const int64_t image = slice / n.groups, group = slice - image * n.groups;
      const int begin = rank * n.chunk + thread * kVec, end = min((rank + 1) * n.chunk, n.length);
      vector = 0;
      channel = begin;
      step = blockDim.x * kVec;
      count = begin < end ? (end - begin - 1) / step + 1 : 0;
      first = image * n.image_stride + group * n.group_stride + begin;
    }
  }
};

/// Sums of differences from a pivot, which is among what is summed or close to it: a thread's sums then keep their
/// digits however far from 0 elements are.
template <class T, int kVec>
struct HeldSums {
  float pivot, sum[2] = {}, square[2] = {};
  __device__ __forceinline__ explicit HeldSums(const Words<T, kVec>& x) {
    float all = 0;
#pragma unroll
    for (int e = 0; e < kVec; ++e) all += x[e];
    pivot = all * (1.0f / kVec);
  }
  __device__ __forceinline__ void add(const Words<T, kVec>& x) {
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      const float difference = x[e] - pivot;
      sum[e % 2] += difference;
      square[e % 2] += difference * difference;
    }
  }
  __device__ __forceinline__ HeldPart part(int vectors) const {
    const float count = float(vectors * kVec), all = sum[0] + sum[1], center = all / fmaxf(count, 1);
    return {pivot + center, fmaxf(square[0] + square[1] - all * center, 0), count};
  }
};

/// `count` vectors of a thread: the first kHeld of them in registers, the others in shared memory, where nobody else
/// sees them.
template <class T, int kVec, int kHeld>
struct HeldVectors {
  Words<T, kVec> held[kHeld];
  T* stage;
  int stage_step, count, step;

  __device__ __forceinline__ void load(const T* x) {
#pragma unroll
    for (int i = 0; i < Words<T, kVec>::kWords; ++i) held[0].at[i] = 0;
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
      if (i < count) held[i] = load_words<T, kVec>(x + i * step);
#pragma unroll 4
    for (int i = kHeld; i < count; ++i)
      copy_async<16>(shared_address(stage + (i - kHeld) * stage_step), x + i * step, true);
    commit_copies();
  }
  /// f(vector) for each, once they are there.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
    if (count >= kHeld) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) f(held[i]);
    } else {
#pragma unroll
      for (int i = 0; i < kHeld; ++i)
        if (i < count) f(held[i]);
    }
    wait_for_copies<0>();
#pragma unroll 4
    for (int i = kHeld; i < count; ++i) f(load_words<T, kVec>(stage + (i - kHeld) * stage_step));
  }
  /// put(i, vector i) for each.
  template <class F>
  __device__ __forceinline__ void put_all(F put) const {
    if (count >= kHeld) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) put(i, held[i]);
    } else {
#pragma unroll
      for (int i = 0; i < kHeld; ++i)
        if (i < count) put(i, held[i]);
    }
#pragma unroll 4
    for (int i = kHeld; i < count; ++i) put(i, load_words<T, kVec>(stage + (i - kHeld) * stage_step));
  }
};

/// Normalises a thread's elements: x * scale + bias for halves, (x - mean) * scale + bias for floats. Halves have so
/// few digits that folding the mean into the bias keeps enough of them.
template <class T, class S, int kCount>
struct HeldCoefficients {
  float scales[kCount], biases[kCount], mean;
  /// Of channels from `channel` on.
  __device__ __forceinline__ void load(const Normalization& n, int channel, float mean_of, float factor) {
    mean = sizeof(T) == 2 ? 0 : mean_of;
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      scales[e] = n.scale ? factor * to_float(static_cast<const S*>(n.scale)[channel + e]) : factor;
      biases[e] = n.bias ? to_float(static_cast<const S*>(n.bias)[channel + e]) : 0;
      if (sizeof(T) == 2) biases[e] -= mean_of * scales[e];
    }
  }
  template <int kVec>
  __device__ __forceinline__ void put(T* to, const Words<T, kVec>& x) const {
    Vec<float, kVec> result;
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      const float from = sizeof(T) == 2 ? x[e] : x[e] - mean;
      result.at[e] = from * scales[kCount > 1 ? e : 0] + biases[kCount > 1 ? e : 0];
    }
    store_floats<T, kVec>(to, result);
  }
};

/// The statistics of a group, of what the block's threads have of it: pieces is [3][threads].
template <bool kLast>
__device__ __forceinline__ HeldPart join_pieces(const float* pieces, int group, int width, int each) {
  const int threads = blockDim.x, lane = threadIdx.x % kWarp;
  float sum = 0, count = 0, squares = 0;
  const auto all = [&](auto f) {
    if (kLast)
      for (int first = lane * width; first + width <= threads; first += kWarp * width)
        for (int k = 0; k < each; ++k) f(first + group * each + k);
    else
      for (int i = lane; i < threads; i += kWarp) f(i);
  };
  all([&](int i) {
    sum += pieces[i] * pieces[2 * threads + i];
    count += pieces[2 * threads + i];
  });
  count = warp_sum(count);
  const float mean = warp_sum(sum) / fmaxf(count, 1);
  all([&](int i) {
    const float away = pieces[i] - mean;
    squares += pieces[threads + i] + away * away * pieces[2 * threads + i];
  });
  return {mean, warp_sum(squares), count};
}

/// The statistics of a slice's groups that the blocks of a cluster send each other, in shared memory.
struct HeldExchange {
  static constexpr int kMostBlocks = 16, kMostGroups = 8, kLanesOfGroup = kWarp / kMostGroups;
  alignas(16) float parts[kMostGroups][kMostBlocks][4];  // mean, squares, count
  uint64_t barrier;

  /// Initialises the barrier if there is a cluster. Without one, cluster instructions would fault.
  __device__ __forceinline__ void begin(const Normalization& n, int groups) {
    if (n.chunks == 1) return;
    if (threadIdx.x == 0) {
      init_barrier(shared_address(&barrier), 1);
      expect_bytes(shared_address(&barrier), n.chunks * groups * sizeof(parts[0][0]));
    }
    begin_cluster();
  }
  /// Sends the statistics that block `rank` has of a group to all blocks; one warp calls it.
  __device__ __forceinline__ void tell(const Normalization& n, int rank, int group, const HeldPart& part) {
    const int lane = threadIdx.x % kWarp;
    const Vec<float, 4> sent = {part.mean, part.squares, part.count, 0};
    if (n.chunks > 1) {
      if (lane < n.chunks) send(parts[group][rank], sent, shared_address(&barrier), lane);
    } else if (lane == 0) {
      store_vec<float, 4>(parts[group][0], sent);
    }
  }
  __device__ __forceinline__ void wait(const Normalization& n) {
    if (n.chunks > 1)
      wait_barrier(shared_address(&barrier), 0);
    else
      __syncthreads();
  }
  /// Mean of a thread's group, and what its elements are multiplied with. Every warp puts all groups together, four
  /// lanes each, in the same order.
  __device__ __forceinline__ void fold(const Normalization& n, int groups, int group, float& mean,
                                       float& factor) const {
    const int lane = threadIdx.x % kWarp, first = lane % kLanesOfGroup;
    const auto& of_group = parts[min(lane / kLanesOfGroup, groups - 1)];
    const auto sum_of = [&](auto f) {
      float sum = 0;
#pragma unroll
      for (int i = 0; i < kMostBlocks; i += kLanesOfGroup)
        if (i + first < n.chunks) sum += f(load_vec<float, 4>(of_group[i + first]));
#pragma unroll
      for (int other = 1; other < kLanesOfGroup; other *= 2) sum += __shfl_xor_sync(kAllLanes, sum, other);
      return sum;
    };
    const float center = sum_of([](const Vec<float, 4>& part) { return part.at[0] * part.at[2]; }) * n.share;
    const float squares = sum_of([&](const Vec<float, 4>& part) {
      return part.at[1] + (part.at[0] - center) * (part.at[0] - center) * part.at[2];
    });
    mean = __shfl_sync(kAllLanes, center, group * kLanesOfGroup);
    factor = __shfl_sync(kAllLanes, rsqrtf(squares * n.share + n.epsilon), group * kLanesOfGroup);
  }
};

/// A slice a cluster. kLast: channels last, groups are pieces of pixels.
template <class T, class S, int kVec, int kHeld, bool kLast>
__device__ __forceinline__ void normalize_held(const Normalization& n) {
  static_assert(sizeof(T) * kVec == 16, "whole vectors");
  extern __shared__ __align__(16) char shared[];
  __shared__ HeldExchange exchange;
  pdl_launch();
  const int threads = blockDim.x, thread = threadIdx.x;
  const int width = kLast ? int(n.inner.extent) : threads, each = kLast ? n.channels / kVec : threads;
  const int groups = kLast ? width / each : 1;
  exchange.begin(n, groups);
  float* pieces = reinterpret_cast<float*>(shared);  // [3][threads]
  const int64_t slice = blockIdx.x / n.chunks;
  const HeldPlace<kVec, kLast> place(n, slice);
  const int group = kLast ? place.vector / each : 0;
  pdl_wait();
  HeldVectors<T, kVec, kHeld> vectors;
  vectors.stage = reinterpret_cast<T*>(shared + 3 * sizeof(float) * threads) + thread * kVec;
  vectors.stage_step = threads * kVec;
  vectors.count = place.count, vectors.step = place.step;
  vectors.load(static_cast<const T*>(n.x) + place.first);
  HeldSums<T, kVec> sums(vectors.held[0]);
  vectors.each([&](const Words<T, kVec>& x) { sums.add(x); });
  const HeldPart own = sums.part(vectors.count);
  pieces[thread] = own.mean;
  pieces[threads + thread] = own.squares;
  pieces[2 * threads + thread] = own.count;
  if (n.chunks > 1) wait_cluster();  // every block has begun, so that its barrier is there
  __syncthreads();
  for (int g = thread / kWarp; g < groups; g += threads / kWarp)
    exchange.tell(n, place.rank, g, join_pieces<kLast>(pieces, g, width, each));
  exchange.wait(n);
  float mean, factor;
  exchange.fold(n, groups, group, mean, factor);
  const int channel = kLast ? place.channel : int(slice % n.groups) * n.channels;
  T* y = static_cast<T*>(n.y) + place.first;
  HeldCoefficients<T, S, kLast ? kVec : 1> coefficients;
  coefficients.load(n, channel, mean, factor);
  vectors.put_all([&](int i, const Words<T, kVec>& from) {
    if (!kLast && n.channels > 1)
      coefficients.load(n, channel + int(n.plane.quotient(place.channel + i * vectors.step)), mean, factor);
    coefficients.put(y + i * vectors.step, from);
  });
}

}  // namespace kiln
