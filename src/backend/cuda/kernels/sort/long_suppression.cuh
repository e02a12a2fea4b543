// The best boxes of few, long lists: all blocks work on each. The kernels of top_k.cuh have sorted the scores. Rounds
// compare all pairs of the next kLongRound boxes, select among them by one block, and remove what overlaps those that
// were selected from all later rounds.
#pragma once

#include "sort/non_max_suppression.cuh"
#include "sort/top_k.cuh"

namespace kiln {

using LongSuppression = cuda::LongSuppressionArgument;

inline constexpr uint32_t kRoundWords = cuda::kLongRound / cuda::kSuppressTile;

/// The boxes of a list in their order, with a bit for each that does not pass. A thread does one box.
template <class T, class S>
__device__ __forceinline__ void long_gather(const LongSuppression& l, int64_t* fault) {
  pdl_launch();
  pdl_wait();
  const Suppression& s = l.list;
  const Limits limits(s);
  if (blockIdx.x == 0 && threadIdx.x == 0) tell_invalid(limits, fault);
  const uint32_t blocks = (l.words * cuda::kSuppressTile + cuda::kLongThreads - 1) / cuda::kLongThreads;
  const uint32_t row = blockIdx.x / blocks, at = blockIdx.x % blocks * cuda::kLongThreads + threadIdx.x;
  const SuppressList<T> list(s, limits, row);
  const Pass<S> sorted{l.sort, int(l.passes), row};
  bool passes = false;
  if (at < s.count) {
    const uint32_t index = sorted.item(at).index();
    const float score = list.score(index);
    passes = limits.is_valid() && limits.passes(score);
    reinterpret_cast<Box*>(l.boxes)[int64_t(row) * s.count + at] = list.box(index);
    // NaN is in front.
    const bool is_nan = score != score;
    const bool next_is_nan = at + 1 < s.count && is_nan && isnan(list.score(sorted.item(at + 1).index()));
    if (at == 0) l.states[row].before = l.states[row].is_done = s.lengths[row] = 0;
    if (at == 0 && !is_nan) l.states[row].first = 0;
    if (is_nan && !next_is_nan) l.states[row].first = at + 1;
  }
  const uint32_t passing = __ballot_sync(kAllLanes, passes);
  if (at < l.words * cuda::kSuppressTile && threadIdx.x % kWarp == 0)
    reinterpret_cast<uint32_t*>(l.removed + int64_t(row) * l.words)[at / kWarp] = ~passing;
}

/// Compares pairs of a round: a block has 64 rows and kLongThreads / 64 times as many boxes behind them.
__device__ __forceinline__ void long_compare(const LongSuppression& l, int round) {
  constexpr uint32_t kTile = cuda::kSuppressTile, kTiles = cuda::kLongThreads / kTile;
  __shared__ Box boxes[cuda::kLongThreads];
  const uint32_t row = blockIdx.x / kRoundWords, tile = blockIdx.x % kRoundWords;
  const uint32_t first_word = uint32_t(round) * kRoundWords, word = first_word + tile;
  const uint32_t own = threadIdx.x % kTile, part = threadIdx.x / kTile;
  pdl_launch();
  pdl_wait();
  if ((blockIdx.y + 1) * kTiles <= tile) return;  // all boxes are before the rows
  const Suppression& s = l.list;
  if (l.states[row].is_done || word >= l.words) return;
  const uint64_t removed = l.removed[int64_t(row) * l.words + word];
  if (removed == ~uint64_t(0)) return;
  const Box* sorted = reinterpret_cast<const Box*>(l.boxes) + int64_t(row) * s.count;
  const uint32_t begin = (first_word + blockIdx.y * kTiles) * kTile;
  if (begin + threadIdx.x < s.count) boxes[threadIdx.x] = sorted[begin + threadIdx.x];
  __syncthreads();
  const uint32_t at = word * kTile + own, others = blockIdx.y * kTiles + part;
  if (others < tile || at >= s.count || removed >> own & 1) return;
  const float iou = Limits(s).iou;
  const Box box = sorted[at];
  const uint32_t end = min(kTile, s.count - min(s.count, begin + part * kTile));
  uint64_t bits = 0;
#pragma unroll 4
  for (uint32_t i = 0; i < end; ++i)
    if (device::overlap(boxes[part * kTile + i], box, iou)) bits |= uint64_t(1) << i;
  if (others == tile) bits &= ~((uint64_t(2) << own) - 1);  // those behind
  l.overlaps[(int64_t(row) * cuda::kLongRound + tile * kTile + own) * kRoundWords + others] = bits;
}

/// Selects among a round's boxes. A block has one list.
template <class T, class S>
__device__ __forceinline__ void long_select(const LongSuppression& l, int round) {
  constexpr uint32_t kTile = cuda::kSuppressTile;
  __shared__ uint64_t removed[kRoundWords], of_tile[kTile];
  pdl_launch();
  pdl_wait();
  const Suppression& s = l.list;
  const uint32_t row = blockIdx.x, first_word = uint32_t(round) * kRoundWords;
  cuda::LongList& state = l.states[row];
  if (state.is_done) return;
  const Limits limits(s);
  const uint32_t words = min(kRoundWords, l.words - first_word);
  const uint32_t limit = uint32_t(min(uint64_t(s.count), uint64_t(state.first) + s.candidates));
  const uint32_t own = threadIdx.x % kRoundWords, part = threadIdx.x / kRoundWords;
  const Box* sorted = reinterpret_cast<const Box*>(l.boxes) + int64_t(row) * s.count;
  const uint64_t* overlaps = l.overlaps + int64_t(row) * cuda::kLongRound * kRoundWords;
  const Pass<S> items{l.sort, int(l.passes), row};
  uint32_t kept = s.lengths[row];
  const uint32_t before = kept;
  if (threadIdx.x < words) removed[threadIdx.x] = l.removed[int64_t(row) * l.words + first_word + threadIdx.x];
  __syncthreads();
  for (uint32_t tile = 0; tile < words && kept < limits.most; ++tile) {
    const uint32_t base = (first_word + tile) * kTile;
    uint64_t left = ~removed[tile], selected = 0;
    if (base >= limit) break;
    if (limit - base < kTile) left &= (uint64_t(1) << (limit - base)) - 1;
    if (left == 0) continue;
    if (threadIdx.x < kTile && (left >> threadIdx.x & 1))
      of_tile[threadIdx.x] = overlaps[int64_t(tile * kTile + threadIdx.x) * kRoundWords + tile];
    __syncthreads();
    uint32_t after = kept;
    for (; left != 0 && after < limits.most; ++after) {
      const uint64_t lowest = left & (0 - left);
      selected |= lowest;
      left &= ~(lowest | of_tile[__popcll(lowest - 1)]);
    }
    if (threadIdx.x < kTile && (selected >> threadIdx.x & 1)) {
      const uint32_t to = kept + __popcll(selected & ((uint64_t(1) << threadIdx.x) - 1));
      reinterpret_cast<Box*>(s.kept_boxes)[int64_t(row) * s.kept + to] = sorted[base + threadIdx.x];
      s.kept_indices[int64_t(row) * s.kept + to] = items.item(base + threadIdx.x).index();
    }
    if (own > tile && own < words) {
      uint64_t bits = 0;
#pragma unroll
      for (uint32_t i = 0; i < kTile; i += cuda::kLongSelectRows)
        if (selected >> (i + part) & 1) bits |= overlaps[int64_t(tile * kTile + i + part) * kRoundWords + own];
      if (bits) atomicOr(reinterpret_cast<unsigned long long*>(removed + own), bits);
    }
    kept = after;
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  const uint32_t next = (first_word + kRoundWords) * kTile;
  state.before = before;
  s.lengths[row] = kept;
  const SuppressList<T> list(s, limits, row);
  state.is_done = kept >= limits.most || next >= limit ||
                  (next >= state.first && !limits.passes(list.score(items.item(next).index())));
}

/// Removes from later rounds what overlaps a box that this one has selected. A thread has one box and compares it with
/// every gridDim.y-th of these.
__device__ __forceinline__ void long_remove(const LongSuppression& l, int round) {
  constexpr uint32_t kBoxes = cuda::kLongThreads;
  __shared__ Box selected[kBoxes];
  pdl_launch();
  pdl_wait();
  const Suppression& s = l.list;
  const uint32_t begin = uint32_t(round + 1) * cuda::kLongRound, blocks = (s.count - begin + kBoxes - 1) / kBoxes;
  const uint32_t row = blockIdx.x / blocks, at = begin + blockIdx.x % blocks * kBoxes + threadIdx.x;
  if (l.states[row].is_done) return;
  const float iou = Limits(s).iou;
  const uint32_t first = l.states[row].before + blockIdx.y, end = s.lengths[row];
  uint32_t* removed = reinterpret_cast<uint32_t*>(l.removed + int64_t(row) * l.words) + at / kWarp;
  bool is_left = at < s.count && !(*removed >> (at % kWarp) & 1);
  const bool was_left = is_left;
  Box box{};
  if (is_left) box = reinterpret_cast<const Box*>(l.boxes)[int64_t(row) * s.count + at];
  const Box* from = reinterpret_cast<const Box*>(s.kept_boxes) + int64_t(row) * s.kept;
  for (uint32_t chunk = first; chunk < end; chunk += kBoxes * gridDim.y) {
    if (!__syncthreads_or(is_left)) break;
    const uint32_t mine = chunk + threadIdx.x * gridDim.y;
    if (mine < end) selected[threadIdx.x] = from[mine];
    __syncthreads();
    const uint32_t here = min(kBoxes, (end - chunk + gridDim.y - 1) / gridDim.y);
    for (uint32_t i = 0; i < here && is_left; ++i) is_left = !device::overlap(box, selected[i], iou);
  }
  const uint32_t gone = __ballot_sync(kAllLanes, was_left && !is_left);
  if (gone && threadIdx.x % kWarp == 0) atomicOr(removed, gone);
}

}  // namespace kiln
