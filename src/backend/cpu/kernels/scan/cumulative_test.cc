#include "backend/cpu/kernels/scan/cumulative.h"

#include <gtest/gtest.h>

#include <vector>

#include "backend/cpu/kernels/testing.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

/// Small numbers, whose sums are exact in every type; products are of -1 and 1.
std::vector<std::byte> elements(const CumulativeShape& s, int64_t count) {
  std::vector<std::byte> x(static_cast<size_t>(size_bytes(s.dtype, count)));
  uint64_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int64_t number = s.operation == CumulativeOperation::kProd ? (state >> 40 & 2) - 1 : (state >> 40) % 3 - 1;
    if (is_float(s.dtype))
      store_number(s.dtype, x.data(), i, static_cast<double>(number));
    else
      store_integer(s.dtype, x.data(), i, number);
  }
  return x;
}

void check(const CumulativeShape& s, int threads) {
  SCOPED_TRACE(str(s.outer, 'x', s.length, 'x', s.inner, ' ', name_of(s.dtype), " operation ",
                   static_cast<int>(s.operation), " exclusive ", s.exclusive, " reverse ", s.reverse));
  const int64_t count = s.outer * s.length * s.inner;
  const std::vector<std::byte> x = elements(s, count);
  std::vector<std::byte> y(x.size());
  Team team(threads);
  cumulative(team, s, x.data(), y.data());
  const View from(s.dtype, Extents{count}, x.data()), to(s.dtype, Extents{count}, y.data());
  const auto number = [&](const View& view, int64_t at) {
    return is_float(s.dtype) ? view[at] : static_cast<double>(view.integer(at));
  };
  for (int64_t row = 0; row < s.outer * s.inner; ++row) {
    double result = s.operation == CumulativeOperation::kSum ? 0 : 1;
    for (int64_t i = 0; i < s.length; ++i) {
      const int64_t along = s.reverse ? s.length - 1 - i : i;
      const int64_t at = (row / s.inner * s.length + along) * s.inner + row % s.inner;
      const double before = result, element = number(from, at);
      result = s.operation == CumulativeOperation::kSum ? result + element : result * element;
      ASSERT_EQ(number(to, at), s.exclusive ? before : result) << "row " << row << ", place " << along;
    }
  }
}

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kI64};

TEST(CumulativeKernel, EveryTypeAndWay) {
  for_each_target([] {
    for (const DType dtype : kTypes)
      for (const CumulativeOperation operation : {CumulativeOperation::kSum, CumulativeOperation::kProd})
        for (const bool exclusive : {false, true})
          for (const bool reverse : {false, true}) {
            check({3, 57, 19, dtype, operation, exclusive, reverse}, 2);
            check({19, 57, 1, dtype, operation, exclusive, reverse}, 2);
          }
  });
}
TEST(CumulativeKernel, StripsOfColumnsAndGroupsOfRows) {
  for_each_target([] {
    for (const int threads : {1, 2, 5}) {
      for (const int64_t inner : {2, 63, 64, 65, 1023, 1024, 1025, 2100}) check({2, 33, inner}, threads);
      for (const int64_t outer : {1, 7, 8, 9, 700}) check({outer, 130, 1}, threads);
      check({40'000, 1, 1}, threads);
      check({1, 70'000, 1}, threads);
      check({1, 1, 40'000}, threads);
    }
  });
}
TEST(CumulativeKernel, SumsOfFloatsAreDoubles) {
  for_each_target([] {
    Team team(1);
    for (const int64_t inner : {1, 2}) {
      const std::vector<float> x = {1e8f, 1e8f, 1, 1, -1e8f, -1e8f};  // [3, 2], or a row of six
      std::vector<float> y(6);
      cumulative(team, {1, 6 / inner, inner}, x.data(), y.data());
      EXPECT_EQ(y.back(), inner == 1 ? 2 : 1);
    }
  });
}
TEST(CumulativeKernel, Nothing) {
  check({0, 5, 2}, 1);
  check({3, 0, 2}, 1);
  check({3, 5, 0}, 1);
}

}  // namespace
}  // namespace kiln::cpu
