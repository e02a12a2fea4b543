#include "backend/cpu/kernels/sort/non_max_suppression.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#include "tensor/numeric.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/sort/non_max_suppression.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/sort/select-inl.h"
#include "backend/cpu/kernels/vector-inl.h"
#include "ops/box-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

namespace exact = kiln::HWY_NAMESPACE;
using Candidate = Item<uint32_t>;  // the complement of a score's key, and the index of its box

constexpr int64_t kTile = 16;  // classes whose scores share a cache line

template <DType T>
using Stored = std::conditional_t<T == DType::kF32, float, uint16_t>;
template <DType T>
HWY_INLINE float load(Stored<T> x) {
  if constexpr (T == DType::kF16) return half_to_float(x);
  if constexpr (T == DType::kBF16) return bfloat16_to_float(x);
  return x;
}

/// Whether a score lets its box through. NaN does not.
struct ScoreLimit {
  explicit ScoreLimit(std::optional<float> limit) : is_there(limit.has_value()), value(limit.value_or(0)) {}
  HWY_INLINE bool operator()(float score) const { return is_there ? score > value : score == score; }
  HWY_INLINE auto operator()(V scores) const {
    return is_there ? hn::Gt(scores, hn::Set(D(), value)) : hn::Eq(scores, scores);
  }
  const bool is_there;
  const float value;
};

/// One bit for each of up to kTile neighbouring scores that pass.
template <DType T>
HWY_INLINE uint32_t passing(const Stored<T>* scores, int64_t count, const ScoreLimit& limit) {
  uint32_t bits = 0;
  int64_t i = 0;
  if constexpr (T == DType::kF32)
    for (; i + kLanes <= count; i += kLanes) {
      uint64_t some = 0;
      hn::StoreMaskBits(D(), limit(hn::LoadU(D(), scores + i)), reinterpret_cast<uint8_t*>(&some));
      bits |= static_cast<uint32_t>(some) << i;
    }
  for (; i < count; ++i) bits |= uint32_t{limit(load<T>(scores[i]))} << i;
  return bits;
}

/// The boxes that are selected of one class: their coordinates side by side.
class Selected {
 public:
  /// Floats of memory for so many boxes.
  static int64_t floats(int64_t most) { return 5 * round_up(most, kPad); }
  Selected(float* memory, int64_t most) {
    for (float*& coordinate : at_) coordinate = std::exchange(memory, memory + round_up(most, kPad));
  }
  int64_t count() const { return count_; }
  void add(const exact::Box& box) {
    if (count_ % kPad == 0) std::fill_n(at_[4] + count_, kPad, 0.0f);  // a box without an area overlaps nothing
    const float numbers[] = {box.low[0], box.low[1], box.high[0], box.high[1], exact::area_of(box)};
    for (size_t i = 0; i < 5; ++i) at_[i][count_] = numbers[i];
    ++count_;
  }
  /// Whether one of them overlaps `box`: exact::overlap for a vector of them at a time.
  bool overlap(const exact::Box& box, float threshold) const {
    const D d;
    const V zero = hn::Zero(d), low0 = hn::Set(d, box.low[0]), low1 = hn::Set(d, box.low[1]),
            high0 = hn::Set(d, box.high[0]), high1 = hn::Set(d, box.high[1]), area = hn::Set(d, exact::area_of(box)),
            limit = hn::Set(d, threshold);
    if (!(exact::area_of(box) > 0)) return false;
    for (int64_t i = 0; i < count_; i += kLanes) {
      const V height = hn::Sub(lesser(high0, load(2, i)), greater(low0, load(0, i)));
      const V width = hn::Sub(lesser(high1, load(3, i)), greater(low1, load(1, i)));
      const auto touch = hn::And(hn::Gt(height, zero), hn::Gt(width, zero));
      if (hn::AllFalse(d, touch)) continue;
      const V other = load(4, i), shared = hn::Mul(height, width), whole = hn::Sub(hn::Add(area, other), shared);
      const auto much = hn::And(hn::Gt(whole, zero), hn::Gt(hn::Div(shared, whole), limit));
      if (!hn::AllFalse(d, hn::And(hn::And(touch, much), hn::Gt(other, zero)))) return true;
    }
    return false;
  }

 private:
  static constexpr int64_t kPad = 16;
  V load(size_t coordinate, int64_t i) const { return hn::LoadU(D(), at_[coordinate] + i); }
  static HWY_INLINE V lesser(V a, V b) { return hn::IfThenElse(hn::Lt(b, a), b, a); }
  static HWY_INLINE V greater(V a, V b) { return hn::IfThenElse(hn::Lt(a, b), b, a); }

  float* at_[5];  ///< low, high, area
  int64_t count_ = 0;
};

/// Memory: a list of candidates and its length for each image and class; a worker has memory to sort them, and
/// coordinates.
struct Layout {
  int64_t lengths_at = 0, workers_at = 0, sorted_bytes = 0, worker_bytes = 0;

  explicit Layout(const steps::NonMaxSuppression::Sizes& s) {
    lengths_at = round_up(s.lists() * s.boxes * 8, kCacheLine);
    workers_at = lengths_at + round_up(s.lists() * 8, kCacheLine);
    sorted_bytes = round_up(s.boxes * 8, kCacheLine);
    worker_bytes = sorted_bytes + 4 * Selected::floats(s.candidates);
  }
};

template <DType T>
class Run {
 public:
  Run(Team& team, const NonMaxSuppressionShape& shape, const SelectionLimits& limits, const void* boxes,
      const void* scores, std::byte* workspace)
      : team_(team),
        shape_(shape),
        s_(shape.sizes),
        limits_(limits),
        layout_(shape.sizes),
        boxes_(static_cast<const Stored<T>*>(boxes)),
        scores_(static_cast<const Stored<T>*>(scores)),
        lists_(reinterpret_cast<Candidate*>(workspace)),
        lengths_(reinterpret_cast<int64_t*>(workspace + layout_.lengths_at)),
        workers_(workspace + layout_.workers_at) {}

  int64_t run(void* selected) {
    const int64_t tiles = ceil_div(s_.classes, kTile);
    team_.run(s_.images * tiles, [&](int64_t part, int) { collect(part / tiles, part % tiles * kTile); });
    team_.run(s_.lists(), [&](int64_t list, int worker) { select(list, worker); });
    int64_t count = 0;
    for (int64_t list = 0; list < s_.lists(); ++list) count += lengths_[list];
    if (count > s_.room) return count;
    shape_.wide_indices ? store(static_cast<int64_t*>(selected)) : store(static_cast<int32_t*>(selected));
    return count;
  }

 private:
  Candidate* list_at(int64_t list) { return lists_ + list * s_.boxes; }

  /// Lists the boxes whose scores pass, for some classes from `first` on.
  void collect(int64_t image, int64_t first) {
    const ScoreLimit limit(limits_.score);
    const int64_t width = std::min(kTile, s_.classes - first), list = image * s_.classes + first;
    const Stored<T>* scores = scores_ + image * s_.boxes * s_.classes + first;
    std::fill_n(lengths_ + list, width, 0);
    const auto add = [&](int64_t category, int64_t box) {
      const uint32_t bits = std::bit_cast<uint32_t>(load<T>(scores[box * s_.classes + category]));
      const uint32_t key = exact::float_key<uint32_t>(bits, 0x7f800000);
      list_at(list + category)[lengths_[list + category]++] = item_of(~key, box);
    };
    if (s_.classes == 1) {  // neighbours are boxes
      for (int64_t begin = 0; begin < s_.boxes; begin += kTile)
        for (uint32_t bits = passing<T>(scores + begin, std::min(kTile, s_.boxes - begin), limit); bits;
             bits &= bits - 1)
          add(0, begin + std::countr_zero(bits));
      return;
    }
    for (int64_t box = 0; box < s_.boxes; ++box)
      for (uint32_t bits = passing<T>(scores + box * s_.classes, width, limit); bits; bits &= bits - 1)
        add(std::countr_zero(bits), box);
  }

  /// A list becomes the indices of the boxes that are selected of it.
  void select(int64_t list, int worker) {
    std::byte* const mine = workers_ + worker * layout_.worker_bytes;
    Candidate* const to = list_at(list);
    const Candidate* sorted = to;
    const int64_t length = lengths_[list], looked_at = std::min(length, s_.candidates);
    if (length > kFew)
      sorted = sort_by_digits<uint32_t>(to, reinterpret_cast<Candidate*>(mine), length);
    else
      std::sort(to, to + length);
    Selected selected(reinterpret_cast<float*>(mine + layout_.sorted_bytes), s_.candidates);
    for (int64_t i = 0; i < looked_at && selected.count() < limits_.most; ++i) {
      const auto index = static_cast<uint32_t>(sorted[i]);
      const exact::Box box = box_at(list, index);
      if (selected.overlap(box, limits_.iou)) continue;
      to[selected.count()] = index;  // what stands there was looked at before
      selected.add(box);
    }
    lengths_[list] = selected.count();
  }

  exact::Box box_at(int64_t list, int64_t index) const {
    const int64_t image = list / s_.classes, category = list % s_.classes, row = image * s_.boxes + index;
    const Stored<T>* from = boxes_ + (s_.boxes_by_class ? row * s_.classes + category : row) * 4;
    const float numbers[] = {load<T>(from[0]), load<T>(from[1]), load<T>(from[2]), load<T>(from[3])};
    return exact::box_of(numbers, shape_.format == BoxFormat::kCenterSizes);
  }

  template <class Index>
  void store(Index* to) {
    for (int64_t list = 0; list < s_.lists(); ++list)
      for (int64_t i = 0; i < lengths_[list]; ++i) {
        *to++ = static_cast<Index>(list / s_.classes);
        *to++ = static_cast<Index>(list % s_.classes);
        *to++ = static_cast<Index>(list_at(list)[i]);
      }
  }

  Team& team_;
  const NonMaxSuppressionShape& shape_;
  const steps::NonMaxSuppression::Sizes& s_;
  const SelectionLimits& limits_;
  const Layout layout_;
  const Stored<T>*boxes_, *scores_;
  Candidate* lists_;
  int64_t* lengths_;
  std::byte* workers_;
};

int64_t run(Team& team, const NonMaxSuppressionShape& shape, const SelectionLimits& limits, const void* boxes,
            const void* scores, void* selected, std::byte* workspace) {
  const auto typed = [&]<DType T>() { return Run<T>(team, shape, limits, boxes, scores, workspace).run(selected); };
  switch (shape.dtype) {
    case DType::kF32: return typed.template operator()<DType::kF32>();
    case DType::kF16: return typed.template operator()<DType::kF16>();
    case DType::kBF16: return typed.template operator()<DType::kBF16>();
    default: CHECK(!"boxes of a type without a kernel");
  }
  return 0;
}

int64_t workspace_bytes(int workers, const NonMaxSuppressionShape& shape) {
  const Layout layout(shape.sizes);
  return layout.workers_at + workers * layout.worker_bytes;
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

int64_t non_max_suppression_workspace(const Team& team, const NonMaxSuppressionShape& shape) {
  return KILN_DISPATCH(workspace_bytes)(team.size(), shape);
}

int64_t non_max_suppression(Team& team, const NonMaxSuppressionShape& shape, const SelectionLimits& limits,
                            const void* boxes, const void* scores, void* selected, std::byte* workspace) {
  if (limits.most <= 0 || shape.sizes.candidates == 0 || shape.sizes.lists() == 0) return 0;
  return KILN_DISPATCH(run)(team, shape, limits, boxes, scores, selected, workspace);
}

}  // namespace kiln::cpu
#endif
