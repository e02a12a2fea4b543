// Quick plugins: the interfaces behind `tensorrt.plugin`'s decorators, by which C++ may write plugins, too.
#include <impl/NvInferPythonPlugin.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "ahead.h"
#include "program.h"

namespace kiln::promises {
namespace {

using Floats = std::vector<float>;

struct QuickLog {
  std::vector<int32_t> ranks;      ///< that getOutputDataTypes was told
  std::vector<nv::Dims> strides;   ///< of input 0, by enqueue
  std::vector<int32_t> tactics;    ///< that setTactic got
  std::vector<std::string> asked;  ///< getOutputDataTypes and getOutputShapes
  int alive = 0, num_creations = 0;
  nv::QuickPluginCreationRequest request{};
  std::string space;  ///< of the creation
  std::string fails_in;
  std::optional<nv::PluginCapabilityType> lacks;  ///< a part that plugins do not have
  int32_t num_combinations = 1;
  nv::PluginFormat format = nv::PluginFormat::kLINEAR;
};

/// y = x + 10 * tactic + `offset`, for images of any format that is unblocked.
class Offset final : public nv::IPluginV3,
                     public nv::IPluginV3QuickCore,
                     public nv::IPluginV3QuickBuild,
                     public nv::IPluginV3QuickRuntime {
 public:
  Offset(QuickLog& log, float offset) : log_(log), offset_(offset) { ++log.alive; }
  Offset(const Offset& other) : log_(other.log_), offset_(other.offset_), tactic_(other.tactic_) { ++log_.alive; }
  ~Offset() override { --log_.alive; }

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    if (type == nv::PluginCapabilityType::kCORE) return static_cast<nv::IPluginV3QuickCore*>(this);
    if (type == log_.lacks) return nullptr;
    if (type == nv::PluginCapabilityType::kRUNTIME) return static_cast<nv::IPluginV3QuickRuntime*>(this);
    return static_cast<nv::IPluginV3QuickBuild*>(this);
  }
  nv::IPluginV3* clone() noexcept override { return fails("clone") ? nullptr : new Offset(*this); }
  const char* getPluginName() const noexcept override { return "Offset"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return "quick"; }

  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, const int32_t* ranks,
                             int32_t num_in) const noexcept override {
    log_.asked.push_back("types");
    log_.ranks.assign(ranks, ranks + num_in);
    out[0] = in[0];
    return fails("getOutputDataTypes");
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out, int32_t,
                          nv::IExprBuilder&) noexcept override {
    log_.asked.push_back("shapes");
    out[0] = in[0];
    return fails("getOutputShapes");
  }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return fails("configurePlugin");
  }
  int32_t getNbSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t, int32_t) noexcept override {
    return log_.num_combinations;
  }
  int32_t getSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t num_in, int32_t num_out,
                                         nv::PluginTensorDesc* supported, int32_t) noexcept override {
    for (int32_t i = 0; i < num_in + num_out; ++i)
      supported[i].type = nv::DataType::kFLOAT, supported[i].format = log_.format;
    return fails("getSupportedFormatCombinations");
  }
  int32_t getNbTactics() noexcept override { return 1; }
  int32_t getValidTactics(int32_t* tactics, int32_t) noexcept override {
    tactics[0] = 7;
    return fails("getValidTactics");
  }

  int32_t setTactic(int32_t tactic) noexcept override {
    log_.tactics.push_back(tactic_ = tactic);
    return fails("setTactic");
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc*, const void* const* inputs,
                  void* const* outputs, const nv::Dims* in_strides, const nv::Dims*, int32_t num_in, int32_t num_out,
                  cudaStream_t) noexcept override {
    if (num_in != 1 || num_out != 1) return 2;
    log_.strides.push_back(in_strides[0]);
    for (int64_t i = 0; i < volume(in[0].dims); ++i)
      static_cast<float*>(outputs[0])[i] =
          static_cast<const float*>(inputs[0])[i] + 10 * static_cast<float>(tactic_) + offset_;
    return fails("enqueue");
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override {
    field_ = {"offset", &offset_, nv::PluginFieldType::kFLOAT32, 1};
    return &fields_;
  }

 private:
  bool fails(const char* call) const { return log_.fails_in == call; }

  QuickLog& log_;
  const float offset_;
  int32_t tactic_ = 0;
  nv::PluginField field_;
  const nv::PluginFieldCollection fields_{1, &field_};
};

class OffsetCreator final : public nv::IPluginCreatorV3Quick {
 public:
  explicit OffsetCreator(QuickLog& log) : log_(log) { getPluginRegistry()->registerCreator(*this, "quick"); }
  ~OffsetCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char*, const char* space, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase, nv::QuickPluginCreationRequest request) noexcept override {
    ++log_.num_creations;
    log_.space = space, log_.request = request;
    if (log_.fails_in == "createPlugin" || fields->nbFields != 1) return nullptr;
    return new Offset(log_, *static_cast<const float*>(fields->fields[0].data));
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &names_; }
  const char* getPluginName() const noexcept override { return "Offset"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return "quick"; }

 private:
  QuickLog& log_;
  const nv::PluginField name_{"offset", nullptr, nv::PluginFieldType::kFLOAT32, 1};
  const nv::PluginFieldCollection names_{1, &name_};
};

/// A creator of version 3, which may make quick plugins.
class OffsetCreatorV3 final : public nv::IPluginCreatorV3One {
 public:
  explicit OffsetCreatorV3(QuickLog& log) : log_(log) { getPluginRegistry()->registerCreator(*this, "quick"); }
  ~OffsetCreatorV3() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char*, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase) noexcept override {
    return new Offset(log_, *static_cast<const float*>(fields->fields[0].data));
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &none_; }
  const char* getPluginName() const noexcept override { return "Offset"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return "quick"; }

 private:
  QuickLog& log_;
  const nv::PluginFieldCollection none_{};
};

struct QuickPlugins : Promises {
  ~QuickPlugins() override {
    p.network.reset();
    EXPECT_EQ(log.alive, 0);
  }
  bool add(std::initializer_list<int64_t> extents = {2, 3}) {
    Offset plugin(log, 0.5F);
    nv::ITensor* x = p.input("x", extents);
    nv::IPluginV3Layer* layer = p.network->addPluginV3(&x, 1, nullptr, 0, plugin);
    if (!layer) return false;
    layer->setName("layer");
    EXPECT_TRUE(is_offset(layer->getPlugin()));
    EXPECT_NE(&layer->getPlugin(), static_cast<nv::IPluginV3*>(&plugin));
    p.mark(layer->getOutput(0));
    return true;
  }
  static bool is_offset(nv::IPluginV3& plugin) {
    const nv::IPluginCapability* core = plugin.getCapabilityInterface(nv::PluginCapabilityType::kCORE);
    return std::strcmp(core->getInterfaceInfo().kind, "PLUGIN_V3QUICK_CORE") == 0;
  }
  std::string error_of_add() {
    EXPECT_FALSE(add());
    return p.logger.take_errors();
  }

  QuickLog log;
  OffsetCreator creator{log};
  Program p;
};

TEST_F(QuickPlugins, RunFromThePlan) {
  ASSERT_TRUE(add()) << p.logger.take_errors();
  EXPECT_EQ(log.ranks, std::vector<int32_t>{2});
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(log.num_creations, 1);
  EXPECT_EQ(log.space, "quick");
  EXPECT_EQ(log.request, nv::QuickPluginCreationRequest::kSTRICT_JIT);
  log.strides.clear(), log.tactics.clear();
  const std::unique_ptr<nv::IExecutionContext> other(loaded->engine->createExecutionContext());
  EXPECT_EQ(log.tactics, std::vector<int32_t>{7});
  Floats x{1, 2, 3, 4, 5, 6}, y(6);
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{71.5F, 72.5F, 73.5F, 74.5F, 75.5F, 76.5F}));
  ASSERT_EQ(log.strides.size(), 1u);
  EXPECT_EQ(text(log.strides[0]), text(dims({3, 1})));
}

// TensorRT's Python plugins ask for their inputs' types in getOutputShapes.
TEST_F(QuickPlugins, TypesAreAskedForBeforeShapes) {
  ASSERT_TRUE(add()) << p.logger.take_errors();
  ASSERT_GE(log.asked.size(), 2u);
  EXPECT_EQ(log.asked[0], "types");
  EXPECT_EQ(log.asked[1], "shapes");
}

TEST_F(QuickPlugins, ACreatorOfVersion3MayMakeThem) {
  ASSERT_TRUE(add()) << p.logger.take_errors();
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  getPluginRegistry()->deregisterCreator(creator);
  {
    const OffsetCreatorV3 other(log);
    Loaded loaded(p.logger, *plan);
    ASSERT_TRUE(loaded.context) << p.logger.take_errors();
    Floats x{1, 2, 3, 4, 5, 6}, y(6);
    loaded.set("x", x), loaded.set("y", y);
    ASSERT_TRUE(loaded.run()) << p.logger.take_errors();
    EXPECT_EQ(y, (Floats{71.5F, 72.5F, 73.5F, 74.5F, 75.5F, 76.5F}));
  }
  getPluginRegistry()->registerCreator(creator, "quick");
}

TEST_F(QuickPlugins, GetStridesOfTheirFormats) {
  log.format = nv::PluginFormat::kHWC;
  ASSERT_TRUE(add({1, 3, 2, 2})) << p.logger.take_errors();
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x(12), y(12), expected;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), expected.push_back(x[i] + 70.5F);
  loaded->set("x", x), loaded->set("y", y);
  log.strides.clear();
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, expected);
  EXPECT_EQ(text(log.strides.back()), text(dims({12, 1, 6, 3})));
}

TEST_F(QuickPlugins, WithoutACreatorAreNamed) {
  ASSERT_TRUE(add());
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  getPluginRegistry()->deregisterCreator(creator);
  const Loaded loaded(p.logger, *plan);
  EXPECT_EQ(loaded.engine, nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(), "no creator of plugin 'Offset' version '1' of namespace 'quick'"));
  getPluginRegistry()->registerCreator(creator, "quick");
}

/// A kernel is a GPU's: conformance/fake_cuda/ahead_of_time_test.cc has the rest.
TEST_F(QuickPlugins, AheadOfTimeAreRefusedByTheBuildForACpu) {
  const Ahead ahead;
  nv::ITensor* x = p.input("x", {2, 3});
  nv::IPluginV3Layer* layer = nullptr;
  {
    AheadPlugin plugin(ahead);
    layer = p.network->addPluginV3(&x, 1, nullptr, 0, plugin);
  }
  ASSERT_TRUE(layer) << p.logger.take_errors();
  p.mark(layer->getOutput(0));
  EXPECT_EQ(p.build(), nullptr);
  const std::string told = p.logger.take_errors();
  EXPECT_TRUE(has(told,
                  "plugin 'Ahead' version '1' of namespace 'quick' is a CUDA kernel that was compiled ahead of "
                  "time (IPluginV3QuickAOTBuild), which needs an NVIDIA GPU"))
      << told;
  EXPECT_EQ(std::ranges::count(ahead.calls, "asked for a runtime part"), 0);
  p.network.reset();
  EXPECT_EQ(ahead.alive, 0);
}

TEST_F(QuickPlugins, CountsOfCombinationsThatCannotBe) {
  ASSERT_TRUE(add());
  for (const int32_t count : {INT32_MAX, -1, 0}) {
    log.num_combinations = count;
    EXPECT_EQ(p.build(), nullptr) << count;
    const std::string expected = "getNbSupportedFormatCombinations returned " + std::to_string(count);
    EXPECT_TRUE(has(p.logger.take_errors(), expected)) << count;
  }
  log.num_combinations = 1;
  EXPECT_NE(p.build(), nullptr) << p.logger.take_errors();
}

TEST_F(QuickPlugins, WithoutAPartAreNamed) {
  log.lacks = nv::PluginCapabilityType::kBUILD;
  std::string told = error_of_add();
  EXPECT_TRUE(has(told, "quick plugin 'Offset': getCapabilityInterface(kBUILD) gave no PLUGIN_V3QUICK_BUILD")) << told;
  p.network.reset(p.builder->createNetworkV2(0));
  log.lacks = nv::PluginCapabilityType::kRUNTIME;
  told = error_of_add();
  EXPECT_TRUE(has(told, "quick plugin 'Offset': getCapabilityInterface(kRUNTIME) gave no ")) << told;
}

TEST_F(QuickPlugins, FailingCallsAreErrors) {
  for (const char* call : {"clone", "getOutputShapes", "getOutputDataTypes"}) {
    log.fails_in = call;
    EXPECT_TRUE(has(error_of_add(), call)) << call;
    p.network.reset(p.builder->createNetworkV2(0));
  }
  log.fails_in.clear();
  ASSERT_TRUE(add());
  for (const char* call : {"getSupportedFormatCombinations", "configurePlugin", "getValidTactics"}) {
    log.fails_in = call;
    EXPECT_EQ(p.build(), nullptr) << call;
    EXPECT_TRUE(has(p.logger.take_errors(), std::string(call) + " returned 1")) << call;
  }
  log.fails_in.clear();
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  log.fails_in = "createPlugin";
  EXPECT_EQ(Loaded(p.logger, *plan).engine, nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(), "createPlugin returned null"));
  log.fails_in = "setTactic";
  EXPECT_EQ(Loaded(p.logger, *plan).context, nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(), "setTactic"));
  log.fails_in.clear();
  Loaded loaded(p.logger, *plan);
  Floats x(6), y(6);
  loaded.set("x", x), loaded.set("y", y);
  log.fails_in = "enqueue";
  EXPECT_FALSE(loaded.run());
  EXPECT_TRUE(has(p.logger.take_errors(), "enqueue returned 1"));
  log.fails_in.clear();
  EXPECT_TRUE(loaded.run()) << p.logger.take_errors();
}

}  // namespace
}  // namespace kiln::promises
