#include <gtest/gtest.h>

#include "base/record.h"

namespace kiln {
namespace {

Result<int> half(int x) {
  TRY(require(x % 2 == 0, "x is ", x, "; an even number is needed"));
  return x / 2;
}
Result<int> quarter(int x) { return TRY(half(TRY(half(x)))); }

TEST(Error, TryReturnsTheInnerError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message, "x is 3; an even number is needed");
}
TEST(Error, ContextsChain) {
  const auto failed = in_context(half(3), [] { return "node 'a'"; });
  EXPECT_EQ(failed.error().message, "node 'a': x is 3; an even number is needed");
}
TEST(Str, JoinsParts) { EXPECT_EQ(str("a", 1, ' ', 0.5, std::vector<int64_t>{1, 2}, true), "a1 0.5[1, 2]true"); }

TEST(Record, TypedAccessNamesWhatIsWrong) {
  Record r;
  r.set("axis", 3).set("name", "x");
  EXPECT_EQ(*r.get_int("axis"), 3);
  EXPECT_EQ(*r.get_double("axis"), 3.0);
  EXPECT_EQ(r.get_int("name").error().message, "entry 'name' is \"x\"; an integer is needed");
  EXPECT_EQ(r.get_int("gone").error().message, "entry 'gone' is missing");
}
TEST(Record, HashSeesBytesAndOrder) {
  Record a, b, c;
  a.set("x", Bytes{std::byte{1}});
  b.set("x", Bytes{std::byte{2}});
  c.set("x", Bytes{std::byte{1}});
  EXPECT_NE(hash128(a), hash128(b));
  EXPECT_EQ(hash128(a), hash128(c));
}

}  // namespace
}  // namespace kiln
