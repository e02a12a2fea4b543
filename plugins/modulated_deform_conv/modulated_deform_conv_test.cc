#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"
#include "testing/reference_sampling.h"

namespace kiln::plugins::testing {
namespace {

struct Case {
  int64_t stride, padding, dilation, groups, deformable;
  bool has_bias;
};
constexpr int64_t kBatch = 2, kChannels = 4, kHeight = 6, kWidth = 5, kFilters = 4, kRows = 3, kColumns = 2;

int64_t outputs(int64_t extent, int64_t kernel, const Case& c) {
  return (extent + 2 * c.padding - c.dilation * (kernel - 1) - 1) / c.stride + 1;
}

Tensor expected(const Case& c, const std::vector<Tensor>& in) {
  const int64_t height = outputs(kHeight, kRows, c), width = outputs(kWidth, kColumns, c), size = kRows * kColumns;
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
              const double row = static_cast<double>(h * c.stride - c.padding + e / kColumns * c.dilation) +
                                 number(in[1], 2 * at, 2 * all);
              const double column = static_cast<double>(w * c.stride - c.padding + e % kColumns * c.dilation) +
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

TEST_P(ModulatedDeformConv, ReadsBesideThePixels) {
  for (const Case& c :
       {Case{1, 0, 1, 1, 1, true}, Case{2, 1, 1, 2, 1, false}, Case{1, 2, 2, 1, 2, true}, Case{1, 1, 1, 4, 4, false}}) {
    const int64_t height = outputs(kHeight, kRows, c), width = outputs(kWidth, kColumns, c);
    const int64_t points = c.deformable * kRows * kColumns;
    std::vector<Tensor> in = {noise({kBatch, kChannels, kHeight, kWidth}, 1),
                              noise({kBatch, 2 * points, height, width}, 2), noise({kBatch, points, height, width}, 3),
                              noise({kFilters, kChannels / c.groups, kRows, kColumns}, 4)};
    for (double& value : in[1].values) value *= 2;
    in[3].known_axes = 2;
    if (c.has_bias) in.push_back(noise({kFilters}, 5));
    const auto pair = [](int64_t number) { return std::vector<int32_t>(2, static_cast<int32_t>(number)); };
    const Attributes attributes =
        Attributes()
            .set("stride", pair(c.stride))
            .set("padding", pair(c.padding))
            .set("dilation", pair(c.dilation))
            .set("group", std::vector<int32_t>{static_cast<int32_t>(c.groups)})
            .set("deformable_group", std::vector<int32_t>{static_cast<int32_t>(c.deformable)});
    expect_outputs("ModulatedDeformConv2d", GetParam(), attributes, in, {expected(c, in)}, 1e-4);
    expect_outputs("ModulatedDeformConv2d", GetParam(), attributes, in_halves(in), {in_halves(expected(c, in))},
                   kHalfTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, ModulatedDeformConv, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
