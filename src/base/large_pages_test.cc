#include "base/large_pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace kiln {
namespace {

TEST(LargePages, MemoryIsAlignedAndAllOfItIsThere) {
  for (const size_t bytes : {size_t{64}, kLargePage - 64, kLargePage, kLargePage + 64, 3 * kLargePage - 64}) {
    void* const memory = allocate_in_large_pages(64, bytes);
    ASSERT_TRUE(memory) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (bytes < kLargePage ? 64 : kLargePage), 0U) << bytes;
    std::memset(memory, 0x5a, bytes);
    EXPECT_EQ(static_cast<const unsigned char*>(memory)[bytes - 1], 0x5a) << bytes;
    std::free(memory);
  }
}

}  // namespace
}  // namespace kiln
