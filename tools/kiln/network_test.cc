#include "network.h"

#include <gtest/gtest.h>

#include "cli/expect_failure.h"
#include "plan/layout.h"

namespace kiln {
namespace {

TEST(Network, PlansAreKnownByTheirBeginning) {
  const uint32_t words[] = {plan::kMagic, 0};
  const auto bytes = std::as_bytes(std::span(words));
  EXPECT_TRUE(is_plan(bytes));
  EXPECT_TRUE(is_plan(bytes.first(4)));
  EXPECT_FALSE(is_plan(bytes.first(3)));
  EXPECT_FALSE(is_plan(bytes.subspan(4)));
}

TEST(Profile, IsOfInputsThatThereAre) {
  ir::Graph g;
  const sym::Expr n = g.table().symbol("n", sym::kAnyExtent);
  const auto x = g.add_input("x:0", {DType::kF32, {n, 3}});
  g.add_input("y", {DType::kF32, {n}});
  g.mark_output(x, "z");
  const ProfileRequest profile = profile_of(g, {{"x*", {{1, 3}, {4, 3}, {8, 3}}}});
  EXPECT_EQ(profile.extents.at("x:0").min, (Extents{1, 3}));
  EXPECT_EQ(profile.extents.at("x:0").opt, (Extents{4, 3}));
  EXPECT_EQ(profile.extents.at("x:0").max, (Extents{8, 3}));
  EXPECT_EQ(profile.extents.at("y").max, Extents{1});
  EXPECT_EQ(cli::failure_of([&] {
              profile_of(g, {{"zz", {{1}, {1}, {1}}}});
            }),
            "the network has no input 'zz'; its inputs are 'x:0', 'y'");
}

TEST(Profile, OneElementMeansAScalar) {
  ir::Graph g;
  const auto x = g.add_input("x", {DType::kF32, {}});
  g.mark_output(x, "y");
  EXPECT_EQ(profile_of(g, {{"x", {{1}, {}, {1}}}}).extents.at("x").min, Extents{});
  EXPECT_EQ(profile_of(g, {{"x", {{1}, {}, {1}}}}).extents.at("x").opt, Extents{});
  EXPECT_EQ(profile_of(g, {{"x", {{2}, {2}, {2}}}}).extents.at("x").max, Extents{2});
}

}  // namespace
}  // namespace kiln
