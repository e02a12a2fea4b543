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

/// Rows that lie beside each other are turned by tiles, and long rows, fewer than threads, are cut into chunks.
struct Plan {
  int64_t tiles = 1, chunks = 1;
  int64_t chunk_bytes = 0;                      ///< the k items of a chunk
  int64_t scratch_bytes = 0, turned_bytes = 0;  ///< a worker

  Plan(int workers, const TopKShape& s) {
    const int64_t key_bytes = s.dtype == DType::kI64 ? 8 : 4, item_bytes = 2 * key_bytes;
    tiles = ceil_div(s.inner, kTile);
    if (s.inner > 1) turned_bytes = round_up(kTile * s.length * key_bytes, kCacheLine);
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
    const int64_t tasks = s_.outer * plan_.tiles, each = std::max<int64_t>(1, kElementsAPart / s_.length);
    team_.run(ceil_div(tasks, each), [&](int64_t part, int worker) {
      for (int64_t t = part * each; t < std::min(tasks, (part + 1) * each); ++t)
        s_.inner == 1 ? row(t, worker) : tile(t / plan_.tiles, t % plan_.tiles * kTile, worker);
    });
  }

 private:
  Item<Key>* scratch(int worker) { return reinterpret_cast<Item<Key>*>(workers_ + worker * plan_.worker_bytes()); }
  Item<Key>* chunk(int64_t i) { return reinterpret_cast<Item<Key>*>(chunks_ + i * plan_.chunk_bytes); }

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

  /// The first k of each chunk, and of these the first k.
  void run_chunks() {
    const int64_t n = plan_.chunks;
    team_.run(s_.outer * n, [&](int64_t part, int worker) {
      const int64_t outer = part / n, c = part % n;
      const Elements<T> elements{x_ + outer * s_.length, flip_};
      scan(elements, s_.length * c / n, s_.length * (c + 1) / n, s_.k, scratch(worker));
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
    const Bits* from = x_ + outer * s_.length * s_.inner + column;
    const int64_t to = outer * s_.k * s_.inner + column;
    for (int64_t i = 0; i < s_.k; ++i) {
      const auto index = static_cast<uint32_t>(items[i]);
      values_[to + i * s_.inner] = from[index * s_.inner];
      if (s_.wide_indices)
        static_cast<int64_t*>(indices_)[to + i * s_.inner] = index;
      else
        static_cast<int32_t*>(indices_)[to + i * s_.inner] = static_cast<int32_t>(index);
    }
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
