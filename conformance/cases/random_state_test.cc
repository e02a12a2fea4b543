// Random steps go on in their own sequences, whichever kernel runs them.
#include <gtest/gtest.h>

#include <algorithm>

#include "device_run.h"
#include "ops/fill.h"
#include "ops/shape.h"

namespace kiln {
namespace {

constexpr int64_t kSeed = 7;

/// Two equal fills, as long as x is.
plan::Plan two_fills() {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {graph.table().symbol("n")}));
  const auto shape = graph.add_one(ops::Shape(), {x});
  CHECK(shape.has_value());
  const ops::Fill fill{.operation = FillOperation::kRandomUniform, .seed = kSeed};
  for (const char* const name : {"a", "b"}) {
    const auto y = graph.add_one(fill, {*shape}, name);
    CHECK(y.has_value());
    graph.mark_output(*y, name);
  }
  BuildRequest request{.optimization_level = 0};
  request.profiles.resize(1);
  request.profiles[0].extents["x"] = {{1}, {2}, {8}};
  NullLog log;
  auto plan = build_plan(graph, cpu_backend().value(), request, log);
  CHECK(plan.has_value());
  return *std::move(plan);
}

/// The numbers that both fills draw in three runs, one behind the other.
std::vector<std::vector<double>> drawn(const plan::Plan& plan) {
  auto built = BuiltGraph::load(cpu_backend().value(), plan);
  CHECK(built.has_value());
  std::vector<std::vector<double>> result(2);
  for (const int64_t n : {2, 8, 3}) {
    const HostTensor x = HostTensor::of(DType::kF32, {n}, std::vector<double>(static_cast<size_t>(n), 0));
    const auto run = built->run({&x, 1});
    CHECK(run.has_value());
    for (size_t i = 0; i < 2; ++i) {
      const auto* numbers = reinterpret_cast<const float*>(run->outputs[i].bytes().data());
      result[i].insert(result[i].end(), numbers, numbers + n);
    }
  }
  return result;
}

TEST(RandomState, IsOfAStepAndNotOfWhatRunsIt) {
  const plan::Plan plan = two_fills();
  const auto numbers = drawn(plan);
  EXPECT_EQ(numbers[0], numbers[1]);
  for (size_t i = 0; i < numbers[0].size(); ++i)  // none comes again
    EXPECT_EQ(numbers[0][i], random_uniform(kSeed, i)) << i;

  // Far from the optimum another kernel runs the first of them.
  plan::Plan other = plan;
  plan::Profile& profile = other.profiles[0];
  const auto first =
      std::ranges::find_if(profile.steps, [](const plan::Step& step) { return step.step.name() == "fill"; });
  ASSERT_NE(first, profile.steps.end());
  profile.tunings = {Extents(other.symbols.size(), 2), Extents(other.symbols.size(), 8)};
  first->alternatives = {{{1}, first->step, first->tuning, -1, {sym::Program::constant(0)}, {}}};
  EXPECT_EQ(drawn(other), numbers);
}

}  // namespace
}  // namespace kiln
