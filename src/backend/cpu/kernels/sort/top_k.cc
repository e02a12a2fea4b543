#include "backend/cpu/kernels/sort/top_k.h"

#include <algorithm>
#include <utility>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/sort/top_k.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/sort/select-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kTile = 16;  // rows side by side, whose elements share cache lines

// Rows side by side of which each keeps its first ones, at most so many.
constexpr int64_t kWideTile = 64, kMostLevels = 16;

// So many rows of neighbouring elements or more are done side by side too, if they are short: what a single row keeps
// is decided by branches that nothing predicts. For k = 1 there are few, and the limit is lower.
constexpr int64_t kLongestSideBySide = 256, kLongestOfOne = 32, kRowsSideBySide = 16;

enum class Way : uint8_t {
  kRow,              ///< one row of neighbouring elements
  kTurned,           ///< some rows that lie beside each other: each becomes neighbouring keys first
  kSideBySide,       ///< rows that lie beside each other: each keeps its first elements so far
  kBehindEachOther,  ///< the same of rows that lie behind each other
};

/// Long rows, fewer than threads, are cut into chunks.
struct Plan {
  Way way = Way::kRow;
  int64_t tile = 1;   ///< rows that are done together
  int64_t tiles = 1;  ///< in an index of `outer`; of kBehindEachOther, in all
  int64_t chunks = 1;
  int64_t chunk_bytes = 0;                      ///< the k items of a chunk
  int64_t scratch_bytes = 0, turned_bytes = 0;  ///< a worker

  Plan(int workers, const TopKShape& s) {
    const int64_t key_bytes = s.dtype == DType::kI64 ? 8 : 4, item_bytes = 2 * key_bytes;
    const bool keeps = s.k <= kMostLevels;
    if (s.inner > 1)
      way = keeps && s.inner >= kTile / 2 ? Way::kSideBySide : Way::kTurned;
    else if (keeps && s.outer >= kRowsSideBySide && s.length <= (s.k == 1 ? kLongestOfOne : kLongestSideBySide))
      way = Way::kBehindEachOther;
    if (way != Way::kRow) tile = way == Way::kTurned ? kTile : kWideTile;
    tiles = ceil_div(way == Way::kBehindEachOther ? s.outer : s.inner, tile);
    if (way == Way::kTurned) turned_bytes = round_up(kTile * s.length * key_bytes, kCacheLine);
    if (s.inner == 1 && s.outer < workers && scans(s.length, s.k)) {
      const int64_t least = std::max<int64_t>(1 << 14, 16 * s.k);  // elements that are worth a chunk
      chunks = std::clamp<int64_t>(s.length / least, 1, ceil_div(2 * workers, s.outer));
    }
    chunk_bytes = chunks > 1 ? round_up(s.k * item_bytes, kCacheLine) : 0;
    scratch_bytes = round_up(scratch_items(s.k) * item_bytes, kCacheLine);
  }
  int64_t worker_bytes() const { return scratch_bytes + turned_bytes; }
  int64_t bytes(int workers, int64_t rows) const { return rows * chunks * chunk_bytes + workers * worker_bytes(); }
};

/// The first elements of up to kWideTile rows, sorted.
template <class Key>
struct Kept {
  alignas(64) Key keys[kWideTile];  ///< the element that `add` adds to each row
  alignas(64) Key best[kMostLevels][kWideTile], at[kMostLevels][kWideTile];
  int64_t k, width;

  Kept(int64_t k, int64_t rows) : k(k), width(round_up(rows, kStep)) { std::fill_n(keys + rows, width - rows, Key{0}); }

  /// Adds element `index` of each row, which comes after those before it.
  void add(int64_t index) {
    const auto place = static_cast<Key>(index);
    if (index < k) {
      std::copy_n(keys, width, best[index]);
      std::fill_n(at[index], width, place);
      for (int64_t level = index; level > 0; --level) sink(place, level);
      if (index > 0) raise(place);
      return;
    }
    if (!any_below(best[k - 1])) return;
    for (int64_t level = k - 1; level > 0; --level) sink(place, level);
    raise(place);
  }

 private:
  static constexpr KeyTag<Key> d{};
  static constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(d));

  bool any_below(const Key* last) const {
    for (int64_t c = 0; c < width; c += kStep)
      if (!hn::AllFalse(d, hn::Lt(hn::Load(d, keys + c), hn::Load(d, last + c)))) return true;
    return false;
  }
  /// A level gets what it keeps: the one above it, the new one, or its own.
  void sink(Key place, int64_t level) {
    Key *own = best[level], *own_at = at[level];
    for (int64_t c = 0; c < width; c += kStep) {
      const auto key = hn::Load(d, keys + c), above = hn::Load(d, best[level - 1] + c), old = hn::Load(d, own + c);
      const auto shifted = hn::Lt(key, above), taken = hn::Lt(key, old);
      hn::Store(hn::IfThenElse(shifted, above, hn::IfThenElse(taken, key, old)), d, own + c);
      const auto new_at = hn::IfThenElse(taken, hn::Set(d, place), hn::Load(d, own_at + c));
      hn::Store(hn::IfThenElse(shifted, hn::Load(d, at[level - 1] + c), new_at), d, own_at + c);
    }
  }
  void raise(Key place) {
    for (int64_t c = 0; c < width; c += kStep) {
      const auto key = hn::Load(d, keys + c), old = hn::Load(d, best[0] + c);
      const auto taken = hn::Lt(key, old);
      hn::Store(hn::IfThenElse(taken, key, old), d, best[0] + c);
      hn::Store(hn::IfThenElse(taken, hn::Set(d, place), hn::Load(d, at[0] + c)), d, at[0] + c);
    }
  }
};

template <DType T>
class Run {
 public:
  using Bits = typename Sorted<T>::Bits;
  using Key = typename Sorted<T>::Key;

  Run(Team& team, const TopKShape& shape, const void* x, void* values, void* indices, std::byte* workspace)
      : team_(team),
        s_(shape),
        plan_(team.size(), shape),
        x_(static_cast<const Bits*>(x)),
        values_(static_cast<Bits*>(values)),
        indices_(indices),
        chunks_(workspace),
        workers_(workspace + shape.outer * plan_.chunks * plan_.chunk_bytes),
        flip_(shape.largest ? static_cast<Key>(~Key{0}) : 0) {}

  void run() {
    if (plan_.chunks > 1) return run_chunks();
    constexpr int64_t kElementsAPart = 8192;
    const int64_t tasks = plan_.way == Way::kBehindEachOther ? plan_.tiles : s_.outer * plan_.tiles;
    const int64_t each = std::max<int64_t>(1, kElementsAPart / ceil_div(s_.outer * s_.length * s_.inner, tasks));
    team_.run(ceil_div(tasks, each), [&](int64_t part, int worker) {
      for (int64_t t = part * each; t < std::min(tasks, (part + 1) * each); ++t) task(t, worker);
    });
  }

 private:
  Item<Key>* scratch(int worker) { return reinterpret_cast<Item<Key>*>(workers_ + worker * plan_.worker_bytes()); }
  Item<Key>* chunk(int64_t i) { return reinterpret_cast<Item<Key>*>(chunks_ + i * plan_.chunk_bytes); }

  void task(int64_t t, int worker) {
    const int64_t outer = t / plan_.tiles, column = t % plan_.tiles * plan_.tile;
    switch (plan_.way) {
      case Way::kRow: return row(t, worker);
      case Way::kTurned: return tile(outer, column, worker);
      case Way::kSideBySide: return side_by_side(outer, column);
      case Way::kBehindEachOther: return behind_each_other(t * plan_.tile);
    }
  }

  void row(int64_t outer, int worker) {
    const Elements<T> elements{x_ + outer * s_.length, flip_};
    store(outer, 0, select(elements, s_.length, s_.k, scratch(worker)));
  }

  /// Rows from `column` on.
  void tile(int64_t outer, int64_t column, int worker) {
    auto* keys = reinterpret_cast<Key*>(workers_ + worker * plan_.worker_bytes() + plan_.scratch_bytes);
    const int64_t width = std::min(kTile, s_.inner - column);
    for (int64_t i = 0; i < s_.length; ++i) {
      const Elements<T> beside{x_ + (outer * s_.length + i) * s_.inner + column, flip_};
      for (int64_t c = 0; c < width; ++c) keys[c * s_.length + i] = beside(c);
    }
    for (int64_t c = 0; c < width; ++c)
      store(outer, column + c, select(Keys<Key>{keys + c * s_.length}, s_.length, s_.k, scratch(worker)));
  }

  void side_by_side(int64_t outer, int64_t column) {
    const int64_t width = std::min(kWideTile, s_.inner - column);
    Kept<Key> kept(s_.k, width);
    for (int64_t i = 0; i < s_.length; ++i) {
      const Elements<T> beside{x_ + (outer * s_.length + i) * s_.inner + column, flip_};
      for (int64_t c = 0; c < width; ++c) kept.keys[c] = beside(c);
      kept.add(i);
    }
    for (int64_t level = 0; level < s_.k; ++level)
      for (int64_t c = 0; c < width; ++c) store_one(outer, level, column + c, static_cast<int64_t>(kept.at[level][c]));
  }

  void behind_each_other(int64_t first) {
    const int64_t width = std::min(kWideTile, s_.outer - first);
    Kept<Key> kept(s_.k, width);
    for (int64_t i = 0; i < s_.length; ++i) {
      const Elements<T> elements{x_ + first * s_.length + i, flip_};
      for (int64_t c = 0; c < width; ++c) kept.keys[c] = elements(c * s_.length);
      kept.add(i);
    }
    for (int64_t c = 0; c < width; ++c)
      for (int64_t level = 0; level < s_.k; ++level)
        store_one(first + c, level, 0, static_cast<int64_t>(kept.at[level][c]));
  }

  /// The first k of each chunk, and of these the first k.
  void run_chunks() {
    const int64_t n = plan_.chunks;
    team_.run(s_.outer * n, [&](int64_t part, int worker) {
      const int64_t outer = part / n, c = part % n;
      const Elements<T> elements{x_ + outer * s_.length, flip_};
      const int64_t begin = s_.length * c / n, end = s_.length * (c + 1) / n;
      s_.k <= kMostInserted ? insert_least(elements, begin, end, s_.k, scratch(worker))
                            : scan(elements, begin, end, s_.k, scratch(worker));
      std::copy_n(scratch(worker), s_.k, chunk(part));
    });
    for (int64_t outer = 0; outer < s_.outer; ++outer) {
      Item<Key>* best = scratch(0);
      std::copy_n(chunk(outer * n), s_.k, best);
      for (int64_t c = 1; c < n; ++c) {
        std::copy_n(chunk(outer * n + c), s_.k, best + s_.k);
        std::nth_element(best, best + s_.k - 1, best + 2 * s_.k);
      }
      std::sort(best, best + s_.k);
      store(outer, 0, best);
    }
  }

  void store(int64_t outer, int64_t column, const Item<Key>* items) {
    for (int64_t i = 0; i < s_.k; ++i) store_one(outer, i, column, static_cast<uint32_t>(items[i]));
  }
  HWY_INLINE void store_one(int64_t outer, int64_t place, int64_t column, int64_t index) {
    const int64_t to = (outer * s_.k + place) * s_.inner + column;
    values_[to] = x_[(outer * s_.length + index) * s_.inner + column];
    if (s_.wide_indices)
      static_cast<int64_t*>(indices_)[to] = index;
    else
      static_cast<int32_t*>(indices_)[to] = static_cast<int32_t>(index);
  }

  Team& team_;
  const TopKShape& s_;
  const Plan plan_;
  const Bits* x_;
  Bits* values_;
  void* indices_;
  std::byte *chunks_, *workers_;
  const Key flip_;
};

int64_t workspace_bytes(int workers, const TopKShape& shape) {
  return Plan(workers, shape).bytes(workers, shape.outer);
}

void run(Team& team, const TopKShape& shape, const void* x, void* values, void* indices, std::byte* workspace) {
  const auto typed = [&]<DType T>() { Run<T>(team, shape, x, values, indices, workspace).run(); };
  switch (shape.dtype) {
    case DType::kF32: return typed.template operator()<DType::kF32>();
    case DType::kF16: return typed.template operator()<DType::kF16>();
    case DType::kBF16: return typed.template operator()<DType::kBF16>();
    case DType::kI32: return typed.template operator()<DType::kI32>();
    case DType::kI64: return typed.template operator()<DType::kI64>();
    case DType::kI8: return typed.template operator()<DType::kI8>();
    case DType::kU8: return typed.template operator()<DType::kU8>();
    default: CHECK(!"top_k of a type without a sort key");
  }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {
namespace {

bool is_empty(const TopKShape& s) { return s.outer == 0 || s.inner == 0 || s.k == 0; }

}  // namespace

int64_t top_k_workspace(const Team& team, const TopKShape& shape) {
  return is_empty(shape) ? 0 : KILN_DISPATCH(workspace_bytes)(team.size(), shape);
}

void top_k(Team& team, const TopKShape& shape, const void* x, void* values, void* indices, std::byte* workspace) {
  if (!is_empty(shape)) KILN_DISPATCH(run)(team, shape, x, values, indices, workspace);
}

}  // namespace kiln::cpu
#endif
