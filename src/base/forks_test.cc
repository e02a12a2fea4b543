#include "base/forks.h"

#include <gtest/gtest.h>

#include "base/testing/child.h"

namespace kiln {
namespace {

TEST(Forks, AreCountedInTheChild) {
  const uint32_t here = fork_count();
  EXPECT_EQ(test::in_child([&] { return static_cast<int>(fork_count() - here); }), 1);
  const auto grandchild = [&] { return static_cast<int>(fork_count() - here); };
  EXPECT_EQ(test::in_child([&] { return test::in_child(grandchild); }), 2);
  EXPECT_EQ(fork_count(), here);
}

TEST(Forks, EachProcessMakesItsOwn) {
  static constinit PerProcess<int> numbers;
  int made = 0;
  const auto make = [&] { return ++made; };
  int* here = &numbers.get(make);
  EXPECT_EQ(&numbers.get(make), here);
  EXPECT_EQ(*here, 1);
  EXPECT_EQ(test::in_child([&] { return &numbers.get(make) != here && numbers.get(make) == 2 ? 0 : 1; }), 0);
  EXPECT_EQ(&numbers.get(make), here);
}

}  // namespace
}  // namespace kiln
