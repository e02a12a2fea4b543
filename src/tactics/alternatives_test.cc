#include "tactics/alternatives.h"

#include <gtest/gtest.h>

#include <map>

#include "ops/activation.h"
#include "steps/testing/named_step.h"
#include "tactics/region.h"
#include "tactics/testing/fake_backend.h"

namespace kiln {
namespace {

/// Takes an Activation by three variants; "other format" is the quickest everywhere.
class Sized final : public Tactic {
 public:
  std::string_view name() const override { return "sized"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override { return single_node_region(cx.graph, root); }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const Format turned = Format::permuted(std::vector<int>{1, 0});
    asked_at.push_back(cx.graph.type(region.outputs[0]).opt_extents()[0]);
    return {linear_variant(region, "few"),
            linear_variant(region, "many"),
            linear_variant(region, "in place"),
            {"other format", {turned}, {turned}, {}, 0}};
  }
  Result<StepDraft> compile(const TacticContext&, const Region&, const Variant& variant) const override {
    StepDraft draft{.executor = "fake", .step = named_step(variant.name)};
    if (variant.name == "in place") draft.in_place_input = 0;
    return draft;
  }
  mutable std::vector<int64_t> asked_at;
};

/// "few" takes a microsecond an element, "many" 100 and a tenth of one an element.
class SizedTiming final : public Timing {
 public:
  Status time(const TacticContext& cx, std::span<const Trial> trials) override {
    for (const Trial& trial : trials)
      for (Candidate& candidate : trial.candidates) {
        const auto n = static_cast<double>(volume(cx.graph.type(trial.region.outputs[0]).opt_extents()));
        candidate.time_us = candidate.variant.name == "few" ? n : candidate.variant.name == "many" ? 100 + 0.1 * n : 0;
        if (candidate.variant.name == failing) candidate.failure = "it does not run";
      }
    return {};
  }
  std::string failing;
};

class Alternatives : public ::testing::Test {
 protected:
  /// A cover of y = relu(x) for x of [n, 1], run by "many".
  void build(sym::Bounds n, int level = 3) {
    const sym::Expr rows = graph.table().symbol("n", n);
    const ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {rows, 1}));
    const ir::ValueId y = *graph.add_one(ops::Activation{}, {x}, "relu");
    graph.mark_output(y, "y");
    const TacticContext cx{graph, numerics, backend.device(), level};
    const ir::NodeId root = graph.value(y).producer;
    Tile tile;
    tile.region = *tactic.match(cx, root);
    tile.tactic = &tactic;
    tile.variant = linear_variant(tile.region, "many");
    tile.draft = *tactic.compile(cx, tile.region, tile.variant);
    cover.tiles = {tile};
    NullLog log;
    const Status status = add_alternatives(cx, backend, timing, cover, log);
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(graph.type(y).opt_extents()[0], n.opt);
  }
  const std::vector<AlternativeTile>& found() const { return cover.tiles[0].alternatives; }

  ir::Graph graph;
  Numerics numerics;
  testing::FakeBackend backend;
  Sized tactic;
  SizedTiming timing;
  Cover cover;
};

TEST_F(Alternatives, AreForShapesThatTheyAreFasterAt) {
  build({1, 1024, 16384});
  EXPECT_EQ(cover.tunings, (std::vector<Extents>{{1024}, {32}, {1}, {4096}, {16384}}));
  ASSERT_EQ(found().size(), 1u);  // one for both shapes at which it is the fastest
  EXPECT_EQ(found()[0].variant.name, "few");
  EXPECT_EQ(as_named(found()[0].draft.step).text, "few");
  EXPECT_EQ(found()[0].tunings, (std::vector<int>{1, 2}));
  EXPECT_EQ(found()[0].time_us, 32);
  EXPECT_EQ(found()[0].replaced_us, 103.2);
}

TEST_F(Alternatives, CombineTheValuesOfFewSymbols) {
  graph.table().symbol("m", {1, 4, 8});
  timing.failing = "many";
  build({1, 4, 8});
  EXPECT_EQ(cover.tunings,
            (std::vector<Extents>{{4, 4}, {1, 4}, {8, 4}, {4, 1}, {4, 8}, {1, 1}, {1, 8}, {8, 1}, {8, 8}}));
}

TEST_F(Alternatives, MoveOneOfManySymbols) {
  for (const char* name : {"k", "l", "m"}) graph.table().symbol(name, {1, 4, 8});
  timing.failing = "many";
  build({1, 4, 8});
  EXPECT_EQ(cover.tunings.size(), 9u);  // the optimum, and two other values for each
}

TEST_F(Alternatives, AreNotForANarrowRange) {
  build({8, 8, 11});
  EXPECT_TRUE(tactic.asked_at.empty());
  EXPECT_TRUE(found().empty());
}

TEST_F(Alternatives, AreNotForALowOptimizationLevel) {
  build({1, 1024, 16384}, 2);
  EXPECT_TRUE(tactic.asked_at.empty());
}

TEST_F(Alternatives, StandInWhereTheChosenVariantDoesNotRun) {
  timing.failing = "many";
  build({1, 4, 8});
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].tunings, (std::vector<int>{1, 2}));
}

TEST_F(Alternatives, KeepWhatTheGraphAssumes) {
  const sym::Bounds bounds{1, 1024, 16384};
  const sym::Expr m = graph.table().symbol("m", bounds), n = graph.table().symbol("n", bounds);
  graph.assume({sym::Relation::kEqual, m, n, "both are batches"});
  build(bounds);
  EXPECT_EQ(cover.tunings, (std::vector<Extents>{{1024, 1024}, {32, 32}, {1, 1}, {4096, 4096}, {16384, 16384}}));
}

}  // namespace
}  // namespace kiln
