#include "backend/cpu/kernels/product/product_in_kind.h"

#include <gtest/gtest.h>

#include <random>

#include "backend/cpu/kernels/testing.h"
#include "base/str.h"

namespace kiln::cpu {
namespace {

using ops::MatrixOp;

template <class T>
std::vector<T> random_numbers(int64_t count, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> result(static_cast<size_t>(count));
  for (T& x : result) {
    const uint64_t bits = engine();
    x = std::is_integral_v<T> ? static_cast<T>(bits) : static_cast<T>(static_cast<double>(bits) * 0x1p-64 - 0.5);
  }
  return result;
}

template <class T>
T sum_of_products(const T* a, int64_t a_k, const T* b, int64_t b_k, int64_t terms) {
  if constexpr (std::is_integral_v<T>) {
    uint64_t sum = 0;
    for (int64_t k = 0; k < terms; ++k) sum += static_cast<uint64_t>(a[k * a_k]) * static_cast<uint64_t>(b[k * b_k]);
    return static_cast<T>(sum);
  } else {
    long double sum = 0;
    for (int64_t k = 0; k < terms; ++k) sum += static_cast<long double>(a[k * a_k]) * b[k * b_k];
    return static_cast<T>(sum);
  }
}

template <class T>
void check(DType dtype, const ops::MatrixMultiply& op, const Extents& left, const Extents& right) {
  ProductShape s = ProductShape::of(op, left, right);
  const std::vector<T> a = random_numbers<T>(volume(left), 3), b = random_numbers<T>(volume(right), 5);
  int64_t batches = 1;
  for (const ProductAxis& axis : s.axes) batches *= axis.extent;
  const auto run = [&](int size) {
    Team team(size);
    std::vector<T> y(static_cast<size_t>(batches * s.m * s.n), static_cast<T>(77));
    product_in_kind(team, s, dtype, a.data(), b.data(), y.data());
    return y;
  };
  const std::vector<T> y = run(1);
  EXPECT_EQ(y, run(3)) << "by a team of 3";
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t at_a = 0, at_b = 0, rest = batch;
    for (const ProductAxis& axis : s.axes) {
      at_a += rest % axis.extent * axis.a, at_b += rest % axis.extent * axis.b;
      rest /= axis.extent;
    }
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        const T want =
            sum_of_products(a.data() + at_a + i * s.a_row, s.a_k, b.data() + at_b + j * s.b_column, s.b_k, s.k);
        const T found = y[static_cast<size_t>((batch * s.m + i) * s.n + j)];
        if constexpr (std::is_integral_v<T>)
          ASSERT_EQ(found, want) << str(dtype, " of ", left, " and ", right, " at ", batch, ", ", i, ", ", j);
        else
          ASSERT_NEAR(found, want, 1e-16 * static_cast<double>(s.k + 1))
              << str(dtype, " of ", left, " and ", right, " at ", batch, ", ", i, ", ", j);
      }
  }
}
void check_kinds(const ops::MatrixMultiply& op, const Extents& left, const Extents& right) {
  check<double>(DType::kF64, op, left, right);
  check<int32_t>(DType::kI32, op, left, right);
  check<int64_t>(DType::kI64, op, left, right);
}

TEST(ProductInKind, Shapes) {
  for_each_target([] {
    for (const int64_t m : {1, 2, 3, 4, 5, 67})
      for (const int64_t n : {1, 3, 4, 8, 15, 16, 17, 32, 50})
        for (const int64_t k : {0, 1, 2, 255, 256, 257, 600}) {
          check_kinds({}, {m, k}, {k, n});
          if (k == 257) {
            check_kinds({MatrixOp::kTranspose, MatrixOp::kNone}, {k, m}, {k, n});
            check_kinds({MatrixOp::kNone, MatrixOp::kTranspose}, {m, k}, {n, k});
            check_kinds({MatrixOp::kTranspose, MatrixOp::kTranspose}, {k, m}, {n, k});
          }
        }
  });
}
TEST(ProductInKind, ManyParts) {  // more rows, and more columns, than a part takes
  for_each_target([] {
    check_kinds({}, {150, 400}, {400, 70});
    check_kinds({}, {3, 40}, {40, 2500});
    check_kinds({}, {5000, 3}, {3, 20});
  });
}
TEST(ProductInKind, BatchesAndVectors) {
  for_each_target([] {
    check_kinds({}, {3, 1, 5, 7}, {1, 2, 7, 4});
    check_kinds({}, {2, 3, 5, 7}, {2, 1, 7, 20});
    check_kinds({}, {0, 5, 7}, {1, 7, 4});
    check_kinds({MatrixOp::kVector, MatrixOp::kNone}, {3, 70}, {3, 70, 33});
    check_kinds({MatrixOp::kNone, MatrixOp::kVector}, {3, 33, 70}, {3, 70});
    check_kinds({MatrixOp::kVector, MatrixOp::kVector}, {3, 70}, {3, 70});
  });
}
TEST(ProductInKind, NanAndInfinityStayWhereTheyAre) {
  for_each_target([] {
    std::vector<double> a(5 * 7, 1), b(7 * 19, 1), y(5 * 19);
    a[2 * 7 + 3] = NAN, b[4 * 19 + 18] = INFINITY;
    Team team(1);
    product_in_kind(team, ProductShape::of({}, {5, 7}, {7, 19}), DType::kF64, a.data(), b.data(), y.data());
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t j = 0; j < 19; ++j) {
        const double found = y[static_cast<size_t>(i * 19 + j)];
        if (i == 2)
          EXPECT_TRUE(std::isnan(found)) << j;
        else
          EXPECT_EQ(found, j == 18 ? INFINITY : 7) << i << ", " << j;
      }
  });
}

}  // namespace
}  // namespace kiln::cpu
