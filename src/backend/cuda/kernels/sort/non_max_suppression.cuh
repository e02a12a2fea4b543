// The best boxes of each image and class that do not overlap much. A block has one list (long_suppression.cuh: all
// blocks have the same few). It sorts its candidates by
// rounds, the best first, as many as fit shared memory; then it compares tiles of them with all boxes that it has
// selected before, and with each other. The next launch finds where each list's boxes begin, and the last writes them.
#pragma once

#include "backend/cuda/kernels/sort/arguments.h"
#include "ops/box-inl.h"
#include "ops/sort_key-inl.h"
#include "scan/block_scan.cuh"
#include "sort/sort_segments.cuh"

namespace kiln {

using Suppression = cuda::NonMaxSuppressionArgument;
using device::Box;

__device__ __forceinline__ float limit_at(const void* at, cuda::LimitType type) {
  if (type == cuda::LimitType::kF16) return to_float(*static_cast<const f16*>(at));
  if (type == cuda::LimitType::kBF16) return to_float(*static_cast<const bf16*>(at));
  return *static_cast<const float*>(at);
}

/// The limits of a run.
struct Limits {
  uint32_t most;
  float iou, score;
  bool has_score;
  __device__ __forceinline__ explicit Limits(const Suppression& s) {
    int64_t wanted = 0;
    if (s.most) wanted = s.most_is_wide ? *static_cast<const int64_t*>(s.most) : *static_cast<const int32_t*>(s.most);
    most = uint32_t(max(int64_t(0), min(wanted, int64_t(s.kept))));
    iou = s.iou ? limit_at(s.iou, s.iou_type) : 0.0f;
    has_score = s.score != nullptr;
    score = has_score ? limit_at(s.score, s.score_type) : 0.0f;
  }
  __device__ __forceinline__ bool is_valid() const { return iou >= 0 && iou <= 1; }
  /// NaN does not pass.
  __device__ __forceinline__ bool passes(float x) const { return has_score ? x > score : x == x; }
};

/// Boxes that are compared with each other.
struct SuppressTile {
  Box boxes[cuda::kSuppressTile];
  uint64_t overlapped[cuda::kSuppressTile];  ///< by box: those behind it that it overlaps
  uint64_t suppressed;                       ///< by boxes that were selected before
};

/// The list of an image and a class. A candidate is the complement of its score's key above its index: the best is
/// least.
template <class T>
struct SuppressList {
  const Suppression& s;
  const Limits& limits;
  uint32_t image, category;

  __device__ __forceinline__ SuppressList(const Suppression& s, const Limits& limits, uint32_t list)
      : s(s), limits(limits), image(list / s.classes), category(list % s.classes) {}

  __device__ __forceinline__ float score(uint32_t index) const {
    const T* scores = static_cast<const T*>(s.scores) + int64_t(image) * s.count * s.classes + category;
    return to_float(scores[int64_t(index) * s.classes]);
  }

  /// Calls use(candidate) for those of this thread.
  template <class F>
  __device__ __forceinline__ void for_each(F use) const {
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < s.count; i += cuda::kSuppressThreads) {
      const float x = score(i);
      const uint32_t key = device::float_key<uint32_t>(__float_as_uint(x), 0x7f800000u);
      if (limits.passes(x)) use(uint64_t(~key) << 32 | i);
    }
  }

  __device__ __forceinline__ Box box(uint32_t index) const {
    const int64_t row = int64_t(image) * s.count + index;
    const T* from = static_cast<const T*>(s.boxes) + (s.boxes_by_class ? row * s.classes + category : row) * 4;
    const float numbers[4] = {to_float(from[0]), to_float(from[1]), to_float(from[2]), to_float(from[3])};
    return device::box_of(numbers, s.is_center);
  }

  /// Where a round ends that begins at candidate `first` and takes at most kSuppressItems, but one at least if there
  /// are any: the least candidate behind it, or all ones. All threads call it.
  __device__ __forceinline__ uint64_t end_of_round(uint64_t first, uint32_t* counts, uint32_t* scratch) const {
    constexpr uint32_t kEach = cuda::kSelectBins / cuda::kSuppressThreads;
    __shared__ uint32_t cut, before_cut;
    if (s.count <= cuda::kSuppressItems) return ~uint64_t(0);
    uint64_t prefix = 0;  // that the next candidates have, above bit `high`
    for (int high = 64;;) {
      const int low = max(0, high - cuda::kSelectDigit);
      for (uint32_t bin = threadIdx.x; bin < cuda::kSelectBins; bin += cuda::kSuppressThreads) counts[bin] = 0;
      if (threadIdx.x == 0) cut = cuda::kSelectBins;
      __syncthreads();
      for_each([&](uint64_t candidate) {
        if (candidate >= first && (high == 64 || (candidate ^ prefix) >> high == 0))
          atomicAdd(counts + (uint32_t(candidate >> low) & (cuda::kSelectBins - 1)), 1u);
      });
      __syncthreads();
      uint32_t sum = 0, total;
      for (uint32_t i = 0; i < kEach; ++i) sum += counts[threadIdx.x * kEach + i];
      uint32_t before = sum_before(sum, total, scratch);
      for (uint32_t i = 0; i < kEach; ++i) {
        const uint32_t here = counts[threadIdx.x * kEach + i];
        if (before <= cuda::kSuppressItems && before + here > cuda::kSuppressItems)
          cut = threadIdx.x * kEach + i, before_cut = before;
        before += here;
      }
      __syncthreads();
      const uint32_t bin = cut;
      if (bin == cuda::kSelectBins) return ~uint64_t(0);
      prefix |= uint64_t(bin) << low;
      if (before_cut > 0) return prefix;
      high = low;
      __syncthreads();  // all have read `cut`
    }
  }
};

/// Selects among `count` sorted candidates; `kept` boxes are selected before. Returns how many are then.
template <class T>
__device__ __forceinline__ uint32_t suppress(const SuppressList<T>& list, const uint64_t* candidates, uint32_t count,
                                             uint32_t kept, SuppressTile& tile) {
  constexpr uint32_t kTile = cuda::kSuppressTile, kRows = cuda::kSuppressThreads / kTile;
  const Suppression& s = list.s;
  const float iou = list.limits.iou;
  Box* const kept_boxes = reinterpret_cast<Box*>(s.kept_boxes) + int64_t(blockIdx.x) * s.kept;
  const uint32_t own = threadIdx.x % kTile, row = threadIdx.x / kTile;
  for (uint32_t begin = 0; begin < count && kept < list.limits.most; begin += kTile) {
    const uint32_t here = min(kTile, count - begin);
    if (threadIdx.x < here) tile.boxes[threadIdx.x] = list.box(uint32_t(candidates[begin + threadIdx.x]));
    if (threadIdx.x < kTile) tile.overlapped[threadIdx.x] = 0;
    if (threadIdx.x == 0) tile.suppressed = 0;
    __syncthreads();
    if (own < here) {
      const Box box = tile.boxes[own];
      const uint64_t bit = uint64_t(1) << own;
      for (uint32_t i = row; i < own; i += kRows)
        if (device::overlap(box, tile.boxes[i], iou)) atomicOr(tile.overlapped + i, bit);
      for (uint32_t i = row; i < kept; i += kRows)
        if (device::overlap(box, kept_boxes[i], iou)) {
          atomicOr(&tile.suppressed, bit);
          break;
        }
    }
    __syncthreads();
    uint64_t left = ~tile.suppressed, selected = 0;
    if (here < kTile) left &= (uint64_t(1) << here) - 1;
    uint32_t after = kept;
    for (; left != 0 && after < list.limits.most; ++after) {
      const uint64_t lowest = left & (0 - left);
      selected |= lowest;
      left &= ~(lowest | tile.overlapped[__popcll(lowest - 1)]);
    }
    if (row == 0 && (selected >> own & 1)) {
      const uint32_t at = kept + __popcll(selected & ((uint64_t(1) << own) - 1));
      kept_boxes[at] = tile.boxes[own];
      s.kept_indices[int64_t(blockIdx.x) * s.kept + at] = uint32_t(candidates[begin + own]);
    }
    kept = after;
    __syncthreads();
  }
  return kept;
}

/// Tells of a threshold that is none.
__device__ __forceinline__ void tell_invalid(const Limits& limits, int64_t* fault) {
  if (!limits.is_valid()) *static_cast<volatile int64_t*>(fault) = int64_t(__float_as_uint(limits.iou)) << 1 | 1;
}

template <class T>
__device__ __forceinline__ void suppress_boxes(const Suppression& s, int64_t* fault) {
  __shared__ uint64_t candidates[cuda::kSuppressItems];
  __shared__ uint32_t counts[cuda::kSelectBins], scratch[cuda::kSuppressThreads];
  __shared__ uint32_t found;
  __shared__ SuppressTile tile;
  pdl_launch();
  pdl_wait();
  const Limits limits(s);
  if (threadIdx.x == 0) tell_invalid(limits, fault);
  const SuppressList<T> list(s, limits, blockIdx.x);
  uint32_t kept = 0, left = limits.is_valid() ? s.candidates : 0;
  for (uint64_t first = 0; left > 0 && kept < limits.most;) {
    const uint64_t end = list.end_of_round(first, counts, scratch);
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    list.for_each([&](uint64_t candidate) {
      if (candidate >= first && candidate < end) candidates[atomicAdd(&found, 1u)] = candidate;
    });
    __syncthreads();
    const uint32_t count = found;
    uint32_t padded = 1;
    while (padded < count) padded *= 2;
    for (uint32_t i = count + threadIdx.x; i < padded; i += cuda::kSuppressThreads) candidates[i] = ~uint64_t(0);
    __syncthreads();
    sort_segments(candidates, padded, padded);
    const uint32_t taken = min(left, count);
    kept = suppress(list, candidates, taken, kept, tile);
    left -= taken;
    first = end;
    if (end == ~uint64_t(0)) break;
  }
  if (threadIdx.x == 0) s.lengths[blockIdx.x] = kept;
}

/// One block: where the boxes of each list begin, and how many there are.
__device__ __forceinline__ void suppress_starts(const Suppression& s) {
  __shared__ int64_t scratch[cuda::kSuppressThreads];
  pdl_launch();
  pdl_wait();
  int64_t start = 0, total;
  for (uint32_t begin = 0; begin < s.lists; begin += cuda::kSuppressThreads) {
    const uint32_t list = begin + threadIdx.x;
    const int64_t before = sum_before(list < s.lists ? int64_t(s.lengths[list]) : 0, total, scratch);
    if (list < s.lists) s.starts[list] = start + before;
    start += total;
  }
  if (threadIdx.x == 0) *s.found = start, *s.number = int32_t(start);
}

template <class Index>
__device__ __forceinline__ void store_selected(const Suppression& s) {
  pdl_launch();
  pdl_wait();
  if (*s.found > s.room) return;
  const uint32_t list = blockIdx.x, count = s.lengths[list];
  const uint32_t* indices = s.kept_indices + int64_t(list) * s.kept;
  Index* to = static_cast<Index*>(s.selected) + s.starts[list] * 3;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    to[i * 3] = Index(list / s.classes);
    to[i * 3 + 1] = Index(list % s.classes);
    to[i * 3 + 2] = Index(indices[i]);
  }
}

}  // namespace kiln
