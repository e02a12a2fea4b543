#include "backend/cpu/kernels/lanes/reduce.h"

#include <gtest/gtest.h>

#include <bit>

#include "backend/cpu/kernels/lanes/testing.h"

namespace kiln::cpu {
namespace {

constexpr Reduction kKinds[] = {Reduction::kSum, Reduction::kProd, Reduction::kMax, Reduction::kMin};

double combine(Reduction kind, double a, double b) {
  switch (kind) {
    case Reduction::kProd: return a * b;
    case Reduction::kMax: return std::max(a, b);
    case Reduction::kMin: return std::min(a, b);
    default: return a + b;
  }
}

void check(Reduction kind, const ReduceShape& s, DType in, DType out, int64_t divisor = 1) {
  const int64_t count = s.outer * s.inner;
  TestTensor x = TestTensor::random(in, count * s.length, 11, kind == Reduction::kProd ? 0.02f : 1,
                                    kind == Reduction::kProd ? 1 : 0);
  TestTensor y(out, count);
  Team team(2);
  reduce(team, kind, s, in, x.data(), out, y.data(), divisor);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i) {
      const auto at = [&](int64_t k) { return x[(o * s.length + k) * s.inner + i]; };
      double wanted = at(0), magnitude = std::fabs(at(0));
      for (int64_t k = 1; k < s.length; ++k) {
        wanted = combine(kind, wanted, at(k));
        magnitude += std::fabs(at(k));
      }
      wanted /= static_cast<double>(divisor);
      magnitude /= static_cast<double>(divisor);
      // Sums: at most 64 additions a partial sum and 64 partial sums in f32, whatever the length. Products: their
      // length.
      double bound = y.rounding(wanted) + std::fabs(wanted) * 0x1p-23;
      if (kind == Reduction::kSum) bound += sum_error(128, magnitude);
      if (kind == Reduction::kProd) bound += std::fabs(wanted) * sum_error(static_cast<double>(s.length), 1);
      ASSERT_NEAR(y[o * s.inner + i], wanted, bound)
          << static_cast<int>(kind) << " [" << s.outer << ", " << s.length << ", " << s.inner << "] " << name_of(in);
    }
}

TEST(LanesReduce, Shapes) {
  for_each_target([] {
    for (const Reduction kind : kKinds)
      for (const DType dtype : kFloatTypes)
        for (const int64_t length : {1, 2, 7, 16, 33, 129})
          for (const int64_t inner : {1, 2, 5, 8, 16, 19, 32, 67, 100, 128, 131}) {
            check(kind, {1, length, inner}, dtype, dtype);
            check(kind, {3, length, inner}, dtype, dtype);
          }
  });
}
TEST(LanesReduce, LongLanesInChunks) {
  for_each_target([] {
    for (const Reduction kind : kKinds) {
      check(kind, {1, 200'003, 1}, DType::kF32, DType::kF32);
      check(kind, {2, 20'011, 21}, DType::kF32, DType::kF32);
      check(kind, {1, 3'001, 131}, DType::kF32, DType::kF32);
    }
  });
}
TEST(LanesReduce, Averages) {
  for_each_target([] {
    check(Reduction::kSum, {2, 49, 1280}, DType::kF32, DType::kF32, 49);
    check(Reduction::kSum, {70, 49, 1}, DType::kF32, DType::kF32, 49);
    check(Reduction::kSum, {5, 300, 1}, DType::kF16, DType::kF16, 300);
    check(Reduction::kSum, {5, 30, 7}, DType::kBF16, DType::kF32, 30);
    check(Reduction::kSum, {5, 30, 7}, DType::kF32, DType::kF16, 30);
  });
}
TEST(LanesReduce, ErrorDoesNotGrowWithLength) {
  const int64_t length = 1 << 22;
  const std::vector<float> x(static_cast<size_t>(length), 0.1f);
  float y = 0;
  Team team(2);
  for_each_target([&] {
    reduce(team, Reduction::kSum, {1, length, 1}, DType::kF32, x.data(), DType::kF32, &y);
    EXPECT_NEAR(y / (0.1 * static_cast<double>(length)), 1, 3e-7);
  });
}
TEST(LanesReduce, NanAnywhereGivesNan) {
  Team team(1);
  for_each_target([&] {
    for (const Reduction kind : kKinds)
      for (const int64_t inner : {1, 3})
        for (int64_t at = 0; at < 41; ++at) {
          std::vector<float> x(static_cast<size_t>(41 * inner), 2), y(static_cast<size_t>(inner));
          x[static_cast<size_t>(at * inner)] = NAN;
          reduce(team, kind, {1, 41, inner}, DType::kF32, x.data(), DType::kF32, y.data());
          EXPECT_TRUE(std::isnan(y[0])) << at;
          if (inner > 1) {
            EXPECT_FALSE(std::isnan(y[1])) << at;
          }
        }
  });
}
TEST(LanesReduce, RoundsAsTheReferenceDoes) {  // [n, 1, 7] folds to itself: a conversion
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 65'521)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const float special : {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 65519.0f, 65520.0f, 1.00390625f, 1.01171875f})
    x.push_back(special);
  x.resize(x.size() / 7 * 7);
  const auto count = static_cast<int64_t>(x.size());
  Team team(1);
  for_each_target([&] {
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      TestTensor y(dtype, count), wanted(dtype, count);
      reduce(team, Reduction::kMax, {count / 7, 1, 7}, DType::kF32, x.data(), dtype, y.data());
      for (int64_t i = 0; i < count; ++i) {
        wanted.set(i, x[static_cast<size_t>(i)]);
        if (std::isnan(wanted[i]))
          ASSERT_TRUE(std::isnan(y[i])) << i;
        else
          ASSERT_EQ(y[i], wanted[i]) << i << " " << x[static_cast<size_t>(i)];
      }
    }
  });
}
TEST(LanesReduce, Nothing) {
  Team team(1);
  const auto run = [&](Reduction kind, int64_t inner, int64_t divisor = 1) {
    std::vector<float> y(static_cast<size_t>(inner), 5);
    reduce(team, kind, {1, 0, inner}, DType::kF32, y.data(), DType::kF32, y.data(), divisor);
    return y[0];
  };
  for (const int64_t inner : {1, 3}) {
    EXPECT_EQ(run(Reduction::kSum, inner), 0);
    EXPECT_EQ(run(Reduction::kProd, inner), 1);
    EXPECT_EQ(run(Reduction::kMax, inner), -INFINITY);
    EXPECT_EQ(run(Reduction::kMin, inner), INFINITY);
    EXPECT_TRUE(std::isnan(run(Reduction::kSum, inner, 0)));
  }
  int32_t least = 0;
  reduce(team, Reduction::kMax, {1, 0, 1}, DType::kI32, &least, DType::kI32, &least);
  EXPECT_EQ(least, INT32_MIN);
}
template <class T>
void check_integers(DType dtype) {
  Team team(2);
  for (const ReduceShape& s : {ReduceShape{3, 7, 1}, {3, 7, 5}, {1, 40'000, 2}, {2, 3, 200}, {700, 33, 1}}) {
    std::vector<T> x(static_cast<size_t>(s.outer * s.length * s.inner)), y(static_cast<size_t>(s.outer * s.inner));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 2654435761u % 19) - 9;
    reduce(team, Reduction::kSum, s, dtype, x.data(), dtype, y.data(), 3);
    for (int64_t o = 0; o < s.outer; ++o)
      for (int64_t i = 0; i < s.inner; ++i) {
        int64_t sum = 0;
        for (int64_t k = 0; k < s.length; ++k) sum += x[static_cast<size_t>((o * s.length + k) * s.inner + i)];
        ASSERT_EQ(y[static_cast<size_t>(o * s.inner + i)], sum / 3);
      }
  }
}
TEST(LanesReduce, Integers) {
  check_integers<int32_t>(DType::kI32);
  check_integers<int64_t>(DType::kI64);
  Team team(1);
  const int32_t wraps[] = {INT32_MAX, 2};
  int32_t y = 0;
  reduce(team, Reduction::kSum, {1, 2, 1}, DType::kI32, wraps, DType::kI32, &y);
  EXPECT_EQ(y, INT32_MIN + 1);
  const int64_t large[] = {int64_t{1} << 40, 3, -7};
  int64_t z = 0;
  reduce(team, Reduction::kProd, {1, 3, 1}, DType::kI64, large, DType::kI64, &z);
  EXPECT_EQ(z, -21 * (int64_t{1} << 40));
  reduce(team, Reduction::kMin, {1, 3, 1}, DType::kI64, large, DType::kI64, &z);
  EXPECT_EQ(z, -7);
}
TEST(LanesReduce, SameBitsForAllTeams) {
  for (const ReduceShape& s : {ReduceShape{1, 300'007, 1}, {301, 129, 1}, {1, 5'003, 40}, {3, 65, 700}})
    expect_same_bits_for_team_sizes([&](Team& team) {
      const std::vector<float> x = random_floats(s.outer * s.length * s.inner, 3);
      std::vector<float> y(static_cast<size_t>(s.outer * s.inner));
      reduce(team, Reduction::kSum, s, DType::kF32, x.data(), DType::kF32, y.data());
      return y;
    });
}

}  // namespace
}  // namespace kiln::cpu
