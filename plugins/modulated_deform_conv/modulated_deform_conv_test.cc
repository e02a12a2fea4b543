#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"
#include "testing/reference_sampling.h"

namespace kiln::plugins::testing {
namespace {

/// A field's two numbers, in its order.
struct Pair {
  int32_t columns, rows;
};
struct Case {
  Pair stride, padding, dilation;
  int64_t groups, deformable;
  bool has_bias;
};
constexpr int64_t kBatch = 2, kChannels = 4, kHeight = 6, kWidth = 5, kFilters = 4, kRows = 3, kColumns = 2;

int64_t outputs(int64_t extent, int64_t kernel, int32_t Pair::*along, const Case& c) {
  return (extent + 2 * c.padding.*along - c.dilation.*along * (kernel - 1) - 1) / c.stride.*along + 1;
}
int64_t height_of(const Case& c) { return outputs(kHeight, kRows, &Pair::rows, c); }
int64_t width_of(const Case& c) { return outputs(kWidth, kColumns, &Pair::columns, c); }

Tensor expected(const Case& c, const std::vector<Tensor>& in) {
  const int64_t height = height_of(c), width = width_of(c), size = kRows * kColumns;
  Tensor y{{kBatch, kFilters, height, width}, {}};
  for (int64_t n = 0; n < kBatch; ++n)
    for (int64_t o = 0; o < kFilters; ++o)
      for (int64_t h = 0; h < height; ++h)
        for (int64_t w = 0; w < width; ++w) {
          double total = c.has_bias ? in[4].values[static_cast<size_t>(o)] : 0;
          const int64_t depth = kChannels / c.groups;
          for (int64_t k = 0; k < depth; ++k) {
            const int64_t channel = o / (kFilters / c.groups) * depth + k;
            const int64_t of = channel / (kChannels / c.deformable);
            const auto first = in[0].values.begin() + (n * kChannels + channel) * kHeight * kWidth;
            const std::vector<double> plane(first, first + kHeight * kWidth);
            for (int64_t e = 0; e < size; ++e) {
              const auto number = [&](const Tensor& x, int64_t index, int64_t count) {
                return x.values[static_cast<size_t>(((n * count + index) * height + h) * width + w)];
              };
              const int64_t at = of * size + e, all = c.deformable * size;
              const double row =
                  static_cast<double>(h * c.stride.rows - c.padding.rows + e / kColumns * c.dilation.rows) +
                  number(in[1], 2 * at, 2 * all);
              const double column =
                  static_cast<double>(w * c.stride.columns - c.padding.columns + e % kColumns * c.dilation.columns) +
                  number(in[1], 2 * at + 1, 2 * all);
              total += in[3].values[static_cast<size_t>((o * depth + k) * size + e)] * number(in[2], at, all) *
                       between_pixels_and_zeros(plane.data(), kHeight, kWidth, row, column);
            }
          }
          y.values.push_back(total);
        }
  return y;
}

class ModulatedDeformConv : public ::testing::TestWithParam<const char*> {};

Attributes attributes_of(const Case& c) {
  const auto numbers = [](Pair pair) { return std::vector<int32_t>{pair.columns, pair.rows}; };
  return Attributes()
      .set("stride", numbers(c.stride))
      .set("padding", numbers(c.padding))
      .set("dilation", numbers(c.dilation))
      .set("group", std::vector<int32_t>{static_cast<int32_t>(c.groups)})
      .set("deformable_group", std::vector<int32_t>{static_cast<int32_t>(c.deformable)});
}

std::vector<Tensor> inputs_of(const Case& c) {
  const int64_t height = height_of(c), width = width_of(c), points = c.deformable * kRows * kColumns;
  std::vector<Tensor> in = {noise({kBatch, kChannels, kHeight, kWidth}, 1),
                            noise({kBatch, 2 * points, height, width}, 2), noise({kBatch, points, height, width}, 3),
                            noise({kFilters, kChannels / c.groups, kRows, kColumns}, 4)};
  for (double& value : in[1].values) value *= 2;
  if (c.has_bias) in.push_back(noise({kFilters}, 5));
  return in;
}

TEST_P(ModulatedDeformConv, ReadsBesideThePixels) {
  for (const Case& c : {Case{{1, 1}, {0, 0}, {1, 1}, 1, 1, true}, Case{{2, 2}, {1, 1}, {1, 1}, 2, 1, false},
                        Case{{1, 1}, {2, 2}, {2, 2}, 1, 2, true}, Case{{1, 1}, {1, 1}, {1, 1}, 4, 4, false}}) {
    const std::vector<Tensor> in = inputs_of(c);
    expect_outputs("ModulatedDeformConv2d", GetParam(), attributes_of(c), in, {expected(c, in)}, 1e-4);
    expect_outputs("ModulatedDeformConv2d", GetParam(), attributes_of(c), in_halves(in), {in_halves(expected(c, in))},
                   kHalfTolerance);
  }
}

/// TensorRT's kernel takes the first number of each field for columns, and the second for rows.
TEST_P(ModulatedDeformConv, HasPairsOfTheWidthFirst) {
  for (const Case& c : {Case{{2, 1}, {0, 1}, {1, 2}, 1, 1, true}, Case{{1, 1}, {2, 0}, {1, 1}, 1, 1, false},
                        Case{{1, 2}, {1, 1}, {3, 1}, 2, 2, false}}) {
    const std::vector<Tensor> in = inputs_of(c);
    expect_outputs("ModulatedDeformConv2d", GetParam(), attributes_of(c), in, {expected(c, in)}, 1e-4);
  }
}

TEST_P(ModulatedDeformConv, RefusesWhatDoesNotFit) {
  const Case c{{1, 1}, {0, 0}, {1, 1}, 1, 1, true};
  const auto refusal = [&](size_t input, std::vector<int64_t> extents) {
    std::vector<Tensor> in = inputs_of(c);
    in[input] = noise(std::move(extents), 1);
    return error_of("ModulatedDeformConv2d", GetParam(), attributes_of(c), in);
  };
  // With a kernel of 3 x 2, an image of 6 x 5 gives 4 x 4.
  EXPECT_NE(refusal(0, {2, 4, 6, 7}).find("has to have an offset for each column of the convolution; it is 4, not 6"),
            std::string::npos);
  EXPECT_NE(refusal(0, {2, 4, 1, 5}).find("has to have an offset for each row of the convolution; it is 4, not 0"),
            std::string::npos);
  EXPECT_NE(refusal(2, {2, 6, 4, 3}).find("axis 3 of input 2 has to be as long as axis 3 of input 1; it is 3, not 4"),
            std::string::npos);
  EXPECT_NE(refusal(4, {3}).find("axis 0 of input 4 has to be as long as axis 0 of input 3; it is 3, not 4"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, ModulatedDeformConv, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
