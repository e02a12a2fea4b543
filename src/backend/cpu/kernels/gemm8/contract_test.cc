#include "backend/cpu/kernels/gemm8/contract.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backend/cpu/device/cpu.h"
#include "backend/cpu/kernels/gemm8/winograd.h"

namespace kiln::cpu {
namespace {

/// A convolution of random bytes, and what it should give.
struct Problem {
  ByteShape shape;
  int64_t k, n;
  bool x_is_signed;
  int32_t x_zero = 0;
  uint8_t x_bits = 0xff;  ///< that bytes of x may have
  int w_divisor = 1;      ///< of weights, which are any without it
};

std::vector<uint8_t> random_bytes(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}
int32_t value_of(uint8_t byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : byte; }

/// The exact sum of output pixel `row` and column `j`. w is [n, taps, k], or [n, taps] of a depthwise convolution,
/// whose k is the channels.
int64_t sum_of(const Problem& p, const std::vector<uint8_t>& x, const std::vector<int8_t>& w, int64_t row, int64_t j) {
  const Window& win = p.shape.window;
  const Pixel at = pixel_of(win.out, row);
  int64_t sum = 0, tap = 0;
  for (int64_t z = 0; z < win.kernel[0]; ++z)
    for (int64_t y = 0; y < win.kernel[1]; ++y)
      for (int64_t c = 0; c < win.kernel[2]; ++c, ++tap) {
        const int64_t in[3] = {win.start(0, at.at[0]) + z * win.dilation[0],
                               win.start(1, at.at[1]) + y * win.dilation[1],
                               win.start(2, at.at[2]) + c * win.dilation[2]};
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) inside &= in[axis] >= 0 && in[axis] < win.in[axis];
        if (!inside) continue;
        const int64_t pixel = ((at.n * win.in[0] + in[0]) * win.in[1] + in[1]) * win.in[2] + in[2];
        if (p.shape.is_depthwise) {
          sum += (value_of(x[static_cast<size_t>(pixel * p.k + j)], p.x_is_signed) - p.x_zero) *
                 w[static_cast<size_t>(j * win.taps() + tap)];
          continue;
        }
        for (int64_t i = 0; i < p.k; ++i)
          sum += (value_of(x[static_cast<size_t>(pixel * p.k + i)], p.x_is_signed) - p.x_zero) *
                 w[static_cast<size_t>((j * win.taps() + tap) * p.k + i)];
      }
  return sum;
}

/// w in the order that `shape`, whose taps are chosen, wants it.
Result<PackedBytes> packed_for(const Problem& p, const ByteShape& shape, const std::vector<int8_t>& w) {
  const int64_t taps = shape.window.taps(), row = shape.window.kernel[2];
  if (shape.is_depthwise) return pack_bytes({w.data(), 1, taps}, taps, p.n);
  if (shape.taps == Taps::kPixels) return pack_bytes({w.data(), 1, taps * p.k, p.k}, p.k, p.n, taps);
  return pack_bytes({w.data(), 1, taps * p.k, row * p.k, p.k, p.k}, row * p.k, p.n, taps / row);
}

void check(const Problem& p) {
  const Window& win = p.shape.window;
  const int64_t rows = p.shape.n * win.out_pixels(), taps = win.taps();
  std::vector<uint8_t> x = random_bytes(p.shape.n * win.in_pixels() * p.k, 1);
  for (uint8_t& byte : x) byte &= p.x_bits;
  const std::vector<uint8_t> raw = random_bytes(p.n * taps * (p.shape.is_depthwise ? 1 : p.k), 2);
  std::vector<int8_t> w(raw.begin(), raw.end());
  for (int8_t& weight : w) weight = static_cast<int8_t>(weight / p.w_divisor);
  ByteShape shape = p.shape;
  if (!shape.is_depthwise) shape.taps = byte_taps(win, p.k);
  Result<PackedBytes> packed = packed_for(p, shape, w);
  ASSERT_TRUE(packed.has_value());
  const bool is_transformed = !shape.is_depthwise && suits_winograd(win, p.k, p.n);
  ASSERT_TRUE(!is_transformed || transform_weights(*packed, p.k).has_value());
  Team team(2);
  Result<AlignedFloats> workspace = AlignedFloats::zeros(contract_workspace_bytes(shape, packed->k, p.n, 2) / 4);
  std::vector<float> w_scale(static_cast<size_t>(p.n)), bias(static_cast<size_t>(p.n));
  for (size_t j = 0; j < w_scale.size(); ++j)
    w_scale[j] = 0.001F * static_cast<float>(j % 7 + 1), bias[j] = static_cast<float>(j % 5) - 2;
  const ByteScales scales{0.02F, p.x_zero, p.x_is_signed, w_scale.data(), false};
  Epilogue epilogue;
  epilogue.bias = bias.data();
  std::vector<float> floats(static_cast<size_t>(rows * p.n), -1);
  contract(team, shape, x.data(), *packed, scales, {.floats = floats.data()}, epilogue, workspace->data());
  std::vector<uint8_t> bytes(static_cast<size_t>(rows * p.n), 77);
  contract(team, shape, x.data(), *packed, scales,
           {.bytes = bytes.data(), .y_scale = 0.3F, .y_zero = 3, .y_is_signed = true}, epilogue, workspace->data());
  std::vector<float> residual(floats.size()), added(floats.size());
  for (size_t i = 0; i < residual.size(); ++i) residual[i] = static_cast<float>(i % 11) - 5;
  epilogue.residual = residual.data();
  epilogue.ldr = p.n;
  contract(team, shape, x.data(), *packed, scales, {.floats = added.data()}, epilogue, workspace->data());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t j = 0; j < p.n; ++j) {
      const auto at = static_cast<size_t>(r * p.n + j);
      const auto column = static_cast<size_t>(j);
      const double value =
          static_cast<double>(sum_of(p, x, w, r, j)) * double{0.02F} * double{w_scale[column]} + double{bias[column]};
      ASSERT_NEAR(floats[at], value, 1e-5 * std::abs(value) + 1e-5) << r << ", " << j;
      ASSERT_NEAR(added[at], value + double{residual[at]}, 1e-5 * std::abs(value) + 1e-4) << r << ", " << j;
      const double level = std::clamp(value / double{0.3F} + 3, -128.0, 127.0);
      ASSERT_LE(std::abs(static_cast<int8_t>(bytes[at]) - level), 0.501) << r << ", " << j;
    }
}

Window image(int64_t height, int64_t width, int64_t kernel, int64_t stride = 1) {
  Window w;
  const int64_t in[] = {1, height, width};
  for (int axis = 1; axis < 3; ++axis) {
    w.in[axis] = in[axis];
    w.kernel[axis] = kernel;
    w.stride[axis] = stride;
    w.pad[axis] = kernel / 2;
    w.out[axis] = (in[axis] + 2 * (kernel / 2) - kernel) / stride + 1;
  }
  return w;
}

class EveryTarget : public ::testing::TestWithParam<Target> {};
TEST_P(EveryTarget, Products) {
  const ScopedTarget scope(GetParam());
  for (const int64_t m : {1, 2, 3, 5, 13, 100})
    for (const int64_t k : {1, 3, 4, 31, 130})
      for (const int64_t n : {1, 31, 33, 300}) {
        Window rows;
        rows.in[2] = rows.out[2] = m;
        check({{1, rows}, k, n, m % 2 == 0, m % 3 == 0 ? 0 : 17});
      }
}
TEST_P(EveryTarget, Convolutions) {
  const ScopedTarget scope(GetParam());
  check({{2, image(7, 9, 3)}, 5, 40, false, 128});
  check({{1, image(8, 8, 3, 2)}, 16, 33, true, -3});
  check({{1, image(13, 11, 7, 2)}, 3, 64, true});
  check({{1, image(6, 6, 1)}, 64, 16, false, 255});
  check({{1, image(9, 9, 3)}, 40, 16, true, 5});
}
TEST_P(EveryTarget, ConvolutionsOverEdgesOfFewChannels) {
  const ScopedTarget scope(GetParam());
  check({{2, image(49, 40, 8)}, 1, 16, true, -7});
  check({{1, image(2, 3, 7)}, 3, 5, false, 9});  // windows larger than the image
  Window volume = image(6, 7, 3);
  volume.in[0] = 4, volume.kernel[0] = 2, volume.pad[0] = 1, volume.out[0] = 5;
  check({{2, volume}, 2, 20, true, 100});
  Window behind = image(5, 5, 2);  // padding behind the last pixels alone
  behind.pad[1] = behind.pad[2] = 0, behind.out[1] = behind.out[2] = 5;
  check({{2, behind}, 5, 20, false, 100});
}
TEST_P(EveryTarget, LinesOfAnyLength) {
  const ScopedTarget scope(GetParam());
  for (const int64_t width : {6, 7, 12, 13, 20, 21, 40, 96, 97})
    for (const int64_t columns : {5, 16, 17, 40})
      for (const int64_t stride : {1, 2}) {
        check({{2, image(5, width * stride, 3, stride)}, 3, columns, true, -9});
        check({{1, image(4, width * stride, 5, stride)}, 4, columns, false, 200});
      }
}
TEST_P(EveryTarget, ConvolutionsOfWideLines) {  // whose rows are not read where x lies (half_rows.h)
  const ScopedTarget scope(GetParam());
  for (const uint8_t x_bits : {uint8_t{0x7f}, uint8_t{0xff}}) {
    check({{1, image(1, 400, 3)}, 301, 17, true, 5, x_bits});
    check({{2, image(2, 190, 3, 2)}, 600, 5, false, 0, x_bits});
  }
}
TEST_P(EveryTarget, ConvolutionsThatSkipPixels) {
  const ScopedTarget scope(GetParam());
  for (const uint8_t x_bits : {uint8_t{0x7f}, uint8_t{0xff}})
    for (const int64_t channels : {1, 3, 6, 35}) {
      check({{3, image(11, 11, 1, 3)}, channels, 20, true, 3, x_bits});
      Window apart = image(9, 12, 3);
      for (int axis = 1; axis < 3; ++axis) apart.dilation[axis] = apart.pad[axis] = 2;
      check({{2, apart}, channels, 33, false, 0, x_bits});
    }
}
TEST_P(EveryTarget, DepthwiseConvolutions) {
  const ScopedTarget scope(GetParam());
  for (const int64_t channels : {1, 7, 16, 24, 32, 33, 72, 300})
    for (const int64_t kernel : {1, 3, 5})
      for (const bool is_signed : {false, true}) {
        const Window window = image(9, 7, kernel, kernel == 5 ? 2 : 1);
        check({{2, window, Taps::kPixels, true}, channels, channels, is_signed, is_signed ? -128 : 200});
      }
}
TEST_P(EveryTarget, DepthwiseSumsAtTheEndsOfBytes) {
  const ScopedTarget scope(GetParam());
  for (const int8_t weight : {int8_t{-128}, int8_t{127}})
    for (const bool is_signed : {false, true}) {
      const uint8_t x = is_signed ? 0x80 : 0xff;  // the farthest from zero
      const std::vector<uint8_t> pixels(4, x);
      const std::vector<int8_t> w(4, weight);
      Result<PackedBytes> packed = pack_bytes({w.data(), 1, 4}, 4, 1);
      ByteShape shape{.is_depthwise = true};
      shape.window.in[2] = shape.window.kernel[2] = 4;
      Team team(1);
      Result<AlignedFloats> workspace = AlignedFloats::zeros(contract_workspace_bytes(shape, 4, 1, 1) / 4);
      const float one = 1;
      float y = 0;
      contract(team, shape, pixels.data(), *packed, {1, 0, is_signed, &one, true}, {.floats = &y}, {},
               workspace->data());
      EXPECT_EQ(y, 4 * value_of(x, is_signed) * weight);
    }
}
TEST_P(EveryTarget, ConvolutionsOfThreeByThree) {
  const ScopedTarget scope(GetParam());
  for (const int64_t channels : {12, 16, 17, 48, 128})
    for (const int64_t columns : {16, 33, 100}) {
      check({{2, image(7, 8, 3)}, channels, columns, true, -5});
      check({{1, image(14, 13, 3)}, channels, columns, false, 130});
    }
  Window without_padding = image(6, 9, 3);
  without_padding.pad[1] = without_padding.pad[2] = 0;
  without_padding.out[1] = 4, without_padding.out[2] = 7;
  check({{1, without_padding}, 32, 16, true});
  Window below = image(6, 9, 3);  // one line of padding above, three below
  below.out[1] = 8;
  check({{1, below}, 32, 16, true, 3});
}
/// A 3x3 convolution of equal bytes by equal weights: whatever is between, sums are exact.
TEST_P(EveryTarget, ThreeByThreeAtTheEndsOfBytes) {
  const ScopedTarget scope(GetParam());
  constexpr int64_t kChannels = 128, kColumns = 16;
  const Window window = image(4, 4, 3);
  for (const int8_t weight : {int8_t{-128}, int8_t{127}})
    for (const bool is_signed : {false, true}) {
      const uint8_t byte = is_signed ? 0x80 : 0xff;  // the farthest from zero
      const std::vector<uint8_t> x(16 * kChannels, byte);
      const std::vector<int8_t> w(9 * kChannels * kColumns, weight);
      Result<PackedBytes> packed = pack_bytes({w.data(), 1, 9 * kChannels, kChannels}, kChannels, kColumns, 9);
      ASSERT_TRUE(!suits_winograd(window, kChannels, kColumns) || transform_weights(*packed, kChannels).has_value());
      const ByteShape shape{1, window};
      Team team(1);
      Result<AlignedFloats> workspace =
          AlignedFloats::zeros(contract_workspace_bytes(shape, kChannels, kColumns, 1) / 4);
      const float one = 1;
      std::vector<float> y(16 * kColumns);
      contract(team, shape, x.data(), *packed, {1, 0, is_signed, &one, true}, {.floats = y.data()}, {},
               workspace->data());
      const int64_t product = kChannels * value_of(byte, is_signed) * weight;
      EXPECT_EQ(y[0], 4 * product);             // a corner
      EXPECT_EQ(y[5 * kColumns], 9 * product);  // inside
    }
}
TEST(Winograd, IsForThreeByThreeWithoutVnni) {
  const ScopedTarget scope(Target::kAvx2);
  const bool is_x86 = target() == Target::kAvx2;
  EXPECT_EQ(suits_winograd(image(9, 9, 3), 64, 64), is_x86);
  EXPECT_FALSE(suits_winograd(image(9, 9, 3, 2), 64, 64));
  EXPECT_FALSE(suits_winograd(image(9, 9, 5), 64, 64));
  EXPECT_FALSE(suits_winograd(image(9, 9, 3), 3, 64));
  EXPECT_FALSE(suits_winograd(image(9, 9, 3), 256, 64));
  Window volume = image(9, 9, 3);
  volume.in[0] = volume.out[0] = 2;
  EXPECT_FALSE(suits_winograd(volume, 64, 64));
}
TEST_P(EveryTarget, BytesWithoutTheirHighestBit) {
  const ScopedTarget scope(GetParam());
  constexpr uint8_t kNotAbove127 = 0x7f;
  for (const bool is_signed : {false, true}) {
    for (const int64_t m : {6, 7, 100})
      for (const int64_t k : {1, 4, 9, 28, 130})
        for (const int64_t n : {8, 16, 49}) {
          Window rows;
          rows.in[2] = rows.out[2] = m;
          check({{1, rows}, k, n, is_signed, 0, kNotAbove127});
        }
    check({{2, image(9, 11, 3)}, 5, 40, is_signed, 0, kNotAbove127});
    check({{1, image(9, 11, 3)}, 48, 40, is_signed, 0, kNotAbove127});
  }
}
TEST_P(EveryTarget, SmallWeights) {  // whose products are joined (joined.h)
  const ScopedTarget scope(GetParam());
  for (const int divisor : {2, 4, 8, 16})
    for (const int64_t m : {6, 7, 100})
      for (const int64_t k : {4, 9, 28, 130}) {
        Window rows;
        rows.in[2] = rows.out[2] = m;
        check({{1, rows}, k, 49, false, 0, 0x7f, divisor});
        check({{1, image(9, 7, 3)}, k, 5, true, 0, 0x7f, divisor});
      }
}
TEST_P(EveryTarget, PartsWithAndWithoutGreatBytes) {
  const ScopedTarget scope(GetParam());
  constexpr int64_t kRows = 400, kDepth = 40;
  std::vector<uint8_t> x(kRows * kDepth, 127);
  x[0] = 255, x[kRows * kDepth - 1] = 128;  // in the first part and in the last one
  const std::vector<int8_t> w(kDepth, -128);
  Result<PackedBytes> packed = pack_bytes({w.data(), 1, kDepth}, kDepth, 1);
  ByteShape shape;
  shape.window.in[2] = shape.window.out[2] = kRows;
  Team team(2);
  Result<AlignedFloats> workspace = AlignedFloats::zeros(contract_workspace_bytes(shape, kDepth, 1, 2) / 4);
  const float one = 1;
  std::vector<float> y(kRows);
  contract(team, shape, x.data(), *packed, {1, 0, false, &one, true}, {.floats = y.data()}, {}, workspace->data());
  EXPECT_EQ(y[0], -128 * (39 * 127 + 255));
  for (int64_t r = 1; r + 1 < kRows; ++r) ASSERT_EQ(y[static_cast<size_t>(r)], -128 * 40 * 127) << r;
  EXPECT_EQ(y[kRows - 1], -128 * (39 * 127 + 128));
}
TEST_P(EveryTarget, ResidualsAndLimits) {
  const ScopedTarget scope(GetParam());
  constexpr int64_t kRows = 30, kDepth = 16, kColumns = 20;
  for (const uint8_t x_bits : {uint8_t{0x7f}, uint8_t{0xff}}) {
    std::vector<uint8_t> x = random_bytes(kRows * kDepth, 1);
    for (uint8_t& byte : x) byte &= x_bits;
    const std::vector<uint8_t> raw = random_bytes(kDepth * kColumns, 2);
    const std::vector<int8_t> w(raw.begin(), raw.end());
    Result<PackedBytes> packed = pack_bytes({w.data(), 1, kDepth}, kDepth, kColumns);
    Problem problem{{}, kDepth, kColumns, false};
    problem.shape.window.in[2] = problem.shape.window.out[2] = kRows;
    std::vector<float> residual(kRows * kColumns);
    for (size_t i = 0; i < residual.size(); ++i) residual[i] = static_cast<float>(i % 11) * 100;
    Epilogue epilogue{.residual = residual.data(), .ldr = kColumns, .lo = -2000, .hi = 3000};
    Team team(2);
    Result<AlignedFloats> workspace =
        AlignedFloats::zeros(contract_workspace_bytes(problem.shape, kDepth, kColumns, 2) / 4);
    const float one = 1;
    std::vector<float> y(kRows * kColumns);
    for (const bool with_residual : {true, false}) {
      if (!with_residual) epilogue.residual = nullptr;
      contract(team, problem.shape, x.data(), *packed, {1, 0, false, &one, true}, {.floats = y.data()}, epilogue,
               workspace->data());
      for (int64_t i = 0; i < kRows * kColumns; ++i) {
        const auto at = static_cast<size_t>(i);
        const auto sum = static_cast<float>(sum_of(problem, x, w, i / kColumns, i % kColumns));
        ASSERT_EQ(y[at], std::clamp(sum + (with_residual ? residual[at] : 0), -2000.F, 3000.F)) << i;
      }
    }
  }
}
TEST_P(EveryTarget, BytesSaturateWhateverTheLimits) {
  const ScopedTarget scope(GetParam());
  constexpr int64_t kRows = 8;
  const std::vector<uint8_t> x = {0, 1, 2, 3, 100, 200, 254, 255};
  const int8_t w = 1;
  Result<PackedBytes> packed = pack_bytes({&w, 1, 1}, 1, 1);
  ByteShape shape;
  shape.window.in[2] = shape.window.out[2] = kRows;
  Team team(1);
  Result<AlignedFloats> workspace = AlignedFloats::zeros(contract_workspace_bytes(shape, 1, 1, 1) / 4);
  const float one = 1;
  const auto run = [&](float lo, float hi, int32_t zero, bool is_signed) {
    std::vector<uint8_t> y(kRows);
    contract(team, shape, x.data(), *packed, {1, 0, false, &one, true},
             {.bytes = y.data(), .y_scale = 0.5F, .y_zero = zero, .y_is_signed = is_signed}, {.lo = lo, .hi = hi},
             workspace->data());
    std::vector<int> levels;
    for (const uint8_t byte : y) levels.push_back(value_of(byte, is_signed));
    return levels;
  };
  constexpr float kAny = std::numeric_limits<float>::infinity();
  EXPECT_EQ(run(-kAny, kAny, 0, false), (std::vector{0, 2, 4, 6, 200, 255, 255, 255}));
  EXPECT_EQ(run(-kAny, kAny, -128, true), (std::vector{-128, -126, -124, -122, 72, 127, 127, 127}));
  EXPECT_EQ(run(1, 2, 10, false), (std::vector{12, 12, 14, 14, 14, 14, 14, 14}));
  EXPECT_EQ(run(500, 600, 0, true), std::vector(8, 127));  // all limits beyond what a byte has
  EXPECT_EQ(run(-600, -500, 3, true), std::vector(8, -128));
}
TEST_P(EveryTarget, SumsThatPairsOf16BitsWouldSaturate) {
  const ScopedTarget scope(GetParam());
  std::vector<uint8_t> x(8, 255);
  const std::vector<int8_t> w(8, 127);
  Result<PackedBytes> packed = pack_bytes({w.data(), 1, 8}, 8, 1);
  ByteShape shape;
  Team team(1);
  Result<AlignedFloats> workspace = AlignedFloats::zeros(contract_workspace_bytes(shape, 8, 1, 1) / 4);
  const float one = 1;
  float y = 0;
  contract(team, shape, x.data(), *packed, {1, 0, false, &one, true}, {.floats = &y}, {}, workspace->data());
  EXPECT_EQ(y, 8 * 255 * 127);
}
INSTANTIATE_TEST_SUITE_P(Of, EveryTarget, ::testing::Values(Target::kAvx2, Target::kAvx512, Target::kNeon));

}  // namespace
}  // namespace kiln::cpu
