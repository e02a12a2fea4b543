#include "backend/cpu/kernels/gemm8/half_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "backend/cpu/kernels/padded.h"

namespace kiln::cpu {
namespace {

Window random_window(std::mt19937& random) {
  Window w;
  for (int axis = 0; axis < 3; ++axis) {
    w.kernel[axis] = 1 + random() % 3;
    w.stride[axis] = 1 + random() % 3;
    w.dilation[axis] = 1 + random() % 2;
    w.pad[axis] = random() % 2;
    w.out[axis] = 1 + random() % 5;
    const int64_t reach = (w.out[axis] - 1) * w.stride[axis] + (w.kernel[axis] - 1) * w.dilation[axis] + 1;
    w.in[axis] = std::max<int64_t>(1, reach - w.pad[axis] + random() % 4 - 1);  // some pixels behind are not read
  }
  return w;
}

/// The pixel of x that output pixel `row` reads at kernel position k.
int64_t pixel_read(const Window& w, int64_t row, const int64_t (&k)[3]) {
  const Pixel at = pixel_of(w.out, row);
  int64_t pixel = at.n;
  for (int axis = 0; axis < 3; ++axis)
    pixel = pixel * w.in[axis] + at.at[axis] * w.stride[axis] + k[axis] * w.dilation[axis];
  return pixel;
}

TEST(HalfRows, PartsReadNoMoreThanIsPlanned) {
  constexpr int64_t kChannels = 5;
  std::mt19937 random(1);
  int64_t exact = 0;
  for (int i = 0; i < 2000; ++i) {
    const ByteShape shape{static_cast<int64_t>(1 + random() % 3), random_window(random)};
    const RowPlan plan = plan_rows(shape, kChannels);
    ASSERT_TRUE(plan.in_place);
    const Window w = padded(shape.window);
    const int64_t all = shape.n * w.out_pixels();
    int64_t most = 0;
    for (int64_t row = 0; row < all; ++row) {
      const int64_t last = std::min(all, row + plan.rows) - 1;
      const int64_t pixels =
          pixel_read(w, last, {w.kernel[0] - 1, w.kernel[1] - 1, w.kernel[2] - 1}) - pixel_read(w, row, {0, 0, 0}) + 1;
      most = std::max(most, pixels * kChannels);
    }
    ASSERT_LE(most, plan.bytes) << i;
    exact += most == plan.bytes;
  }
  EXPECT_GT(exact, 200);  // the plan is no wild guess
}

TEST(HalfRows, StepsLeadToWhatWindowsRead) {
  constexpr int64_t kChannels = 3;
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const ByteShape shape{1, random_window(random)};
    const Window w = padded(shape.window);
    std::vector<int32_t> memory(static_cast<size_t>(step_bytes(w.taps(), kChannels) / 4));
    const Steps steps = fill_steps(shape, w, kChannels, true, reinterpret_cast<std::byte*>(memory.data()));
    ASSERT_EQ(steps.num_narrow, w.taps());  // of four bytes, of which three count
    ASSERT_EQ(steps.num_wide, 2 * w.taps());
    int64_t tap = 0;
    for (int64_t z = 0; z < w.kernel[0]; ++z)
      for (int64_t y = 0; y < w.kernel[1]; ++y)
        for (int64_t x = 0; x < w.kernel[2]; ++x, ++tap) {
          const int64_t at = pixel_read(w, 0, {z, y, x}) * kChannels;
          EXPECT_EQ(steps.narrow[tap], at);
          EXPECT_EQ(steps.wide[2 * tap], at);
          EXPECT_EQ(steps.wide[2 * tap + 1], at + 2);
        }
  }
}

TEST(HalfRows, WideLinesAreGathered) {
  ByteShape shape;
  for (int axis = 1; axis < 3; ++axis) shape.window.in[axis] = shape.window.out[axis] = 400;
  EXPECT_TRUE(plan_rows(shape, 300).in_place);
  for (int axis = 1; axis < 3; ++axis) shape.window.kernel[axis] = 3, shape.window.pad[axis] = 1;
  EXPECT_TRUE(plan_rows(shape, 64).in_place);
  EXPECT_FALSE(plan_rows(shape, 300).in_place);
}

}  // namespace
}  // namespace kiln::cpu
