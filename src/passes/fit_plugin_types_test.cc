#include "passes/fit_plugin_types.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "ops/plugin.h"
#include "passes/pass.h"

namespace kiln::passes {
namespace {

/// Takes one type alone, of which its output is. Nobody configures it.
class OfOneType final : public PluginObject {
 public:
  explicit OfOneType(DType dtype) : dtype_(dtype) {}
  const PluginIdentity& identity() const override { return identity_; }
  int num_outputs() const override { return 1; }
  Status infer(InferContext& cx, int) const override { return cx.set_output(0, TRY(cx.input(0)).get()); }
  const std::vector<int>& size_outputs() const override { return no_sizes_; }
  bool supports(std::span<const PluginTensor> tensors, int, int position) const override {
    return tensors[static_cast<size_t>(position)].dtype == dtype_;
  }
  int most_combinations() const override { return 1; }
  Result<Configured> configure(std::span<const PluginTensor>, std::span<const PluginTensor>) const override {
    return error(Code::kUnsupported, "not configured here");
  }
  Result<std::vector<PluginField>> fields() const override { return std::vector<PluginField>(); }
  Result<std::unique_ptr<PluginInstance>> attach(int) const override {
    return error(Code::kUnsupported, "not attached here");
  }

 private:
  const DType dtype_;
  const PluginIdentity identity_{"OfOneType", "1", ""};
  const std::vector<int> no_sizes_;
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
