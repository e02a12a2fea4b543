#include "plan/json.h"

#include <gtest/gtest.h>

namespace kiln::plan {
namespace {

TEST(Json, WhatIsWrittenIsRead) {
  Record record;
  record.set("text", "\"</script>\" \xe2\x80\xa8").set("whole", 9'007'199'254'740'993).set("real", 0.5);
  record.set("no", false).set("nothing", Datum()).set("list", Datum::List{Datum(1), Datum("a"), Datum(Record())});
  for (const int indent : {-1, 2}) {
    const Result<Datum> read = parse_json(to_json(record, indent));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == Datum(record)) << str(*read);
  }
}

TEST(Json, ReadsNumbersOfAnySize) {
  EXPECT_TRUE(*parse_json("-9223372036854775808") == Datum(INT64_MIN));
  EXPECT_TRUE(*parse_json("18446744073709551615") == Datum(18446744073709551615.0));
  EXPECT_TRUE(*parse_json(" [1, 2] ") == Datum(Datum::List{Datum(1), Datum(2)}));
}

TEST(Json, SaysWhatIsWrong) {
  const auto problem = [](std::string_view text) {
    const Result<Datum> read = parse_json(text);
    return read ? std::string("none") : read.error().message;
  };
  EXPECT_TRUE(problem("").starts_with("no JSON: parse error at line 1, column 1")) << problem("");
  EXPECT_TRUE(problem("{\"a\": 1,\n \"b\"}").starts_with("no JSON: parse error at line 2, column 5"))
      << problem("{\"a\": 1,\n \"b\"}");
  EXPECT_TRUE(problem("\"\xff\"").starts_with("no JSON: parse error")) << problem("\"\xff\"");
  EXPECT_EQ(problem(std::string(64, '[') + std::string(64, ']')), "none");
  EXPECT_EQ(problem(std::string(65, '[') + std::string(65, ']')), "no JSON of ours: it is nested more than 64 deep");
  EXPECT_EQ(problem(std::string(1'000'000, '[')), "no JSON of ours: it is nested more than 64 deep");
  EXPECT_EQ(problem("[1e999]"), "no JSON: number overflow parsing '1e999'");
  EXPECT_TRUE(problem("[-nan]").starts_with("no JSON: parse error at line 1, column 3")) << problem("[-nan]");
  EXPECT_TRUE(problem("{} {}").starts_with("no JSON: parse error at line 1, column 4")) << problem("{} {}");
}

TEST(Json, OfEntriesOfOneNameTheLastCounts) {
  Record record;
  record.set("a", 2).set("b", 3);
  EXPECT_TRUE(*parse_json(R"({"a": 1, "b": 3, "a": 2})") == Datum(record));
}

/// Such an object would take hours.
TEST(Json, ObjectsOfVeryManyEntriesAreRefused) {
  std::string text = "{";
  for (int i = 0; i < 4096; ++i) text += str(i == 0 ? "" : ",", "\"", i, "\":0");
  EXPECT_TRUE(parse_json(text + "}"));
  EXPECT_EQ(parse_json(text + ",\"more\":0}").error().message, "no JSON of ours: an object has more than 4096 entries");
}

}  // namespace
}  // namespace kiln::plan
