// Deformable convolutions against the definition, worked out point by point.
#include <cmath>
#include <random>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;

Doubles random_numbers(int64_t count, uint32_t seed, double size = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> between(-size, size);
  Doubles result(static_cast<size_t>(count));
  for (double& number : result) number = std::round(between(random) * 64) / 64;
  return result;
}

constexpr int64_t kChannels = 4, kHeight = 5, kWidth = 6, kOutputs = 6, kGroups = 2, kOffsetGroups = 2, kRows = 3,
                  kColumns = 2, kPoints = kRows * kColumns, kOutHeight = 3, kOutWidth = 5;
const Doubles kX = random_numbers(kChannels * kHeight * kWidth, 1),
              kW = random_numbers(kOutputs * kChannels / kGroups * kPoints, 2),
              kOffsets = random_numbers(kOffsetGroups * kPoints * 2 * kOutHeight * kOutWidth, 3, 2),
              kMask = random_numbers(kOffsetGroups * kPoints * kOutHeight * kOutWidth, 4),
              kBias = random_numbers(kOutputs, 5);

/// x of a channel between pixels; 0 outside.
double sample(int64_t channel, double y, double x) {
  const double top = std::floor(y), left = std::floor(x);
  double sum = 0;
  for (const double row : {top, top + 1})
    for (const double column : {left, left + 1}) {
      if (row < 0 || row >= kHeight || column < 0 || column >= kWidth) continue;
      const int64_t at = (channel * kHeight + static_cast<int64_t>(row)) * kWidth + static_cast<int64_t>(column);
      sum += kX[static_cast<size_t>(at)] * (1 - std::abs(y - row)) * (1 - std::abs(x - column));
    }
  return sum;
}
/// With strides 2 and 1, pads 1 above and 0 elsewhere, dilations 1 and 1.
double wanted_at(int64_t output, int64_t row, int64_t column) {
  double sum = kBias[static_cast<size_t>(output)];
  for (int64_t i = 0; i < kChannels / kGroups; ++i)
    for (int64_t point = 0; point < kPoints; ++point) {
      const int64_t channel = output / (kOutputs / kGroups) * (kChannels / kGroups) + i;
      const int64_t of_group = channel / (kChannels / kOffsetGroups) * kPoints + point;
      const auto at = [&](int64_t plane) {
        return static_cast<size_t>((plane * kOutHeight + row) * kOutWidth + column);
      };
      const double y = static_cast<double>(row * 2 - 1 + point / kColumns) + kOffsets[at(2 * of_group)];
      const double x = static_cast<double>(column + point % kColumns) + kOffsets[at(2 * of_group + 1)];
      const double weight = kW[static_cast<size_t>((output * (kChannels / kGroups) + i) * kPoints + point)];
      sum += weight * kMask[at(of_group)] * sample(channel, y, x);
    }
  return sum;
}

TEST(ImportDeformConv, SamplesWhereOffsetsSay) {
  const HostTensor y =
      run_nodes({node("DeformConv", {"a", "b", "c", "d", "e"}, {"y"}, "d",
                      {ints_attribute("strides", {2, 1}), ints_attribute("pads", {1, 0, 0, 0}),
                       int_attribute("group", kGroups), int_attribute("offset_group", kOffsetGroups)})},
                {fed(kFloat, DType::kF32, {1, kChannels, kHeight, kWidth}, kX),
                 fed(kFloat, DType::kF32, {kOutputs, kChannels / kGroups, kRows, kColumns}, kW),
                 fed(kFloat, DType::kF32, {1, kOffsetGroups * kPoints * 2, kOutHeight, kOutWidth}, kOffsets),
                 fed(kFloat, DType::kF32, {kOutputs}, kBias),
                 fed(kFloat, DType::kF32, {1, kOffsetGroups * kPoints, kOutHeight, kOutWidth}, kMask)});
  ASSERT_EQ(y.extents(), (Extents{1, kOutputs, kOutHeight, kOutWidth}));
  const Doubles numbers = numbers_of(y);
  for (int64_t output = 0, i = 0; output < kOutputs; ++output)
    for (int64_t row = 0; row < kOutHeight; ++row)
      for (int64_t column = 0; column < kOutWidth; ++column, ++i)
        EXPECT_NEAR(numbers[static_cast<size_t>(i)], wanted_at(output, row, column), 1e-4) << i;
}
TEST(ImportDeformConv, SaysWhatIsWrong) {
  const auto of = [](std::initializer_list<int64_t> x, std::initializer_list<int64_t> offset, int64_t groups = 1) {
    return import_node(node("DeformConv", {"x", "w", "o"}, {"y"}, "d", {int_attribute("offset_group", groups)}),
                       {value("x", kFloat, x), value("w", kFloat, {1, 3, 2, 2}), value("o", kFloat, offset)}, {}, 22);
  };
  EXPECT_NE(of({1, 3, 4}, {1, 8, 3, 3}).find("images with two spatial axes are supported"), std::string::npos);
  EXPECT_NE(of({1, 3, 4, 4}, {1, 8, 3, 3}, 2)
                .find("its channels must be a constant, a multiple of group 1 and of "
                      "offset_group 2"),
            std::string::npos);
  EXPECT_NE(of({1, 3, 4, 4}, {1, 6, 3, 3}).find("channels of offset and its points are 6 and 8; they must be equal"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::onnx
