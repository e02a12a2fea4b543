#include "backend/cuda/tactics/lower_recurrence.h"

#include <gtest/gtest.h>

#include "ir/interpret.h"
#include "ops/recurrence.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

HostTensor numbers(Extents extents, double first) {
  std::vector<double> values(static_cast<size_t>(volume(extents)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + 0.0625 * static_cast<double>(i % 7);
  return HostTensor::of(DType::kF32, std::move(extents), values);
}

/// A GRU of 3 units in two directions over x [steps, 2, 4]; w is a constant, or an input.
Result<ir::Graph> network(bool constant_w) {
  ops::Recurrence op{.cell = ops::RecurrenceCell::kGru, .direction = ops::RecurrenceDirection::kBidirectional};
  for (int i = 0; i < 4; ++i) op.activations.push_back({ops::GateFunction::kTanh});
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {graph.table().symbol("steps"), 2, 4}));
  const ir::ValueId w = constant_w ? graph.add_constant(numbers({2, 9, 4}, -0.2), "w")
                                   : graph.add_input("w", tensor_type(DType::kF32, Extents{2, 9, 4}));
  const ir::ValueId r = graph.add_constant(numbers({2, 9, 3}, -0.1), "r");
  const auto outputs = TRY(graph.add(op, std::vector{x, w, r}, "gru"));
  graph.mark_output(outputs[0], "y");
  graph.mark_output(outputs[1], "y_h");
  return graph;
}

TEST(LowerRecurrence, TheProductOfTheInputComesFirst) {
  ir::Graph graph = network(true).value();
  const HostTensor x = numbers({5, 2, 4}, -0.3);
  const auto want = ir::interpret(graph, {x});
  ASSERT_TRUE(want) << want.error().message;
  ASSERT_TRUE(lower_recurrences(graph));
  ASSERT_TRUE(ir::verify(graph));
  const std::string text = print(graph);
  EXPECT_NE(text.find("MatrixMultiply{a=none, b=transpose}(x, "), std::string::npos) << text;
  EXPECT_NE(text.find("# f32[steps, 2, 18]"), std::string::npos) << text;
  const auto got = ir::interpret(graph, {x});
  ASSERT_TRUE(got) << got.error().message;
  for (size_t i = 0; i < 2; ++i) {
    const View a((*got)[i]), b((*want)[i]);
    ASSERT_EQ(a.extents(), b.extents());
    for (int64_t at = 0; at < a.volume(); ++at) EXPECT_NEAR(a[at], b[at], 1e-6);
  }
  const std::string once = print(graph);
  ASSERT_TRUE(lower_recurrences(graph));
  EXPECT_EQ(print(graph), once);
}
TEST(LowerRecurrence, LeavesWeightsOfTheRun) {
  ir::Graph graph = network(false).value();
  const std::string before = print(graph);
  ASSERT_TRUE(lower_recurrences(graph));
  EXPECT_EQ(print(graph), before);
}

}  // namespace
}  // namespace kiln::cuda
