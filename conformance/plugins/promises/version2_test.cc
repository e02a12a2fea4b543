// What plugins of version 2 are promised, of each of their four interfaces: which calls they get, when and in which
// order, how long copies live, what becomes of a call that fails.
#include <algorithm>

#include "program.h"
#include "recorded_v2.h"

namespace kiln::promises {
namespace {

using Calls = std::vector<std::string>;
using Floats = std::vector<float>;

/// An interface, and what it calls things.
struct Interface {
  const char* name;
  KindV2 kind;
  const char* configure;
  int configures_of_a_run;  ///< the first one; shapes of the others are the same
  bool has_contexts;        ///< attachToContext and detachFromContext
};
void PrintTo(const Interface& interface, std::ostream* to) { *to << interface.name; }

constexpr Interface kInterfaces[] = {
    {"DynamicExt", KindV2::kDynamicExt, "configurePlugin", 1, true},
    {"IOExt", KindV2::kIoExt, "configurePlugin", 0, true},
    {"Ext", KindV2::kExt, "configurePlugin", 0, true},
    {"Plain", KindV2::kPlain, "configureWithFormat", 1, false},
};

/// A network with plugins of one interface, and their creator.
struct ProgramV2 {
  explicit ProgramV2(KindV2 kind) { behaviour.kind = kind; }
  nv::IPluginV2Layer* add(nv::ITensor* x, const char* name = "layer") {
    nv::IPluginV2* const plugin = make_v2(behaviour, journal, behaviour.state);
    plugin->setPluginNamespace("old");
    nv::IPluginV2Layer* layer = p.network->addPluginV2(&x, 1, *plugin);
    plugin->destroy();
    if (layer) layer->setName(name);
    return layer;
  }
  nv::IPluginV2Layer* chain(std::initializer_list<int64_t> extents) {
    nv::IPluginV2Layer* layer = add(p.input("x", extents));
    if (layer) p.mark(layer->getOutput(0));
    return layer;
  }
  /// A plan loaded, its tensors bound to x and y.
  std::unique_ptr<Loaded> load() {
    auto loaded = p.load();
    if (loaded) loaded->set("x", x), loaded->set("y", y);
    return loaded;
  }

  BehaviourV2 behaviour;
  Journal journal;
  RecordedCreatorV2 creator{behaviour, journal};
  Program p;
  Floats x{1, 2, 3, 4, 5, 6}, y = Floats(6);
};

class Version2 : public PromiseTable<Interface> {
 protected:
  /// The calls since the journal was cleared, without those of formats, each run of equal ones once.
  Calls story() const {
    Calls calls = w.journal.story();
    std::erase(calls, "supportsFormat");
    return calls;
  }
  size_t first(const std::string& call) const { return w.journal.first(call); }
  int count(const std::string& call) const { return w.journal.count(call); }
  bool is(KindV2 kind) const { return GetParam().kind == kind; }

  ProgramV2 w{GetParam().kind};
  Program& p = w.p;
};
INSTANTIATE_TEST_SUITE_P(Promises, Version2, ::testing::ValuesIn(kInterfaces),
                         [](const auto& info) { return row_name(info); });

TEST_P(Version2, AddingClonesAndAsksForTypesAndShapes) {
  ASSERT_TRUE(w.chain({2, 3})) << p.logger.take_errors();
  Calls expected{"clone", "destroy", "getOutputDataType", "getOutputDimensions"};
  if (is(KindV2::kPlain)) std::erase(expected, "getOutputDataType");
  Calls found = story();
  std::ranges::sort(found), std::ranges::sort(expected);
  EXPECT_EQ(found, expected);
  EXPECT_LT(first("clone"), first("getOutputDimensions"));
  EXPECT_EQ(w.journal.alive(), 1) << "the network's own; the program has destroyed its plugin";
}

TEST_P(Version2, TheLayerHasTheNetworksPlugin) {
  nv::IPluginV2Layer* layer = w.chain({2, 3});
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer->getType(), nv::LayerType::kPLUGIN_V2);
  EXPECT_STREQ(layer->getPlugin().getPluginType(), "RecordedV2");
  EXPECT_STREQ(layer->getPlugin().getPluginNamespace(), "old");
}

TEST_P(Version2, FormatsThenConfigurationThenWorkspace) {
  ASSERT_TRUE(w.chain({2, 3}));
  w.journal.clear();
  ASSERT_TRUE(p.build()) << p.logger.take_errors();
  const std::string configure = GetParam().configure;
  EXPECT_LT(first("supportsFormat"), first(configure));
  EXPECT_LT(first(configure), first("getWorkspaceSize"));
  if (!is(KindV2::kPlain)) {
    EXPECT_LT(first(configure), first("initialize"));
  }
  EXPECT_LT(first("initialize"), first("serialize"));
  EXPECT_LT(first("getWorkspaceSize"), first("serialize"));
}

TEST_P(Version2, WhatIsChosenIsSerializedOnce) {
  ASSERT_TRUE(w.chain({2, 3}));
  w.journal.clear();
  ASSERT_TRUE(p.build());
  EXPECT_EQ(count("serialize"), 1);
}

TEST_P(Version2, TheBytesComeBack) {
  w.behaviour.state = std::string("a\0b\xff", 4);
  ASSERT_TRUE(w.chain({2, 3}));
  ASSERT_TRUE(w.load());
  EXPECT_EQ(w.creator.given, w.behaviour.state);
}

TEST_P(Version2, AnEmptyStateComesBackToo) {
  w.behaviour.state.clear();
  ASSERT_TRUE(w.chain({2, 3}));
  w.creator.given = "before";
  ASSERT_TRUE(w.load());
  EXPECT_EQ(w.creator.given, "");
}

TEST_P(Version2, AMillionBytesComeBack) {
  w.behaviour.state.assign(1'000'000, 's');
  ASSERT_TRUE(w.chain({2, 3}));
  ASSERT_TRUE(w.load());
  EXPECT_EQ(w.creator.given, w.behaviour.state);
}

TEST_P(Version2, WritingMoreThanWasSaidIsAnError) {
  w.behaviour.writes_too_much = true;
  ASSERT_TRUE(w.chain({2, 3}));
  EXPECT_FALSE(p.build());
  EXPECT_TRUE(has(p.logger.take_errors(), "serialize wrote more than the "));
}

TEST_P(Version2, LoadingDeserializesAndInitializesAndAContextAttaches) {
  ASSERT_TRUE(w.chain({2, 3}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  w.journal.clear();
  const Loaded loaded(p.logger, *plan);
  ASSERT_TRUE(loaded.context);
  Calls expected{"deserializePlugin layer", "initialize", "clone", "attachToContext"};
  if (!GetParam().has_contexts) expected.pop_back();
  EXPECT_EQ(story(), expected);
}

TEST_P(Version2, RunsEnqueue) {
  ASSERT_TRUE(w.chain({2, 3}));
  const auto loaded = w.load();
  ASSERT_TRUE(loaded);
  w.journal.clear();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(w.y, w.x);
  EXPECT_EQ(count("enqueue"), 3);
  EXPECT_EQ(count(GetParam().configure), GetParam().configures_of_a_run) << "shapes are told once";
  EXPECT_EQ(count("initialize") + count("clone") + count("destroy"), 0);
}

TEST_P(Version2, ALayerMayBeLoadedOften) {
  ASSERT_TRUE(w.chain({2, 3}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  const int alive = w.journal.alive();
  for (int i = 0; i < 3; ++i) {
    Loaded loaded(p.logger, *plan);
    ASSERT_TRUE(loaded.context);
    loaded.set("x", w.x), loaded.set("y", w.y);
    ASSERT_TRUE(loaded.run());
    EXPECT_EQ(w.y, w.x);
  }
  EXPECT_EQ(w.journal.alive(), alive);
}

TEST_P(Version2, CopiesAreDestroyedWithWhatHasThem) {
  ASSERT_TRUE(w.chain({2, 3}));
  auto loaded = w.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(w.journal.alive(), 3) << "the network's, the engine's, the context's";
  std::unique_ptr<nv::IExecutionContext> second(loaded->engine->createExecutionContext());
  EXPECT_EQ(w.journal.alive(), 4);
  second.reset();
  EXPECT_EQ(w.journal.alive(), 3);
  p.network.reset();
  EXPECT_EQ(w.journal.alive(), 2);
  loaded.reset();
  EXPECT_EQ(w.journal.alive(), 0);
}

TEST_P(Version2, BuildsLeaveNoCopies) {
  ASSERT_TRUE(w.chain({2, 3}));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(p.build());
  EXPECT_EQ(w.journal.alive(), 1);
}

TEST_P(Version2, EachInitializeHasItsTerminate) {
  ASSERT_TRUE(w.chain({2, 3}));
  auto loaded = w.load();
  ASSERT_TRUE(loaded && loaded->run());
  loaded.reset();
  p.network.reset();
  EXPECT_GE(count("initialize"), 2) << "of the build's copy and the engine's";
  EXPECT_EQ(count("terminate"), count("initialize"));
}

TEST_P(Version2, EachContextAttachesAndDetachesOnce) {
  ASSERT_TRUE(w.chain({2, 3}));
  auto loaded = w.load();
  ASSERT_TRUE(loaded);
  w.journal.clear();
  std::unique_ptr<nv::IExecutionContext> second(loaded->engine->createExecutionContext());
  second.reset();
  Calls expected{"clone", "attachToContext", "detachFromContext", "destroy"};
  if (!GetParam().has_contexts) expected = {"clone", "destroy"};
  EXPECT_EQ(story(), expected);
}

TEST_P(Version2, AnAttachedPluginHasAnAllocatorAndNoHandles) {
  if (!GetParam().has_contexts) GTEST_SKIP() << "an IPluginV2 is not attached";
  bool is_told = false;
  w.behaviour.attach = [&](cudnnContext* cudnn, cublasContext* cublas, nv::IGpuAllocator* allocator) {
    is_told = true;
    EXPECT_EQ(cudnn, nullptr);
    EXPECT_EQ(cublas, nullptr);
    ASSERT_NE(allocator, nullptr);
    void* const memory = allocator->allocateAsync(100, 256, 0, nullptr);
    EXPECT_NE(memory, nullptr);
    EXPECT_TRUE(allocator->deallocateAsync(memory, nullptr));
  };
  ASSERT_TRUE(w.chain({2, 3}));
  ASSERT_TRUE(w.load());
  EXPECT_TRUE(is_told);
  EXPECT_TRUE(p.logger.says("null as the cuDNN and cuBLAS handles"));
}

TEST_P(Version2, TwoLayersHaveTwoPlugins) {
  w.behaviour.run = [](const EnqueueV2& e) {
    *static_cast<float*>(e.outputs[0]) = *static_cast<const float*>(e.inputs[0]) + static_cast<float>(e.runs_before);
    return 0;
  };
  nv::IPluginV2Layer* first = w.add(p.input("x", {1, 1}), "first");
  ASSERT_TRUE(first);
  nv::IPluginV2Layer* second = w.add(first->getOutput(0), "second");
  ASSERT_TRUE(second);
  p.mark(second->getOutput(0));
  const auto loaded = w.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(count("deserializePlugin first"), 1);
  EXPECT_EQ(count("deserializePlugin second"), 1);
  ASSERT_TRUE(loaded->run() && loaded->run());
  EXPECT_EQ(w.y[0], 3) << "each has counted one run";
}

TEST_P(Version2, EachContextHasAStateOfItsOwn) {
  w.behaviour.run = [](const EnqueueV2& e) {
    *static_cast<float*>(e.outputs[0]) = static_cast<float>(e.runs_before);
    return 0;
  };
  ASSERT_TRUE(w.chain({1, 1}));
  const auto loaded = w.load();
  ASSERT_TRUE(loaded);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(loaded->run());
  EXPECT_EQ(w.y[0], 3);
  std::unique_ptr<nv::IExecutionContext> other(loaded->engine->createExecutionContext());
  void* bindings[] = {w.x.data(), w.y.data()};
  ASSERT_TRUE(other->executeV2(bindings));
  EXPECT_EQ(w.y[0], 0);
}

TEST_P(Version2, EightThreadsWithEightContextsEach) {
  w.behaviour.run = [](const EnqueueV2& e) {
    *static_cast<float*>(e.outputs[0]) = *static_cast<const float*>(e.inputs[0]) + static_cast<float>(e.runs_before);
    return 0;
  };
  ASSERT_TRUE(w.chain({1, 1}));
  const auto loaded = w.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(right_runs_of_64_contexts(*loaded->engine), 320);
  EXPECT_EQ(w.journal.alive(), 3);
}

/// As NVIDIA's GridAnchor_TRT, whose fields tell all.
TEST_P(Version2, WithoutInputsTheBatchIsOne) {
  if (!is(KindV2::kIoExt) && !is(KindV2::kExt)) GTEST_SKIP() << "it has no batch, or its inputs tell its type";
  w.behaviour.run = [](const EnqueueV2& e) {
    std::fill_n(static_cast<float*>(e.outputs[0]), e.count, 7.0F);
    return 0;
  };
  nv::IPluginV2* const plugin = make_v2(w.behaviour, w.journal, w.behaviour.state);
  plugin->setPluginNamespace("old");
  nv::IPluginV2Layer* layer = p.network->addPluginV2(nullptr, 0, *plugin);
  plugin->destroy();
  ASSERT_TRUE(layer) << p.logger.take_errors();
  p.mark(layer->getOutput(0));
  EXPECT_EQ(text(layer->getOutput(0)->getDimensions()), "1x2x3");
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  loaded->set("y", w.y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(w.y, Floats(6, 7)) << "enqueue was told a batch of 1";
}

TEST_P(Version2, AttachingMayWaitForAContextOfAnotherThread) {
  if (!GetParam().has_contexts) GTEST_SKIP() << "an IPluginV2 is not attached";
  ASSERT_TRUE(w.chain({1, 1}));
  const auto loaded = w.load();
  ASSERT_TRUE(loaded);
  const int alive = w.journal.alive();
  EXPECT_TRUE(attaching_can_wait(*loaded->engine, w.behaviour.attach));
  EXPECT_EQ(w.journal.alive(), alive);
}

TEST_P(Version2, TheWorkspaceIsThePlugins) {
  w.behaviour.workspace_bytes = 100'000;
  void* at = nullptr;
  w.behaviour.run = [&](const EnqueueV2& e) {
    std::fill_n(static_cast<char*>(at = e.workspace), 100'000, 'w');
    *static_cast<float*>(e.outputs[0]) = *static_cast<const float*>(e.inputs[0]);
    return 0;
  };
  ASSERT_TRUE(w.chain({1, 1}));
  const auto loaded = w.load();
  ASSERT_TRUE(loaded && loaded->run());
  EXPECT_EQ(w.y[0], 1);
  EXPECT_NE(at, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 256, 0u);
  EXPECT_GE(loaded->engine->getDeviceMemorySizeV2(), 100'000);
}

TEST_P(Version2, APluginOfAnotherArityIsNotThePlans) {
  ASSERT_TRUE(w.chain({2, 3}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  w.behaviour.num_outputs = 2;
  EXPECT_FALSE(Loaded(p.logger, *plan).engine);
  EXPECT_TRUE(has(p.logger.take_errors(), "has 2 outputs; the plan was built with one of 1"));
}

TEST_P(Version2, APluginOfAnotherNameIsNotThePlans) {
  ASSERT_TRUE(w.chain({2, 3}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  const int alive = w.journal.alive();
  for (const auto& [name, version, words] :
       {std::tuple{"Other", "1",
                   "the creator of plugin 'RecordedV2' version '1' of namespace 'old' makes plugin 'Other'"},
        std::tuple{"RecordedV2", "2", "makes plugin 'RecordedV2' version '2' of namespace 'old'; rebuild the engine"},
        std::tuple{static_cast<const char*>(nullptr), "1", "the plugin: getPluginType returned no name"},
        std::tuple{"RecordedV2", static_cast<const char*>(nullptr),
                   "plugin 'RecordedV2': getPluginVersion returned null"}}) {
    w.behaviour.name = name, w.behaviour.version = version;
    EXPECT_FALSE(Loaded(p.logger, *plan).engine);
    const std::string text = p.logger.take_errors();
    EXPECT_TRUE(has(text, "step 'layer': ") && has(text, words)) << text;
    EXPECT_EQ(w.journal.alive(), alive) << "copies that are left";
  }
}

TEST_P(Version2, WithoutANameOrAVersionAreRefused) {
  nv::ITensor* const x = p.input("x", {2, 3});
  for (const auto& [name, version, words] :
       {std::tuple{static_cast<const char*>(nullptr), "1", "getPluginType returned no name"},
        std::tuple{"RecordedV2", static_cast<const char*>(nullptr),
                   "plugin 'RecordedV2': getPluginVersion returned null"}}) {
    w.behaviour.name = name, w.behaviour.version = version;
    EXPECT_FALSE(w.add(x));
    const std::string text = p.logger.take_errors();
    EXPECT_TRUE(has(text, words)) << text;
    EXPECT_EQ(w.journal.alive(), 0);
  }
}

TEST_P(Version2, WithoutACreatorAreNamed) {
  ASSERT_TRUE(w.chain({2, 3}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  getPluginRegistry()->deregisterCreator(w.creator);
  EXPECT_FALSE(Loaded(p.logger, *plan).engine);
  EXPECT_TRUE(has(p.logger.take_errors(), "no creator of plugin 'RecordedV2' version '1' of namespace 'old'"));
  getPluginRegistry()->registerCreator(w.creator, "old");
}

TEST_P(Version2, TheyKnowNoShapesThatAreNotKnownButTheDynamicOne) {
  EXPECT_EQ(w.chain({-1, 3}) != nullptr, is(KindV2::kDynamicExt)) << p.logger.take_errors();
}

TEST_P(Version2, FormatsAreMadeForThem) {
  w.behaviour.takes_channels_last = true;
  ASSERT_TRUE(w.chain({1, 3, 2, 1}));
  const auto loaded = w.load();
  ASSERT_TRUE(loaded && loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(w.y, w.x);
}

TEST_P(Version2, ACloneThatIsThePluginItselfIsRefused) {
  w.behaviour.is_its_own_clone = true;
  EXPECT_FALSE(w.chain({2, 3}));
  EXPECT_TRUE(has(p.logger.take_errors(), "clone() returned the plugin itself, not a copy"));
  EXPECT_EQ(w.journal.alive(), 0);
}

/// Promises that need several programs, one after the other.
class Version2Programs : public PromiseTable<Interface> {};
INSTANTIATE_TEST_SUITE_P(Promises, Version2Programs, ::testing::ValuesIn(kInterfaces),
                         [](const auto& info) { return row_name(info); });

TEST_P(Version2Programs, PlansOfOneNetworkAreTheSameBytes) {
  std::string plans[2];
  for (std::string& plan : plans) {
    ProgramV2 mine(GetParam().kind);
    ASSERT_TRUE(mine.chain({2, 3}));
    plan = mine.p.plan();
    EXPECT_EQ(mine.p.plan(), plan) << "a second build of it";
  }
  EXPECT_FALSE(plans[0].empty());
  EXPECT_EQ(plans[0], plans[1]);
}

struct DynamicV2Promises : Promises {
  ProgramV2 w{KindV2::kDynamicExt};
  Program& p = w.p;
};

TEST_F(DynamicV2Promises, ConfiguringTellsTheProfileAndThenTheRuns) {
  ASSERT_TRUE(w.chain({-1, 3}));
  p.profile("x", {1, 3}, {1, 3}, {2, 3});
  const auto loaded = w.load();
  ASSERT_TRUE(loaded);
  EXPECT_GE(w.journal.count("configurePlugin -1x3 of 1x3 to 2x3 -> -1x3"), 1);
  w.journal.clear();
  for (const int64_t rows : {2, 2, 1}) {
    ASSERT_TRUE(loaded->context->setInputShape("x", dims({rows, 3})));
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  }
  EXPECT_EQ(w.journal.all(), (Calls{"configurePlugin 2x3 of 2x3 to 2x3 -> 2x3", "enqueue", "enqueue",
                                    "configurePlugin 1x3 of 1x3 to 1x3 -> 1x3", "enqueue"}));
}

TEST_F(DynamicV2Promises, EachProfileConfigures) {
  ASSERT_TRUE(w.chain({-1}));
  p.profile("x", {1}, {2}, {4});
  p.profile("x", {8}, {16}, {32});
  ASSERT_TRUE(p.build());
  EXPECT_GE(w.journal.count("configurePlugin -1 of 1 to 4 -> -1"), 1);
  EXPECT_GE(w.journal.count("configurePlugin -1 of 8 to 32 -> -1"), 1);
}

TEST_F(DynamicV2Promises, TimingIsARun) {
  w.behaviour.takes_channels_last = true;  // two formats to choose from
  ASSERT_TRUE(w.chain({1, 3, 2, 1}));
  w.journal.clear();
  ASSERT_TRUE(p.build());
  const size_t attached = w.journal.first("attachToContext"), ran = w.journal.first("enqueue");
  EXPECT_LT(w.journal.first("initialize"), attached);
  EXPECT_LT(attached, ran);
  ASSERT_LT(ran, w.journal.all().size());
  EXPECT_EQ(w.journal.all()[ran - 1], "configurePlugin 1x3x2x1 of 1x3x2x1 to 1x3x2x1 -> 1x3x2x1");
  EXPECT_EQ(w.journal.count("attachToContext"), w.journal.count("detachFromContext"));
}

enum class Stage { kAdding, kBuilding, kLoading, kAttaching, kRunning, kDone };

/// A call that fails at a stage of the program.
struct FailureV2 {
  std::string name;
  Interface interface;
  Stage stage;
  const char* call;
  const char* words;
};
void PrintTo(const FailureV2& failure, std::ostream* to) { *to << failure.name; }

/// Each failing call of each interface.
std::vector<FailureV2> all_failures() {
  constexpr struct {
    const char* name;
    Stage stage;
    const char *call, *words;
  } kFailures[] = {
      {"AddingClone", Stage::kAdding, "clone", "clone() returned null"},
      {"AddingGetOutputDimensions", Stage::kAdding, "getOutputDimensions", "getOutputDimensions"},
      {"BuildingClone", Stage::kBuilding, "clone", "clone returned null"},
      {"BuildingSupportsFormat", Stage::kBuilding, "supportsFormat", "supports no combination of formats"},
      {"BuildingInitialize", Stage::kBuilding, "initialize", "initialize returned 21"},
      {"LoadingDeserializePlugin", Stage::kLoading, "deserializePlugin", "deserializePlugin returned null"},
      {"LoadingInitialize", Stage::kLoading, "initialize", "initialize returned 21"},
      {"AttachingClone", Stage::kAttaching, "clone", "clone returned null"},
      {"RunningEnqueue", Stage::kRunning, "enqueue", "enqueue returned 22"},
  };
  std::vector<FailureV2> result;
  for (const Interface& interface : kInterfaces)
    for (const auto& failure : kFailures)
      result.push_back(
          {std::string(interface.name) + failure.name, interface, failure.stage, failure.call, failure.words});
  return result;
}

class FailingCallsV2 : public PromiseTable<FailureV2> {
 protected:
  /// Goes through the stages until one fails.
  Stage last_stage() {
    if (!input_) input_ = w.p.input("x", {2, 3});
    if (!layer_) {
      if (!(layer_ = w.add(input_))) return Stage::kAdding;
      w.p.mark(layer_->getOutput(0));
    }
    plan_ = w.p.build();
    if (!plan_) return Stage::kBuilding;
    return load_and_run();
  }
  Stage load_and_run() {
    Loaded loaded(w.p.logger, *plan_);
    if (!loaded.engine) return Stage::kLoading;
    if (!loaded.context) return Stage::kAttaching;
    loaded.set("x", w.x), loaded.set("y", w.y);
    return loaded.run() ? Stage::kDone : Stage::kRunning;
  }
  ProgramV2 w{GetParam().interface.kind};

 private:
  nv::ITensor* input_ = nullptr;
  nv::IPluginV2Layer* layer_ = nullptr;
  std::unique_ptr<nv::IHostMemory> plan_;
};

TEST_P(FailingCallsV2, AreErrorsOfTheirStage) {
  const FailureV2& failure = GetParam();
  if (failure.stage != Stage::kAdding) {
    ASSERT_EQ(last_stage(), Stage::kDone) << w.p.logger.take_errors();
  }
  const int alive = w.journal.alive();
  w.behaviour.fails_in = failure.call;
  EXPECT_EQ(failure.stage < Stage::kLoading ? last_stage() : load_and_run(), failure.stage);
  std::string told;
  for (const std::string& line : w.p.logger.all) told += line + "\n";
  EXPECT_FALSE(w.p.logger.errors.empty());
  EXPECT_TRUE(has(told, failure.words)) << told;
  EXPECT_TRUE(has(told, "plugin 'RecordedV2' version '1'")) << told;
  EXPECT_EQ(w.journal.alive(), alive) << "copies that are left";
  w.behaviour.fails_in.clear();
  EXPECT_EQ(last_stage(), Stage::kDone) << "the program goes on: " << w.p.logger.take_errors();
  EXPECT_EQ(w.y, w.x);
}
INSTANTIATE_TEST_SUITE_P(Promises, FailingCallsV2, ::testing::ValuesIn(all_failures()),
                         [](const auto& info) { return row_name(info); });

}  // namespace
}  // namespace kiln::promises
