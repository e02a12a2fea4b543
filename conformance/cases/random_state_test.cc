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
plan::Plan two_fills(Backend& backend) {
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
  auto plan = build_plan(graph, backend, request, log);
  CHECK(plan.has_value());
  return *std::move(plan);
}

/// The numbers that both fills draw in three runs, one behind the other.
std::vector<std::vector<double>> drawn(const plan::Plan& plan, Backend& backend) {
  auto built = BuiltGraph::load(backend, plan);
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

/// Each fill draws its own numbers, also where another kernel runs the first of them.
void expect_own_numbers(Backend& backend) {
  const plan::Plan plan = two_fills(backend);
  const auto numbers = drawn(plan, backend);
  EXPECT_EQ(numbers[0], numbers[1]);
  for (size_t i = 0; i < numbers[0].size(); ++i)  // none comes again
    EXPECT_EQ(numbers[0][i], random_uniform(kSeed, i)) << i;

  plan::Plan other = plan;  // at 2 as built, at 8 by another
  plan::Profile& profile = other.profiles[0];
  const auto first =
      std::ranges::find_if(profile.steps, [](const plan::Step& step) { return step.step.name() == "fill"; });
  ASSERT_NE(first, profile.steps.end());
  profile.tunings = {Extents(other.symbols.size(), 2), Extents(other.symbols.size(), 8)};
  first->alternatives = {{{1}, first->step, first->tuning, first->binary, first->params, {}}};
  first->alternatives[0].params.push_back(
      sym::Program::constant(0));  // which nobody reads, and which no other step has
  EXPECT_EQ(drawn(other, backend), numbers);
}

TEST(RandomState, IsOfAStepAndNotOfWhatRunsIt) { expect_own_numbers(cpu_backend().value()); }

TEST(CudaRandomState, IsOfAStepAndNotOfWhatRunsIt) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  expect_own_numbers(*backend);
}

}  // namespace
}  // namespace kiln
