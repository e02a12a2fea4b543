// What plugins do wrong is an error that names the call, and leaves the program as it was.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "api/build/testing/workbench.h"
#include "api/run/testing/logged_plugins.h"
#include "plugin/v3_plugin.h"

namespace kiln::api {
namespace {

using testing::dims;
using testing::LoggedCreator;
using testing::PluginLog;
using testing::PositivePlugin;
using testing::Running;
using testing::ScalePlugin;
using testing::Shared;
using testing::Workbench;
namespace nv = nvinfer1;

/// The plugins here compute on the host.
class PluginRefusals : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
  }
  nv::IPluginV3Layer* add_scale(std::initializer_list<int64_t> extents) {
    if (!x) x = w.input("x", extents);
    ScalePlugin plugin(log, 3);
    nv::IPluginV3Layer* layer = w->addPluginV3(&x, 1, nullptr, 0, plugin);
    if (layer) w.mark(layer->getOutput(0));
    return layer;
  }
  /// The error of a build that fails.
  std::string build_error() {
    Running r(w);
    EXPECT_EQ(r.engine, nullptr);
    return r.error + w.take_error() + r.last_error();
  }

  PluginLog log;
  LoggedCreator<ScalePlugin> creator{log, "TestScale"};
  Workbench w;
  nv::ITensor* x = nullptr;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(PluginRefusals, ACloneThatIsThePluginItself) {
  log.returns_itself = "clone";
  EXPECT_EQ(add_scale({2}), nullptr);
  const std::string adding = w.take_error();
  EXPECT_TRUE(has(adding, "clone() returned the plugin itself, not a copy")) << adding;
  EXPECT_EQ(log.alive, 0);
  log.returns_itself.clear();
  ASSERT_TRUE(add_scale({2}));
  w.config->setBuilderOptimizationLevel(3);
  for (const std::string call : {"clone", "attachToContext"}) {
    log.returns_itself = call;
    log.tactics = {1, 2};  // so that the build has something to time
    const std::string text = build_error();
    EXPECT_TRUE(has(text, call + " returned the plugin itself, not a copy")) << text;
    EXPECT_EQ(log.alive, 1) << "the network's";
  }
}

TEST_F(PluginRefusals, AnAttachedCopyWithoutRuntimePart) {
  ASSERT_TRUE(add_scale({2}));
  Running r(w);
  ASSERT_TRUE(r.engine) << r.error;
  const int alive = log.alive;
  log.lacks_runtime = true;
  const std::unique_ptr<nv::IExecutionContext> context(r.engine->createExecutionContext());
  EXPECT_EQ(context, nullptr);
  const std::string text = r.last_error();
  EXPECT_TRUE(has(text,
                  "plugin 'TestScale' version '1': attachToContext: "
                  "getCapabilityInterface(kRUNTIME) returned null"))
      << text;
  EXPECT_EQ(log.alive, alive);
}

TEST_F(PluginRefusals, ALimitOfNoCombinations) {
  ASSERT_TRUE(add_scale({2}));
  log.most_combinations = 0;
  const std::string text = build_error();
  EXPECT_TRUE(has(text, "getFormatCombinationLimit returned 0; 1 is the least")) << text;
}

TEST_F(PluginRefusals, ATacticThatIsNamedTwiceIsConfiguredOnce) {
  ASSERT_TRUE(add_scale({2}));
  log.tactics = {5, 5, 5};
  w.config->setBuilderOptimizationLevel(3);
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  EXPECT_EQ(log.count("enqueue"), 0) << "one tactic is one variant, which is not timed";
}

TEST_F(PluginRefusals, ContextsOfEightThreadsAttachAtOnce) {
  ASSERT_TRUE(add_scale({2}));
  Running r(w);
  ASSERT_TRUE(r.engine) << r.error;
  log.calls.clear();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 8; ++k) {
        std::unique_ptr<nv::IExecutionContext> context(r.engine->createExecutionContext());
        Shared<float> x{1, 2}, y(2, 0);
        if (!context) continue;
        void* bindings[] = {x.data(), y.data()};
        bool ran = true;
        for (int run = 0; run < 3; ++run) ran = ran && context->executeV2(bindings);
        if (ran && y[1] == 2006) ++right;  // a copy of its own has counted two runs before
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 64);
  EXPECT_EQ(log.count("attachToContext"), 64);
}

TEST_F(PluginRefusals, AContextOfTheEngineThatAttaches) {
  ASSERT_TRUE(add_scale({2}));
  Running r(w);
  ASSERT_TRUE(r.engine) << r.error;
  bool is_refused = false;
  log.when_attached = [&] { is_refused = r.engine->createExecutionContext() == nullptr; };
  const std::unique_ptr<nv::IExecutionContext> context(r.engine->createExecutionContext());
  EXPECT_TRUE(context);
  EXPECT_TRUE(is_refused);
  const std::string text = r.last_error();
  EXPECT_TRUE(has(text, "plugin 'TestScale' version '1': attachToContext came back to itself")) << text;
}

/// Declares a size for an output that it does not have, or twice, and goes on as if nothing was wrong.
class CarelessPlugin final : public testing::LoggedPlugin {
 public:
  CarelessPlugin(PluginLog& log, int output) : LoggedPlugin(log, "TestCareless"), output_(output) {}
  nv::IPluginV3* clone() noexcept override { return new CarelessPlugin(*this); }
  int32_t getNbOutputs() const noexcept override { return 2; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, int32_t) const noexcept override {
    out[0] = in[0];
    out[1] = nv::DataType::kINT32;
    return 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out, int32_t,
                          nv::IExprBuilder& builder) noexcept override {
    out[0] = in[0];
    out[1].nbDims = 0;
    builder.declareSizeTensor(1, *in[0].d[0], *in[0].d[0]);
    builder.declareSizeTensor(output_, *in[0].d[0], *in[0].d[0]);
    return 0;
  }
  bool supportsFormatCombination(int32_t, const nv::DynamicPluginTensorDesc*, int32_t, int32_t) noexcept override {
    return true;
  }
  int32_t enqueue(const nv::PluginTensorDesc*, const nv::PluginTensorDesc*, const void* const*, void* const*, void*,
                  cudaStream_t) noexcept override {
    return 0;
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return nullptr; }

 private:
  const int output_;
};

TEST_F(PluginRefusals, AFormatWithoutAName) {
  auto object = plugin::adopt_v3(new ScalePlugin(log, 3), nv::TensorRTPhase::kRUNTIME, {});
  ASSERT_TRUE(object) << object.error().message;
  auto instance = (*object)->attach(0);
  ASSERT_TRUE(instance) << instance.error().message;
  const PluginTensor odd{.dtype = DType::kF32, .format = Format::linear().blocked(0, 3), .extents = {3, 2}};
  const PluginTensor plain{.dtype = DType::kF32, .extents = {3, 2}};
  for (const bool is_input : {true, false}) {
    const Status told =
        (*instance)->change_shapes(std::span(is_input ? &odd : &plain, 1), std::span(is_input ? &plain : &odd, 1));
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().code, Code::kCorrupt);
    EXPECT_TRUE(has(told.error().message, "which no TensorFormat names")) << told.error().message;
  }
  EXPECT_TRUE((*instance)->change_shapes(std::span(&plain, 1), std::span(&plain, 1)));
}

TEST_F(PluginRefusals, ASizeTensorThatCannotBe) {
  nv::ITensor* x = w.input("x", {2});
  for (const auto& [output, words] : {std::pair{2, "declareSizeTensor: output 2 is outside [0, 2)"},
                                      std::pair{1, "declareSizeTensor: output 1 is a size tensor already"}}) {
    CarelessPlugin plugin(log, output);
    EXPECT_EQ(w->addPluginV3(&x, 1, nullptr, 0, plugin), nullptr);
    const std::string text = w.take_error();
    EXPECT_TRUE(has(text, words)) << text;
  }
}

TEST_F(PluginRefusals, AShapeInputOfFloats) {
  nv::ITensor* x = w.input("x", {5});
  const float two = 2;
  nv::ITensor* rows = w->addConstant(dims({1}), {nv::DataType::kFLOAT, &two, 1})->getOutput(0);
  PositivePlugin plugin(log);
  EXPECT_EQ(w->addPluginV3(&x, 1, &rows, 1, plugin), nullptr);
  const std::string text = w.take_error();
  EXPECT_TRUE(has(text, "shape input 0 is f32[1]; extents are integers")) << text;
}

/// Notes the formats that it is offered, takes those of its inputs, and never those of its output.
class PickyPlugin final : public testing::LoggedPlugin {
 public:
  explicit PickyPlugin(PluginLog& log) : LoggedPlugin(log, "TestPicky") {}
  nv::IPluginV3* clone() noexcept override { return new PickyPlugin(*this); }
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
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                 int32_t) noexcept override {
    log_.add("input " + std::to_string(position) + " format " +
             std::to_string(static_cast<int>(tensors[position].desc.format)));
    return position < num_in;
  }
  int32_t enqueue(const nv::PluginTensorDesc*, const nv::PluginTensorDesc*, const void* const*, void* const*, void*,
                  cudaStream_t) noexcept override {
    return 0;
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return nullptr; }
};

TEST_F(PluginRefusals, ASearchForFormatsThatDoesNotEnd) {
  std::vector<nv::ITensor*> inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(w.input(("x" + std::to_string(i)).c_str(), {1, 2, 2, 2}));
  PickyPlugin plugin(log);
  nv::IPluginV3Layer* layer = w->addPluginV3(inputs.data(), 8, nullptr, 0, plugin);
  ASSERT_TRUE(layer) << w.take_error();
  w.mark(layer->getOutput(0));
  const std::string text = build_error();
  EXPECT_TRUE(has(text, "in 20000 calls of supportsFormatCombination")) << text;
  EXPECT_LE(log.calls.size(), 50'000u);
}

TEST_F(PluginRefusals, ConstantsAreOfferedInNoBlocks) {
  const std::vector<float> ones(8, 1);
  nv::ITensor* inputs[] = {w.input("x", {1, 2, 2, 2}),
                           w->addConstant(dims({1, 2, 2, 2}), {nv::DataType::kFLOAT, ones.data(), 8})->getOutput(0)};
  PickyPlugin plugin(log);
  nv::IPluginV3Layer* layer = w->addPluginV3(inputs, 2, nullptr, 0, plugin);
  ASSERT_TRUE(layer) << w.take_error();
  w.mark(layer->getOutput(0));
  build_error();
  const auto offered = [&](int input, nv::TensorFormat format) {
    return log.count("input " + std::to_string(input) + " format " + std::to_string(static_cast<int>(format))) > 0;
  };
  for (const auto format : {nv::TensorFormat::kLINEAR, nv::TensorFormat::kHWC})
    EXPECT_TRUE(offered(1, format)) << static_cast<int>(format);
  EXPECT_TRUE(offered(0, nv::TensorFormat::kCHW32));
  EXPECT_FALSE(offered(1, nv::TensorFormat::kCHW32));
}

}  // namespace
}  // namespace kiln::api
