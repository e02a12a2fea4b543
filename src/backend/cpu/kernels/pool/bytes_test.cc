#include "backend/cpu/kernels/pool/bytes.h"

#include <gtest/gtest.h>

#include <random>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

/// Windows of 2 x 3 x 3, some of them over edges, over two images of 3 x 9 x 9 pixels.
PoolShape over_edges(int64_t channels) {
  PoolShape shape{.n = 2, .c = channels};
  Window& w = shape.window;
  w.in[0] = 3, w.kernel[0] = 2, w.out[0] = 2;
  w.in[1] = w.in[2] = 9;
  w.kernel[1] = w.kernel[2] = 3;
  w.stride[1] = w.stride[2] = 2;
  w.pad[1] = w.pad[2] = 1;
  w.out[1] = w.out[2] = 5;
  return shape;
}

void check(const PoolShape& shape, bool is_signed) {
  const Window& w = shape.window;
  std::mt19937 random(1);
  std::vector<uint8_t> x(static_cast<size_t>(shape.n * w.in_pixels() * shape.c));
  for (uint8_t& byte : x) byte = static_cast<uint8_t>(random());
  const auto value = [&](uint8_t byte) { return is_signed ? int{static_cast<int8_t>(byte)} : int{byte}; };
  Team team(2);
  std::vector<uint8_t> y(static_cast<size_t>(shape.n * w.out_pixels() * shape.c));
  pool_bytes(team, shape, is_signed, x.data(), y.data());
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    const Pixel at = pixel_of(w.out, i / shape.c);
    int greatest = is_signed ? -128 : 0;
    for (int64_t pixel = 0; pixel < w.in_pixels(); ++pixel) {
      const Pixel in = pixel_of(w.in, pixel);
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        const int64_t first = w.start(axis, at.at[axis]);
        inside &= in.at[axis] >= first && in.at[axis] < first + w.kernel[axis];
      }
      if (!inside) continue;
      const int64_t from = (at.n * w.in_pixels() + pixel) * shape.c + i % shape.c;
      greatest = std::max(greatest, value(x[static_cast<size_t>(from)]));
    }
    ASSERT_EQ(value(y[static_cast<size_t>(i)]), greatest) << shape.c << " channels, " << i;
  }
}

TEST(PoolBytes, TakesTheGreatestOfEachWindow) {
  for (const int64_t channels : {1, 15, 16, 17, 37, 64, 100, 300})
    for (const bool is_signed : {false, true}) for_each_target([&] { check(over_edges(channels), is_signed); });
}
TEST(PoolBytes, WindowsInPaddingAlone) {
  for (const bool is_signed : {false, true})
    for_each_target([&] {
      PoolShape shape{.n = 1, .c = 20};
      Window& w = shape.window;
      w.in[2] = 2, w.kernel[2] = 2, w.stride[2] = 2, w.pad[2] = 4, w.out[2] = 5;
      check(shape, is_signed);
    });
}

}  // namespace
}  // namespace kiln::cpu
