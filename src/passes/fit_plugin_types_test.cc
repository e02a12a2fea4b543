#include "passes/fit_plugin_types.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "ops/plugin.h"
#include "passes/pass.h"
#include "passes/testing/unconfigured_plugin.h"

namespace kiln::passes {
namespace {

/// Takes one type alone, of which its output is. Nobody configures it.
class OfOneType final : public testing::UnconfiguredPlugin {
 public:
  explicit OfOneType(DType dtype) : dtype_(dtype) {}
  bool supports(std::span<const PluginTensor> tensors, int, int position) const override {
    return tensors[static_cast<size_t>(position)].dtype == dtype_;
  }

 private:
  const DType dtype_;
};

TEST(FitPluginTypes, ReplacesTheTypesThatOutputsHad) {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", tensor_type(DType::kF32, Extents{2, 3}));
  const ops::Plugin plugin{.plugin = {"OfOneType", "1", ""},
                           .fields = {},
                           .num_tensors = 1,
                           .output_types = {DType::kF32},
                           .aliased_inputs = {},
                           .object = std::make_shared<OfOneType>(DType::kF16)};
  const ir::ValueId y = graph.add_one(plugin, {x}, "y").value();
  graph.mark_output(y, "y");
  NullLog log;
  PassContext cx{log};
  ASSERT_TRUE(fit_plugin_types(graph, cx));
  const ir::NodeId node = graph.value(y).producer;
  EXPECT_EQ(graph.node(node).op.as<ops::Plugin>()->output_types, std::vector{DType::kF16});
  EXPECT_EQ(graph.type(graph.node(node).inputs[0]).dtype, DType::kF16);
  EXPECT_EQ(graph.type(graph.outputs()[0].value).dtype, DType::kF32);
}

}  // namespace
}  // namespace kiln::passes
