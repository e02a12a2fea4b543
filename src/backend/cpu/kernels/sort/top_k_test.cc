#include "backend/cpu/kernels/sort/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backend/cpu/kernels/lanes/testing.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

/// Elements of which many are equal, and some NaN or infinite.
std::vector<std::byte> elements(DType dtype, int64_t count, int64_t different) {
  std::vector<std::byte> x(static_cast<size_t>(size_bytes(dtype, count)));
  uint64_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto chance = static_cast<int64_t>(state >> 33);
    const int64_t number = chance % different - different / 2;
    if (!is_float(dtype))
      store_integer(dtype, x.data(), i, number);
    else
      store_number(dtype, x.data(), i, chance % 97 == 0 ? NAN : chance % 89 == 0 ? INFINITY : double(number) / 8);
  }
  return x;
}

/// The order of a row, by comparing numbers.
std::vector<int64_t> sorted(const TopKShape& s, const View& x, int64_t first) {
  std::vector<int64_t> order(static_cast<size_t>(s.length));
  std::iota(order.begin(), order.end(), 0);
  const auto above = [&](int64_t i, int64_t j) {
    if (!is_float(s.dtype)) return x.integer(i) > x.integer(j);
    return x[i] > x[j] || (std::isnan(x[i]) && !std::isnan(x[j]));
  };
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    const int64_t i = first + a * s.inner, j = first + b * s.inner;
    return s.largest ? above(i, j) : above(j, i);
  });
  return order;
}

void check(const TopKShape& s, int64_t different = 1'000'000, int threads = 3) {
  SCOPED_TRACE(str(s.outer, 'x', s.length, 'x', s.inner, " k ", s.k, ' ', name_of(s.dtype), " largest ", s.largest));
  const std::vector<std::byte> x = elements(s.dtype, s.outer * s.length * s.inner, different);
  const int64_t count = s.outer * s.k * s.inner;
  std::vector<std::byte> values(static_cast<size_t>(size_bytes(s.dtype, count)));
  std::vector<int64_t> wide(static_cast<size_t>(count));
  std::vector<int32_t> narrow(static_cast<size_t>(count));
  Team team(threads);
  std::vector<std::max_align_t> workspace(static_cast<size_t>(top_k_workspace(team, s)) / sizeof(std::max_align_t) + 1);
  top_k(team, s, x.data(), values.data(), s.wide_indices ? static_cast<void*>(wide.data()) : narrow.data(),
        reinterpret_cast<std::byte*>(workspace.data()));
  const View from(s.dtype, Extents{s.outer * s.length * s.inner}, x.data());
  const auto bytes = static_cast<size_t>(bits_of(s.dtype) / 8);
  for (int64_t row = 0; row < s.outer * s.inner; ++row) {
    const int64_t first = row / s.inner * s.length * s.inner + row % s.inner;
    const std::vector<int64_t> order = sorted(s, from, first);
    for (int64_t i = 0; i < s.k; ++i) {
      const auto at = static_cast<size_t>((row / s.inner * s.k + i) * s.inner + row % s.inner);
      const int64_t wanted = order[static_cast<size_t>(i)];
      ASSERT_EQ(s.wide_indices ? wide[at] : narrow[at], wanted) << "row " << row << ", place " << i;
      ASSERT_EQ(std::memcmp(values.data() + at * bytes,
                            x.data() + static_cast<size_t>(first + wanted * s.inner) * bytes, bytes),
                0);
    }
  }
}

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kI64, DType::kI8, DType::kU8};

TEST(TopKKernel, EveryType) {
  for_each_target([] {
    for (const DType dtype : kTypes)
      for (const bool largest : {true, false}) {
        check({3, 1000, 1, 17, largest, dtype});        // every element an item
        check({2, 5000, 1, 40, largest, dtype, true});  // scanned
        check({2, 5000, 1, 3000, largest, dtype});      // digits counted
        check({1, 5000, 1, 5000, largest, dtype});      // sorted
        check({2, 1500, 19, 5, largest, dtype});        // turned
        check({2, 1200, 3, 900, largest, dtype, true});
      }
  });
}
TEST(TopKKernel, LengthsAndCounts) {
  for_each_target([] {
    for (const int64_t length : {1, 2, 127, 128, 129, 1023, 1024, 1025, 4096, 9001})
      for (const int64_t k : {int64_t{1}, int64_t{2}, length / 8, length / 8 + 1, length - 1, length})
        if (k > 0 && k <= length)
          for (const int64_t different : {1, 3, 1'000'000}) check({2, length, 1, k}, different);
  });
}
TEST(TopKKernel, FewOfShortRows) {
  for_each_target([] {
    for (const int64_t rows : {5, 83})
      for (const int64_t k : {1, 2, 16, 17})
        for (const bool largest : {true, false}) {
          for (const int64_t length : {1, 3, 16, 33, 127, 128, 129, 257})
            for (const int64_t different : {1, 3, 1'000'000})
              if (k <= length) check({rows, length, 1, k, largest}, different, 1);
          for (const DType dtype : kTypes) check({rows, 19, 1, k, largest, dtype, k == 2}, 3);
        }
  });
}
TEST(TopKKernel, FewOfRowsSideBySide) {
  for_each_target([] {
    for (const int64_t k : {1, 2, 16, 17})
      for (const bool largest : {true, false}) {
        for (const int64_t inner : {7, 8, 64, 150})
          for (const int64_t different : {1, 3, 1'000'000}) check({2, 41, inner, k, largest}, different, 1);
        for (const DType dtype : kTypes) check({2, k + 3, 67, k, largest, dtype, k == 2}, 3);
        check({3, k, 9, k, largest}, 3);
      }
  });
}
TEST(TopKKernel, LongRowsInChunks) {
  for_each_target([] {
    for (const int threads : {1, 2, 5})
      for (const int64_t different : {2, 1'000'000}) {
        check({1, 200'003, 1, 300}, different, threads);
        check({3, 70'001, 1, 1, false}, different, threads);
        check({1, 100'000, 1, 4096}, different, threads);
      }
  });
}
TEST(TopKKernel, Nothing) {
  check({3, 5, 1, 0});
  check({0, 5, 1, 2});
  check({3, 0, 2, 0});
}

}  // namespace
}  // namespace kiln::cpu
