#include "arguments.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Arguments, NumbersAreWholeAndLargeEnough) {
  const Arguments arguments{{}, {{"runs", "12"}, {"level", "x"}, {"threads", "0"}, {"aux-streams", "1.5"}}};
  EXPECT_EQ(arguments.number("runs", 20, 1), 12);
  EXPECT_EQ(arguments.number("absent", 20, 1), 20);
  EXPECT_EQ(arguments.number("level", 3, 0).error().message, "--level is 'x'; a whole number from 0 on is needed");
  EXPECT_EQ(arguments.number("threads", 2, 1).error().message, "--threads is '0'; a whole number from 1 on is needed");
  EXPECT_FALSE(arguments.number("aux-streams", 0, 0));
}

}  // namespace
}  // namespace kiln
