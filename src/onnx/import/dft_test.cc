// DFT and STFT against sums worked out term by term.
#include <cmath>
#include <complex>
#include <numbers>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;
using Complexes = std::vector<std::complex<double>>;

Doubles parts_of(const Complexes& numbers) {
  Doubles result;
  for (const auto& number : numbers) result.insert(result.end(), {number.real(), number.imag()});
  return result;
}
/// The first `count` outputs of a transform of `length`.
Complexes transformed(const Complexes& x, int length, int count, double sign = -1) {
  Complexes y(static_cast<size_t>(count));
  for (int k = 0; k < count; ++k)
    for (size_t t = 0; t < x.size() && t < static_cast<size_t>(length); ++t)
      y[static_cast<size_t>(k)] +=
          x[t] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(t) * k / length);
  return y;
}
void expect_near(const Doubles& actual, const Doubles& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(actual[i], wanted[i], 1e-5) << i;
}
const Doubles kReal{1, -2, 3, 0.5, 4};
const Complexes kSignal{{1, 2}, {-2, 0.5}, {3, -1}, {0.5, 0}, {4, 1}};

Fed real_signal() { return fed(kFloat, DType::kF32, {1, 5, 1}, kReal); }
Fed complex_signal() { return fed(kFloat, DType::kF32, {1, 5, 2}, parts_of(kSignal)); }

TEST(ImportDft, TakesLengthsThatPadAndCut) {
  const auto of = [&](int64_t length, std::initializer_list<Proto> attributes) {
    return numbers_of(run_nodes({node("DFT", {"a", "n"}, {"y"}, "d", attributes)}, {complex_signal()},
                                {tensor("n", kInt64, {}).text(field::tensor::kRawData, i64_bytes(length))}));
  };
  expect_near(of(5, {}), parts_of(transformed(kSignal, 5, 5)));
  expect_near(of(8, {}), parts_of(transformed(kSignal, 8, 8)));
  expect_near(of(3, {}), parts_of(transformed(kSignal, 3, 3)));
  expect_near(of(6, {int_attribute("onesided", 1)}), parts_of(transformed(kSignal, 6, 4)));
  Complexes back = transformed(kSignal, 5, 5, 1);
  for (auto& number : back) number /= 5;
  expect_near(of(5, {int_attribute("inverse", 1)}), parts_of(back));
}
TEST(ImportDft, BringsHalvesOfTransformsBackToRealNumbers) {
  for (const int length : {4, 5}) {
    const Doubles real(kReal.begin(), kReal.begin() + length);
    const Complexes half = transformed(Complexes(real.begin(), real.end()), length, length / 2 + 1);
    const Fed x = fed(kFloat, DType::kF32, {1, length / 2 + 1, 2}, parts_of(half));
    const Proto of = node("DFT", {"a", "n"}, {"y"}, "d", {int_attribute("onesided", 1), int_attribute("inverse", 1)});
    expect_near(
        numbers_of(run_nodes({of}, {x}, {tensor("n", kInt64, {}).text(field::tensor::kRawData, i64_bytes(length))})),
        real);
  }
}
TEST(ImportDft, TransformsAnyAxis) {
  const Fed x = fed(kFloat, DType::kF32, {2, 3, 1}, {1, 2, 3, 4, 5, 6});
  // Along the first axis: sums and differences of the rows.
  expect_near(numbers_of(run_nodes({node("DFT", {"a"}, {"y"}, "d", {int_attribute("axis", 0)})}, {x}, {}, 17)),
              {5, 0, 7, 0, 9, 0, -3, 0, -3, 0, -3, 0});
}
/// Pseudo-random numbers of which the transforms are known only by sums.
Complexes noise(int count) {
  Complexes result;
  uint32_t state = 1;
  const auto next = [&] { return static_cast<double>((state = state * 1664525 + 1013904223) >> 8) / (1 << 24) - 0.5; };
  for (int i = 0; i < count; ++i) {
    const double real = next();
    result.emplace_back(real, next());
  }
  return result;
}
/// The largest difference between a DFT of `count` numbers and the sums, of the largest sum.
double error_of(int count, int parts, std::initializer_list<Proto> attributes, int outputs, double sign = -1) {
  Complexes x = noise(count);
  Doubles given;
  for (auto& number : x) {
    if (parts == 1) number = number.real();
    given.push_back(number.real());
    if (parts == 2) given.push_back(number.imag());
  }
  const Fed fed_x = fed(kFloat, DType::kF32, {1, count, parts}, given);
  const Doubles y = numbers_of(run_nodes({node("DFT", {"a"}, {"y"}, "d", attributes)}, {fed_x}, {}, 17));
  Doubles wanted = parts_of(transformed(x, count, outputs, sign));
  if (sign > 0)
    for (double& number : wanted) number /= count;
  EXPECT_EQ(y.size(), wanted.size());
  double largest = 0, difference = 0;
  for (size_t i = 0; i < std::min(y.size(), wanted.size()); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    difference = std::max(difference, std::abs(y[i] - wanted[i]));
  }
  return difference / largest;
}

TEST(ImportDft, SplitsLongTransforms) {
  EXPECT_LT(error_of(2048, 1, {int_attribute("onesided", 1)}, 1025), 1e-6);
  EXPECT_LT(error_of(1500, 2, {}, 1500), 1e-6);
  EXPECT_LT(error_of(1500, 2, {int_attribute("inverse", 1)}, 1500, 1), 1e-6);
  EXPECT_LT(error_of(2 * 1009, 1, {int_attribute("onesided", 1)}, 1010), 2e-6);  // 2 and a prime
}
TEST(ImportDft, MakesConvolutionsOfTransformsOfPrimeLength) {
  EXPECT_LT(error_of(1031, 2, {}, 1031), 2e-6);
  EXPECT_LT(error_of(1031, 2, {int_attribute("inverse", 1)}, 1031, 1), 2e-6);
  EXPECT_LT(error_of(2053, 1, {int_attribute("onesided", 1)}, 1027), 2e-6);
}
TEST(ImportStft, CutsFramesAndWindowsThem) {
  const Fed window = fed(kFloat, DType::kF32, {3}, {0.5, 1, 0.25});
  const Doubles y = numbers_of(run_nodes({node("STFT", {"a", "step", "b"}, {"y"})}, {real_signal(), window},
                                         {tensor("step", kInt64, {}).text(field::tensor::kRawData, i64_bytes(2))}));
  Doubles wanted;
  for (const Complexes& frame : {Complexes{0.5, -2, 0.75}, Complexes{1.5, 0.5, 1}}) {
    const Doubles parts = parts_of(transformed(frame, 3, 2));
    wanted.insert(wanted.end(), parts.begin(), parts.end());
  }
  expect_near(y, wanted);
}
TEST(ImportDft, SaysWhatIsWrong) {
  const auto of = [](std::initializer_list<int64_t> extents, std::initializer_list<Proto> attributes) {
    return import_node(node("DFT", {"x"}, {"y"}, "d", attributes), {value("x", kFloat, extents)}, {}, 17);
  };
  EXPECT_EQ(of({1, 4, 3}, {}),
            "node 'd' (DFT) of x f32[1, 4, 3]: x is f32[1, 4, 3]; floats with a last axis of 1, or "
            "of 2 for complex numbers, are needed\n");
  EXPECT_EQ(of({1, 4, 2}, {int_attribute("axis", 2)}),
            "node 'd' (DFT) of x f32[1, 4, 2]: axis is 2 of x f32[1, 4, 2]; the last one holds parts of numbers\n");
  EXPECT_EQ(of({1, 4, 1}, {int_attribute("onesided", 1), int_attribute("inverse", 1)}),
            "node 'd' (DFT) of x f32[1, 4, 1]: x is f32[1, 4, 1]; an inverse transform with onesided takes complex "
            "numbers\n");
  EXPECT_EQ(of({1, 1, 2}, {int_attribute("onesided", 1), int_attribute("inverse", 1)}),
            "node 'd' (DFT) of x f32[1, 1, 2]: the length of the transform is 0; it must be positive\n");
  EXPECT_EQ(of({1, 40000000, 1}, {}),
            "node 'd' (DFT) of x f32[1, 40000000, 1]: a transform of length 40000000; at most 33554432 is supported\n");
}

}  // namespace
}  // namespace kiln::onnx
