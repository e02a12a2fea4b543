#include "shapes.h"

#include <gtest/gtest.h>

#include "expect_failure.h"

namespace kiln::cli {
namespace {

TEST(Shapes, ReadsLists) {
  const NamedExtents expected{{"x", {1, 3, 224, 224}}, {"y", {4}}, {"z", {}}};
  EXPECT_EQ(parse_shapes("x:1x3x224x224,y:4,z:scalar", "--shapes"), expected);
  EXPECT_EQ(parse_shapes(" x : 1x3x224x224 , y:4, z : scalar ", "--shapes"), expected);
}

TEST(Shapes, ScalarsAreWrittenInThreeWays) {
  const NamedExtents scalar{{"x", {}}, {"y", {2}}};
  EXPECT_EQ(parse_shapes("x:scalar,y:2", "--shapes"), scalar);
  EXPECT_EQ(parse_shapes("x:,y:2", "--shapes"), scalar);
  EXPECT_EQ(as_declared(Extents{1}, Extents{}), Extents{});
  EXPECT_EQ(as_declared(Extents{2}, Extents{}), Extents{2});
  EXPECT_EQ(as_declared(Extents{1}, Extents{-1}), Extents{1});
  EXPECT_EQ(as_declared(Extents{}, Extents{1}), Extents{});  // which is refused
}

TEST(Shapes, NamesMayHaveColonsAndCommas) {
  const NamedExtents expected{{"input:0", {1, 2}}};
  EXPECT_EQ(parse_shapes("input:0:1x2", "--shapes"), expected);
  EXPECT_EQ(parse_shapes("'input:0':1x2", "--shapes"), expected);
  EXPECT_EQ(parse_shapes("'a,b':7", "--shapes"), (NamedExtents{{"a,b", {7}}}));
}

TEST(Shapes, NamesMayHaveQuotes) {
  EXPECT_EQ(parse_shapes("'it''s':1x2,b:3", "--shapes"), (NamedExtents{{"it's", {1, 2}}, {"b", {3}}}));
  EXPECT_EQ(parse_shapes("'''a'':0''':7", "--shapes"), (NamedExtents{{"'a':0'", {7}}}));
  EXPECT_EQ(parse_pairs("'it''s:0':C:/x.bin", "--loadInputs"), (NamedTexts{{"it's:0", "C:/x.bin"}}));
}

TEST(Shapes, QuotedNamesEndAtTheirQuote) {
  EXPECT_EQ(parse_pairs("'x:0':C:/x.bin,y:my file.bin", "--loadInputs"),
            (NamedTexts{{"x:0", "C:/x.bin"}, {"y", "my file.bin"}}));
}

TEST(Shapes, SaysWhatIsWrong) {
  const auto failure = [](const char* text) { return failure_of([&] { parse_shapes(text, "--shapes"); }); };
  EXPECT_EQ(failure("x"), "--shapes: 'x' has no value; name:value is expected");
  EXPECT_EQ(failure(":1x2"), "--shapes: ':1x2' has no name before the colon");
  EXPECT_EQ(failure_of([] { parse_pairs("x:", "--loadInputs"); }), "--loadInputs: 'x' has no value after the colon");
  EXPECT_EQ(failure("x:1,,y:2"), "--shapes: an entry is empty");
  EXPECT_EQ(failure("x:1,x:2"), "--shapes: 'x' is named twice");
  EXPECT_EQ(failure("x:1xx2"), "--shapes: shape of 'x': '' is not a whole number");
  EXPECT_EQ(failure("x:1x3q"), "--shapes: shape of 'x': '3q' is not a whole number");
}

TEST(Shapes, PrintsAsItReads) {
  EXPECT_EQ(shape_text(Extents{1, 3, 7}), "1x3x7");
  EXPECT_EQ(shape_text(Extents{}), "");
}

TEST(Shapes, FindsTheVeryNameBeforeAPattern) {
  const NamedExtents entries{{"past.*.key", {1}}, {"past.3.key", {2}}};
  EXPECT_EQ(*EntryIndex<Extents>(entries).find("past.3.key"), Extents{2});
  EXPECT_EQ(*EntryIndex<Extents>(entries).find("past.11.key"), Extents{1});
  EXPECT_EQ(EntryIndex<Extents>(entries).find("past.key"), nullptr);  // the dots must not be one and the same
}

TEST(Shapes, NamesAreOfInputsThatThereAre) {
  const std::vector<std::string> inputs{"x:0", "past.1.key"};
  require_inputs(NamedExtents{{"x:0", {1}}, {"past.*.key", {2}}}, inputs, "the network");
  for (const char* name : {"x", "past.*.value"})
    EXPECT_EQ(failure_of([&] {
                require_inputs(NamedExtents{{name, {1}}}, inputs, "the network");
              }),
              str("the network has no input '", name, "'; its inputs are 'x:0', 'past.1.key'"));
}

}  // namespace
}  // namespace kiln::cli
