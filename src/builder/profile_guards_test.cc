#include "builder/profile_guards.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "builder/specialize.h"
#include "ops/activation.h"
#include "ops/concatenation.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/gather.h"
#include "ops/matrix_multiply.h"
#include "ops/padding.h"
#include "ops/pooling.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "passes/pass.h"
#include "passes/testing/random_graph.h"
#include "sym/facts.h"

namespace kiln {
namespace {

/// x of n numbers, cut by `cut` at its end if that is not 0.
struct Cut {
  explicit Cut(int64_t cut) {
    n = graph.table().symbol("n");
    x = graph.add_input("x", TensorType(DType::kF32, {n}));
    ir::ValueId y = x;
    if (cut > 0) y = add(graph, x, cut);
    graph.mark_output(y, "y");
  }
  static ir::ValueId add(ir::Graph& graph, ir::ValueId x, int64_t cut) {
    const auto y = graph.add_one(ops::Padding{{0}, {-cut}}, {x}, "cut");
    CHECK(y.has_value());
    return *y;
  }
  ProfileGraph under(int64_t least, int64_t most) const {
    ProfileRequest profile;
    profile.extents["x"] = {{least}, {most}, {most}};
    auto made = specialize(graph, profile);
    CHECK(made.has_value());
    return *std::move(made);
  }
  ir::Graph graph;
  sym::Expr n;
  ir::ValueId x;
};

std::vector<std::string> texts(const ProfileGraph& made) {
  std::vector<std::string> result;
  for (const sym::Guard& guard : made.guards.compile()) result.push_back(guard.text);
  return result;
}
using Texts = std::vector<std::string>;

TEST(ProfileGuards, WhatTheNetworkAssumesIsCheckedAlready) {
  EXPECT_EQ(texts(Cut(3).under(1, 8)), Texts{});
  EXPECT_EQ(texts(Cut(3).under(4, 8)), Texts{});
}

TEST(ProfileGuards, WhatAPassAssumesIsCheckedByItsProfile) {
  const Cut network(3);
  ProfileGraph narrow = network.under(1, 8), wide = network.under(5, 8);
  for (ProfileGraph* made : {&narrow, &wide}) {
    Cut::add(made->graph, made->graph.inputs()[0], 5);
    ASSERT_TRUE(made->guards.add(made->graph, made->bounds));
    ASSERT_TRUE(made->guards.add(made->graph, made->bounds));  // once is enough
  }
  ASSERT_EQ(texts(narrow).size(), 1u);
  const sym::Guard guard = narrow.guards.compile()[0];
  for (int64_t n = 0; n < 9; ++n) EXPECT_EQ(guard.check({&n, 1}).has_value(), n >= 5) << guard.text;
  EXPECT_NE(guard.text.find("'cut'"), std::string::npos) << guard.text;
  EXPECT_EQ(texts(wide), Texts{});  // no n of its range breaks it
}

TEST(ProfileGuards, WhatIsNoLimitIsCheckedToo) {
  ProfileGraph made = Cut(0).under(1, 8);
  ASSERT_TRUE(made.graph.add_one(ops::Reshape{.dims = {2, -1}}, {made.graph.inputs()[0]}, "pairs"));
  ASSERT_TRUE(made.guards.add(made.graph, made.bounds));
  ASSERT_EQ(texts(made).size(), 1u);
  for (int64_t n = 1; n < 9; ++n) EXPECT_EQ(made.guards.compile()[0].check({&n, 1}).has_value(), n % 2 == 0);
}

/// A clone has its original's table, which then knows what the original does not assume.
TEST(ProfileGuards, WhatACloneLearnedIsChecked) {
  const Cut network(0);
  ir::Graph clone = network.graph.clone();
  Cut::add(clone, network.x, 4);
  EXPECT_TRUE(network.graph.assumptions().empty());
  EXPECT_EQ(sym::max(network.n, 4), network.n);
  const ProfileGraph made = network.under(1, 8);
  ASSERT_EQ(texts(made).size(), 1u);
  for (int64_t n = 0; n < 9; ++n) EXPECT_EQ(made.guards.compile()[0].check({&n, 1}).has_value(), n >= 4);
}

/// A node that inference refuses is none of the graph, but what it began with has been learned.
TEST(ProfileGuards, WhatARefusedNodeLearnedIsChecked) {
  ProfileGraph made = Cut(0).under(1, 8);
  const sym::Expr n = made.graph.table().symbols()[0];
  sym::learn(n, 6, "a node that is not there");
  ASSERT_TRUE(made.guards.add(made.graph, made.bounds));
  EXPECT_EQ(texts(made), Texts{"6 <= n (a node that is not there)"});
}

/// p and q become one, which the network's own assumption, p broadcasts with q, says under these ranges.
TEST(ProfileGuards, ExtentsThatBecomeOneAreCheckedAlready) {
  ir::Graph graph;
  ProfileRequest profile;
  std::vector<ir::ValueId> inputs;
  for (const char* name : {"p", "q"}) {
    inputs.push_back(graph.add_input(name, TensorType(DType::kF32, {graph.table().symbol(name)})));
    profile.extents[name] = {{2}, {4}, {8}};
  }
  const auto sum = graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, inputs, "add");
  ASSERT_TRUE(sum);
  graph.mark_output(*sum, "y");
  const auto made = specialize(graph, profile);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(str(made->graph.type(made->graph.outputs()[0].value)), "f32[p]");
  EXPECT_EQ(texts(*made), Texts{});
}

/// Whether all that a graph believes holds where the network's guards and these do.
void expect_believed_is_checked(const ir::Graph& network, const ProfileGraph& made, const plan::InputRange& range) {
  std::vector<sym::Guard> checked = made.guards.compile(), believed;
  for (const sym::Assumption& x : network.assumptions()) checked.push_back(sym::Guard::compile(x));
  for (const sym::Assumption& x : made.graph.assumptions()) believed.push_back(sym::Guard::compile(x));
  for (const sym::Fact& fact : sym::known_facts(*made.graph.shared_table()))
    believed.push_back(sym::Guard::compile({sym::Relation::kLessEqual, fact.least, fact.e, fact.reason}));
  for (int64_t n = range.min[0]; n <= range.max[0]; ++n) {
    const auto holds = [&](const sym::Guard& guard) { return guard.check({&n, 1}).has_value(); };
    if (!std::ranges::all_of(checked, holds)) continue;
    for (const sym::Guard& guard : believed) EXPECT_TRUE(holds(guard)) << "n = " << n << ": " << guard.text;
  }
}

/// The pipeline writes nothing that assumes more than its network did, and was it to, that would be checked.
TEST(ProfileGuards, OfRandomNetworks) {
  const OpInfo* const ops[] = {
      &op_info<ops::Convolution>(),   &op_info<ops::Pooling>(),        &op_info<ops::Slice>(),
      &op_info<ops::Reshape>(),       &op_info<ops::MatrixMultiply>(), &op_info<ops::Reduce>(),
      &op_info<ops::Concatenation>(), &op_info<ops::Expand>(),         &op_info<ops::ElementWise>(),
      &op_info<ops::Unary>(),         &op_info<ops::Transpose>(),      &op_info<ops::Gather>()};
  NullLog log;
  int with_symbols = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Graph network = passes::random_graph(seed, 12, ops).graph;
    if (network.shared_table()->symbols().empty()) continue;
    const int64_t least = 1 + static_cast<int64_t>(seed % 3);
    plan::InputRange of_n{{least}, {3}, {8}};
    ProfileRequest profile;
    for (const ir::ValueId input : network.inputs()) {
      plan::InputRange& range = profile.extents[network.value(input).name];
      for (const sym::Expr& extent : network.type(input).shape) {
        range.min.push_back(extent.constant().value_or(least));
        range.opt.push_back(extent.constant().value_or(3));
        range.max.push_back(extent.constant().value_or(8));
      }
    }
    auto made = specialize(network, profile);
    if (!made) continue;  // no n of the range is right
    ++with_symbols;
    passes::PassContext context{log};
    ASSERT_TRUE(passes::run_pipeline(made->graph, context)) << ir::print(network);
    ASSERT_TRUE(made->guards.add(made->graph, made->bounds)) << ir::print(network);
    EXPECT_EQ(texts(*made), Texts{}) << ir::print(network);
    expect_believed_is_checked(network, *made, of_n);
  }
  EXPECT_GE(with_symbols, 50);
}

}  // namespace
}  // namespace kiln
