// Which inputs a plan reads on the host: those whose values decide shapes, and no others.
#include <gtest/gtest.h>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "builder/build.h"
#include "ops/element_wise.h"
#include "ops/slice.h"

namespace kiln {
namespace {

ir::ValueId add_index_input(ir::Graph& graph, const char* name) {
  const int64_t extents[] = {2};
  const ir::ValueId input = graph.add_input(name, tensor_type(DType::kI64, extents));
  give_symbolic_values(graph, input);
  return input;
}

Result<plan::Plan> build(const ir::Graph& graph, const BuildRequest& request) {
  auto device = TRY(cpu::CpuDevice::create(1));
  device->set_executor(std::make_unique<cpu::CpuExecutor>(device->team()));
  cpu::CpuBackend backend(*device);
  NullLog log;
  return build_plan(graph, backend, request, log);
}

TEST(ShapeInputs, IntegersThatDecideNothingAreData) {
  ir::Graph graph;
  const ir::ValueId a = add_index_input(graph, "a"), b = add_index_input(graph, "b");
  const auto y = graph.add_one(ops::ElementWise{.kind = ops::ElementWiseKind::kFloorDiv}, {a, b});
  ASSERT_TRUE(y) << y.error().message;
  graph.mark_output(*y, "y");
  const auto plan = build(graph, {.optimization_level = 0});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(plan->inputs[0].is_shape);
  EXPECT_FALSE(plan->inputs[1].is_shape);
}

TEST(ShapeInputs, ValuesThatAProfileFixesAreStillRead) {
  ir::Graph graph;
  const int64_t extents[] = {5, 6};
  const ir::ValueId x = graph.add_input("x", tensor_type(DType::kF32, extents));
  const ir::ValueId starts = add_index_input(graph, "starts");
  const auto y = graph.add_one(ops::Slice{.sizes = {2, 2}}, {x, starts});
  ASSERT_TRUE(y) << y.error().message;
  graph.mark_output(*y, "y");
  BuildRequest request{.optimization_level = 0};
  request.profiles.resize(1);
  request.profiles[0].values["starts"] = {{1, 2}, {1, 2}, {1, 2}};
  const auto plan = build(graph, request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(plan->inputs[0].is_shape);
  EXPECT_TRUE(plan->inputs[1].is_shape);  // other starts than these must be refused, not ignored
}

}  // namespace
}  // namespace kiln
