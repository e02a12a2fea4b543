#include "plan/cbor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plan/json.h"

namespace kiln::plan {
namespace {

Bytes bytes(std::initializer_list<int> values) {
  Bytes out;
  for (const int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}
std::string problem(const Bytes& document) {
  const auto record = from_cbor(document);
  return record ? "accepted" : record.error().message;
}

TEST(Cbor, KnownBytes) {  // by RFC 8949's and 8746's tables
  Record record;
  record.set("a", -500).set("b", std::vector<int64_t>{1, -2}).set("c", true).set("d", Datum::List{"x", Datum()});
  const Bytes expected = bytes({0xa4, 0x61, 'a',  0x39, 0x01, 0xf3, 0x61, 'b',  0xd8, 72,  0x42,
                                0x01, 0xfe, 0x61, 'c',  0xf5, 0x61, 'd',  0x82, 0x61, 'x', 0xf6});
  EXPECT_EQ(*to_cbor(record), expected);
  EXPECT_EQ(*from_cbor(expected), record);
}

TEST(Cbor, KeepsEveryKindApart) {
  Record record;
  record.set("null", Datum())
      .set("false", false)
      .set("least", INT64_MIN)
      .set("most", INT64_MAX)
      .set("float", 0.1)
      .set("whole float", 2.0)
      .set("text", std::string("n\0l \xff", 5))
      .set("bytes", Bytes{std::byte{7}})
      .set("no bytes", Bytes())
      .set("no integers", std::vector<int64_t>())
      .set("no floats", std::vector<double>())
      .set("no items", Datum::List())
      .set("items that are integers", Datum::List{1, 2})
      .set("i16", std::vector<int64_t>{0, -32768})
      .set("i32", std::vector<int64_t>{32768})
      .set("i64", std::vector<int64_t>{INT64_MIN, INT64_MAX})
      .set("floats", std::vector<double>{-0.0, INFINITY, 1e-310})
      .set("record", Record().set("", Record()));
  const auto back = from_cbor(*to_cbor(record));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, record);
  EXPECT_TRUE(std::isnan(*from_cbor(*to_cbor(Record().set("x", NAN)))->get_double("x")));
}

TEST(Cbor, DepthIsLimitedBothWays) {
  Record deep;
  for (int i = 1; i < kMaxCborDepth; ++i) deep = Record().set("r", std::move(deep));
  const auto written = to_cbor(deep);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(*from_cbor(*written), deep);
  const auto refused = to_cbor(Record().set("r", deep));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("a record is nested deeper than 64 levels"), std::string::npos);

  Bytes lists = bytes({0xa1, 0x61, 'a'});
  lists.resize(1'000'000, std::byte{0x81});  // a list of a list of a list ...
  EXPECT_EQ(problem(lists), "CBOR, byte 66: nested deeper than 64 levels");
}

TEST(Cbor, SaysWhatIsWrong) {
  EXPECT_EQ(problem({}), "CBOR, byte 0: the document ends where an item should begin");
  EXPECT_EQ(problem(bytes({0x80})), "CBOR, byte 0: the document is not a record");
  EXPECT_EQ(problem(bytes({0xa0, 0})), "CBOR, byte 1: 1 bytes follow the document");
  EXPECT_EQ(problem(bytes({0xbf})), "CBOR, byte 0: first byte 191 (indefinite or reserved) is not used here");
  EXPECT_EQ(problem(bytes({0xa1, 0x01, 0x01})), "CBOR, byte 1: the name of an entry is not text");
  EXPECT_EQ(problem(bytes({0xa2, 0x60, 0x01, 0x60, 0x01})), "CBOR, byte 3: two entries of a record are called ''");
  EXPECT_EQ(problem(bytes({0xa1, 0x60, 0x58, 200, 0})), "CBOR, byte 2: a byte string of 200 bytes exceeds the 1 left");
  EXPECT_EQ(problem(bytes({0xa1, 0x60, 0x9b, 255, 255, 255, 255, 255, 255, 255, 255})),
            "CBOR, byte 2: a list of 18446744073709551615 items exceeds the 0 bytes left");
  EXPECT_EQ(problem(bytes({0xa1, 0x60, 0x3b, 255, 255, 255, 255, 255, 255, 255, 255})),
            "CBOR, byte 2: an integer exceeds 64 bits with a sign");
  EXPECT_EQ(problem(bytes({0xa1, 0x60, 0xd8, 78, 0x43, 1, 2, 3})),
            "CBOR, byte 2: a typed array of tag 78 has 3 bytes, which is not a whole number of elements");
  EXPECT_EQ(problem(bytes({0xa1, 0x60, 0xc1, 0x40})), "CBOR, byte 2: tag 1 is not used here");
  EXPECT_EQ(problem(bytes({0xa1, 0x60, 0xd8, 72, 0x01})), "CBOR, byte 4: a tag must precede a byte string");
  EXPECT_EQ(problem(bytes({0xa1, 0x60, 0xf7})), "CBOR, byte 2: simple value 23 is not used here");
  EXPECT_EQ(problem(bytes({0xa1, 0x60, 0x1a, 0})), "CBOR, byte 2: a number of 4 bytes exceeds the 1 left");
}

TEST(Cbor, EntriesAreLimitedBothWays) {
  Record record;
  for (int i = 0; i < kMaxCborEntries; ++i) record.set(std::to_string(i), i);
  EXPECT_TRUE(from_cbor(*to_cbor(record)));
  record.set("one more", 1);
  EXPECT_EQ(to_cbor(record).error().message, "a record has 1025 entries; at most 1024 can be written");
}

TEST(Cbor, EveryTruncationAndNoiseIsAnswered) {
  const Bytes document = *to_cbor(Record().set("a", std::vector<int64_t>{1, 2}).set("b", Datum::List{1.5, "x"}));
  for (size_t size = 0; size < document.size(); ++size)
    EXPECT_NE(problem(Bytes(document.begin(), document.begin() + static_cast<ptrdiff_t>(size))), "accepted") << size;
  for (uint64_t seed = 0; seed < 5'000; ++seed) {
    std::mt19937_64 random(seed);
    Bytes damaged = document;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    if (const auto read = from_cbor(damaged)) {
      const Bytes once = *to_cbor(*read);
      EXPECT_EQ(*to_cbor(*from_cbor(once)), once) << "seed " << seed;
    }
  }
}

TEST(Json, KnownText) {
  Record record;
  record.set("b", 1).set("a", std::vector<double>{0.5, NAN}).set("bytes", Bytes{std::byte{0xa0}, std::byte{9}});
  record.set("list", Datum::List{"q\"\n", Datum(), true, Record()}).set("bad", "\xff");
  EXPECT_EQ(to_json(record), R"({"b":1,"a":[0.5,null],"bytes":"a009","list":["q\"\n",null,true,{}],"bad":")"
                             "\xEF\xBF\xBD\"}");
  EXPECT_EQ(to_json(Datum(Datum::List{1}), 2), "[\n  1\n]");
}

}  // namespace
}  // namespace kiln::plan
