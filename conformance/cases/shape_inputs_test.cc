// Which inputs a plan reads on the host: those whose values decide shapes, and no others.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "builder/build.h"
#include "device_run.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/fill.h"
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

TEST(ShapeInputs, FloatsAreWholeNumbers) {
  ir::Graph graph;
  const ir::ValueId n = graph.add_input("n", tensor_type(DType::kF32, {}));
  give_whole_values(graph, n);
  const auto dims = graph.add_one(ops::DimValues{{(*graph.type(n).values)[0]}, DType::kI64, {1}}, {});
  ASSERT_TRUE(dims) << dims.error().message;
  const auto y = graph.add_one(ops::Fill{}, {*dims});
  ASSERT_TRUE(y) << y.error().message;
  graph.mark_output(*y, "y");
  BuildRequest request{.optimization_level = 0};
  request.profiles.resize(1);
  request.profiles[0].values["n"] = {{1}, {3}, {8}};
  const auto run = [&](double value) -> Result<DeviceRun> {
    const HostTensor input = HostTensor::scalar(DType::kF32, value);
    return run_on(TRY(cpu_backend()), graph, {&input, 1}, request);
  };
  const auto five = run(5);
  ASSERT_TRUE(five) << five.error().message;
  EXPECT_EQ(five->outputs[0], HostTensor::of(DType::kF32, {5}, std::vector<double>{0, 1, 2, 3, 4}));
  for (const double value : {2.5, std::nan(""), HUGE_VAL}) {
    const auto refused = run(value);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              str("shape input 'n': element 0 is ", value, "; shapes are made of it, so it must be a whole number"));
  }
  const auto beyond = run(9);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message, "shape input 'n': element 0 is 9; profile 0 allows [1, 8]");
}

}  // namespace
}  // namespace kiln
