/// Selects and sorts the least keys of one row.
// Included once for each target, after highway.h: hence the toggled guard.
#if defined(KILN_CPU_SORT_SELECT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILN_CPU_SORT_SELECT_INL_H
#undef KILN_CPU_SORT_SELECT_INL_H
#else
#define KILN_CPU_SORT_SELECT_INL_H
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "backend/cpu/kernels/sort/top_k.h"
#include "ops/sort_key-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

__extension__ typedef unsigned __int128 Unsigned128;

/// A key above the index of its element: ordered by both.
template <class Key>
using Item = std::conditional_t<sizeof(Key) == 4, uint64_t, Unsigned128>;
constexpr int kIndexBits = 32;
template <class Key>
HWY_INLINE Item<Key> item_of(Key key, int64_t index) {
  return Item<Key>{key} << kIndexBits | static_cast<uint32_t>(index);
}

/// Elements of a type as they lie in memory, and their keys.
template <DType T>
struct Sorted {
  using Bits = std::conditional_t<
      bits_of(T) == 64, uint64_t,
      std::conditional_t<bits_of(T) == 32, uint32_t, std::conditional_t<bits_of(T) == 16, uint16_t, uint8_t>>>;
  using Key = std::conditional_t<bits_of(T) == 64, uint64_t, uint32_t>;
  static HWY_INLINE Key key(Bits bits) {
    namespace keys = kiln::HWY_NAMESPACE;
    if constexpr (T == DType::kF32) return keys::float_key<uint32_t>(bits, 0x7f800000);
    if constexpr (T == DType::kF16) return keys::float_key<uint16_t>(bits, 0x7c00);
    if constexpr (T == DType::kBF16) return keys::float_key<uint16_t>(bits, 0x7f80);
    if constexpr (T == DType::kU8) return bits;
    return keys::integer_key<Bits>(bits);
  }
};

/// Neighbouring elements as keys in which what comes first is least.
template <DType T>
struct Elements {
  using Key = typename Sorted<T>::Key;
  const typename Sorted<T>::Bits* x;
  Key flip;  ///< all ones where the greatest comes first
  HWY_INLINE Key operator()(int64_t i) const { return Sorted<T>::key(x[i]) ^ flip; }
};
/// Keys that were made before.
template <class K>
struct Keys {
  using Key = K;
  const Key* keys;
  HWY_INLINE Key operator()(int64_t i) const { return keys[i]; }
};

constexpr int64_t kScanned = 128;       // keys that one look passes over
constexpr int64_t kMostScanned = 4096;  // of k: beyond it digits are counted
constexpr int64_t kFew = 1024;          // of a row: below it everything is an item
constexpr int64_t scratch_items(int64_t k) { return 2 * k + kFew; }

inline bool scans(int64_t length, int64_t k) { return k <= kMostScanned && k <= length / 8; }

/// The k least of elements [begin, end), in any order, to `items`, which has room for scratch_items(k). There are k at
/// least.
template <class Row>
void scan(const Row& row, int64_t begin, int64_t end, int64_t k, Item<typename Row::Key>* items) {
  using Key = typename Row::Key;
  const int64_t full = scratch_items(k) - kScanned;
  int64_t count = 0;
  bool open = true;  // until k are there, all are taken
  Key limit = 0;
  const auto keep_least = [&] {
    std::nth_element(items, items + k - 1, items + count);
    limit = static_cast<Key>(items[k - 1] >> kIndexBits);
    count = k, open = false;
  };
  for (int64_t at = begin; at < end; at += kScanned) {
    const int64_t some = std::min(kScanned, end - at);
    Key keys[kScanned], least = static_cast<Key>(~Key{0});
    for (int64_t i = 0; i < some; ++i) {
      keys[i] = row(at + i);
      least = std::min(least, keys[i]);
    }
    if (!open && least >= limit) continue;
    for (int64_t i = 0; i < some; ++i)
      if (open || keys[i] < limit) items[count++] = item_of(keys[i], at + i);
    if (count >= full) keep_least();
  }
  if (count > k) keep_least();
}

constexpr int64_t kMostInserted = 16;  // of k: so few stay sorted while the row is read

template <class Key>
using KeyTag = hn::CappedTag<Key, 16>;

/// Keys [0, count) of a row of which `at` is the first, and after them some that are above all; `least` is the least.
template <class Key>
struct LookedAt {
  static constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(KeyTag<Key>()));
  Key keys[kScanned + kLanes];
  Key least = static_cast<Key>(~Key{0});

  template <class Row>
  HWY_INLINE LookedAt(const Row& row, int64_t at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      keys[i] = row(at + i);
      least = std::min(least, keys[i]);
    }
    hn::StoreU(hn::Set(KeyTag<Key>(), static_cast<Key>(~Key{0})), KeyTag<Key>(), keys + count);
  }
  /// The first key that is the least.
  HWY_INLINE int64_t find_least() const {
    const KeyTag<Key> d;
    for (int64_t i = 0;; i += kLanes)
      if (const intptr_t lane = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, keys + i), hn::Set(d, least))); lane >= 0)
        return i + lane;
  }
  /// Whether one of the kLanes keys from i on is below the limit.
  HWY_INLINE bool any_below(int64_t i, Key limit) const {
    const KeyTag<Key> d;
    return !hn::AllFalse(d, hn::Lt(hn::LoadU(d, keys + i), hn::Set(d, limit)));
  }
};

/// The k least of elements [begin, end), sorted, to `items`. 0 < k <= min(kMostInserted, end - begin).
template <class Row>
void insert_least(const Row& row, int64_t begin, int64_t end, int64_t k, Item<typename Row::Key>* items) {
  using Key = typename Row::Key;
  int64_t count = 0;
  Key limit = 0;  // the last one's key
  const auto insert = [&](Key key, int64_t index) {
    const Item<Key> item = item_of(key, index);
    int64_t place = count < k ? count++ : k - 1;
    for (; place > 0 && items[place - 1] > item; --place) items[place] = items[place - 1];
    items[place] = item;
    limit = static_cast<Key>(items[count - 1] >> kIndexBits);
  };
  for (int64_t at = begin; at < end; at += kScanned) {
    const int64_t some = std::min(kScanned, end - at);
    const LookedAt<Key> look(row, at, some);
    if (count == k && look.least >= limit) continue;
    if (k == 1) {
      insert(look.least, at + look.find_least());
      continue;
    }
    int64_t i = 0;
    for (; count < k && i < some; ++i) insert(look.keys[i], at + i);
    for (; i < some; i += look.kLanes)
      if (look.any_below(i, limit))
        for (int64_t j = i; j < i + look.kLanes; ++j)
          if (look.keys[j] < limit) insert(look.keys[j], at + j);
  }
}

/// The key of the k-th least element, and how many of the elements with this key are among the first k.
template <class Key>
struct Threshold {
  Key key = 0;
  int64_t ties = 0;
};
template <class Row>
Threshold<typename Row::Key> find_threshold(const Row& row, int64_t length, int64_t k) {
  using Key = typename Row::Key;
  constexpr int kBits = 8 * sizeof(Key), kDigit = 11;
  Threshold<Key> result{0, k};
  for (int high = kBits; high > 0; high -= std::min(high, kDigit)) {
    const int low = std::max(0, high - kDigit);
    const Key digits = static_cast<Key>((Key{1} << (high - low)) - 1);
    int64_t counts[1 << kDigit] = {};
    if (high == kBits)
      for (int64_t i = 0; i < length; ++i) ++counts[row(i) >> low];
    else
      for (int64_t i = 0; i < length; ++i)
        if (const Key key = row(i); (key ^ result.key) >> high == 0) ++counts[key >> low & digits];
    Key digit = 0;
    while (result.ties > counts[digit]) result.ties -= counts[digit++];
    result.key |= digit << low;
  }
  return result;
}

/// Sorts items whose indices ascend; `other` is as large. Returns which of the two has the result.
template <class Key>
Item<Key>* sort_by_digits(Item<Key>* items, Item<Key>* other, int64_t count) {
  constexpr int kDigits = sizeof(Key);
  int64_t counts[kDigits][256] = {};
  for (int64_t i = 0; i < count; ++i)
    for (int d = 0; d < kDigits; ++d) ++counts[d][static_cast<uint8_t>(items[i] >> (kIndexBits + 8 * d))];
  for (int d = 0; d < kDigits; ++d) {
    const int shift = kIndexBits + 8 * d;
    int64_t* starts = counts[d];
    if (starts[static_cast<uint8_t>(items[0] >> shift)] == count) continue;  // all have one digit
    int64_t sum = 0;
    for (int v = 0; v < 256; ++v) sum += std::exchange(starts[v], sum);
    for (int64_t i = 0; i < count; ++i) other[starts[static_cast<uint8_t>(items[i] >> shift)]++] = items[i];
    std::swap(items, other);
  }
  return items;
}

/// The k least elements of a row, sorted, somewhere in `scratch`, which has room for scratch_items(k). 0 < k <= length.
template <class Row>
const Item<typename Row::Key>* select(const Row& row, int64_t length, int64_t k, Item<typename Row::Key>* scratch) {
  using Key = typename Row::Key;
  if (k <= kMostInserted) {
    insert_least(row, 0, length, k, scratch);
    return scratch;
  }
  if (length <= kFew || scans(length, k)) {
    if (length <= kFew) {
      for (int64_t i = 0; i < length; ++i) scratch[i] = item_of(row(i), i);
      if (k < length) std::nth_element(scratch, scratch + k - 1, scratch + length);
    } else {
      scan(row, 0, length, k, scratch);
    }
    std::sort(scratch, scratch + k);
    return scratch;
  }
  int64_t count = 0;
  if (k == length) {
    for (; count < k; ++count) scratch[count] = item_of(row(count), count);
  } else {
    auto [limit, ties] = find_threshold(row, length, k);
    for (int64_t i = 0; i < length && count < k; ++i) {
      const Key key = row(i);
      if (key < limit || (key == limit && ties-- > 0)) scratch[count++] = item_of(key, i);
    }
  }
  return sort_by_digits<Key>(scratch, scratch + k, k);
}

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
