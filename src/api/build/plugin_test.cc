// Plugins of version 3 in networks, plans and runs on the CPU, whose host code they need.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "api/build/testing/workbench.h"
#include "api/run/testing/logged_plugins.h"

namespace kiln::api {
namespace {

using testing::CopyPlugin;
using testing::dims;
using testing::list;
using testing::LoggedCreator;
using testing::OutputMemory;
using testing::PluginLog;
using testing::PositivePlugin;
using testing::Running;
using testing::ScalePlugin;
using testing::Shared;
using testing::Workbench;
namespace nv = nvinfer1;
using Floats = std::vector<float>;

nv::IPluginV3Layer* add_scale(Workbench& w, nv::ITensor* x, nv::IPluginV3& plugin) {
  nv::IPluginV3Layer* layer = w->addPluginV3(&x, 1, nullptr, 0, plugin);
  if (layer) layer->setName("scale");
  return layer;
}

/// The plugins here compute on the host.
class PluginV3 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
  }
};

/// A network of one plugin that multiplies by 3.
struct OneScale {
  explicit OneScale(std::initializer_list<int64_t> extents = {2, 3}) {
    ScalePlugin plugin(log, 3);
    layer = add_scale(w, w.input("x", extents), plugin);
    if (layer) w.mark(layer->getOutput(0));
  }
  PluginLog log;
  LoggedCreator<ScalePlugin> creator{log, "TestScale"};
  Workbench w;
  nv::IPluginV3Layer* layer;
};

TEST_F(PluginV3, RunsFromThePlan) {
  OneScale s;
  ASSERT_TRUE(s.layer);
  EXPECT_EQ(s.layer->getType(), nv::LayerType::kPLUGIN_V3);
  auto& plugin = static_cast<ScalePlugin&>(s.layer->getPlugin());
  EXPECT_STREQ(plugin.getPluginName(), "TestScale");
  EXPECT_EQ(s.log.count("getOutputShapes"), 1);
  Running r(s.w);
  ASSERT_TRUE(r.context) << r.error;
  EXPECT_EQ(s.log.count("createPlugin scale"), 1);
  Shared<float> x{1, 2, 3, 4, 5, 6}, y(6, 0);
  r.feed("x", x), r.feed("y", y);
  EXPECT_EQ(s.log.count("attachToContext"), 1) << "when the context was created";
  EXPECT_EQ(s.log.count("setTactic"), 1);
  s.log.calls.clear();
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_EQ(y, (Floats{3, 6, 9, 12, 15, 18}));
  EXPECT_EQ(s.log.calls, (std::vector<std::string>{"onShapeChange 2x3", "enqueue"}));
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_EQ(y[0], 1003) << "the context's copy has counted";
  EXPECT_EQ(s.log.count("onShapeChange 2x3"), 1);
  EXPECT_EQ(s.log.count("enqueue"), 2);
}

// A plugin that works on its stream alone runs on every device, and a GPU may record it.
TEST(PluginV3OnAnyDevice, WorksInTheOrderOfItsStream) {
  PluginLog log;
  LoggedCreator<CopyPlugin> creator(log, "TestCopy");
  Workbench w;
  CopyPlugin plugin(log);
  nv::ITensor* x = w->addUnary(*w.input("x", {2, 3}), nv::UnaryOperation::kNEG)->getOutput(0);
  nv::IPluginV3Layer* layer = w->addPluginV3(&x, 1, nullptr, 0, plugin);
  ASSERT_TRUE(layer) << w.take_error();
  w.mark(w->addUnary(*layer->getOutput(0), nv::UnaryOperation::kEXP)->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> values(6, 0), y(6, 0);
  r.feed("x", values), r.feed("y", y);
  for (int run = 0; run < 8; ++run) {
    for (int i = 0; i < 6; ++i) values[static_cast<size_t>(i)] = static_cast<float>(run + i);
    ASSERT_TRUE(r.run()) << r.last_error();
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(y[static_cast<size_t>(i)], std::exp(static_cast<float>(-run - i)), 1e-6);
  }
  EXPECT_GE(log.count("enqueue"), 1);
}

TEST(PluginV3OnAnyDevice, IsToldItsShapesWheneverTheyChange) {
  PluginLog log;
  LoggedCreator<CopyPlugin> creator(log, "TestCopy");
  Workbench w;
  CopyPlugin plugin(log);
  nv::ITensor* x = w->addUnary(*w.input("x", {-1, 3}), nv::UnaryOperation::kNEG)->getOutput(0);
  nv::IPluginV3Layer* layer = w->addPluginV3(&x, 1, nullptr, 0, plugin);
  ASSERT_TRUE(layer) << w.take_error();
  w.mark(w->addUnary(*layer->getOutput(0), nv::UnaryOperation::kEXP)->getOutput(0));
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  profile->setDimensions("x", nv::OptProfileSelector::kMIN, dims({1, 3}));
  profile->setDimensions("x", nv::OptProfileSelector::kOPT, dims({2, 3}));
  profile->setDimensions("x", nv::OptProfileSelector::kMAX, dims({4, 3}));
  w.config->addOptimizationProfile(profile);
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> values(12, 1), y(12, 0);
  r.feed("x", values), r.feed("y", y);
  const auto told = [&] { return log.count("onShapeChange 2x3") + log.count("onShapeChange 4x3"); };
  const int before = told();  // in the build
  for (int change = 0; change < 6; ++change) {
    ASSERT_TRUE(r.context->setInputShape("x", dims({change % 2 ? 4 : 2, 3})));
    for (int run = 0; run < 6; ++run) ASSERT_TRUE(r.run()) << r.last_error();  // enough to be recorded
    EXPECT_EQ(told(), before + change + 1);
  }
}

TEST_F(PluginV3, EachCopyIsDeletedOnce) {
  PluginLog log;
  {
    LoggedCreator<ScalePlugin> creator(log, "TestScale");
    Workbench w;
    {
      ScalePlugin plugin(log, 3);
      w.mark(add_scale(w, w.input("x", {2}), plugin)->getOutput(0));
      EXPECT_EQ(log.alive, 2) << "the network has a copy of its own";
    }
    Running r(w);
    ASSERT_TRUE(r.context) << r.error;
    Shared<float> x{1, 2}, y(2, 0);
    r.feed("x", x), r.feed("y", y);
    EXPECT_EQ(log.alive, 3) << "the network's, the engine's and the context's";
  }
  EXPECT_EQ(log.alive, 0);
}

TEST_F(PluginV3, IsToldNewShapesAndKeepsItsState) {
  PluginLog log;
  LoggedCreator<ScalePlugin> creator(log, "TestScale");
  Workbench w;
  ScalePlugin plugin(log, 1);
  w.mark(add_scale(w, w.input("x", {-1}), plugin)->getOutput(0));
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  profile->setDimensions("x", nv::OptProfileSelector::kMIN, dims({1}));
  profile->setDimensions("x", nv::OptProfileSelector::kOPT, dims({2}));
  profile->setDimensions("x", nv::OptProfileSelector::kMAX, dims({4}));
  w.config->addOptimizationProfile(profile);
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x{1, 2, 3, 4}, y(4, 0);
  r.feed("x", x), r.feed("y", y);
  log.calls.clear();
  for (const int64_t extent : {2, 3, 3, 2}) {
    ASSERT_TRUE(r.context->setInputShape("x", dims({extent})));
    ASSERT_TRUE(r.run()) << r.last_error();
  }
  EXPECT_EQ(y[0], 3001);
  EXPECT_EQ(log.count("onShapeChange 2"), 2);
  EXPECT_EQ(log.count("onShapeChange 3"), 1);
  EXPECT_EQ(log.count("attachToContext"), 0) << "each context has attached its copy when it was created";
}

TEST_F(PluginV3, TacticsAreTimedAndTheBestIsSet) {
  PluginLog log;
  log.tactics = {7, 9};
  log.workspace_bytes = 1 << 16;
  LoggedCreator<ScalePlugin> creator(log, "TestScale");
  Workbench w;
  w.config->setBuilderOptimizationLevel(3);
  ScalePlugin plugin(log, 0);
  w.mark(add_scale(w, w.input("x", {4}), plugin)->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  EXPECT_GT(log.count("enqueue"), 2) << "both were timed";
  Shared<float> x{1, 2, 3, 4}, y(4, 0);
  r.feed("x", x), r.feed("y", y);
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_TRUE(y[0] == 7 || y[0] == 9) << y[0];
}

TEST_F(PluginV3, ItsFormatsAreMadeForIt) {
  PluginLog log;
  log.takes_channels_last = true;
  LoggedCreator<ScalePlugin> creator(log, "TestScale");
  Workbench w;
  ScalePlugin plugin(log, 2);
  w.mark(add_scale(w, w.input("x", {1, 2, 2, 1}), plugin)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 2, 2, 1}, {1, 2, 3, 4}}}}), (Floats{2, 4, 6, 8}));
}

// The timing cache keeps the times of those alone that give an id.
TEST_F(PluginV3, TimesAreKeptUnderAnIdAlone) {
  for (const char* id : {static_cast<const char*>(nullptr), "factor 3"}) {
    OneScale s;
    s.log.timing_id = id;
    s.log.tactics = {1, 2};
    s.w.config->setBuilderOptimizationLevel(3);
    std::unique_ptr<nv::ITimingCache> cache(s.w.config->createTimingCache(nullptr, 0));
    ASSERT_TRUE(s.w.config->setTimingCache(*cache, false));
    for (const bool is_first : {true, false}) {
      s.log.calls.clear();
      std::unique_ptr<nv::IHostMemory> plan(s.w.builder->buildSerializedNetwork(*s.w.network, *s.w.config));
      ASSERT_TRUE(plan) << s.w.take_error();
      EXPECT_EQ(s.log.count("enqueue") > 0, is_first || !id) << (id ? id : "no id") << is_first;
    }
  }
}

TEST_F(PluginV3, DataAndShapeInputsDecideShapes) {
  PluginLog log;
  LoggedCreator<PositivePlugin> creator(log, "TestPositive");
  Workbench w;
  PositivePlugin plugin(log);
  nv::ITensor* x = w.input("x", {5});
  const int64_t two = 2;
  nv::ITensor* rows = w->addConstant(dims({1}), {nv::DataType::kINT64, &two, 1})->getOutput(0);
  nv::IPluginV3Layer* layer = w->addPluginV3(&x, 1, &rows, 1, plugin);
  ASSERT_TRUE(layer) << w.take_error();
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(list(layer->getOutput(1)->getDimensions()), (std::vector<int64_t>{}));
  w.mark(w->addUnary(*layer->getOutput(0), nv::UnaryOperation::kNEG)->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> values{-1, 2, 0, 4, 5};
  r.feed("x", values);
  OutputMemory y;
  ASSERT_TRUE(r.context->setOutputAllocator("y", &y));
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(y.elements<float>(), (Floats{-2, -4, -5, -2, -4, -5}));
  values = {-1, -1, -1, -1, 1};
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ(y.elements<float>(), (Floats{-1, -1}));
  EXPECT_EQ(log.count("onShapeChange 2x-1, "), 1) << "an extent that data decides is -1";
}

// A plugin that fails in one call after the other: each is an error that names plugin and call, and nothing leaks.
TEST_F(PluginV3, FailingCallsAreErrors) {
  for (const std::string call : {"clone", "getOutputShapes", "getOutputDataTypes"}) {
    PluginLog log;
    log.fails_in = call;
    Workbench w;
    {
      ScalePlugin plugin(log, 3);
      EXPECT_EQ(add_scale(w, w.input("x", {2}), plugin), nullptr);
    }
    EXPECT_NE(w.take_error().find(call), std::string::npos);
    EXPECT_EQ(log.alive, 0) << call;
  }
  for (const std::string call : {"supportsFormatCombination", "configurePlugin", "getValidTactics", "attachToContext",
                                 "setTactic", "onShapeChange", "enqueue", "createPlugin"}) {
    PluginLog log;
    log.tactics = {1, 2};
    {
      LoggedCreator<ScalePlugin> creator(log, "TestScale");
      Workbench w;
      w.config->setBuilderOptimizationLevel(3);
      ScalePlugin plugin(log, 3);
      w.mark(add_scale(w, w.input("x", {2}), plugin)->getOutput(0));
      log.fails_in = call;
      Running r(w);
      EXPECT_EQ(r.engine, nullptr) << call;
      const std::string text = r.error + w.take_error() + r.last_error();
      EXPECT_NE(text.find("'TestScale'"), std::string::npos) << text;
      EXPECT_NE(text.find(call), std::string::npos) << text;
      log.fails_in.clear();
      const Floats y = w.run({{"x", {{2}, {1, 2}}}});  // by either tactic, which is added
      EXPECT_TRUE(y == (Floats{4, 7}) || y == (Floats{5, 8})) << "the builder goes on: " << call;
    }
    EXPECT_EQ(log.alive, 0) << call;
  }
}

TEST_F(PluginV3, FailuresOfRunsAreErrors) {
  for (const std::string call : {"onShapeChange", "enqueue"}) {
    OneScale s;
    Running r(s.w);
    ASSERT_TRUE(r.context) << r.error;
    Shared<float> x{1, 2, 3, 4, 5, 6}, y(6, 0);
    r.feed("x", x), r.feed("y", y);
    s.log.fails_in = call;
    EXPECT_FALSE(r.run()) << call;
    EXPECT_NE(r.last_error().find("plugin 'TestScale' version '1': " + call + " returned"), std::string::npos)
        << r.last_error();
    s.log.fails_in.clear();
    ASSERT_TRUE(r.run()) << call << ": " << r.last_error();
    EXPECT_EQ(y[5], 18);
  }
}

TEST_F(PluginV3, FailuresToAttachAreErrorsOfTheContext) {
  for (const std::string call : {"attachToContext", "setTactic"}) {
    OneScale s;
    Running r(s.w);
    ASSERT_TRUE(r.context) << r.error;
    s.log.fails_in = call;
    std::unique_ptr<nv::IExecutionContext> context(r.engine->createExecutionContext());
    EXPECT_FALSE(context) << call;
    EXPECT_NE(
        r.last_error().find(
            "ICudaEngine::createExecutionContext: step 'scale': plugin 'TestScale' version '1': " + call + " returned"),
        std::string::npos)
        << r.last_error();
    s.log.fails_in.clear();
    context.reset(r.engine->createExecutionContext());
    EXPECT_TRUE(context) << call;
    EXPECT_EQ(s.log.alive, 4) << "the network's, the engine's and those of two contexts";
  }
}

/// Keeps memory of the context's allocator as long as it lives, and tells an error to its recorder in each run.
class ResourcefulPlugin final : public testing::LoggedPlugin {
 public:
  explicit ResourcefulPlugin(PluginLog& log) : LoggedPlugin(log, "TestResourceful") {}
  ~ResourcefulPlugin() override {
    if (memory_) allocator_->deallocateAsync(memory_, nullptr);
  }
  nv::IPluginV3* clone() noexcept override { return new ResourcefulPlugin(log_); }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext* context) noexcept override {
    auto* const copy = new ResourcefulPlugin(log_);
    copy->context_ = context;
    copy->allocator_ = context->getGpuAllocator();
    copy->memory_ = copy->allocator_ ? copy->allocator_->allocateAsync(1024, 256, 0, nullptr) : nullptr;
    return copy;
  }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, int32_t) const noexcept override {
    out[0] = in[0];
    return 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out, int32_t,
                          nv::IExprBuilder&) noexcept override {
    out[0] = in[0];
    return 0;
  }
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    return tensors[position].desc.format == nv::TensorFormat::kLINEAR;
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc*, const void* const*, void* const* out,
                  void*, cudaStream_t) noexcept override {
    if (!memory_) return 1;
    std::memset(memory_, 0, 1024);
    std::fill_n(static_cast<float*>(out[0]), in[0].dims.d[0], 1.0f);
    if (nv::IErrorRecorder* recorder = context_->getErrorRecorder())
      recorder->reportError(nv::ErrorCode::kFAILED_EXECUTION, "told by the plugin");
    return 0;
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return nullptr; }

 private:
  nv::IPluginResourceContext* context_ = nullptr;
  nv::IGpuAllocator* allocator_ = nullptr;
  void* memory_ = nullptr;
};

}  // namespace

namespace testing {

template <>
nv::IPluginV3* LoggedCreator<ResourcefulPlugin>::make(const nv::PluginFieldCollection&) {
  return new ResourcefulPlugin(log_);
}

}  // namespace testing

namespace {

TEST_F(PluginV3, ContextsHaveAnAllocatorAndTheRecorder) {
  PluginLog log;
  log.tactics = {1, 2};  // so that the build times it
  LoggedCreator<ResourcefulPlugin> creator(log, "TestResourceful");
  Workbench w;
  w.config->setBuilderOptimizationLevel(3);
  nv::ITensor* x = w.input("x", {2});
  ResourcefulPlugin plugin(log);
  nv::IPluginV3Layer* layer = w->addPluginV3(&x, 1, nullptr, 0, plugin);
  ASSERT_TRUE(layer) << w.take_error();
  w.mark(layer->getOutput(0));
  std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  ASSERT_TRUE(plan) << w.take_error();
  ASSERT_FALSE(w.recorder.texts.empty());
  EXPECT_EQ(w.recorder.texts.front(), "told by the plugin") << "while it was timed";
  w.recorder.clear();
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  testing::Recorder recorder;
  Shared<float> values{1, 2}, y(2, 0);
  r.feed("x", values), r.feed("y", y);
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_EQ(y[1], 1);
  r.engine->setErrorRecorder(&recorder);
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_EQ(recorder.texts, std::vector<std::string>{"told by the plugin"}) << "the engine's recorder as it is";
  r.engine->setErrorRecorder(nullptr);
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_EQ(recorder.texts.size(), 1u);
}

TEST_F(PluginV3, AMissingCreatorIsNamed) {
  std::unique_ptr<nv::IHostMemory> plan;
  {
    OneScale s;
    plan.reset(s.w.builder->buildSerializedNetwork(*s.w.network, *s.w.config));
    ASSERT_TRUE(plan) << s.w.take_error();
  }
  testing::Logger logger;
  std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  EXPECT_EQ(runtime->deserializeCudaEngine(plan->data(), plan->size()), nullptr);
  ASSERT_EQ(logger.errors.size(), 1u);
  EXPECT_NE(logger.errors[0].find("step 'scale': no creator of plugin 'TestScale' version '1' is registered"),
            std::string::npos)
      << logger.errors[0];
}

}  // namespace
}  // namespace kiln::api
