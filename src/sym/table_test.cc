#include "sym/table.h"

#include <gtest/gtest.h>

#include "sym/facts.h"
#include "sym/text.h"

namespace kiln::sym {
namespace {

TEST(Table, NamesAreUnique) {
  Table table;
  const Expr n = table.symbol("n", {1, 2, 3});
  EXPECT_EQ(table.symbol("n", {0, 0, 9}), n);
  EXPECT_EQ(table.bounds(n), (Bounds{1, 2, 3}));
  table.symbol("n.1");
  EXPECT_EQ(table.fresh("n").name(), "n.2");
  EXPECT_EQ(table.fresh("").name(), "dim");
  EXPECT_EQ(table.find("gone"), std::nullopt);
  EXPECT_EQ(table.symbols().size(), 4u);
  EXPECT_EQ(table.symbols()[0], n);
}

TEST(Table, DimensionsAreNoneOfTheTablesOwn) {
  Table table;
  const Expr count = table.fresh("count");
  const Expr n = table.dimension("count");
  EXPECT_NE(n, count);
  EXPECT_EQ(n.name(), "count.1");
  EXPECT_EQ(table.dimension("count"), n);
  const Expr m = table.dimension("m");
  EXPECT_EQ(m.name(), "m");
  EXPECT_EQ(table.fresh("m").name(), "m.1");
}

TEST(Table, ANewNameIsUniqueToo) {
  Table table;
  const Expr n = table.fresh("n"), m = table.fresh("m"), e = n + m;
  table.rename(n, "count of nz");
  EXPECT_EQ(str(e), "\"count of nz\" + m");
  EXPECT_EQ(table.find("n"), std::nullopt);
  EXPECT_EQ(table.find("count of nz"), n);
  table.rename(m, "count of nz");
  EXPECT_EQ(m.name(), "count of nz.1");
  table.rename(m, "count of nz.1");
  EXPECT_EQ(m.name(), "count of nz.1");
  EXPECT_EQ(table.fresh("n").name(), "n");
}

TEST(Table, NewBoundsReachOldExpressions) {
  Table table;
  const Expr n = table.symbol("n"), e = 2 * n + 1;
  EXPECT_EQ(e.min(), 1);
  ASSERT_TRUE(table.set_bounds(n, {3, 4, 5}));
  EXPECT_EQ(e.min(), 7);
  EXPECT_EQ(e.opt(), 9);
  EXPECT_EQ(e.max(), 11);
}

TEST(Table, BoundsThatWereReliedOnDoNotWiden) {
  Table table;
  const Expr n = table.symbol("n", {2, 4, 8}), m = table.symbol("m", {2, 4, 8});
  EXPECT_EQ(max(n, 1), n);
  EXPECT_TRUE(table.set_bounds(n, {3, 3, 4}));
  EXPECT_TRUE(table.set_bounds(n, {2, 6, 6}));  // another profile
  EXPECT_EQ(table.set_bounds(n, {0, 4, 8}).error().message,
            "symbol 'n': bounds [0, 8] exceed [2, 8], which simplified expressions rely on");
  EXPECT_EQ(table.bounds(n), (Bounds{2, 6, 6}));
  EXPECT_EQ(max(m, m), m);  // follows from structure
  EXPECT_TRUE(table.set_bounds(m, {0, 100, 1000}));
  EXPECT_FALSE(table.set_bounds(m, {5, 5, 4}));
}

TEST(Table, FactsNarrowWhatTheyFollowFrom) {
  Table table;
  const Expr t = table.symbol("t"), p = table.symbol("p");
  Expr frames = t;
  for (const auto& [kernel, stride] : {std::pair{10, 5}, {3, 2}, {3, 2}, {3, 2}, {3, 2}, {2, 2}, {2, 2}}) {
    EXPECT_LT((frames - kernel).min(), 0);
    learn(frames, kernel, "a window");
    frames = floor_div(frames - kernel, stride) + 1;
    EXPECT_EQ(frames.min(), 1);
  }
  EXPECT_EQ(str(frames), "floor_div(t + 240, 320) - 1");
  EXPECT_EQ(t.min(), 400);
  EXPECT_EQ(table.bounds(t), kAnyExtent);
  learn(t - p, 0, "a difference of extents");
  EXPECT_EQ((t - p).min(), 0);
  EXPECT_EQ(max(t - p, 0), t - p);
  EXPECT_EQ(p.min(), 0);
}

TEST(Table, FactsThatWereReliedOnStay) {
  Table table;
  const Expr n = table.symbol("n"), m = table.symbol("m");
  learn(2 * n, 5, "a reason");
  learn(m, 4, "another");
  EXPECT_EQ(n.min(), 3);
  EXPECT_EQ(max(n, 2), n);
  const auto kept = forget_facts(table);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(str(kept[0].e, " >= ", kept[0].least, ": ", kept[0].reason), "n >= 3: a reason");
  EXPECT_EQ(n.min(), 3);
  EXPECT_EQ(m.min(), 0);
  learn(m, 2, "again");
  EXPECT_EQ(m.min(), 2);
  EXPECT_EQ(forget_facts(table).size(), 1u);
  learn(n, INT64_MAX, "unlikely");
  ASSERT_TRUE(table.set_bounds(n, {3, 4, 5}));
  EXPECT_EQ(n.min(), 3);  // what contradicts the bounds is left to whoever checks
}

TEST(Table, SubstitutionMovesBetweenTables) {
  Table from, to;
  const Expr n = from.symbol("n"), k = to.symbol("k");
  const std::vector<std::pair<Expr, Expr>> all{{n, 2 * k}};
  EXPECT_EQ(substitute(floor_div(n, 4) + 1, all), floor_div(k, 2) + 1);
}

TEST(Text, NamesThatAreNoIdentifiersAreQuoted) {
  Table table;
  const Expr odd = table.symbol("past + 1"), quote = table.symbol("a\"b\\"), named = table.symbol("max");
  EXPECT_EQ(str(odd + 1), "\"past + 1\" + 1");
  for (Expr e : {odd * 2, quote, max(named, odd)}) EXPECT_EQ(*parse(str(e), table), e);
}

TEST(Text, LongExpressionsAreShownShort) {
  Table table;
  const Expr n = table.symbol("n"), m = table.symbol("rows of x");
  Expr e = n;
  for (int i = 1; i < 40; ++i) e += floor_div(n + i, 7) * equal(m, i);
  std::string exact = exact_text(e);
  EXPECT_TRUE(exact.starts_with("#0 = floor_div("));
  EXPECT_EQ(*parse(exact, table), e);
  e = n;
  for (int i = 1; i < 10; ++i) e += floor_div(n + i, 7) * equal(m, i);
  exact = exact_text(e);
  const std::string shown = str("x is [", e, ", ", n, "]");
  EXPECT_GT(exact.size(), 4 * kLongestShown);
  EXPECT_EQ(*parse(exact, table), e);
  const size_t dots = shown.find("...");
  EXPECT_LT(shown.size(), kLongestShown + 24);
  EXPECT_EQ(shown.substr(6, dots - 6), exact.substr(0, dots - 6));
  EXPECT_EQ(shown.substr(dots), "... {of \"rows of x\", n}, n]");
  for (const char* name : {"a", "b", "c"}) e += floor_div(n, table.symbol(name));
  EXPECT_TRUE(str(e).ends_with(" and 2 more}")) << str(e);
}
TEST(Text, ParserSaysWhatIsWrong) {
  Table table;
  const auto why_not = [&](std::string_view text) { return parse(text, table).error().message; };
  EXPECT_EQ(why_not("n +"), "'n +', column 4: a number, a name or '(' needed");
  EXPECT_EQ(why_not("max(1, 2"), "'max(1, 2', column 9: ')' needed");
  EXPECT_EQ(why_not("n m"), "'n m', column 3: an operator or the end needed");
  EXPECT_EQ(why_not("abs(n)"),
            "'abs(n)', column 4: max, min, equal, less, floor_div, ceil_div, within or an operation on reals before "
            "'(' needed");
  EXPECT_EQ(why_not("9223372036854775808"), "'9223372036854775808', column 1: a number that fits int64 needed");
  EXPECT_EQ(*parse("-9223372036854775808", table), INT64_MIN);
  EXPECT_FALSE(parse(std::string(100'000, '('), table));
}

}  // namespace
}  // namespace kiln::sym
