#include "ir/loop_draft.h"

#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/unary.h"
#include "sym/unbounded.h"

namespace kiln::ir {
namespace {

/// A loop of five iterations over one f32[3, 4], which joins it with itself along an axis, or keeps its extents.
struct Settled {
  std::shared_ptr<sym::Table> table = std::make_shared<sym::Table>();
  int num_made = 0;
  LoopDraft loop;
  Status status;
};
Settled settle(LoopHistory& history, std::optional<int> doubled_axis) {
  Settled result;
  Graph graph(result.table);
  LoopDraft& loop = result.loop;
  loop.op.carried = 1;
  loop.names = {"v"};
  loop.inputs = {TensorType(DType::kI64, {}), TensorType(DType::kF32, {3, 4})};
  loop.first_elements = {std::nullopt};
  loop.trips = 5;
  loop.is_exact = true;
  const auto make = [&](std::span<const TensorType> types) -> Result<Bodies> {
    ++result.num_made;
    auto body = graph.new_body();
    body->add_input("i", types[0]);
    const ValueId v = body->add_input("v", types[1]);
    const ValueId next = doubled_axis ? TRY(body->add_one(ops::Concatenation{.axis = *doubled_axis}, {v, v}))
                                      : TRY(body->add_one(ops::Unary{ops::UnaryKind::kNeg}, {v}));
    body->mark_output(next, "v1");
    return Bodies{body};
  };
  auto bodies = settle_bodies(graph.table(), loop, history, &history, make);
  if (!bodies) result.status = std::unexpected(std::move(bodies).error());
  return result;
}

TEST(LoopDraft, ABodyThatKeepsItsExtentsIsMadeOnce) {
  LoopHistory history;
  const Settled got = settle(history, std::nullopt);
  ASSERT_TRUE(got.status);
  EXPECT_EQ(got.num_made, 1);
  EXPECT_TRUE(got.loop.op.decided.empty());
}
TEST(LoopDraft, HistoryTellsWhichExtentsChange) {
  LoopHistory history;
  const Settled first = settle(history, 0), second = settle(history, 0);
  ASSERT_TRUE(first.status && second.status);
  EXPECT_EQ(first.num_made, 3) << "to see that it changes, to find a bound, and with that bound";
  EXPECT_EQ(second.num_made, 2);
  for (const LoopDraft& loop : {first.loop, second.loop}) {
    EXPECT_EQ(loop.op.decided, (std::vector<DecidedAxis>{{0, 0}}));
    ASSERT_EQ(loop.op.most.size(), 1U);
    EXPECT_EQ(str(loop.op.most[0]), "96") << "3 * 2^5";
    ASSERT_EQ(loop.sizes.size(), 1U);
    EXPECT_EQ(loop.sizes[0].symbol.max(), 96);
  }
}
TEST(LoopDraft, HistoryOfAnotherKindIsForgotten) {
  LoopHistory history{.changing = {}};
  history.changing[&history] = {{0, 0}, {1, 0}, {0, 2}};  // there is no value 1, and no axis 2
  const Settled same = settle(history, std::nullopt);
  ASSERT_TRUE(same.status);
  EXPECT_TRUE(same.loop.op.decided.empty());
  EXPECT_EQ(str(same.loop.inputs[1]), "f32[3, 4]");
  history.changing[&history] = {{0, 0}};
  EXPECT_EQ(settle(history, 1).loop.op.decided, (std::vector<DecidedAxis>{{0, 1}}));
}
TEST(LoopDraft, ATrialLeavesTheLastMakingToOthers) {
  LoopHistory history{.changing = {}, .is_trial = true};
  EXPECT_EQ(settle(history, std::nullopt).num_made, 1);
  EXPECT_FALSE(history.is_unfinished);
  EXPECT_EQ(settle(history, 0).num_made, 2);
  EXPECT_TRUE(history.is_unfinished);
  EXPECT_EQ(settle(history, 0).num_made, 1);
  EXPECT_TRUE(history.is_trial);
}

/// A loop of at most `count` iterations that goes on while its number is below `end`, and stacks it.
LoopDraft settle_while(const std::shared_ptr<sym::Table>& table, sym::Expr count, int64_t end) {
  Graph graph(table);
  LoopDraft loop;
  loop.op.tests = true, loop.op.stacks = {1};
  loop.inputs = {TensorType(DType::kI64, {})};
  loop.trips = count;
  follow_element(*table, loop, 0);
  const auto make = [&](std::span<const TensorType> types) -> Result<Bodies> {
    auto body = graph.new_body();
    const ValueId i = body->add_input("i", types[0]);
    const ValueId last = body->add_constant(HostTensor::scalar(DType::kI64, static_cast<double>(end)));
    body->mark_output(TRY(body->add_one(ops::ElementWise{ops::ElementWiseKind::kLess}, {i, last})), "go on");
    body->mark_output(TRY(body->add_one(ops::Unary{ops::UnaryKind::kNeg}, {i})), "slice");
    return Bodies{body};
  };
  LoopHistory history;
  const auto bodies = settle_bodies(*table, loop, history, &history, make);
  EXPECT_TRUE(bodies) << bodies.error().message;
  return loop;
}
TEST(LoopDraft, IterationsAreAsManyAsTheCountAndTheConditionAllow) {
  const auto table = std::make_shared<sym::Table>();
  const sym::Expr n = table->symbol("n", {0, 7, 100});
  for (const auto& [count, end, most] :
       {std::tuple(sym::Expr(3), 10, "3"), {sym::Expr(100), 5, "6"}, {n, 5, "min(n, 6)"}, {n, 500, "n"}}) {
    const LoopDraft loop = settle_while(table, count, end);
    EXPECT_EQ(str(*loop.trips), most);
    ASSERT_EQ(loop.op.most.size(), 1U);
    EXPECT_EQ(str(loop.op.most[0]), most);
  }
}
/// A value that each iteration makes longer by what has no bound has none: no number of iterations gives it one.
TEST(LoopDraft, WhatGrowsByTheUnboundedIsUnbounded) {
  auto table = std::make_shared<sym::Table>();
  Graph graph(table);
  LoopDraft loop;
  loop.op.carried = 1;
  loop.names = {"v"};
  loop.inputs = {TensorType(DType::kI64, {}), TensorType(DType::kF32, {3})};
  loop.first_elements = {std::nullopt};
  loop.trips = 5;
  loop.is_exact = true;
  const auto make = [&](std::span<const TensorType> types) -> Result<Bodies> {
    auto body = graph.new_body();
    body->add_input("i", types[0]);
    const ValueId v = body->add_input("v", types[1]);
    const ValueId more = body->add_input("more", TensorType(DType::kF32, {sym::unbounded(*table)}));
    body->mark_output(TRY(body->add_one(ops::Concatenation{.axis = 0}, {v, more})), "v1");
    return Bodies{body};
  };
  LoopHistory history;
  const auto bodies = settle_bodies(*table, loop, history, &history, make);
  ASSERT_TRUE(bodies) << bodies.error().message;
  ASSERT_EQ(loop.op.most.size(), 1U);
  EXPECT_EQ(str(loop.op.most[0]), str(sym::unbounded(*table)));
}

/// What inference says of a loop of five iterations that stacks in reverse; its body may end it before.
std::string error_of_reversed(bool tests) {
  Graph graph;
  auto body = graph.new_body();
  const ValueId i = body->add_input("i", TensorType(DType::kI64, {}));
  if (tests) body->mark_output(body->add_constant(HostTensor::scalar(DType::kBool, 1)), "go on");
  body->mark_output(body->add_one(ops::Unary{ops::UnaryKind::kNeg}, {i}).value(), "slice");
  const ValueId count = graph.add_constant(HostTensor::scalar(DType::kI64, 5));
  const auto added =
      graph.add(ops::Loop{.stacks = {-1}, .tests = tests}, std::array{count, ValueId::kNone}, "loop", {body});
  return added ? "" : added.error().message;
}
TEST(Loop, StacksInReverseOnlyWhatNoConditionEnds) {
  EXPECT_EQ(error_of_reversed(false), "");
  EXPECT_EQ(error_of_reversed(true), "what a condition may end before its count cannot be stacked in reverse");
}

TEST(Loop, StacksOnlyWhatHasABound) {
  for (const bool is_decided : {false, true}) {
    Graph graph;
    auto body = graph.new_body();
    const ValueId i = body->add_input("i", TensorType(DType::kI64, {}));
    body->mark_output(body->add_one(ops::Unary{ops::UnaryKind::kNeg}, {i}).value(), "slice");
    ops::Loop loop{.stacks = {1}};
    if (is_decided) loop.decided = {{0, 0}}, loop.most = {9};
    const ValueId count = graph.add_input("count", TensorType(DType::kI64, {}));
    const auto added = graph.add(loop, std::array{count, ValueId::kNone}, "loop", {body});
    EXPECT_EQ(
        added ? "" : added.error().message,
        is_decided ? "" : "stacked output 0 has no bound of how many iterations there are, which only the run tells");
  }
}

}  // namespace
}  // namespace kiln::ir
