#include "text.h"

#include <gtest/gtest.h>

#include "expect_failure.h"

namespace kiln::cli {
namespace {

TEST(Text, SplitsOutsideQuotes) {
  using Pieces = std::vector<std::string>;
  EXPECT_EQ(split("a, b ,c", ','), (Pieces{"a", "b", "c"}));
  EXPECT_EQ(split("'a,b':1,c:2", ','), (Pieces{"'a,b':1", "c:2"}));
  EXPECT_EQ(split("a,", ','), (Pieces{"a", ""}));
  EXPECT_EQ(split("  ", ','), Pieces{});
  EXPECT_EQ(failure_of([] { split("'a,b", ','); }),
            "''a,b' has a single quote without its partner; one that belongs to a name is written 'it''s'");
}

TEST(Text, QuotesWithinQuotesAreWrittenTwice) {
  EXPECT_EQ(unquoted("a"), "a");
  EXPECT_EQ(unquoted("'a,b'"), "a,b");
  EXPECT_EQ(unquoted("in'put:0'"), "input:0");
  EXPECT_EQ(unquoted("'it''s'"), "it's");
  EXPECT_EQ(unquoted("it'''s'"), "it's");
  EXPECT_EQ(unquoted("''''"), "'");
  EXPECT_EQ(unquoted("''"), "");
  EXPECT_EQ(split("'it''s, a':1,b:2", ','), (std::vector<std::string>{"'it''s, a':1", "b:2"}));
}

TEST(Text, ReadsNumbersWhole) {
  EXPECT_EQ(parse_int(" -7 ", "n"), -7);
  EXPECT_EQ(parse_number("0.5", "n"), 0.5);
  EXPECT_EQ(failure_of([] { parse_int("7x", "--iterations"); }), "--iterations: '7x' is not a whole number");
  EXPECT_EQ(failure_of([] { parse_int("", "--iterations"); }), "--iterations: '' is not a whole number");
  EXPECT_EQ(failure_of([] { parse_int("9223372036854775808", "n"); }), "n: '9223372036854775808' does not fit 64 bits");
  EXPECT_EQ(failure_of([] { parse_number("nan", "n"); }), "n: 'nan' is not a number");
}

TEST(Text, ReadsSizesWithUnits) {
  EXPECT_EQ(parse_size("1024", 'M', "pool"), int64_t{1} << 30);
  EXPECT_EQ(parse_size("1.5G", 'M', "pool"), int64_t{3} << 29);
  EXPECT_EQ(parse_size("7b", 'M', "pool"), 7);
  EXPECT_EQ(failure_of([] { parse_size("1T", 'M', "pool"); }),
            "pool: '1T' ends in the unit 'T'; B, K, M or G is expected");
  EXPECT_EQ(failure_of([] { parse_size("-1", 'M', "pool"); }), "pool: '-1' is negative");
  EXPECT_EQ(failure_of([] { parse_size("1e30", 'M', "pool"); }), "pool: '1e30' is more bytes than 64 bits count");
}

TEST(Text, NearestCountsEditsInEitherCase) {
  constexpr std::string_view kNames[] = {"--onnx", "--saveEngine", "--loadEngine", "--shapes"};
  EXPECT_EQ(nearest("--onx", kNames), "--onnx");
  EXPECT_EQ(nearest("--SAVEENGINE", kNames), "--saveEngine");
  EXPECT_EQ(nearest("--laodEngine", kNames), "--loadEngine");  // a swap is one edit
  EXPECT_EQ(nearest("--colour", kNames), "");
}

}  // namespace
}  // namespace kiln::cli
