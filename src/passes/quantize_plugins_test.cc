#include "passes/quantize_plugins.h"

#include <gtest/gtest.h>

#include "ops/dequantize.h"
#include "ops/matrix_multiply.h"
#include "ops/plugin.h"
#include "ops/quantize.h"
#include "passes/quantize_contractions.h"
#include "passes/testing/unconfigured_plugin.h"
#include "tensor/host_tensor.h"

namespace kiln::passes {
namespace {

/// Takes two inputs and gives one output: i8 for the first input and the output, FP32 for the second, or FP32 alone.
class Mixed final : public testing::UnconfiguredPlugin {
 public:
  explicit Mixed(bool is_told) : is_told_(is_told) {}
  bool supports(std::span<const PluginTensor> tensors, int, int position) const override {
    const DType type = tensors[static_cast<size_t>(position)].dtype;
    if (position == 1) return type == DType::kF32;
    return position == 0 ? type == DType::kF32 || type == DType::kI8 : type == tensors[0].dtype;
  }
  bool knows_scales() const override { return is_told_; }

 private:
  const bool is_told_;
};

struct Network {
  explicit Network(bool is_told = true) {
    const TensorType type = tensor_type(DType::kF32, Extents{2, 3});
    const ir::ValueId a = graph.add_input("a", type), b = graph.add_input("b", type);
    const ops::Plugin plugin{.plugin = {"Mixed", "1", ""},
                             .fields = {},
                             .num_tensors = 2,
                             .output_types = {},
                             .scales = {},
                             .aliased_inputs = {},
                             .object = std::make_shared<Mixed>(is_told)};
    y = graph.add_one(plugin, {a, b}).value();
    graph.set_name(y, "y");
    graph.mark_output(y, "y");
  }
  const ir::Node& node() const { return graph.node(graph.value(y).producer); }
  const ops::Plugin& plugin() const { return *node().op.as<ops::Plugin>(); }
  ir::Graph graph;
  ir::ValueId y;
};

TEST(QuantizePlugins, TensorByTensor) {
  Network n;
  ASSERT_TRUE(quantize_plugins(n.graph, {{"a", 254.0F}, {"b", 1.0F}, {"y", 127.0F}}));
  EXPECT_EQ(n.plugin().scales, (std::vector<double>{2, 1, 1}));
  EXPECT_TRUE(n.graph.producer_as<ops::Quantize>(n.node().inputs[0]));
  EXPECT_FALSE(n.graph.producer_as<ops::Quantize>(n.node().inputs[1]));
  EXPECT_EQ(n.graph.type(n.y).dtype, DType::kI8);
  const ir::ValueId output = n.graph.outputs()[0].value;
  EXPECT_TRUE(n.graph.producer_as<ops::Dequantize>(output));
  EXPECT_EQ(n.graph.type(output).dtype, DType::kF32);
}
TEST(QuantizePlugins, ProductsBehindThemFindTheirRange) {
  Network n;
  const ir::ValueId w = n.graph.add_constant(HostTensor::of(DType::kF32, {3, 1}, std::vector<double>{1, 2, 3}), "w");
  const ir::ValueId z = n.graph.add_one(ops::MatrixMultiply{}, {n.y, w}).value();
  n.graph.unmark_output(n.y);
  n.graph.mark_output(z, "z");
  const Ranges ranges = {{"a", 254.0F}, {"y", 127.0F}};
  ASSERT_TRUE(quantize_plugins(n.graph, ranges));
  const ir::ValueId floats = n.graph.node(n.graph.value(z).producer).inputs[0];
  EXPECT_EQ(n.graph.value(floats).name, "y");
  EXPECT_EQ(n.graph.value(n.y).name, "y (bytes)");
  std::vector<LeftInFloat> left;
  ASSERT_TRUE(quantize_contractions(n.graph, ranges, left));
  EXPECT_TRUE(left.empty()) << left[0].why;
}
TEST(QuantizePlugins, LeavesThoseThatAreNotToldScales) {
  Network n(/*is_told=*/false);
  ASSERT_TRUE(quantize_plugins(n.graph, {{"a", 254.0F}, {"y", 127.0F}}));
  EXPECT_TRUE(n.plugin().scales.empty());
  EXPECT_EQ(n.graph.type(n.y).dtype, DType::kF32);
}
TEST(QuantizePlugins, NeedARangeForEachByte) {
  Network n;
  ASSERT_TRUE(quantize_plugins(n.graph, {{"a", 254.0F}}));
  EXPECT_EQ(n.graph.type(n.y).dtype, DType::kF32);
}

}  // namespace
}  // namespace kiln::passes
