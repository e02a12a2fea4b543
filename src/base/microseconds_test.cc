#include "base/microseconds.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Microseconds, HaveThreePlaces) {
  EXPECT_EQ(us_text(0.050000002374872565), "0.05 us");
  EXPECT_EQ(us_text(2.0005950521414437), "2.001 us");
  EXPECT_EQ(us_text(17), "17 us");
  EXPECT_EQ(us_text(0), "0 us");
}

}  // namespace
}  // namespace kiln
