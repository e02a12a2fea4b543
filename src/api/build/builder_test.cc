#include <gtest/gtest.h>

#include <cstring>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;
using Extents = std::vector<int64_t>;
using Select = nv::OptProfileSelector;

void set_range(nv::IOptimizationProfile& profile, const char* name, const nv::Dims& min, const nv::Dims& opt,
               const nv::Dims& max) {
  EXPECT_TRUE(profile.setDimensions(name, Select::kMIN, min));
  EXPECT_TRUE(profile.setDimensions(name, Select::kOPT, opt));
  EXPECT_TRUE(profile.setDimensions(name, Select::kMAX, max));
}

TEST(Builder, AnswersForItsPlatform) {
  Workbench w;
  EXPECT_EQ(w.builder->getLogger(), &w.logger);
  EXPECT_EQ(w.builder->getErrorRecorder(), &w.recorder);
  EXPECT_EQ(w.builder->getNbDLACores(), 0);
  EXPECT_EQ(w.builder->getMaxDLABatchSize(), 0);
  EXPECT_TRUE(w.builder->platformHasFastInt8());
  EXPECT_TRUE(w.builder->setMaxThreads(3));
  EXPECT_EQ(w.builder->getMaxThreads(), 3);
  EXPECT_FALSE(w.builder->setMaxThreads(0));
  EXPECT_TRUE(w.builder->getPluginRegistry().isParentSearchEnabled());
  w.builder->reset();
  EXPECT_EQ(w.builder->getErrorRecorder(), nullptr);
  EXPECT_EQ(w.builder->getMaxThreads(), 1);
}

TEST(Builder, CountsReferencesOfTheRecorder) {
  Workbench w;
  EXPECT_GE(w.recorder.references, 3);  // builder, network, configuration
  w->setErrorRecorder(nullptr);
  w.network.reset();
  w.config.reset();
  w.builder.reset();
  EXPECT_EQ(w.recorder.references, 0);
}

TEST(Builder, DynamicExtentsNeedAProfile) {
  Workbench w;
  nv::IResizeLayer* resize = w->addResize(*w.input("x", {-1, 1, -1, -1}));
  resize->setOutputDimensions(dims({1, 1, 2, 2}));
  w.mark(resize->getOutput(0));
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  EXPECT_NE(w.take_error().find("input 'x', axis 0"), std::string::npos);
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  set_range(*profile, "x", dims({1, 1, 1, 1}), dims({1, 1, 4, 4}), dims({1, 1, 8, 8}));
  set_range(*profile, "nobody", dims({1}), dims({1}), dims({1}));
  EXPECT_EQ(w.config->addOptimizationProfile(profile), 0);
  EXPECT_EQ(w.config->getNbOptimizationProfiles(), 1);
  Values image(16);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  EXPECT_EQ(w.run({{"x", {{1, 1, 4, 4}, image}}}), (Values{0, 2, 8, 10}));
  EXPECT_NE(w.logger.warnings.end(), std::find_if(w.logger.warnings.begin(), w.logger.warnings.end(), [](auto& text) {
              return text.find("'nobody'") != std::string::npos;
            }));
}

/// An engine of y = -x over [n, 4] for these minima and maxima of n, one a profile.
std::unique_ptr<nv::ICudaEngine> engine_of(Workbench& w, nv::IRuntime& runtime,
                                           std::initializer_list<std::pair<int64_t, int64_t>> ranges) {
  w.mark(w->addUnary(*w.input("x", {-1, 4}), nv::UnaryOperation::kNEG)->getOutput(0));
  for (const auto& [least, most] : ranges) {
    nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
    set_range(*profile, "x", dims({least, 4}), dims({least, 4}), dims({most, 4}));
    w.config->addOptimizationProfile(profile);
  }
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  return std::unique_ptr<nv::ICudaEngine>(plan ? runtime.deserializeCudaEngine(plan->data(), plan->size()) : nullptr);
}

TEST(Builder, AProfileWithoutAChoiceMakesShapesStatic) {
  Workbench w;
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(w.logger));
  const auto engine = engine_of(w, *runtime, {{3, 3}});
  ASSERT_NE(engine, nullptr) << w.take_error();
  for (const char* name : {"x", "y"}) EXPECT_EQ(list(engine->getTensorShape(name)), (Extents{3, 4})) << name;
  EXPECT_EQ(list(engine->getProfileShape("x", 0, Select::kMIN)), (Extents{3, 4}));
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  EXPECT_TRUE(context->allInputDimensionsSpecified());
  EXPECT_EQ(context->inferShapes(0, nullptr), 0);
  for (const char* name : {"x", "y"}) EXPECT_EQ(list(context->getTensorShape(name)), (Extents{3, 4})) << name;
  Shared<float> x(12, 2), y(12);  // no call of setInputShape
  EXPECT_TRUE(context->setTensorAddress("x", x.data()) && context->setTensorAddress("y", y.data()));
  void* const bindings[] = {x.data(), y.data()};
  ASSERT_TRUE(context->executeV2(bindings)) << w.take_error();
  EXPECT_EQ(y, Values(12, -2));
  EXPECT_TRUE(context->setInputShape("x", dims({3, 4})));
  EXPECT_FALSE(context->setInputShape("x", dims({2, 4})));
}

TEST(Builder, ProfilesThatDifferLeaveAChoiceToTheEngineOnly) {
  Workbench w;
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(w.logger));
  const auto engine = engine_of(w, *runtime, {{3, 3}, {5, 5}, {5, 6}});
  ASSERT_NE(engine, nullptr) << w.take_error();
  for (const char* name : {"x", "y"}) EXPECT_EQ(list(engine->getTensorShape(name)), (Extents{-1, 4})) << name;
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  EXPECT_EQ(list(context->getTensorShape("y")), (Extents{3, 4}));
  ASSERT_TRUE(context->setOptimizationProfileAsync(1, nullptr));
  EXPECT_EQ(list(context->getTensorShape("x")), (Extents{5, 4}));
  EXPECT_EQ(list(context->getTensorShape("y")), (Extents{5, 4}));
  ASSERT_TRUE(context->setOptimizationProfileAsync(2, nullptr));
  EXPECT_EQ(list(context->getTensorShape("x")), (Extents{-1, 4}));
  EXPECT_FALSE(context->allInputDimensionsSpecified());
}

/// A dimension of one name has one value: here what both ranges have.
TEST(Builder, NamesOfDimensionsMayLeaveOneValue) {
  Workbench w;
  nv::ITensor *a = w.input("a", {-1, 2}), *b = w.input("b", {-1, 2});
  for (nv::ITensor* tensor : {a, b}) tensor->setDimensionName(0, "n");
  w.mark(w->addElementWise(*a, *b, nv::ElementWiseOperation::kSUM)->getOutput(0));
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  set_range(*profile, "a", dims({1, 2}), dims({2, 2}), dims({4, 2}));
  set_range(*profile, "b", dims({4, 2}), dims({4, 2}), dims({8, 2}));
  w.config->addOptimizationProfile(profile);
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  ASSERT_NE(plan, nullptr) << w.take_error();
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(w.logger));
  const std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  for (const char* name : {"a", "b", "y"}) EXPECT_EQ(list(engine->getTensorShape(name)), (Extents{4, 2})) << name;
}

TEST(Builder, TakesNoProfileThatIsNotComplete) {
  Workbench w;
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  EXPECT_TRUE(profile->setDimensions("x", Select::kMIN, dims({1})));
  EXPECT_EQ(w.config->addOptimizationProfile(profile), -1);
  EXPECT_EQ(w.take_error(), "IBuilderConfig::addOptimizationProfile: input 'x' has no optimum");
}

TEST(Builder, ErrorsNameTheLayer) {
  Workbench w;
  nv::ITensor *a = w.input("a", {2, 3}), *b = w.input("b", {2, 3});
  nv::ILayer* layer = w->addElementWise(*a, *b, nv::ElementWiseOperation::kSUM);
  layer->setName("sum");
  w.mark(layer->getOutput(0));
  b->setDimensions(dims({2, 4}));
  EXPECT_FALSE(w.builder->isNetworkSupported(*w.network, *w.config));
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  EXPECT_NE(w.take_error().find("'sum'"), std::string::npos);
  b->setDimensions(dims({2, 3}));
  EXPECT_TRUE(w.builder->isNetworkSupported(*w.network, *w.config));
}

TEST(Builder, FlagsThatAreMissingAreErrors) {
  Workbench w;
  w.mark(w->addIdentity(*w.input("x", {2}))->getOutput(0));
  w.config->setFlag(nv::BuilderFlag::kREFIT);
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  EXPECT_EQ(w.take_error(), "IBuilder::buildSerializedNetwork: BuilderFlag::kREFIT is not in Kiln yet");
}

TEST(Builder, AStronglyTypedNetworkHasItsTypes) {
  Workbench w(1U << static_cast<uint32_t>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED));
  w.mark(w->addIdentity(*w.input("x", {2}))->getOutput(0));
  w.config->setFlag(nv::BuilderFlag::kFP16);
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  EXPECT_NE(w.take_error().find("BuilderFlag::kFP16 is set, and the network is strongly typed"), std::string::npos);
  w.config->clearFlag(nv::BuilderFlag::kFP16);
  EXPECT_EQ(w.run({{"x", {{2}, {1, 2}}}}), (Values{1, 2}));
}

class Collector final : public nv::IStreamWriter {
 public:
  int64_t write(const void* data, int64_t count) override {
    if (fails) return -1;
    const int64_t taken = std::min<int64_t>(count, 1000);  // less than is given
    bytes.append(static_cast<const char*>(data), static_cast<size_t>(taken));
    return taken;
  }
  std::string bytes;
  bool fails = false;
};

TEST(Builder, WritesToAStreamWhatItGivesAsMemory) {
  Workbench w;
  w.mark(w->addUnary(*w.input("x", {2}), nv::UnaryOperation::kNEG)->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  ASSERT_NE(plan, nullptr);
  Collector collector;
  EXPECT_TRUE(w.builder->buildSerializedNetworkToStream(*w.network, *w.config, collector));
  EXPECT_EQ(collector.bytes, std::string(static_cast<const char*>(plan->data()), plan->size()));
  collector.fails = true;
  EXPECT_FALSE(w.builder->buildSerializedNetworkToStream(*w.network, *w.config, collector));
  EXPECT_NE(w.take_error().find("the stream writer answered -1"), std::string::npos);
}

TEST(Builder, ACompleteTimingCacheGivesTheSamePlan) {
  Workbench w;
  w.config->setBuilderOptimizationLevel(5);
  const Values filter(8 * 8 * 9, 0.1F);
  nv::ITensor* x = w.input("x", {1, 8, 12, 12});
  for (int i = 0; i < 3; ++i) {
    nv::IConvolutionLayer* convolution = w->addConvolutionNd(*x, 8, dims({3, 3}), weights(filter), no_weights());
    convolution->setPaddingNd(dims({1, 1}));
    x = w->addElementWise(*convolution->getOutput(0), *x, nv::ElementWiseOperation::kSUM)->getOutput(0);
    x = w->addActivation(*x, nv::ActivationType::kSIGMOID)->getOutput(0);
  }
  w.mark(x);
  const std::unique_ptr<nv::ITimingCache> cache(w.config->createTimingCache(nullptr, 0));
  ASSERT_TRUE(w.config->setTimingCache(*cache, false));
  const auto build = [&] {
    const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
    EXPECT_NE(plan, nullptr) << w.take_error();
    return plan ? std::string(static_cast<const char*>(plan->data()), plan->size()) : std::string();
  };
  const std::string first = build();
  const int64_t entries = w.config->getTimingCache()->queryKeys(nullptr, 0);
  EXPECT_GT(entries, 4);
  w.config->setFlag(nv::BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);
  EXPECT_EQ(build(), first);
  EXPECT_EQ(w.config->getTimingCache()->queryKeys(nullptr, 0), entries);
  const std::unique_ptr<nv::ITimingCache> empty(w.config->createTimingCache(nullptr, 0));
  ASSERT_TRUE(w.config->setTimingCache(*empty, false));
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  const std::string missing = w.take_error();
  EXPECT_NE(missing.find("layer '(Unnamed Layer* "), std::string::npos) << missing;
}

TEST(Builder, BuildsAnEngineThatOutlivesTheWeights) {
  Workbench w;
  auto values = std::make_unique<Values>(Values{1, 2});
  nv::ITensor* constant = w->addConstant(dims({2}), weights(*values))->getOutput(0);
  w.mark(w->addElementWise(*w.input("x", {2}), *constant, nv::ElementWiseOperation::kSUM)->getOutput(0));
  const std::unique_ptr<nv::ICudaEngine> engine(w.builder->buildEngineWithConfig(*w.network, *w.config));
  ASSERT_NE(engine, nullptr) << w.take_error();
  w.network.reset();
  std::fill(values->begin(), values->end(), -1.0F);
  values.reset();
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  Shared<float> x{10, 20}, y(2);
  void* bindings[] = {x.data(), y.data()};
  EXPECT_TRUE(context->executeV2(bindings));
  EXPECT_EQ(y, (Values{11, 22}));
}

TEST(Builder, ShapeInputsHaveValuesInTheProfile) {
  Workbench w;
  nv::ITensor *x = w.input("x", {6}), *shape = w.input("shape", {2}, nv::DataType::kINT64);
  nv::IShuffleLayer* reshape = w->addShuffle(*x);
  reshape->setInput(1, *shape);
  nv::ITensor* sum = w->addReduce(*reshape->getOutput(0), nv::ReduceOperation::kSUM, 1U << 1, false)->getOutput(0);
  w.mark(sum);
  EXPECT_EQ(list(sum->getDimensions()), Extents{-1});
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  const int64_t low[] = {1, 1}, high[] = {6, 6}, opt[] = {2, 3};
  EXPECT_TRUE(profile->setShapeValuesV2("shape", Select::kMIN, low, 2));
  EXPECT_TRUE(profile->setShapeValuesV2("shape", Select::kOPT, opt, 2));
  EXPECT_TRUE(profile->setShapeValuesV2("shape", Select::kMAX, high, 2));
  EXPECT_EQ(w.config->addOptimizationProfile(profile), 0);
  const std::unique_ptr<nv::ICudaEngine> engine(w.builder->buildEngineWithConfig(*w.network, *w.config));
  ASSERT_NE(engine, nullptr) << w.take_error();
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  Shared<float> in{1, 2, 3, 4, 5, 6}, out(3);
  const int64_t extents[] = {3, 2};
  void* bindings[] = {in.data(), const_cast<int64_t*>(extents), out.data()};
  EXPECT_TRUE(context->executeV2(bindings));
  EXPECT_EQ(out, (Values{3, 7, 11}));
}

TEST(Builder, OutputsForShapesAreWrittenOnTheHost) {
  Workbench w;
  nv::ITensor* x = w.input("x", {-1, 4});
  nv::ITensor* y = w->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0);
  w.mark(y);
  nv::ITensor* shape = w->addShape(*x)->getOutput(0);
  shape->setName("shape");
  EXPECT_FALSE(w->markOutputForShapes(*y));
  EXPECT_NE(w.take_error().find("a shape tensor is needed: i32 or i64, of rank 0 or 1"), std::string::npos);
  EXPECT_FALSE(w->unmarkOutputForShapes(*shape));
  ASSERT_TRUE(w->markOutputForShapes(*shape)) << w.take_error();
  EXPECT_FALSE(w->markOutputForShapes(*shape));
  w.take_error();
  EXPECT_EQ(w->getNbOutputs(), 1);
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  for (const auto& [select, rows] :
       {std::pair(Select::kMIN, 1), std::pair(Select::kOPT, 2), std::pair(Select::kMAX, 8)})
    EXPECT_TRUE(profile->setDimensions("x", select, nv::Dims2(rows, 4)));
  w.config->addOptimizationProfile(profile);
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  ASSERT_NE(plan, nullptr) << w.take_error();
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(w.logger));
  const std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->getNbLayers(), 1);  // nothing runs for it
  EXPECT_TRUE(engine->isShapeInferenceIO("shape"));
  EXPECT_FALSE(engine->isShapeInferenceIO("y"));
  EXPECT_EQ(engine->getTensorLocation("shape"), nv::TensorLocation::kHOST);
  EXPECT_EQ(engine->getTensorIOMode("shape"), nv::TensorIOMode::kOUTPUT);
  EXPECT_EQ(list(engine->getTensorShape("shape")), Extents{2});
  std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  int64_t rows[2] = {};
  EXPECT_TRUE(context->setTensorAddress("shape", rows));
  EXPECT_TRUE(context->setInputShape("x", nv::Dims2(5, 4)));
  EXPECT_EQ(context->inferShapes(0, nullptr), 0);
  EXPECT_EQ(rows[0], 5);
  EXPECT_EQ(rows[1], 4);
  Shared<float> in(8, -1), out(8, 3);
  int64_t others[2] = {};
  EXPECT_TRUE(context->setInputShape("x", nv::Dims2(2, 4)));
  EXPECT_TRUE(context->setTensorAddress("shape", others));
  EXPECT_TRUE(context->setTensorAddress("x", in.data()));
  EXPECT_TRUE(context->setTensorAddress("y", out.data()));
  EXPECT_TRUE(context->enqueueV3(nullptr));
  EXPECT_EQ(others[0], 2);
  EXPECT_EQ(rows[0], 5);
  context.reset();  // waits for the run, which needs the memory above
  EXPECT_EQ(out, Values(8, 0));
  EXPECT_TRUE(w->unmarkOutputForShapes(*shape));
}

class Monitor final : public nv::IProgressMonitor {
 public:
  void phaseStart(const char* phase, const char* parent, int32_t steps) noexcept override {
    events.push_back(std::string("start ") + phase + " in " + (parent ? parent : "nothing"));
    EXPECT_GT(steps, 0);
    ++open;
  }
  bool stepComplete(const char*, int32_t) noexcept override { return ++completed < stop_after; }
  void phaseFinish(const char*) noexcept override { --open; }
  std::vector<std::string> events;
  int open = 0, completed = 0, stop_after = INT32_MAX;
};

/// An allocator's memory belongs to the program, which may free it as soon as the call is back.
TEST(Builder, OutputsForShapesAreNotWrittenToMemoryOfEarlierRuns) {
  struct Allocator final : nv::IOutputAllocator {
    void* reallocateOutputAsync(char const*, void*, uint64_t, uint64_t, cudaStream_t) override { return memory; }
    void notifyShape(char const*, nv::Dims const&) noexcept override {}
    int64_t memory[2] = {};
  } allocator;
  Workbench w;
  nv::ITensor* x = w.input("x", {-1, 4});
  nv::ITensor* shape = w->addShape(*x)->getOutput(0);
  shape->setName("shape");
  w.mark(w->addUnary(*x, nv::UnaryOperation::kNEG)->getOutput(0));
  ASSERT_TRUE(w->markOutputForShapes(*shape)) << w.take_error();
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  set_range(*profile, "x", dims({1, 4}), dims({2, 4}), dims({8, 4}));
  w.config->addOptimizationProfile(profile);
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  ASSERT_NE(plan, nullptr) << w.take_error();
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(w.logger));
  const std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  Shared<float> in(32), out(32);
  EXPECT_TRUE(context->setInputShape("x", dims({3, 4})) && context->setTensorAddress("x", in.data()) &&
              context->setTensorAddress("y", out.data()) && context->setOutputAllocator("shape", &allocator));
  ASSERT_TRUE(context->enqueueV3(nullptr)) << w.take_error();
  EXPECT_EQ(allocator.memory[0], 3);
  allocator.memory[0] = 77;
  EXPECT_TRUE(context->setInputShape("x", dims({5, 4})));
  EXPECT_EQ(context->inferShapes(0, nullptr), 0);
  EXPECT_EQ(list(context->getTensorShape("y")), (Extents{5, 4}));
  EXPECT_EQ(allocator.memory[0], 77);
  ASSERT_TRUE(context->enqueueV3(nullptr)) << w.take_error();
  EXPECT_EQ(allocator.memory[0], 5);
  context.reset();
}

TEST(Builder, TellsItsProgressAndCanBeStopped) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2, 2});
  w.mark(w->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *x, nv::MatrixOperation::kTRANSPOSE)->getOutput(0));
  Monitor monitor;
  w.config->setProgressMonitor(&monitor);
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_NE(plan, nullptr);
  ASSERT_GE(monitor.events.size(), 2U);
  EXPECT_EQ(monitor.events[0], "start Profiles in nothing");
  EXPECT_EQ(monitor.events[1], "start Tactics in Profiles");
  EXPECT_EQ(monitor.open, 0);
  EXPECT_GT(monitor.completed, 0);
  Monitor impatient;
  impatient.stop_after = 1;
  w.config->setProgressMonitor(&impatient);
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  EXPECT_NE(w.take_error().find("cancelled"), std::string::npos);
  EXPECT_EQ(impatient.open, 0);
}

}  // namespace
}  // namespace kiln::api::testing
