#include "backend/cpu/kernels/sort/unique.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/sort/unique.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/sort/select-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

/// What stands at a place of the new order.
struct Place {
  uint32_t index;     ///< in x
  bool is_different;  ///< from what stands before it
};

/// What is known of each different one, in memory that has room for `count` of them.
struct Groups {
  static int64_t bytes(int64_t count) { return round_up(count * 4, kCacheLine) * 2; }
  Groups(std::byte* memory, int64_t count)
      : sizes(reinterpret_cast<uint32_t*>(memory)),
        places(reinterpret_cast<uint32_t*>(memory + round_up(count * 4, kCacheLine))) {}
  uint32_t* sizes;
  uint32_t* places;  ///< in y
};

template <DType T>
class Run {
 public:
  using Bits = typename Sorted<T>::Bits;
  using Key = typename Sorted<T>::Key;

  Run(const UniqueShape& shape, const void* x, const UniqueOutputs& outputs, std::byte* workspace)
      : shape_(shape),
        s_(shape.slices),
        x_(static_cast<const Bits*>(x)),
        out_(outputs),
        groups_(workspace, s_.length),
        memory_(workspace + Groups::bytes(s_.length)) {}

  static int64_t bytes(const LaneExtents& s) {
    return Groups::bytes(s.length) + 2 * s.length * static_cast<int64_t>(sizeof(Item<Key>));
  }

  int64_t run() { return s_.outer * s_.inner == 1 ? of_elements() : of_slices(); }

 private:
  int64_t of_elements() {
    auto* items = reinterpret_cast<Item<Key>*>(memory_);
    for (int64_t i = 0; i < s_.length; ++i) items[i] = item_of(Sorted<T>::key(x_[i]), i);
    const Item<Key>* sorted = items;
    if (s_.length > kFew)
      sorted = sort_by_digits<Key>(items, items + s_.length, s_.length);
    else
      std::sort(items, items + s_.length);
    return finish([sorted](int64_t i) -> Place {
      return {static_cast<uint32_t>(sorted[i]), i == 0 || (sorted[i] ^ sorted[i - 1]) >> kIndexBits != 0};
    });
  }
  int64_t of_slices() {
    auto* order = reinterpret_cast<uint32_t*>(memory_);
    std::iota(order, order + s_.length, 0u);
    std::sort(order, order + s_.length, [&](uint32_t a, uint32_t b) {
      const int by = compare(a, b);
      return by != 0 ? by < 0 : a < b;
    });
    return finish([&, order](int64_t i) -> Place {
      return {order[i], i == 0 || compare(order[i - 1], order[i]) != 0};
    });
  }
  /// Less than 0 where slice a comes first, 0 where the two are equal.
  int compare(int64_t a, int64_t b) const {
    for (int64_t outer = 0; outer < s_.outer; ++outer) {
      const Bits* row = x_ + outer * s_.length * s_.inner;
      for (int64_t i = 0; i < s_.inner; ++i) {
        const Key first = Sorted<T>::key(row[a * s_.inner + i]), second = Sorted<T>::key(row[b * s_.inner + i]);
        if (first != second) return first < second ? -1 : 1;
      }
    }
    return 0;
  }

  /// Writes the outputs of an order: at(i) is its i-th Place.
  template <class F>
  int64_t finish(F at) {
    int64_t n = 0;
    for (int64_t i = 0; i < s_.length; ++i) {
      const Place place = at(i);
      if (place.is_different) {
        groups_.sizes[n] = 0;
        groups_.places[n] = shape_.sorted ? static_cast<uint32_t>(n) : kNoPlace;
        ++n;
      }
      ++groups_.sizes[n - 1];
      out_.inverse[place.index] = n - 1;
    }
    if (n > shape_.room) return n;
    // In the order of x, the first of a group is met first.
    std::fill_n(out_.counts, n, 0);
    int64_t seen = 0;
    for (int64_t i = 0; i < s_.length; ++i) {
      const int64_t group = out_.inverse[i];
      uint32_t& place = groups_.places[group];
      if (place == kNoPlace) place = static_cast<uint32_t>(seen++);
      if (out_.counts[place] == 0) {
        out_.counts[place] = groups_.sizes[group];
        out_.first[place] = i;
        copy(i, place, n);
      }
      out_.inverse[i] = place;
    }
    return n;
  }
  /// Slice `from` of x becomes slice `to` of the n of y.
  void copy(int64_t from, int64_t to, int64_t n) {
    for (int64_t outer = 0; outer < s_.outer; ++outer)
      std::memcpy(static_cast<Bits*>(out_.y) + (outer * n + to) * s_.inner, x_ + (outer * s_.length + from) * s_.inner,
                  static_cast<size_t>(s_.inner) * sizeof(Bits));
  }

  static constexpr uint32_t kNoPlace = ~0u;
  const UniqueShape& shape_;
  const LaneExtents& s_;
  const Bits* x_;
  const UniqueOutputs& out_;
  const Groups groups_;
  std::byte* memory_;
};

/// Calls use<T>() for a type with T's keys.
template <class F>
int64_t for_type(DType dtype, F use) {
  switch (dtype) {
    case DType::kF32: return use.template operator()<DType::kF32>();
    case DType::kF16: return use.template operator()<DType::kF16>();
    case DType::kBF16: return use.template operator()<DType::kBF16>();
    case DType::kI32: return use.template operator()<DType::kI32>();
    case DType::kI64: return use.template operator()<DType::kI64>();
    case DType::kI8: return use.template operator()<DType::kI8>();
    case DType::kU8:
    case DType::kBool: return use.template operator()<DType::kU8>();
    default: CHECK(!"a unique of a type without a sort key");
  }
  return 0;
}

int64_t run(const UniqueShape& shape, const void* x, const UniqueOutputs& outputs, std::byte* workspace) {
  return for_type(shape.dtype, [&]<DType T>() { return Run<T>(shape, x, outputs, workspace).run(); });
}
int64_t workspace_bytes(const UniqueShape& shape) {
  return for_type(shape.dtype, [&]<DType T>() { return Run<T>::bytes(shape.slices); });
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

int64_t unique_workspace(const UniqueShape& shape) { return KILN_DISPATCH(workspace_bytes)(shape); }

int64_t unique(const UniqueShape& shape, const void* x, const UniqueOutputs& outputs, std::byte* workspace) {
  return shape.slices.length == 0 ? 0 : KILN_DISPATCH(run)(shape, x, outputs, workspace);
}

}  // namespace kiln::cpu
#endif
