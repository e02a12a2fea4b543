#include "backend/cpu/kernels/scan/non_zero.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#include "steps/non_zero.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/scan/non_zero.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kWord = 64;       // elements that a word has a bit for
constexpr int64_t kPart = 1 << 15;  // elements

/// Whether each of up to kWord elements has one of the bits `tested`.
template <class U>
HWY_INLINE uint64_t marks_of(const U* x, int64_t count, U tested) {
  const hn::ScalableTag<U> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  uint64_t word = 0;
  if (count == kWord) {
    const auto bits = hn::Set(d, tested);
    for (int64_t i = 0; i < kWord; i += lanes) {
      uint64_t some = 0;
      hn::StoreMaskBits(d, hn::Ne(hn::And(hn::LoadU(d, x + i), bits), hn::Zero(d)), reinterpret_cast<uint8_t*>(&some));
      word |= some << i;
    }
    return word;
  }
  for (int64_t i = 0; i < count; ++i) word |= uint64_t{(x[i] & tested) != 0} << i;
  return word;
}

/// Calls use(place) for each of a word's bits, the lowest first. Compressing vectors of indices (Highway 1.0.3,
/// AVX-512) took four times as long where half of the bits are set.
template <class F>
HWY_INLINE void for_each_bit(uint64_t word, F use) {
  for (; word != 0; word &= word - 1) use(std::countr_zero(word));
}

/// Coordinates of ascending linear indices.
class Coordinates {
 public:
  explicit Coordinates(const Extents& extents) : extents_(extents), inner_(extents.back()) {}
  void move_to(int64_t index) {
    if (index >= row_ + inner_) {
      int64_t rest = index / inner_;
      row_ = rest * inner_;
      for (size_t axis = extents_.size() - 1; axis-- > 0; rest /= extents_[axis]) at_[axis] = rest % extents_[axis];
    }
    at_[extents_.size() - 1] = index - row_;
  }
  int64_t operator[](size_t axis) const { return at_[axis]; }

 private:
  const Extents& extents_;
  const int64_t inner_;
  int64_t row_ = 0;  ///< the linear index of this row's first element
  std::array<int64_t, kMaxRank> at_{};
};

/// The indices of the elements that `count` words from word `begin` on have marked; the first is the `k`-th of n.
template <class Index>
void write_part(const NonZeroShape& s, const uint64_t* words, int64_t begin, int64_t count, Index* y, int64_t n,
                int64_t k) {
  const size_t rank = s.x.size();
  if (rank == 1) {
    y += k;
    for (int64_t i = 0; i < count; ++i)
      for_each_bit(words[i], [&](int bit) { *y++ = static_cast<Index>((begin + i) * kWord + bit); });
    return;
  }
  Coordinates at(s.x);
  for (int64_t i = 0; i < count; ++i)
    for_each_bit(words[i], [&](int bit) {
      at.move_to((begin + i) * kWord + bit);
      for (size_t axis = 0; axis < rank; ++axis) y[static_cast<int64_t>(axis) * n + k] = static_cast<Index>(at[axis]);
      ++k;
    });
}

template <class U>
int64_t run_typed(Team& team, const NonZeroShape& s, const U* x, void* y, std::byte* workspace) {
  const int64_t count = volume(s.x), num_words = ceil_div(count, kWord), parts = ceil_div(count, kPart);
  constexpr int64_t kWords = kPart / kWord;
  auto* words = reinterpret_cast<uint64_t*>(workspace);
  auto* starts = reinterpret_cast<int64_t*>(words + num_words);
  team.run(parts, [&](int64_t part, int) {
    int64_t sum = 0;
    for (int64_t w = part * kWords; w < std::min(num_words, (part + 1) * kWords); ++w) {
      words[w] = marks_of(x + w * kWord, std::min(kWord, count - w * kWord), static_cast<U>(value_bits(s.dtype)));
      sum += std::popcount(words[w]);
    }
    starts[part] = sum;
  });
  int64_t n = 0;
  for (int64_t part = 0; part < parts; ++part) n += std::exchange(starts[part], n);
  if (n > s.most || s.x.empty()) return n;
  team.run(parts, [&](int64_t part, int) {
    const int64_t begin = part * kWords, here = std::min(num_words - begin, kWords);
    const auto write = [&](auto* to) { write_part(s, words + begin, begin, here, to, n, starts[part]); };
    s.wide_indices ? write(static_cast<int64_t*>(y)) : write(static_cast<int32_t*>(y));
  });
  return n;
}

int64_t run(Team& team, const NonZeroShape& s, const void* x, void* y, std::byte* workspace) {
  switch (bits_of(s.dtype)) {
    case 8: return run_typed(team, s, static_cast<const uint8_t*>(x), y, workspace);
    case 16: return run_typed(team, s, static_cast<const uint16_t*>(x), y, workspace);
    case 32: return run_typed(team, s, static_cast<const uint32_t*>(x), y, workspace);
    default: return run_typed(team, s, static_cast<const uint64_t*>(x), y, workspace);
  }
}

int64_t workspace_bytes(const NonZeroShape& s) {
  const int64_t count = volume(s.x);
  return 8 * (ceil_div(count, kWord) + ceil_div(count, kPart));
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

int64_t non_zero_workspace(const NonZeroShape& shape) { return KILN_DISPATCH(workspace_bytes)(shape); }

int64_t non_zero(Team& team, const NonZeroShape& shape, const void* x, void* y, std::byte* workspace) {
  return volume(shape.x) == 0 ? 0 : KILN_DISPATCH(run)(team, shape, x, y, workspace);
}

}  // namespace kiln::cpu
#endif
