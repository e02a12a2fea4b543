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
  /// Joins the statistics of a warp's lanes that have the same channels, `width` threads apart. The first lane gets
  /// them.
  __device__ __forceinline__ void fold(int width, int lane, int lanes) {
    for (int half = 16; half > 0; half /= 2) {
      if (half >= lanes) continue;
      const float from = __shfl_down_sync(kAllLanes, count, half * width), theirs = lane + half < lanes ? from : 0;
      const float all = count + theirs, share = theirs / fmaxf(all, 1), own = 1 - share;
#pragma unroll
      for (int e = 0; e < kVec; ++e) {
        const float away = __shfl_down_sync(kAllLanes, mean[e], half * width) - mean[e];
        const float more = __shfl_down_sync(kAllLanes, squares[e], half * width);
        if (theirs > 0) {
          squares[e] += more + away * away * (share * own * all);
          mean[e] += away * share;
        }
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

/// Normalises kVec neighbouring channels: x * scale + bias for halves, (x - mean) * scale + bias for floats. Halves
/// have so few digits that folding the mean into the bias keeps enough of them.
template <class T, class S, int kVec>
struct ApartCoefficients {
  float scales[kVec], biases[kVec], means[kVec];
  /// moments: mean and factor of each group of channels. `place` is that of the first channel there.
  __device__ __forceinline__ void load(const Normalization& n, int channel, int place, const float (*moments)[2]) {
    int group = place / n.channels, next = (group + 1) * n.channels - place;
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      if (e == next) ++group, next += n.channels;
      const float mean = moments[group][0], factor = moments[group][1];
      scales[e] = n.scale ? factor * to_float(static_cast<const S*>(n.scale)[channel + e]) : factor;
      biases[e] = n.bias ? to_float(static_cast<const S*>(n.bias)[channel + e]) : 0;
      means[e] = sizeof(T) == 2 ? 0 : mean;
      if (sizeof(T) == 2) biases[e] -= mean * scales[e];
    }
  }
  __device__ __forceinline__ Vec<float, kVec> of(const Words<T, kVec>& x) const {
    Vec<float, kVec> result;
#pragma unroll
    for (int e = 0; e < kVec; ++e) result.at[e] = (sizeof(T) == 2 ? x[e] : x[e] - means[e]) * scales[e] + biases[e];
    return result;
  }
  __device__ __forceinline__ void put(T* to, const Words<T, kVec>& x) const { store_floats<T, kVec>(to, of(x)); }
  /// Stores past the cache, which is left to data that is read again.
  __device__ __forceinline__ void put_once(T* to, const Words<T, kVec>& x) const {
    static_assert(sizeof(T) * kVec == 16, "a vector");
    const Vec<T, kVec> rounded = round_vec<T, kVec>(of(x));
    __stcs(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4&>(rounded));
  }
};

/// Joins the statistics of two sets of elements.
__device__ __forceinline__ void join(HeldPart& part, float mean, float squares, float count) {
  const float all = part.count + count, share = __fdividef(count, fmaxf(all, 1)), away = mean - part.mean;
  part.squares += squares + away * away * (share * part.count);
  part.mean += away * share;
  part.count = all;
}

/// Statistics of a slice's channels, kMostChannels at most, and of groups of them, in shared memory; of several slices
/// in turn, where a block may be a slice ahead of others. Eight lanes put a channel's or a group's together.
template <int kMostChannels, int kThreads, int kMostBlocks, int kRounds>
struct ApartShared {
  static constexpr int kWarps = kThreads / kWarp, kTeam = 8, kTeams = kThreads / kTeam, kMostGroups = 64;
  static constexpr int kPitch = kMostChannels + 2;                // teams read other banks
  alignas(16) float parts[kRounds][kMostGroups][kMostBlocks][4];  // of the cluster's blocks: mean, squares, count
  alignas(8) float of_warps[kWarps][kPitch][2];
  float counts[kWarps], of_block[kMostChannels][2], moments[kMostGroups][2];  // mean and factor
  uint64_t barriers[kRounds];

  __device__ __forceinline__ unsigned barrier(int round) const { return shared_address(&barriers[round % kRounds]); }
  __device__ __forceinline__ void expect(const Normalization& n, int groups, int round) const {
    if (threadIdx.x == 0) expect_bytes(barrier(round), n.chunks * groups * sizeof(parts[0][0][0]));
  }
  /// Initialises the barriers if there is a cluster. Without one, cluster instructions would fault.
  __device__ __forceinline__ void begin(const Normalization& n, int groups) {
    if (n.chunks == 1) return;
    for (int round = 0; round < kRounds; ++round) {
      if (threadIdx.x == 0) init_barrier(barrier(round), 1);
      expect(n, groups, round);
    }
    begin_cluster();
  }
  /// For each of `count`: find(i, first, part) has a lane of its team add what it finds from `first` on to the part,
  /// put(i, first, part) gets what all of them have found. Whole warps stay together.
  template <class F, class P>
  static __device__ __forceinline__ void each_team(int count, F find, P put) {
    const int first = threadIdx.x % kTeam, team = threadIdx.x / kTeam;
    for (int i = team; i - team % (kWarp / kTeam) < count; i += kTeams) {
      HeldPart part = {};
      if (i < count) find(i, first, part);
#pragma unroll
      for (int other = 1; other < kTeam; other *= 2) {
        const float mean = __shfl_xor_sync(kAllLanes, part.mean, other);
        const float squares = __shfl_xor_sync(kAllLanes, part.squares, other);
        join(part, mean, squares, __shfl_xor_sync(kAllLanes, part.count, other));
      }
      if (i < count) put(i, first, part);
    }
  }
  /// All threads of all blocks: from each warp's statistics to the moments.
  template <int kVec>
  __device__ __forceinline__ void exchange(const Normalization& n, ApartStatistics<kVec>& own, int vector, int lane,
                                           int lanes, int rank, int round) {
    const int width = int(n.inner.extent), channels = width * kVec, each = n.channels, groups = channels / each;
    const int warp = threadIdx.x / kWarp;
    own.fold(width, lane, lanes);
    if (lane == 0)
#pragma unroll
      for (int e = 0; e < kVec; ++e)
        store_vec<float, 2>(of_warps[warp][vector * kVec + e], {own.mean[e], own.squares[e]});
    if (threadIdx.x % kWarp == 0) counts[warp] = own.count;
    __syncthreads();
    const auto of_channel = [&](int channel, int first, HeldPart& part) {
#pragma unroll
      for (int w = first; w < kWarps; w += kTeam) {
        const Vec<float, 2> found = load_vec<float, 2>(of_warps[w][channel]);
        join(part, found.at[0], found.at[1], counts[w]);
      }
    };
    const auto to_moments = [&](int group, int first, const HeldPart& part) {
      if (first > 0) return;
      moments[group][0] = part.mean;
      moments[group][1] = rsqrtf(part.squares * n.share + n.epsilon);
    };
    const auto to_all = [&](int group, int first, const HeldPart& part) {
      if (n.chunks == 1) return to_moments(group, first, part);
      const Vec<float, 4> sent = {part.mean, part.squares, part.count, 0};
      if (first < n.chunks) send(parts[round % kRounds][group][rank], sent, barrier(round), first);
    };
    if (each == 1) {
      each_team(groups, of_channel, to_all);
    } else {
      each_team(channels, of_channel, [&](int channel, int first, const HeldPart& part) {
        if (first == 0) store_vec<float, 2>(of_block[channel], {part.mean, part.squares});
      });
      __syncthreads();
      float pixels = 0;
      for (int w = 0; w < kWarps; ++w) pixels += counts[w];
      each_team(
          groups,
          [&](int group, int first, HeldPart& part) {
            for (int i = first; i < each; i += kTeam)
              join(part, of_block[group * each + i][0], of_block[group * each + i][1], pixels);
          },
          to_all);
    }
    if (n.chunks > 1) {
      wait_barrier(barrier(round), round / kRounds % 2);
      if (kRounds > 1) expect(n, groups, round);
      each_team(
          groups,
          [&](int group, int first, HeldPart& part) {
            if (first >= n.chunks) return;
            const Vec<float, 4> found = load_vec<float, 4>(parts[round % kRounds][group][first]);
            part = {found.at[0], found.at[1], found.at[2]};
          },
          to_moments);
    }
    __syncthreads();
  }
};

/// A slice of n.inner vectors of each pixel, a power of two up to 8, in the registers and shared memory of a cluster.
template <class T, class S, int kVec, int kHeld>
__device__ __forceinline__ void normalize_apart(const Normalization& n) {
  constexpr int kMostWidth = 8, kThreads = 256, kMostBlocks = 8;
  extern __shared__ __align__(16) char shared[];
  __shared__ ApartShared<kMostWidth * kVec, kThreads, kMostBlocks, 1> exchange;
  pdl_launch();
  exchange.begin(n, int(n.inner.extent) * kVec);
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
  if (n.chunks > 1) wait_cluster();  // every block has begun, so that its barrier is there
  const int width = int(n.inner.extent);
  exchange.exchange(n, own, place.vector, threadIdx.x % kWarp / width, kWarp / width, place.rank, 0);
  ApartCoefficients<T, S, kVec> coefficients;
  coefficients.load(n, place.channel, place.vector * kVec, exchange.moments);
  T* y = static_cast<T*>(n.y) + place.first;
  vectors.put_all([&](int i, const Words<T, kVec>& from) { coefficients.put(y + i * vectors.step, from); });
}

/// The first of two launches: several blocks an image, with whole pixels each, write the statistics of their channels.
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
/// The second launch: each block joins the statistics of all chunks and writes its part of the result.
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
  coefficients.load(n, p.vector * kVec, p.vector * kVec, moments);
  T* y = static_cast<T*>(n.y) + p.base;
  p.each_words<T, kVec, true>(
      n, [&](const Words<T, kVec>& x, int pixel) { coefficients.put_once(y + pixel * n.run_stride, x); });
}

}  // namespace kiln
