// Which calls a plugin gets, when, how often and in which order; how many copies of it there are.

#include "program.h"

namespace kiln::promises {
namespace {

using Calls = std::vector<std::string>;
using Floats = std::vector<float>;

TEST_F(Promises, AddingClonesAndAsksForTypesAndShapes) {
  Program p;
  ASSERT_TRUE(p.chain({2, 3})) << p.logger.take_errors();
  EXPECT_EQ(p.journal.story(), (Calls{"clone", "getOutputDataTypes", "getOutputShapes"}));
  EXPECT_EQ(p.journal.alive(), 1) << "the network's own; the program has deleted its plugin";
}

TEST_F(Promises, TheLayerHasTheNetworksPlugin) {
  Program p;
  nv::IPluginV3Layer* layer = p.chain({2, 3});
  ASSERT_TRUE(layer);
  auto* core =
      static_cast<nv::IPluginV3OneCore*>(layer->getPlugin().getCapabilityInterface(nv::PluginCapabilityType::kCORE));
  EXPECT_STREQ(core->getPluginName(), "Recorded");
  EXPECT_EQ(layer->getType(), nv::LayerType::kPLUGIN_V3);
}

TEST_F(Promises, FormatsAreAskedForBeforeConfiguring) {
  Program p;
  ASSERT_TRUE(p.chain({2, 3}));
  p.journal.clear();
  ASSERT_TRUE(p.build());
  EXPECT_LT(p.journal.first("getFormatCombinationLimit"), p.journal.first("supportsFormatCombination"));
  EXPECT_LT(p.journal.first("supportsFormatCombination"), p.journal.first("configurePlugin"));
  EXPECT_LT(p.journal.first("supportsFormatCombination 0"), p.journal.first("supportsFormatCombination 1"));
}

TEST_F(Promises, ConfiguringComesBeforeTacticsAndWorkspace) {
  Program p;
  ASSERT_TRUE(p.chain({2, 3}));
  p.journal.clear();
  ASSERT_TRUE(p.build());
  EXPECT_LT(p.journal.first("configurePlugin"), p.journal.first("getNbTactics"));
  EXPECT_LT(p.journal.first("configurePlugin"), p.journal.first("getWorkspaceSize"));
  EXPECT_EQ(p.journal.count("getValidTactics"), 0) << "it has none";
}

TEST_F(Promises, TimingAttachesThenSetsTheTacticThenTellsShapes) {
  Program p({.tactics = {4, 5}});
  ASSERT_TRUE(p.chain({2, 3}));
  p.journal.clear();
  ASSERT_TRUE(p.build());
  const size_t attached = p.journal.first("attachToContext"), set = p.journal.first("setTactic"),
               told = p.journal.first("onShapeChange"), ran = p.journal.first("enqueue");
  EXPECT_LT(attached, set);
  EXPECT_LT(set, told);
  EXPECT_LT(told, ran);
  EXPECT_LT(ran, p.journal.all().size());
}

TEST_F(Promises, LoadingCreatesAndAContextAttaches) {
  Program p;
  ASSERT_TRUE(p.chain({2, 3}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  p.journal.clear();
  const Loaded loaded(p.logger, *plan);
  ASSERT_TRUE(loaded.context);
  EXPECT_EQ(p.journal.story(), (Calls{"createPlugin at run time layer", "attachToContext", "setTactic 0"}));
}

TEST_F(Promises, RunsTellShapesOnceAndEnqueue) {
  Program p;
  ASSERT_TRUE(p.chain({2, 3}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x{1, 2, 3, 4, 5, 6}, y(6);
  loaded->set("x", x), loaded->set("y", y);
  p.journal.clear();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loaded->run());
  EXPECT_EQ(p.journal.all(), (Calls{"onShapeChange 2x3 -> 2x3", "enqueue", "enqueue", "enqueue"}));
  EXPECT_EQ(y, x);
}

TEST_F(Promises, ShapesAreToldBeforeTheRunThatHasThem) {
  Program p;
  ASSERT_TRUE(p.chain({-1, 3}));
  p.profile("x", {1, 3}, {2, 3}, {4, 3});
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x(12, 1), y(12);
  loaded->set("x", x), loaded->set("y", y);
  p.journal.clear();
  for (const int64_t rows : {2, 2, 4, 1}) {
    ASSERT_TRUE(loaded->context->setInputShape("x", dims({rows, 3})));
    ASSERT_TRUE(loaded->run());
  }
  EXPECT_EQ(p.journal.all(), (Calls{"onShapeChange 2x3 -> 2x3", "enqueue", "enqueue", "onShapeChange 4x3 -> 4x3",
                                    "enqueue", "onShapeChange 1x3 -> 1x3", "enqueue"}));
}

TEST_F(Promises, EmptyTensorsAreLikeOthers) {
  Program p;
  ASSERT_TRUE(p.chain({-1, 3}));
  p.profile("x", {0, 3}, {2, 3}, {4, 3});
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x(12, 1), y(12, 7);
  loaded->set("x", x), loaded->set("y", y);
  p.journal.clear();
  for (const int64_t rows : {0, 0, 2}) {
    ASSERT_TRUE(loaded->context->setInputShape("x", dims({rows, 3})));
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    EXPECT_EQ(y[0], rows ? 1 : 7);
  }
  EXPECT_EQ(p.journal.all(),
            (Calls{"onShapeChange 0x3 -> 0x3", "enqueue", "enqueue", "onShapeChange 2x3 -> 2x3", "enqueue"}));
}

TEST_F(Promises, TensorsThatAreAlwaysEmptyAreLikeOthers) {
  Program p;
  ASSERT_TRUE(p.chain({0, 3}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x(1), y(1);
  loaded->set("x", x), loaded->set("y", y);
  p.journal.clear();
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(p.journal.all(), (Calls{"onShapeChange 0x3 -> 0x3", "enqueue"}));
}

TEST_F(Promises, ConfiguringTellsTheProfile) {
  Program p;
  std::vector<std::string> told;
  p.behaviour.configure = [&](const nv::DynamicPluginTensorDesc* in, const nv::DynamicPluginTensorDesc* out) {
    told = {text(in[0].desc.dims), text(in[0].min), text(in[0].opt), text(in[0].max), text(out[0].desc.dims)};
  };
  ASSERT_TRUE(p.chain({-1, 3}));
  p.profile("x", {1, 3}, {2, 3}, {4, 3});
  ASSERT_TRUE(p.build());
  EXPECT_EQ(told, (Calls{"-1x3", "1x3", "2x3", "4x3", "-1x3"}));
}

TEST_F(Promises, AWorkspaceIsForTheLargestShapes) {
  Program p;
  std::vector<std::string> told;
  p.behaviour.workspace = [&](const nv::DynamicPluginTensorDesc* in, const nv::DynamicPluginTensorDesc* out) {
    told = {text(in[0].desc.dims), text(in[0].min), text(in[0].opt), text(in[0].max), text(out[0].desc.dims)};
  };
  ASSERT_TRUE(p.chain({-1, 3}));
  p.profile("x", {1, 3}, {2, 3}, {4, 3});
  ASSERT_TRUE(p.build());
  EXPECT_EQ(told, (Calls{"4x3", "1x3", "2x3", "4x3", "4x3"}));
}

TEST_F(Promises, TimingHasTheProfilesOptimum) {
  Program p({.tactics = {1, 2}});
  ASSERT_TRUE(p.chain({-1, 3}));
  p.profile("x", {1, 3}, {2, 3}, {4, 3});
  ASSERT_TRUE(p.build());
  EXPECT_GT(p.journal.count("onShapeChange 2x3"), 0);
  EXPECT_EQ(p.journal.count("onShapeChange"), p.journal.count("onShapeChange 2x3"));
}

TEST_F(Promises, EachProfileConfigures) {
  Program p;
  std::vector<std::string> told;
  p.behaviour.configure = [&](const nv::DynamicPluginTensorDesc* in, const nv::DynamicPluginTensorDesc*) {
    if (std::find(told.begin(), told.end(), text(in[0].opt)) == told.end()) told.push_back(text(in[0].opt));
  };
  ASSERT_TRUE(p.chain({-1}));
  p.profile("x", {1}, {2}, {4});
  p.profile("x", {8}, {16}, {32});
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(told, (Calls{"2", "16"}));
  Floats x(32, 3), y(32);
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->context->setInputShape("x", dims({3})));
  ASSERT_TRUE(loaded->run());
  ASSERT_TRUE(loaded->context->setOptimizationProfileAsync(1, nullptr));
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->context->setInputShape("x", dims({20})));
  ASSERT_TRUE(loaded->run());
  EXPECT_EQ(y[19], 3);
  EXPECT_EQ(p.journal.count("onShapeChange 20 -> 20"), 1);
}

TEST_F(Promises, CopiesAreDeletedWithWhatHasThem) {
  Program p;
  ASSERT_TRUE(p.chain({2}));
  EXPECT_EQ(p.journal.alive(), 1) << "the network's";
  auto loaded = p.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(p.journal.alive(), 3) << "the network's, the engine's, the context's";
  std::unique_ptr<nv::IExecutionContext> second(loaded->engine->createExecutionContext());
  EXPECT_EQ(p.journal.alive(), 4);
  second.reset();
  EXPECT_EQ(p.journal.alive(), 3);
  p.network.reset();
  EXPECT_EQ(p.journal.alive(), 2);
  loaded.reset();
  EXPECT_EQ(p.journal.alive(), 0);
}

TEST_F(Promises, BuildsLeaveNoCopies) {
  Program p({.tactics = {1, 2, 3}});
  ASSERT_TRUE(p.chain({2}));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(p.build());
  EXPECT_EQ(p.journal.alive(), 1);
}

TEST_F(Promises, TwoLayersHaveTwoPlugins) {
  Program p;
  p.behaviour.run = [](const Enqueue& e) {
    *static_cast<float*>(e.outputs[0]) = *static_cast<const float*>(e.inputs[0]) + static_cast<float>(e.runs_before);
    return 0;
  };
  nv::IPluginV3Layer* first = p.add({p.input("x", {1})});
  nv::IPluginV3Layer* second = p.add({first->getOutput(0)});
  first->setName("first"), second->setName("second");
  p.mark(second->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(p.journal.count("createPlugin at run time first"), 1);
  EXPECT_EQ(p.journal.count("createPlugin at run time second"), 1);
  Floats x{5}, y(1);
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->run() && loaded->run());
  EXPECT_EQ(y[0], 7) << "each has counted one run";
}

TEST_F(Promises, EachContextHasAStateOfItsOwn) {
  Program p;
  p.behaviour.run = [](const Enqueue& e) {
    *static_cast<float*>(e.outputs[0]) = static_cast<float>(e.runs_before);
    return 0;
  };
  ASSERT_TRUE(p.chain({1}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x{5}, y(1);
  loaded->set("x", x), loaded->set("y", y);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(loaded->run());
  EXPECT_EQ(y[0], 3);
  std::unique_ptr<nv::IExecutionContext> other(loaded->engine->createExecutionContext());
  void* bindings[] = {x.data(), y.data()};
  ASSERT_TRUE(other->executeV2(bindings));
  EXPECT_EQ(y[0], 0);
}

TEST_F(Promises, EightThreadsWithEightContextsEach) {
  Program p;
  p.behaviour.run = [](const Enqueue& e) {
    *static_cast<float*>(e.outputs[0]) = *static_cast<const float*>(e.inputs[0]) + static_cast<float>(e.runs_before);
    return 0;
  };
  ASSERT_TRUE(p.chain({1}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(right_runs_of_64_contexts(*loaded->engine), 320);
}

TEST_F(Promises, AttachingMayWaitForAContextOfAnotherThread) {
  Program p;
  ASSERT_TRUE(p.chain({1}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  const int alive = p.journal.alive();
  EXPECT_TRUE(attaching_can_wait(*loaded->engine, p.behaviour.attach));
  EXPECT_EQ(p.journal.alive(), alive);
}

TEST_F(Promises, ConfiguringMayWaitForABuildOfAnotherThread) {
  Program p;
  ASSERT_TRUE(p.chain({1}));
  std::promise<void> built;
  std::future<void> is_built = built.get_future();
  std::atomic<int> num_configured = 0;
  bool came = false;
  std::thread other;
  p.behaviour.configure = [&](auto...) {
    if (num_configured++ > 0) return;
    other = std::thread([&] {
      if (p.build()) built.set_value();
    });
    came = is_built.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  };
  EXPECT_TRUE(p.build()) << p.logger.take_errors();
  other.join();
  p.behaviour.configure = nullptr;
  EXPECT_TRUE(came);
}

TEST_F(Promises, TheWorkspaceIsThePlugins) {
  Program p({.workspace_bytes = 100'000});
  void* at = nullptr;
  p.behaviour.run = [&](const Enqueue& e) {
    at = e.workspace;
    std::fill_n(static_cast<char*>(e.workspace), 100'000, 'w');
    *static_cast<float*>(e.outputs[0]) = *static_cast<const float*>(e.inputs[0]);
    return 0;
  };
  ASSERT_TRUE(p.chain({1}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x{5}, y(1);
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->run());
  EXPECT_EQ(y[0], 5);
  EXPECT_NE(at, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 256, 0u);
  EXPECT_GE(loaded->engine->getDeviceMemorySizeV2(), 100'000);
}

TEST_F(Promises, PlansOfOneNetworkAreTheSameBytes) {
  std::string plans[2];
  for (std::string& plan : plans) {
    Program p({.fields = {{"f", nv::PluginFieldType::kINT8, 2, {std::byte{1}, std::byte{2}}}}});
    ASSERT_TRUE(p.chain({2, 3}));
    plan = p.plan();
    EXPECT_EQ(p.plan(), plan) << "a second build of it";
  }
  EXPECT_FALSE(plans[0].empty());
  EXPECT_EQ(plans[0], plans[1]);
}

TEST_F(Promises, TheInspectorShowsWhatAPluginTellsOfItself) {
  Program p;
  std::string pads = "pads=[1, 2]";
  p.behaviour.metadata = pads.c_str();
  p.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  ASSERT_TRUE(p.chain({2}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  pads = "gone";
  const Loaded loaded(p.logger, *plan);
  ASSERT_TRUE(loaded.engine);
  const std::unique_ptr<nv::IEngineInspector> inspector(loaded.engine->createEngineInspector());
  const std::string text = inspector->getLayerInformation(0, nv::LayerInformationFormat::kJSON);
  EXPECT_TRUE(has(text, "\"PluginMetadata\": \"pads=[1, 2]\"") || has(text, "\"PluginMetadata\":\"pads=[1, 2]\""))
      << text;
}

TEST_F(Promises, ABuildPartIsNotNeededAtRunTime) {
  Program p;
  ASSERT_TRUE(p.chain({2}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  p.behaviour.has_build_part = false;
  Loaded loaded(p.logger, *plan);
  ASSERT_TRUE(loaded.context) << p.logger.take_errors();
  Floats x{1, 2}, y(2);
  loaded.set("x", x), loaded.set("y", y);
  ASSERT_TRUE(loaded.run());
  EXPECT_EQ(y, x);
}

TEST_F(Promises, ABuildPartIsNeededInABuild) {
  Program p({.has_build_part = false});
  EXPECT_FALSE(p.chain({2}));
  EXPECT_TRUE(has(p.logger.take_errors(), "plugin 'Recorded': getCapabilityInterface(kBUILD) returned null"));
  EXPECT_EQ(p.journal.alive(), 0);
}

TEST_F(Promises, APluginOfAnotherArityIsNotThePlans) {
  Program p;
  ASSERT_TRUE(p.chain({2}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  p.behaviour.num_outputs = 2;
  const Loaded loaded(p.logger, *plan);
  EXPECT_FALSE(loaded.engine);
  const std::string text = p.logger.take_errors();
  EXPECT_TRUE(has(text, "has 2 outputs; the plan was built with one of 1")) << text;
}

}  // namespace
}  // namespace kiln::promises
