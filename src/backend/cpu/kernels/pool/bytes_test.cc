#include "backend/cpu/kernels/pool/bytes.h"

#include <gtest/gtest.h>

#include <random>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

TEST(PoolBytes, TakesTheGreatestOfEachWindow) {
  PoolShape shape{.n = 2, .c = 37};
  Window& w = shape.window;
  w.in[1] = w.in[2] = 9;
  w.kernel[1] = w.kernel[2] = 3;
  w.stride[1] = w.stride[2] = 2;
  w.pad[1] = w.pad[2] = 1;
  w.out[1] = w.out[2] = 5;
  std::mt19937 random(1);
  std::vector<uint8_t> x(static_cast<size_t>(2 * 81 * 37));
  for (uint8_t& byte : x) byte = static_cast<uint8_t>(random());
  for (const bool is_signed : {false, true}) {
    const auto value = [&](uint8_t byte) { return is_signed ? int{static_cast<int8_t>(byte)} : int{byte}; };
    for_each_target([&] {
      Team team(2);
      std::vector<uint8_t> y(static_cast<size_t>(2 * 25 * 37));
      pool_bytes(team, shape, is_signed, x.data(), y.data());
      for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
        const Pixel at = pixel_of(w.out, i / 37);
        int greatest = -1000;
        for (int64_t row = std::max<int64_t>(0, at.at[1] * 2 - 1); row < std::min<int64_t>(9, at.at[1] * 2 + 2); ++row)
          for (int64_t col = std::max<int64_t>(0, at.at[2] * 2 - 1); col < std::min<int64_t>(9, at.at[2] * 2 + 2);
               ++col)
            greatest = std::max(greatest, value(x[static_cast<size_t>(((at.n * 9 + row) * 9 + col) * 37 + i % 37)]));
        ASSERT_EQ(value(y[static_cast<size_t>(i)]), greatest) << i;
      }
    });
  }
}

}  // namespace
}  // namespace kiln::cpu
