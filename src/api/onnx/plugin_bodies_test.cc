// Plugins in the bodies of ONNX nodes, and what they keep from run to run.
#include "api/onnx/bodies_program.h"
#include "api/run/testing/logged_plugins_v2.h"

namespace kiln::api::bodies {
namespace {

using testing::LoggedCreator;
using testing::LoggedCreatorV2;
using testing::PluginLog;
using testing::ScaleExt;
using testing::ScaleIo;
using testing::ScalePlain;
using testing::ScalePlugin;

/// The plugins here compute on the host.
class PluginBodies : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
  }
  PluginLog log;
};

Proto plugin_node(std::string_view op, std::initializer_list<std::string_view> inputs, std::string_view output = "t") {
  return node(op, inputs, {output}, "it", {attribute("factor", 1).fixed(onnx::field::attribute::kF, 2.0F)});
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

/// A context's plugins in bodies, and what they keep. A run of a TestScale adds 1000 for each run of this copy before,
/// so that a copy which is made anew adds 0.
class PluginStates : public PluginBodies {
 protected:
  /// A model of x[-1] and a flag that gives y[-1].
  static Proto model_of(const std::vector<Proto>& nodes) {
    return model(graph({.nodes = nodes,
                        .inputs = {value("c", kBool), value("x", kFloat, {-1})},
                        .outputs = {value("y", kFloat, {-1})},
                        .initializers = {scalar("two", 2)}}));
  }
  /// What a run of a program adds to 2 * x, where x is zeros. It is the same everywhere.
  static float added(Program& program, bool flag, int64_t extent) {
    program.feed("x", {extent}, Floats(static_cast<size_t>(extent), 0)).feed_flag("c", flag);
    EXPECT_EQ(program.run(), "");
    const Floats y = program.of<float>("y");
    EXPECT_EQ(y, Floats(static_cast<size_t>(extent), y.empty() ? 0 : y[0]));
    return y.empty() ? -1 : y[0];
  }
  LoggedCreator<ScalePlugin> creator{log, "TestScale"};
  const std::vector<Range> ranges{{"x", {1}, {4}}};
  const Proto scaled = plugin_node("TestScale", {"x"});
};

TEST_F(PluginStates, OfABranchSurviveOtherShapes) {
  Program program(model_of({if_node({"y"}, branch({scaled}, {"t"}), branch({scaled}, {"t"}))}), ranges);
  log.calls.clear();
  EXPECT_EQ(added(program, true, 2), 0);
  EXPECT_EQ(added(program, true, 3), 1000);
  EXPECT_EQ(added(program, true, 2), 2000);
  EXPECT_EQ(added(program, false, 4), 0) << "the other branch has a plugin of its own";
  EXPECT_EQ(added(program, true, 1), 3000);
  EXPECT_EQ(added(program, false, 1), 1000);
  EXPECT_EQ(log.count("attachToContext"), 2) << "a context attaches each plugin once";
}

TEST_F(PluginStates, OfALoopSurviveOtherShapes) {
  const Proto body = loop_body({kOn, plugin_node("TestScale", {"v"}, "w")}, {"v"}, {"on", "w"});
  Program program(model_of({loop_node({"two", "c", "x"}, {"y"}, body)}), ranges);
  EXPECT_EQ(added(program, true, 2), 2 * 0 + 1000);
  EXPECT_EQ(added(program, true, 3), 2 * 2000 + 3000);
  EXPECT_EQ(added(program, true, 2), 2 * 4000 + 5000);
}

TEST_F(PluginStates, OfALoopWithinABranchSurviveOtherShapes) {
  const Proto body = loop_body({kOn, plugin_node("TestScale", {"v"}, "w")}, {"v"}, {"on", "w"});
  Program program(model_of({if_node({"y"}, branch({loop_node({"two", "c", "x"}, {"t"}, body)}, {"t"}),
                                    branch({node("Neg", {"x"}, {"e"})}, {"e"}))}),
                  ranges);
  EXPECT_EQ(added(program, true, 2), 2 * 0 + 1000);
  EXPECT_EQ(added(program, true, 3), 2 * 2000 + 3000);
  EXPECT_EQ(added(program, false, 4), 0);
  EXPECT_EQ(added(program, true, 4), 2 * 4000 + 5000);
}

/// Equal nodes are loaded once, also those of one name.
TEST_F(PluginStates, OfTwoNodesOfOneNameAreApart) {
  const auto negated = [](std::string_view of) { return branch({node("Neg", {of}, {"e"})}, {"e"}); };
  Program program(model_of({if_node({"z"}, branch({scaled}, {"t"}), negated("x")),
                            if_node({"y"}, branch({plugin_node("TestScale", {"z"})}, {"t"}), negated("z"))}),
                  ranges);
  EXPECT_EQ(added(program, true, 2), 0);
  EXPECT_EQ(added(program, true, 3), 2 * 1000 + 1000);
}

TEST_F(PluginStates, AreEachContextsOwn) {
  Program program(model_of({if_node({"y"}, branch({scaled}, {"t"}), branch({scaled}, {"t"}))}), ranges);
  EXPECT_EQ(added(program, true, 2), 0);
  EXPECT_EQ(added(program, true, 3), 1000);
  program.context.reset(program.engine->createExecutionContext());
  program.context->setOutputAllocator("y", &program.outputs["y"]);
  EXPECT_EQ(added(program, true, 3), 0);
}

}  // namespace
}  // namespace kiln::api::bodies
