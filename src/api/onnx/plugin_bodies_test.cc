// Plugins in the bodies of ONNX nodes, and what they keep from run to run.
#include "api/onnx/bodies_program.h"
#include "api/run/testing/logged_plugins_v2.h"

namespace kiln::api::bodies {
namespace {

using testing::LoggedCreatorV2;
using testing::PluginLog;
using testing::ScaleExt;
using testing::ScaleIo;
using testing::ScalePlain;

/// The plugins here compute on the host.
class PluginBodies : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
  }
  PluginLog log;
};

Proto plugin_node(std::string_view op, std::initializer_list<std::string_view> inputs) {
  return node(op, inputs, {"t"}, "it", {attribute("factor", 1).fixed(onnx::field::attribute::kF, 2.0F)});
}

/// A plugin that knows one batch for all of its tensors gets as many samples of each of its inputs, also in a branch.
TEST_F(PluginBodies, AnInputOfBatch1IsRepeatedInABranch) {
  const LoggedCreatorV2<ScaleIo> io(log, "TestScaleIo");
  const LoggedCreatorV2<ScaleExt> ext(log, "TestScaleExt");
  const LoggedCreatorV2<ScalePlain> plain(log, "TestScalePlain");
  for (const char* op : {"TestScaleIo", "TestScaleExt", "TestScalePlain"}) {
    Program program(
        model(graph({.nodes = {if_node({"y"}, branch({plugin_node(op, {"x", "longer"})}, {"t"}),
                                       branch({node("Neg", {"longer"}, {"e"})}, {"e"}))},
                     .inputs = {value("c", kBool), value("x", kFloat, {1, 3}), value("longer", kFloat, {2, 3})},
                     .outputs = {value("y", kFloat, {2, 3})}})));
    program.feed("x", {1, 3}, Floats{1, 2, 3}).feed("longer", {2, 3}, Floats{4, 5, 6, 7, 8, 9}).feed_flag("c", true);
    ASSERT_EQ(program.run(), "") << op;
    EXPECT_EQ(program.of<float>("y"), (Floats{2, 4, 6, 2, 4, 6})) << op;
  }
}

}  // namespace
}  // namespace kiln::api::bodies
