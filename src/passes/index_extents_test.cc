#include "passes/index_extents.h"

#include <gtest/gtest.h>

#include "ir/parse.h"

namespace kiln::passes {
namespace {

/// The extent that input `i` is an index into; nothing if it is none, or none into a known extent.
std::optional<int64_t> extent_of(std::string_view text) {
  auto graph = ir::parse(text);
  if (!graph) return ADD_FAILURE() << graph.error().message, std::nullopt;
  const auto extents = index_extents(*graph);
  for (const auto& [input, extent] : extents)
    if (graph->value(input).name == "i") return extent;
  return std::nullopt;
}

TEST(IndexExtents, AreThoseOfTables) {
  EXPECT_EQ(extent_of("i: i64[3]; t: f32[50, 4]; y = Gather{axis=0}(t, i); return y"), 50);
  EXPECT_EQ(extent_of("i: i64[3]; t: f32[50, 4]; y = Gather{axis=-1}(t, i); return y"), 4);
  EXPECT_EQ(extent_of("i: i64[3, 2]; t: f32[50, 4, 2]; y = Gather{mode=nd}(t, i); return y"), 4);
  EXPECT_EQ(extent_of("i: i64[3]; t: f32[50, 4]; u: f32[9]; c = Cast{to=i32}(i); y = Gather{axis=0}(t, c); "
                      "s = Unsqueeze{axes=[0]}(i); z = Gather{axis=0}(u, s); return y, z"),
            9)
      << "the least";
}

TEST(IndexExtents, OfOthersAreNotKnown) {
  EXPECT_EQ(extent_of("i: i64[3]; t: f32[n, 4]; y = Gather{axis=0}(t, i); return y"), std::nullopt);
  EXPECT_EQ(extent_of("i: i64[3]; j: i64[2]; y = Gather{axis=0}(i, j); return y"), std::nullopt) << "it is the table";
  EXPECT_EQ(extent_of("i: i64[3]; t: f32[50, 4]; s = ElementWise{kind=sum}(i, i); y = Gather{axis=0}(t, s); return y"),
            std::nullopt);
  EXPECT_EQ(extent_of("i: f32[3]; y = Unary{kind=exp}(i); return y"), std::nullopt);
}

}  // namespace
}  // namespace kiln::passes
