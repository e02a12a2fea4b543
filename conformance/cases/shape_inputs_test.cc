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
#include "ops/padding.h"
#include "ops/slice.h"
#include "sym/real.h"

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
  const auto dims = graph.add_one(ops::DimValues{{sym::integer_of((*graph.type(n).values)[0])}, DType::kI64, {1}}, {});
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

/// The CPU's, which by itself cuts two numbers off: as a pass that believes more than the network says.
class Believer final : public Backend {
 public:
  explicit Believer(Backend& cpu) : cpu_(cpu) {}
  std::string_view name() const override { return cpu_.name(); }
  Device& device() override { return cpu_.device(); }
  std::span<const Tactic* const> tactics(const OpInfo& op) const override { return cpu_.tactics(op); }
  Status lower(ir::Graph& graph, const Numerics& numerics) const override {
    TRY(graph.add_one(ops::Padding{{0}, {-2}}, {graph.inputs()[0]}, "believer"));
    return cpu_.lower(graph, numerics);
  }
  const Tactic& fallback() const override { return cpu_.fallback(); }
  StepDraft reformat(const TensorType& type, const Format& from, const Format& to) const override {
    return cpu_.reformat(type, from, to);
  }
  double reformat_estimate_us(const TensorType& type, const Format& from, const Format& to) const override {
    return cpu_.reformat_estimate_us(type, from, to);
  }

 private:
  Backend& cpu_;
};

TEST(ShapeInputs, ShapesThatRewritesDoNotForeseeAreRefused) {
  ir::Graph graph;
  const sym::Expr n = graph.table().symbol("n");
  const ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {n}));
  const auto y = graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {x, x});
  ASSERT_TRUE(y);
  graph.mark_output(*y, "y");
  const auto run = [&](int64_t least, int64_t extent) -> Status {
    BuildRequest request{.optimization_level = 0};
    request.profiles.resize(1);
    request.profiles[0].extents["x"] = {{least}, {4}, {8}};
    Believer backend(TRY(cpu_backend()));
    const HostTensor input = HostTensor::of(DType::kF32, {extent}, std::vector<double>(static_cast<size_t>(extent), 1));
    TRY(run_on(backend, graph, {&input, 1}, request));
    return {};
  };
  EXPECT_TRUE(run(1, 2));
  EXPECT_TRUE(run(2, 2));  // in a range that leaves nothing to check
  const Status refused = run(1, 1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'believer'"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace kiln
