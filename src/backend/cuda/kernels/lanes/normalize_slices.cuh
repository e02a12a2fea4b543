// Normalisation of pixels, channels last, where groups or channels lie in slices of them: clusters go from slice to
// slice, and while one is in their registers the copy engine brings the next.
#pragma once

#include "lanes/normalize_apart.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

/// Where a warp's pixels lie, and which of their vectors a thread has: the same in every slice, but for the first.
/// Warps have pixels of their own, n.lanes of them at once.
template <int kVec>
struct SlicePlace {
  int vector, width, rank, slices;  ///< slices of an image
  int first, pixels;                ///< of the warp
  int lane, count, step;            ///< of the thread's vectors
  __device__ __forceinline__ explicit SlicePlace(const Normalization& n) {
    const int warps = blockDim.x / kWarp, warp = threadIdx.x / kWarp, thread = threadIdx.x % kWarp;
    width = int(n.inner.extent), rank = int(blockIdx.x % n.chunks);
    slices = int(n.run_stride) / (width * kVec);
    lane = int(n.inner.quotient(thread)), vector = thread - lane * width;
    pixels = n.chunk / n.channels / warps;
    first = (rank * warps + warp) * pixels;
    const int begin = first + lane, end = min(first + pixels, int(n.plane.extent));
    count = lane < n.lanes && begin < end ? (end - begin - 1) / n.lanes + 1 : 0;
    step = n.lanes * int(n.run_stride);
  }
  __device__ __forceinline__ int image_of(unsigned slice) const { return int(slice / unsigned(slices)); }
  __device__ __forceinline__ int channel_of(unsigned slice) const {
    return int(slice % unsigned(slices)) * width * kVec;
  }
  __device__ __forceinline__ int64_t thread_of(const Normalization& n, unsigned slice) const {
    return image_of(slice) * n.image_stride + int64_t(first + lane) * n.run_stride + channel_of(slice) + vector * kVec;
  }
};

/// A warp's vectors of a slice: on their way to its shared memory, then in registers.
template <class T, int kVec, int kHeld>
struct SliceVectors {
  Words<T, kVec> held[kHeld];
  const T* stage;  ///< of the warp
  unsigned arrived, bytes;

  __device__ __forceinline__ SliceVectors(T* all, uint64_t* barriers, const SlicePlace<kVec>& place) {
    const int warp = threadIdx.x / kWarp;
    bytes = place.pixels * place.width * 16;
    stage = all + warp * (bytes / sizeof(T));
    arrived = shared_address(barriers + warp);
    if (threadIdx.x % kWarp == 0) init_barrier(arrived, 1);
    publish_barriers();
    __syncwarp();
  }
  /// Starts the copy. All lanes must have taken the former slice from shared memory.
  __device__ __forceinline__ void fetch(const TensorMap* map, const Normalization& n, const SlicePlace<kVec>& place,
                                        unsigned slice) const {
    __syncwarp();
    if (threadIdx.x % kWarp > 0) return;
    expect_bytes(arrived, bytes);
    const int x = n.row ? 0 : place.channel_of(slice), y = n.row ? place.first * place.width / n.row : place.first;
    copy_box(shared_address(stage), map, arrived, x, y, place.image_of(slice));
  }
  __device__ __forceinline__ void take(const Normalization& n, const SlicePlace<kVec>& place, int round) {
    wait_barrier(arrived, round % 2);
    held[0] = {};
    const T* own = stage + (place.lane * place.width + place.vector) * kVec;
    each(place.count,
         [&](int i, Words<T, kVec>& x) { x = load_words<T, kVec>(own + i * n.lanes * place.width * kVec); });
  }
  /// f(i, vector i) for each of them.
  template <class F>
  __device__ __forceinline__ void each(int count, F f) {
    if (count == kHeld) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) f(i, held[i]);
    } else {
#pragma unroll
      for (int i = 0; i < kHeld; ++i)
        if (i < count) f(i, held[i]);
    }
  }
};

/// Slices of n.inner vectors of each pixel; n.rows of them. The map's boxes are a warp's pixels of a slice.
template <class T, class S, int kVec, int kHeld, int kThreads>
__device__ __forceinline__ void normalize_slices(const TensorMap& map, const Normalization& n) {
  static_assert(sizeof(T) * kVec == 16, "whole vectors");
#if __CUDA_ARCH__ >= 900  // there is no copy engine before, and no launch
  constexpr int kMostWidth = 16, kMostBlocks = kThreads == 512 ? 8 : 1;
  extern __shared__ __align__(128) char shared[];
  __shared__ ApartShared<kMostWidth * kVec, kThreads, kMostBlocks, 2> exchange;
  __shared__ uint64_t barriers[kThreads / kWarp];
  pdl_launch();
  const SlicePlace<kVec> place(n);
  exchange.begin(n, place.width * kVec / n.channels);
  SliceVectors<T, kVec, kHeld> vectors(reinterpret_cast<T*>(shared), barriers, place);
  const unsigned step = gridDim.x / n.chunks, slices = unsigned(n.rows);
  unsigned slice = blockIdx.x / n.chunks;
  pdl_wait();
  vectors.fetch(&map, n, place, slice);
  if (n.chunks > 1) wait_cluster();  // every block has begun, so that its barriers are there
  for (int round = 0; slice < slices; ++round, slice += step) {
    vectors.take(n, place, round);
    if (slice + step < slices) vectors.fetch(&map, n, place, slice + step);
    ApartStatistics<kVec> own;
    own.begin(vectors.held[0]);
    vectors.each(place.count, [&](int, const Words<T, kVec>& x) { own.add(x); });
    own.end(place.count);
    exchange.exchange(n, own, place.vector, place.lane, n.lanes, place.rank, round);
    const int in_slice = place.vector * kVec;
    ApartCoefficients<T, S, kVec> coefficients;
    coefficients.load(n, place.channel_of(slice) + in_slice, in_slice, exchange.moments);
    T* y = static_cast<T*>(n.y) + place.thread_of(n, slice);
    vectors.each(place.count, [&](int i, const Words<T, kVec>& from) { coefficients.put(y + i * place.step, from); });
  }
#endif
}

}  // namespace kiln
