// The calls that plugins of version 2 get, in their order, and the networks that they cannot be in.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/build/testing/workbench.h"
#include "api/run/testing/logged_plugins_v2.h"

namespace kiln::api {
namespace {

using testing::dims;
using testing::LoggedCreatorV2;
using testing::PluginLog;
using testing::Running;
using testing::ScaleDynamic;
using testing::ScaleExt;
using testing::ScaleIo;
using testing::ScalePlain;
using testing::Shared;
using testing::Workbench;
namespace nv = nvinfer1;
using Calls = std::vector<std::string>;
using Floats = std::vector<float>;

/// The plugins here compute on the host.
class PluginV2Calls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
  }
  template <class Plugin>
  bool add_scale(nv::ITensor* x, const char* output = "y") {
    Plugin plugin(log, 3);
    nv::IPluginV2Layer* layer = w->addPluginV2(&x, 1, plugin);
    if (layer) w.mark(layer->getOutput(0), output);
    return layer != nullptr;
  }
  /// The calls since the last time, a run of supportsFormat* as one.
  Calls take_calls() {
    Calls calls;
    for (const std::string& call : log.calls)
      if (!call.starts_with("supportsFormat") || calls.empty() || calls.back() != "supportsFormat")
        calls.push_back(call.starts_with("supportsFormat") ? "supportsFormat" : call);
    log.calls.clear();
    return calls;
  }
  void set_profile(const char* name, int64_t min, int64_t opt, int64_t max) {
    nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
    profile->setDimensions(name, nv::OptProfileSelector::kMIN, dims({min, 3}));
    profile->setDimensions(name, nv::OptProfileSelector::kOPT, dims({opt, 3}));
    profile->setDimensions(name, nv::OptProfileSelector::kMAX, dims({max, 3}));
    w.config->addOptimizationProfile(profile);
  }
  std::unique_ptr<nv::IHostMemory> build() {
    return std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config));
  }

  PluginLog log;
  Workbench w;
};

/// The first calls of a build: the formats, and a copy that tells of its formats what it needs. What is chosen is
/// serialized once, at the end.
void expect_first_calls(const Calls& calls, const char* configure, const char* workspace) {
  const Calls expected{"supportsFormat", "clone", configure, "initialize", workspace, "terminate", "destroy"};
  EXPECT_EQ(std::ranges::count(calls, "serialize"), 1);
  const auto start = std::ranges::find(calls, "supportsFormat");
  ASSERT_GE(calls.end() - start, std::ssize(expected));
  EXPECT_EQ(Calls(start, start + std::ssize(expected)), expected);
}

TEST_F(PluginV2Calls, OfABuildWithDynamicShapes) {
  ASSERT_TRUE(add_scale<ScaleDynamic>(w.input("x", {-1, 3}))) << w.take_error();
  EXPECT_EQ(take_calls(), (Calls{"clone", "getOutputDataType", "getOutputDimensions"}));
  set_profile("x", 1, 2, 4);
  ASSERT_TRUE(build()) << w.take_error();
  expect_first_calls(take_calls(), "configurePlugin -1x3 of 1x3 to 4x3 -> -1x3", "getWorkspaceSize 4x3");
}

TEST_F(PluginV2Calls, OfABuildWithABatch) {
  ASSERT_TRUE(add_scale<ScaleIo>(w.input("x", {2, 3}))) << w.take_error();
  EXPECT_EQ(take_calls(), (Calls{"clone", "getOutputDataType", "getOutputDimensions 3"}));
  ASSERT_TRUE(build()) << w.take_error();
  expect_first_calls(take_calls(), "configurePlugin 3 -> 3", "getWorkspaceSize 2");
}

TEST_F(PluginV2Calls, OfABuildWithOneFormat) {
  ASSERT_TRUE(add_scale<ScaleExt>(w.input("x", {2, 3, 1, 1}))) << w.take_error();
  EXPECT_EQ(take_calls(), (Calls{"clone", "getOutputDataType", "getOutputDimensions 3x1x1"}));
  ASSERT_TRUE(build()) << w.take_error();
  for (const std::string& call : log.calls)
    EXPECT_TRUE(!call.starts_with("supportsFormat") || call == "supportsFormat 0" || call == "supportsFormat 1")
        << call << ": neither kLINEAR nor kCHW2";
  expect_first_calls(take_calls(), "configurePlugin 3x1x1 -> 3x1x1 batch 2", "getWorkspaceSize 2");
}

TEST_F(PluginV2Calls, OfABuildWithAPlainPlugin) {
  ASSERT_TRUE(add_scale<ScalePlain>(w.input("x", {2, 3, 1, 1}))) << w.take_error();
  EXPECT_EQ(take_calls(), (Calls{"clone", "getOutputDimensions 3x1x1"}));
  ASSERT_TRUE(build()) << w.take_error();
  expect_first_calls(take_calls(), "configureWithFormat 3x1x1 -> 3x1x1 batch 2", "getWorkspaceSize 2");
}

// Timing is a run: the plugin is initialized, attached, and told the shapes that it is timed with.
TEST_F(PluginV2Calls, OfATiming) {
  log.takes_both_orders = true;
  LoggedCreatorV2<ScaleDynamic> creator(log, "TestScaleDynamic");
  w.config->setBuilderOptimizationLevel(3);
  ASSERT_TRUE(add_scale<ScaleDynamic>(w.input("x", {1, 3, 2, 1}))) << w.take_error();
  take_calls();
  ASSERT_TRUE(build()) << w.take_error();
  const Calls calls = take_calls();
  const auto enqueue = std::ranges::find(calls, "enqueue 1x3x2x1");
  ASSERT_NE(enqueue, calls.end()) << "two formats are timed";
  ASSERT_GE(enqueue - calls.begin(), 3);
  EXPECT_EQ(Calls(enqueue - 3, enqueue),
            (Calls{"clone", "attachToContext", "configurePlugin 1x3x2x1 of 1x3x2x1 to 1x3x2x1 -> 1x3x2x1"}));
  EXPECT_NE(std::find(calls.begin(), enqueue, "initialize"), enqueue);
  EXPECT_EQ(w.run({{"x", {{1, 3, 2, 1}, {1, 2, 3, 4, 5, 6}}}}), (Floats{3, 6, 9, 12, 15, 18}));
}

TEST_F(PluginV2Calls, OfRuns) {
  LoggedCreatorV2<ScaleDynamic> creator(log, "TestScaleDynamic");
  ASSERT_TRUE(add_scale<ScaleDynamic>(w.input("x", {-1, 3}))) << w.take_error();
  set_profile("x", 1, 2, 4);
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x(12, 1), y(12, 0);
  r.feed("x", x), r.feed("y", y);
  for (const int64_t extent : {2, 3, 3, 2}) {
    ASSERT_TRUE(r.context->setInputShape("x", dims({extent, 3})));
    if (extent == 2 && y[0] == 0) take_calls();
    ASSERT_TRUE(r.run()) << r.last_error();
  }
  EXPECT_EQ(take_calls(), (Calls{"configurePlugin 2x3 of 2x3 to 2x3 -> 2x3", "enqueue 2x3",
                                 "configurePlugin 3x3 of 3x3 to 3x3 -> 3x3", "enqueue 3x3", "enqueue 3x3",
                                 "configurePlugin 2x3 of 2x3 to 2x3 -> 2x3", "enqueue 2x3"}));
  EXPECT_EQ(y[0], 3003) << "one copy made all runs";
}

// Plugins of old copy nothing of it when they are cloned.
TEST_F(PluginV2Calls, APlainPluginOfAContextIsToldFormatAndShapes) {
  LoggedCreatorV2<ScalePlain> creator(log, "TestScalePlain");
  ASSERT_TRUE(add_scale<ScalePlain>(w.input("x", {2, 3}))) << w.take_error();
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x(6, 1), y(6, 0);
  r.feed("x", x), r.feed("y", y);
  take_calls();
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_EQ(take_calls(), (Calls{"configureWithFormat 3 -> 3 batch 2", "enqueue 2"}));
}

TEST_F(PluginV2Calls, AnInputOfBatch1IsRepeated) {
  LoggedCreatorV2<ScaleIo> creator(log, "TestScaleIo");
  nv::ITensor* const inputs[] = {w.input("x", {1, 3}), w.input("longer", {2, 3})};
  ScaleIo plugin(log, 2);
  nv::IPluginV2Layer* const layer = w->addPluginV2(inputs, 2, plugin);
  ASSERT_TRUE(layer) << w.take_error();
  EXPECT_EQ(testing::list(layer->getOutput(0)->getDimensions()), (std::vector<int64_t>{2, 3}));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 3}, {1, 2, 3}}}, {"longer", {{2, 3}, {0, 0, 0, 0, 0, 0}}}}),
            (std::vector<float>{2, 4, 6, 2, 4, 6}));
  EXPECT_EQ(w->getNbLayers(), 1) << "what repeats it is the build's";
}

TEST_F(PluginV2Calls, OfLoadingAPlan) {
  LoggedCreatorV2<ScaleIo> creator(log, "TestScaleIo");
  ASSERT_TRUE(add_scale<ScaleIo>(w.input("x", {2, 3})));
  const auto plan = build();
  ASSERT_TRUE(plan) << w.take_error();
  take_calls();
  struct InfoLogger final : nv::ILogger {
    void log(Severity severity, const char* message) noexcept override {
      if (severity == Severity::kINFO) text += str(message, '\n');
    }
    std::string text;
  } logger;
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  const std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  ASSERT_TRUE(engine);
  const Calls calls = take_calls();
  ASSERT_GE(calls.size(), 2u);
  EXPECT_TRUE(calls[0].starts_with("deserializePlugin ")) << calls[0];
  EXPECT_EQ(calls[1], "initialize");
  EXPECT_NE(logger.text.find("plugins of version 2 get null as the cuDNN and cuBLAS handles"), std::string::npos);
}

TEST_F(PluginV2Calls, ChannelsLastIsMadeForThem) {
  log.takes_channels_last = true;
  LoggedCreatorV2<ScaleIo> creator(log, "TestScaleIo");
  ASSERT_TRUE(add_scale<ScaleIo>(w.input("x", {2, 3, 1, 1})));
  EXPECT_EQ(w.run({{"x", {{2, 3, 1, 1}, {1, 2, 3, 4, 5, 6}}}}), (Floats{3, 6, 9, 12, 15, 18}));
}

/// What addPluginV2 refuses.
class PluginV2Refusals : public PluginV2Calls {
 protected:
  template <class Plugin>
  std::string error_of(std::vector<nv::ITensor*> inputs) {
    {
      Plugin plugin(log, 3);
      EXPECT_EQ(w->addPluginV2(inputs.data(), static_cast<int32_t>(inputs.size()), plugin), nullptr);
    }
    EXPECT_EQ(log.alive, 0);
    return w.take_error();
  }
  void expect_error(const std::string& found, const std::string& part) {
    EXPECT_NE(found.find(part), std::string::npos) << found;
  }
};

TEST_F(PluginV2Refusals, OfSeveralTypesWhereThePluginKnowsOne) {
  nv::ITensor *const x = w.input("x", {2, 3}), *const n = w.input("n", {2, 3}, nv::DataType::kINT32);
  expect_error(error_of<ScalePlain>({x, n}),
               "plugin 'TestScalePlain' version '1': input 1 is i32 and input 0 f32; an IPluginV2 has one type for all "
               "of its tensors");
}

TEST_F(PluginV2Refusals, OfShapesThatRunsDecide) {
  nv::ITensor* const x = w.input("x", {2, -1});
  const std::string expected = "input 0 is f32[2, x_1]; only IPluginV2DynamicExt and IPluginV3 take dynamic shapes";
  expect_error(error_of<ScaleIo>({x}), expected);
  expect_error(error_of<ScaleExt>({x}), expected);
  expect_error(error_of<ScalePlain>({x}), expected);
}

TEST_F(PluginV2Refusals, OfInputsWithoutABatch) {
  nv::ITensor *const x = w.input("x", {2, 3}), *const other = w.input("other", {3, 3}), *const one = w.input("one", {});
  expect_error(error_of<ScaleIo>({x, other}), "input 1 has a batch of 3 and input 0 of 2; they are the same, or 1");
  expect_error(error_of<ScaleExt>({one}), "input 0 is a scalar");
  expect_error(error_of<ScalePlain>({}), "has no inputs; only those tell the type of an IPluginV2");
}

/// Such a plugin writes one sample, where the tensor has one for each of the batch.
TEST_F(PluginV2Refusals, OfOutputsThatABatchShares) {
  log.shares_outputs = true;
  for (const std::string& error :
       {error_of<ScaleIo>({w.input("x", {2, 3})}), error_of<ScaleExt>({w.input("z", {2, 3})})})
    expect_error(error, "isOutputBroadcastAcrossBatch of output 0 returned true, for a batch of 2");
  EXPECT_TRUE(add_scale<ScaleIo>(w.input("one", {1, 3}))) << "of one sample it makes no difference: " << w.take_error();
}

TEST_F(PluginV2Refusals, OfSizeTensors) {
  log.fails_in = "declareSizeTensor";
  expect_error(error_of<ScaleDynamic>({w.input("x", {2, 3})}),
               "getOutputDimensions of output 0: only plugins of version 3 may declare size tensors");
}

TEST_F(PluginV2Refusals, OfAnUnknownInterface) {
  struct Unknown final : testing::LoggedV2<nv::IPluginV2> {
    explicit Unknown(PluginLog& log, float factor) : LoggedV2(log, "Unknown", factor) {}
    int32_t getTensorRTVersion() const noexcept override { return 9 << 24; }
    nv::IPluginV2* clone() const noexcept override { return new Unknown(*this); }
    nv::Dims getOutputDimensions(int32_t, const nv::Dims* in, int32_t) noexcept override { return in[0]; }
    bool supportsFormat(nv::DataType, nv::PluginFormat) const noexcept override { return true; }
    void configureWithFormat(const nv::Dims*, int32_t, const nv::Dims*, int32_t, nv::DataType, nv::PluginFormat,
                             int32_t) noexcept override {}
    size_t getWorkspaceSize(int32_t) const noexcept override { return 0; }
    int32_t enqueue(int32_t, const void* const*, void* const*, void*, cudaStream_t) noexcept override { return 1; }
  };
  expect_error(error_of<Unknown>({w.input("x", {2, 3})}),
               "getTensorRTVersion returned 150994944, whose upper byte 9 is no PluginVersion");
}

TEST_F(PluginV2Refusals, OfACreatorOfAnotherVersion) {
  std::unique_ptr<nv::IHostMemory> plan;
  {
    LoggedCreatorV2<ScaleIo> creator(log, "TestScaleIo");
    ASSERT_TRUE(add_scale<ScaleIo>(w.input("x", {2, 3})));
    plan = build();
    ASSERT_TRUE(plan) << w.take_error();
  }
  const testing::LoggedCreator<testing::ScalePlugin> creator(log, "TestScaleIo");
  testing::Logger logger;
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  EXPECT_EQ(runtime->deserializeCudaEngine(plan->data(), plan->size()), nullptr);
  ASSERT_EQ(logger.errors.size(), 1u);
  expect_error(logger.errors[0],
               "plugin 'TestScaleIo' version '1' is of generation v2 in the plan, and its creator makes those of v3");
}

}  // namespace
}  // namespace kiln::api
