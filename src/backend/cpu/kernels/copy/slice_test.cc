#include "ops/slice.h"

#include <random>

#include "backend/cpu/kernels/copy/copy.h"
#include "backend/cpu/kernels/movement_testing.h"

namespace kiln::cpu {
namespace {

struct SliceCase {
  Extents extents, starts, sizes, strides;
  SliceMode mode = SliceMode::kStrictBounds;
};
const SliceCase kCases[] = {
    {{2, 3, 11, 13}, {0, 0, 1, 0}, {2, 3, 5, 7}, {1, 1, 2, 2}},  // every second one to the end of the data
    {{1, 3, 12, 42}, {0, 0, 0, 1}, {1, 3, 6, 20}, {1, 1, 2, 2}},
    {{1, 28, 28, 96}, {0, 0, 0, 32}, {1, 28, 28, 64}, {1, 1, 1, 1}},
    {{2, 9, 7}, {1, 8, 0}, {1, 3, 7}, {1, -3, 1}},
    {{5, 6}, {4, 5}, {5, 6}, {-1, -1}},
    {{1, 6}, {0, 0}, {300, 6}, {0, 1}},
    {{3, 5, 4}, {0, -1, -2}, {3, 7, 8}, {1, 1, 1}, SliceMode::kFill},
    {{56, 56, 3}, {-3, -3, 0}, {62, 62, 3}, {1, 1, 1}, SliceMode::kFill},
    {{4}, {6}, {9}, {-1}, SliceMode::kFill},
    {{3, 5}, {-4, -7}, {11, 19}, {1, 1}, SliceMode::kReflect},
    {{1, 5}, {-4, 3}, {11, 9}, {1, 2}, SliceMode::kReflect},
    {{3, 5}, {-4, -7}, {11, 19}, {1, 1}, SliceMode::kClamp},
    {{3, 5}, {-4, -7}, {11, 19}, {1, 1}, SliceMode::kWrap},
    {{2, 3}, {0, 0}, {1000, 3000}, {1, 1}, SliceMode::kWrap},
    {{7}, {3}, {20}, {-2}, SliceMode::kWrap},
    {{4, 3}, {2, 0}, {0, 3}, {1, 1}},
    {{4}, {INT64_MIN}, {3}, {1}, SliceMode::kClamp},  // places whose negation is no number
    {{4}, {INT64_MIN}, {3}, {1}, SliceMode::kFill},
    {{4}, {INT64_MAX}, {2}, {INT64_MIN}, SliceMode::kClamp},
};

TEST(CopySlice, EveryModeAsTheReference) {
  Team team(2);
  for (const SliceCase& c : kCases)
    for (const int bytes : {1, 2, 4, 8}) {
      SCOPED_TRACE(str(c.extents, " mode ", c.mode, ", ", bytes, " bytes"));
      const HostTensor x = random_tensor(type_of_bytes(bytes), c.extents, 1);
      const HostTensor fill = random_tensor(type_of_bytes(bytes), {}, 9);
      const ops::Slice op{.starts = c.starts, .sizes = c.sizes, .strides = c.strides, .mode = c.mode};
      const HostTensor* inputs[] = {&x, nullptr, nullptr, nullptr, &fill};
      const auto want = run_reference(op, inputs);
      ASSERT_TRUE(want) << want.error().message;
      std::vector<std::byte> y = target_of((*want)[0]);
      const void* sources[] = {x.bytes().data(), fill.bytes().data()};
      run_copy(team, plan_slice(bytes, c.mode, c.extents, c.sizes, c.starts, c.strides), sources, y.data());
      expect_bytes(y, (*want)[0]);
    }
}
TEST(CopySlice, EveryPositionOfAnAxisAsTheReference) {
  Team team(1);
  std::mt19937 random(7);
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint32_t>(limit)); };
  constexpr SliceMode kModes[] = {SliceMode::kWrap, SliceMode::kClamp, SliceMode::kFill, SliceMode::kReflect};
  for (int i = 0; i < 4000; ++i) {
    const SliceMode mode = kModes[below(4)];
    const Extents extents{1 + below(6)}, starts{below(31) - 15}, sizes{below(i % 2 ? 24 : 150)}, strides{below(15) - 7};
    SCOPED_TRACE(str(extents, " from ", starts, ", ", sizes, " by ", strides, " mode ", mode));
    std::vector<float> x(static_cast<size_t>(extents[0])), y(static_cast<size_t>(sizes[0]), -1);
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k + 1);
    const float fill = 0;
    const void* sources[] = {x.data(), &fill};
    run_copy(team, plan_slice(4, mode, extents, sizes, starts, strides), sources, y.data());
    const std::vector<int64_t> from = slice_sources(extents, sizes, starts, strides, mode);
    for (size_t k = 0; k < y.size(); ++k) ASSERT_EQ(y[k], from[k] < 0 ? 0 : x[static_cast<size_t>(from[k])]) << k;
  }
}
TEST(CopySlice, LongAxesAreNotWalkedAlong) {
  constexpr int64_t kLong = int64_t{1} << 40;
  const auto boxes = [](SliceMode mode, int64_t start, int64_t size, int64_t stride) {
    return plan_slice(1, mode, Extents{kLong}, Extents{size}, Extents{start}, Extents{stride}).boxes.size();
  };
  EXPECT_EQ(boxes(SliceMode::kStrictBounds, 0, kLong, 1), 1U);
  EXPECT_EQ(boxes(SliceMode::kStrictBounds, kLong - 1, kLong / 2, -2), 1U);
  EXPECT_LE(boxes(SliceMode::kFill, -kLong, 3 * kLong, 1), 3U);
  EXPECT_LE(boxes(SliceMode::kClamp, -kLong, 3 * kLong, 1), 3U);
  EXPECT_LE(boxes(SliceMode::kReflect, -kLong, 3 * kLong, 1), 5U);
  EXPECT_LE(boxes(SliceMode::kWrap, -5, 3 * kLong, 1), 3U);
}
/// However often a short axis comes round, its periods are found once.
TEST(CopySlice, PeriodsOfShortAxesAreNotWalkedAlong) {
  constexpr int64_t kLong = int64_t{1} << 40;
  const auto boxes = [](SliceMode mode, int64_t extent, int64_t stride) {
    return plan_slice(1, mode, Extents{extent}, Extents{kLong}, Extents{-kLong / 2 + 1}, Extents{stride}).boxes.size();
  };
  for (const int64_t extent : {1, 2, 3, 5, 100})
    for (const int64_t stride : {1, -1, 2, 3, 7, -13, 1000}) {
      EXPECT_LE(boxes(SliceMode::kReflect, extent, stride), static_cast<size_t>(4 * extent + 2)) << stride;
      EXPECT_LE(boxes(SliceMode::kWrap, extent, stride), static_cast<size_t>(2 * extent + 2)) << stride;
      if (stride != 1) continue;
      EXPECT_LE(boxes(SliceMode::kReflect, extent, stride), 6U);
      EXPECT_LE(boxes(SliceMode::kWrap, extent, stride), 3U);
    }
}
TEST(CopySlice, RepeatsAreFewBoxes) {
  const Copy copy = plan_slice(4, SliceMode::kWrap, Extents{2, 3}, Extents{1000, 3000}, Extents{0, 0}, Extents{1, 1});
  EXPECT_EQ(copy.boxes.size(), 1U);
}

}  // namespace
}  // namespace kiln::cpu
