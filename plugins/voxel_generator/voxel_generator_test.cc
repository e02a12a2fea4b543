#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

const std::vector<float> kRange{-4, -3, -1, 4, 3, 1}, kSize{1, 1.5, 2};
constexpr int64_t kColumns = 8, kRows = 4;

struct Case {
  int32_t points = 4, voxels = 40, features = 10;
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("max_num_points_per_voxel", std::vector<int32_t>{c.points})
      .set("max_voxels", std::vector<int32_t>{c.voxels})
      .set("voxel_feature_num", std::vector<int32_t>{c.features})
      .set("voxel_size", kSize)
      .set("point_cloud_range", kRange);
}

/// Points of which some are out of range along each axis.
Tensor cloud(int64_t frames, int64_t count, int64_t numbers) {
  Tensor points = noise({frames, count, numbers}, 3);
  points.known_axes = 1;
  for (size_t i = 0; i < points.values.size(); ++i) {
    const auto number = i % static_cast<size_t>(numbers);
    points.values[i] *= number == 0 ? 4.5 : number == 1 ? 3.25 : number == 2 ? 1.125 : 1;
  }
  return points;
}

std::vector<Tensor> expected(const Case& c, const Tensor& points, const Tensor& counts) {
  const int64_t frames = points.extents[0], most = points.extents[1];
  const auto numbers = static_cast<size_t>(points.extents[2]), features = static_cast<size_t>(c.features);
  const auto capacity = static_cast<size_t>(c.points);
  std::vector<Tensor> y{
      {{frames, c.voxels, c.points, c.features}, {}}, ints({frames, c.voxels, 4}, {}), ints({frames}, {})};
  for (size_t n = 0; n < static_cast<size_t>(frames); ++n) {
    std::map<std::pair<int, int>, std::vector<const double*>> voxels;  // by row and column
    for (size_t i = 0; i < static_cast<size_t>(std::min<double>(counts.values[n], static_cast<double>(most))); ++i) {
      const double* const point = &points.values[(n * static_cast<size_t>(most) + i) * numbers];
      bool is_inside = true;
      for (size_t axis = 0; axis < 3; ++axis)
        is_inside = is_inside && point[axis] >= kRange[axis] && point[axis] < kRange[axis + 3];
      if (!is_inside) continue;
      std::vector<const double*>& voxel = voxels[{static_cast<int>(std::floor((point[1] - kRange[1]) / kSize[1])),
                                                  static_cast<int>(std::floor((point[0] - kRange[0]) / kSize[0]))}];
      if (voxel.size() < capacity) voxel.push_back(point);
    }
    int count = 0;
    for (const auto& [place, members] : voxels) {
      if (count == c.voxels) break;
      ++count;
      std::array<double, 3> mean{};
      for (const double* const point : members)
        for (size_t axis = 0; axis < 3; ++axis) mean[axis] += point[axis] / static_cast<double>(members.size());
      const std::array<double, 3> cell{static_cast<double>(place.second), static_cast<double>(place.first), 0};
      for (size_t p = 0; p < capacity; ++p) {
        std::vector<double> all(numbers + 6);
        if (p < members.size()) {
          for (size_t i = 0; i < numbers; ++i) all[i] = members[p][i];
          for (size_t axis = 0; axis < 3; ++axis) {
            all[numbers + axis] = all[axis] - mean[axis];
            all[numbers + 3 + axis] = all[axis] - (kRange[axis] + (cell[axis] + 0.5) * kSize[axis]);
          }
        }
        y[0].values.insert(y[0].values.end(), all.begin(), all.begin() + c.features);
      }
      for (const int value : {0, 0, place.first, place.second}) y[1].values.push_back(value);
    }
    y[0].values.resize((n + 1) * static_cast<size_t>(c.voxels) * capacity * features);
    y[1].values.resize((n + 1) * static_cast<size_t>(c.voxels) * 4);
    y[2].values.push_back(count);
  }
  return y;
}

void check(const Case& c, const Tensor& points, const Tensor& counts) {
  SCOPED_TRACE(::testing::Message() << c.points << " points, " << c.voxels << " voxels, " << c.features << " features");
  expect_outputs("VoxelGeneratorPlugin", "1", attributes(c), {points, counts}, expected(c, points, counts));
}

TEST(VoxelGenerator, GathersPoints) {
  const Tensor points = cloud(3, 60, 4), counts = ints({3}, {60, 45, 0});
  const std::vector<Tensor> y = expected({}, points, counts);
  EXPECT_GT(y[2].values[0], 15);
  EXPECT_LT(y[2].values[0], kRows * kColumns);
  for (const Case& c : {Case{}, Case{.points = 1}, Case{.points = 7, .features = 6}, Case{.voxels = 9}})
    check(c, points, counts);
}

TEST(VoxelGenerator, TakesPointsOfFiveNumbers) { check({.features = 11}, cloud(2, 50, 5), ints({2}, {50, 20})); }

TEST(VoxelGenerator, APointAtAVoxelsBeginBelongsToIt) {
  Tensor points{{1, 7, 4},
                {-4, -3,   -1, 1, 4, 0, 0, 2, 0, 3, 0, 3,  //  the range's begin, its ends
                 0,  -1.5, 0,  4, 0, 0, 1, 5, 0, 0, 0, 6, NAN, 0, 0, 7},
                nv::DataType::kFLOAT,
                1};
  const Case c{.points = 2, .voxels = 4, .features = 4};
  const Tensor count = ints({1}, {7});
  const std::vector<Tensor> y = expected(c, points, count);
  EXPECT_EQ(y[2].values[0], 3);
  EXPECT_EQ(y[1].values, (std::vector<double>{0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 2, 4, 0, 0, 0, 0}));
  check(c, points, count);
}

TEST(VoxelGenerator, MoreCountedThanThereAre) { check({}, cloud(1, 10, 4), ints({1}, {100})); }

TEST(VoxelGenerator, RefusesWhatItDoesNotHave) {
  const auto refusal = [](const Attributes& attributes, int64_t numbers) {
    return error_of("VoxelGeneratorPlugin", "1", attributes, {cloud(1, 5, numbers), ints({1}, {5})});
  };
  EXPECT_NE(refusal(attributes({.points = 65}), 4).find("max_num_points_per_voxel is 65"), std::string::npos);
  EXPECT_NE(refusal(attributes({.voxels = 1 << 25}), 4).find("max_voxels 33554432"), std::string::npos);
  EXPECT_NE(refusal(attributes({}).set("voxel_size", std::vector<float>{0x1p-10F, 0x1p-10F, 1}), 4)
                .find("16777216 at most are possible"),
            std::string::npos);
  EXPECT_NE(refusal(attributes({}), 3).find("points have 3 numbers each; 4 or 5"), std::string::npos);
  EXPECT_NE(refusal(attributes({.features = 11}), 4).find("voxel_feature_num is 11; there are 10"), std::string::npos);
  EXPECT_NE(refusal(Attributes().set("max_voxels", std::vector<int32_t>{3}), 4).find("max_num_points_per_voxel"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
