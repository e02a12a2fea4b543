#include "backend/cpu/kernels/nest/byte_table.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

TEST(ByteTable, LooksUpEachByte) {
  std::mt19937 random(1);
  std::vector<uint8_t> table(kBytes), bytes(1000);
  for (uint8_t& value : table) value = static_cast<uint8_t>(random());
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i < 256 ? i : random());
  for_each_target([&] {
    for (const int64_t count : {0, 1, 63, 64, 65, 300, 999}) {
      std::vector<uint8_t> y(1000, 7);
      look_up(table.data(), bytes.data(), count, y.data());
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y[i], static_cast<int64_t>(i) < count ? table[bytes[i]] : 7) << i << " of " << count;
      std::vector<uint8_t> in_place(bytes);
      look_up(table.data(), in_place.data(), count, in_place.data());
      EXPECT_TRUE(std::equal(in_place.begin(), in_place.begin() + count, y.begin()));
    }
  });
}

}  // namespace
}  // namespace kiln::cpu
