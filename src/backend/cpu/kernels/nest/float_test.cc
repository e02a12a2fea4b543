#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "backend/cpu/kernels/nest/kernel.h"
#include "backend/cpu/kernels/testing.h"
#include "ops/activation-inl.h"
#include "ops/element_wise-inl.h"
#include "ops/unary-inl.h"
#include "ops/with_scalar_fn.h"

namespace kiln::cpu {
namespace {

using enum ScalarFn;

/// How far a kernel may be from the exact value: `ulps` units of the result's last place and `of_x` of the argument's,
/// for functions that lose what cancels.
struct Bound {
  ScalarFn fn;
  double ulps, of_x = 0;
  double alpha = 0, beta = 0;
};

double ulp(double x) {
  const float f = std::fabs(static_cast<float>(x));
  if (!(f < INFINITY)) return std::ldexp(1.0, 104);
  return f < 1.17549435e-38f ? std::ldexp(1.0, -149) : std::ldexp(1.0, std::ilogb(f) - 23);
}
/// The error in multiples of what the bound allows; infinite where one is NaN or infinite and the other is not.
double excess(double exact, float found, double x, const Bound& bound) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(exact) || std::isnan(found)) return std::isnan(exact) && std::isnan(found) ? 0 : INFINITY;
  if (std::isinf(rounded) && rounded == found) return 0;
  if (std::isinf(found) && std::fabs(exact) < 3.4028e38) return INFINITY;
  const double allowed = bound.ulps * ulp(exact) + (bound.of_x ? bound.of_x * ulp(x) : 0);
  const double error = std::isinf(found) ? ulp(3.4e38) : std::fabs(exact - found);
  return error == 0 ? 0 : error / allowed;
}

/// A float in some thousands of all, every exponent and sign among them, and those where functions change.
std::vector<float> samples() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 39'119) x.push_back(std::bit_cast<float>(uint32_t(bits)));
  for (int i = -200'000; i <= 200'000; ++i) x.push_back(static_cast<float>(i) * 1e-4f);
  for (int i = -1200; i <= 1200; ++i) x.push_back(static_cast<float>(i) * 0.1f);
  for (const float special : {0.0f, 1.0f, 0.5f, 88.72f, 88.8f, 87.33f, 103.9f, 65536.0f, 1e-40f, INFINITY, NAN})
    for (const float sign : {1.0f, -1.0f}) x.push_back(sign * special);
  return x;
}

double reference(const Bound& bound, double x) {
  double y = 0;
  with_scalar_fn<kRelu, kGeluTanh>(bound.fn, [&]<ScalarFn kFn>() {
    y = HWY_NAMESPACE::activation<kFn>(x, double(float(bound.alpha)), double(float(bound.beta)));
  });
  with_scalar_fn<kExp, kErf>(bound.fn, [&]<ScalarFn kFn>() { y = HWY_NAMESPACE::unary<kFn>(x); });
  with_scalar_fn<kSign, kRound>(bound.fn, [&]<ScalarFn kFn>() { y = HWY_NAMESPACE::unary<kFn>(x); });
  return y;
}

constexpr Bound kBounds[] = {
    {kRelu, 0},
    {kSigmoid, 2.5},
    {kTanh, 2.5},
    {kLeakyRelu, 0.5, 0, 0.1},
    {kElu, 2.5, 0, 1.5},
    {kSelu, 3, 0, 1.67326, 1.0507},
    {kSoftsign, 1.5},
    {kSoftplus, 3, 0, 1, 1},
    {kClip, 0, 0, -2, 3},
    {kHardSigmoid, 1, 1, 0.2, 0.5},
    {kScaledTanh, 4, 0, 1.7159, 0.6667},
    {kThresholdedRelu, 0, 0, 1},
    {kGeluErf, 2, 1},
    {kGeluTanh, 3, 1},
    {kExp, 1.5},
    {kLog, 1.5},
    {kSqrt, 0.5},
    {kRecip, 0.5},
    {kAbs, 0},
    {kNeg, 0},
    {kSin, 2},
    {kCos, 2},
    {kTan, 0.51},
    {kSinh, 0.51},
    {kCosh, 0.51},
    {kAsin, 0.51},
    {kAcos, 0.51},
    {kAtan, 0.51},
    {kAsinh, 0.51},
    {kAcosh, 0.51},
    {kAtanh, 0.51},
    {kCeil, 0},
    {kFloor, 0},
    {kErf, 1.5},
    {kSign, 0},
    {kRound, 0},
};

TEST(NestFloat, EveryFunctionOfOneArgumentIsWithinItsBound) {
  const std::vector<float> x = samples();
  for_each_target([&] {
    for (const Bound& bound : kBounds) {
      std::vector<float> y(x.size());
      const NestKernel kernel = find_nest_kernel(bound.fn, DType::kF32);
      ASSERT_NE(kernel, nullptr) << name_of(bound.fn);
      kernel({{x.data()}, y.data(), static_cast<int64_t>(x.size()), bound.alpha, bound.beta});
      double worst = 0, worst_x = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double e = excess(reference(bound, x[i]), y[i], x[i], bound);
        if (e > worst) worst = e, worst_x = x[i];
      }
      EXPECT_LE(worst, 1) << name_of(bound.fn) << " of " << worst_x << " is off by " << worst << " times its bound";
    }
  });
}

/// Pairs of arguments, special values among them.
struct Pairs {
  std::vector<float> a, b;
};
Pairs pairs() {
  Pairs p;
  const std::vector<float> specials = {0.0f, -0.0f, 1.0f,  -1.0f,   2.0f, -2.5f,    0.5f,     3.0f,
                                       7.0f, -8.0f, 1e30f, -1e-30f, NAN,  INFINITY, -INFINITY};
  for (const float a : specials)
    for (const float b : specials) p.a.push_back(a), p.b.push_back(b);
  for (uint32_t seed = 0; seed < 2; ++seed) {
    const std::vector<float> more = random_floats(20'000, seed);
    for (const float x : more) (seed ? p.b : p.a).push_back(seed ? x * 20 : std::fabs(x) * 9);
  }
  return p;
}
double reference(ScalarFn fn, double a, double b) {
  double y = 0;
  with_scalar_fn<kSum, kFloorDiv>(fn, [&]<ScalarFn kFn>() { y = HWY_NAMESPACE::element_wise<kFn>(a, b); });
  return y;
}

TEST(NestFloat, EveryFunctionOfTwoArgumentsIsWithinItsBound) {
  constexpr Bound kTwo[] = {{kSum, 0.5}, {kProd, 0.5}, {kMax, 0}, {kMin, 0}, {kSub, 0.5}, {kDiv, 0.5}, {kPow, 0.51}};
  const Pairs p = pairs();
  for_each_target([&] {
    for (const Bound& bound : kTwo) {
      std::vector<float> y(p.a.size());
      find_nest_kernel(bound.fn, DType::kF32)({{p.a.data(), p.b.data()}, y.data(), int64_t(y.size()), 0, 0});
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_LE(excess(reference(bound.fn, p.a[i], p.b[i]), y[i], p.a[i], bound), 1)
            << name_of(bound.fn) << " of " << p.a[i] << ", " << p.b[i] << " gives " << y[i];
    }
  });
}
TEST(NestFloat, FloorDivFloorsTheRoundedQuotient) {
  const Pairs p = pairs();
  for_each_target([&] {
    std::vector<float> y(p.a.size());
    find_nest_kernel(kFloorDiv, DType::kF32)({{p.a.data(), p.b.data()}, y.data(), int64_t(y.size()), 0, 0});
    for (size_t i = 0; i < y.size(); ++i) {
      const float expected = std::floor(p.a[i] / p.b[i]);
      ASSERT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected))) << p.a[i] << " / " << p.b[i];
    }
  });
}
TEST(NestFloat, RemaindersAreExact) {
  Pairs p = pairs();
  for (const auto& [a, b] : {std::pair{3e38F, 0.1F}, {1e10F, 3.0F}, {-1e10F, 3.0F}, {5.0F, INFINITY}, {1e-40F, 3e-45F}})
    p.a.push_back(a), p.b.push_back(b);
  for_each_target([&] {
    std::vector<float> y(p.a.size());
    find_nest_kernel(kMod, DType::kF32)({{p.a.data(), p.b.data()}, y.data(), int64_t(y.size()), 0, 0});
    for (size_t i = 0; i < y.size(); ++i) {
      const double expected = std::fmod(double(p.a[i]), double(p.b[i]));
      ASSERT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected))) << p.a[i] << " mod " << p.b[i];
    }
  });
}
TEST(NestFloat, PowersThatNetworksHave) {
  const std::vector<float> x = samples();
  for_each_target([&] {
    for (const float exponent : {0.0f, 0.5f, 1.0f, 2.0f, 3.0f, -1.0f, -0.5f}) {
      const std::vector<float> exponents(x.size(), exponent);
      std::vector<float> y(x.size());
      find_nest_kernel(kPow, DType::kF32)({{x.data(), exponents.data()}, y.data(), int64_t(y.size()), 0, 0});
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_LE(excess(std::pow(double(x[i]), double(exponent)), y[i], x[i], {kPow, 1.5}), 1)
            << x[i] << " ^ " << exponent << " gives " << y[i];
    }
  });
}
TEST(NestFloat, ComparisonsAndClasses) {
  const Pairs p = pairs();
  const auto check = [&](ScalarFn fn, auto expected) {
    std::vector<int32_t> y(p.a.size(), 7);
    find_nest_kernel(fn, DType::kF32)({{p.a.data(), p.b.data()}, y.data(), int64_t(y.size()), 0, 0});
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], int32_t{expected(p.a[i], p.b[i])}) << name_of(fn) << " of " << p.a[i] << ", " << p.b[i];
  };
  for_each_target([&] {
    check(kEqual, [](float a, float b) { return a == b; });
    check(kGreater, [](float a, float b) { return a > b; });
    check(kLess, [](float a, float b) { return a < b; });
    check(kIsNan, [](float a, float) { return std::isnan(a); });
    check(kIsInf, [](float a, float) { return std::isinf(a); });
  });
}
TEST(NestFloat, EveryLengthAndNothingBeyond) {
  for_each_target([&] {
    for (int64_t count = 0; count <= 40; ++count) {
      const std::vector<float> x = random_floats(count, 3);
      std::vector<float> y(static_cast<size_t>(count) + 1, 99);
      find_nest_kernel(kNeg, DType::kF32)({{x.data()}, y.data(), count, 0, 0});
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], -x[i]);
      ASSERT_EQ(y.back(), 99);
    }
  });
}

}  // namespace
}  // namespace kiln::cpu
