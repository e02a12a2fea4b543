// Every function of the API that takes a pointer or a reference, given null: it answers what its failure answers, tells
// the logger, and the process goes on.
#include <NvOnnxParser.h>
#include <gtest/gtest.h>

#include <array>
#include <source_location>

#include "program.h"

namespace robustness {
namespace {

using Where = std::source_location;
using nv::OptProfileSelector;

/// The call answers "no", and the logger was told why.
template <class F>
void refuses(Logger& logger, F call, const Where where = Where::current()) {
  logger.take_errors();
  EXPECT_FALSE(call()) << "line " << where.line();
  EXPECT_NE(logger.take_errors(), "") << "nothing was said, line " << where.line();
}
/// A call that returns nothing tells the logger why.
template <class F>
void objects(Logger& logger, F call, const Where where = Where::current()) {
  refuses(
      logger, [&] { return call(), false; }, where);
}
/// A call for Dims answers with none, and tells the logger why.
template <class F>
void no_dims(Logger& logger, F call, const Where where = Where::current()) {
  refuses(
      logger, [&] { return call().nbDims != -1; }, where);
}

TEST(NullArguments, Creation) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(nv::createInferBuilder(null<nv::ILogger>()), nullptr);
  EXPECT_EQ(nv::createInferRuntime(null<nv::ILogger>()), nullptr);
  Program p;
  EXPECT_EQ(nvonnxparser::createParser(*p.network, null<nv::ILogger>()), nullptr);
  // Without a logger there is one place left to say it.
  const std::string said = ::testing::internal::GetCapturedStderr();
  for (const char* call : {"createInferBuilder", "createInferRuntime", "createParser"})
    EXPECT_NE(said.find(std::string(call) + ": the logger is null"), std::string::npos) << said;
  refuses(p.logger, [&] { return nvonnxparser::createParser(null<nv::INetworkDefinition>(), p.logger); });
  EXPECT_TRUE(process_is_fine());
}

TEST(NullArguments, Builder) {
  Program p;
  p.make_relu();
  auto& no_network = null<nv::INetworkDefinition>();
  auto& no_config = null<nv::IBuilderConfig>();
  refuses(p.logger, [&] { return p.builder->buildSerializedNetwork(no_network, *p.config); });
  refuses(p.logger, [&] { return p.builder->buildSerializedNetwork(*p.network, no_config); });
  refuses(p.logger, [&] { return p.builder->buildEngineWithConfig(no_network, *p.config); });
  refuses(p.logger, [&] { return p.builder->buildEngineWithConfig(*p.network, no_config); });
  refuses(p.logger, [&] { return p.builder->isNetworkSupported(no_network, *p.config); });
  refuses(p.logger, [&] { return p.builder->isNetworkSupported(*p.network, no_config); });
  refuses(p.logger,
          [&] { return p.builder->buildSerializedNetworkToStream(*p.network, *p.config, null<nv::IStreamWriter>()); });
  p.builder->setGpuAllocator(nullptr);
  p.builder->setErrorRecorder(nullptr);
  EXPECT_NE(p.build(), nullptr) << p.logger.take_errors();
}

TEST(NullArguments, BuilderConfig) {
  Program p;
  Logger& log = p.logger;
  nv::IBuilderConfig& config = *p.config;
  objects(log, [&] { config.setDeviceType(nullptr, nv::DeviceType::kGPU); });
  EXPECT_FALSE(config.isDeviceTypeSet(nullptr));
  EXPECT_EQ(config.getDeviceType(nullptr), nv::DeviceType::kGPU);
  config.resetDeviceType(nullptr);
  EXPECT_FALSE(config.canRunOnDLA(nullptr));
  refuses(log, [&] { return config.addOptimizationProfile(nullptr) >= 0; });
  refuses(log, [&] { return config.setCalibrationProfile(nullptr); });
  refuses(log, [&] { return config.createTimingCache(nullptr, 8); });
  refuses(log, [&] { return config.setTimingCache(null<nv::ITimingCache>(), true); });
  objects(log, [&] { config.setPluginsToSerialize(nullptr, 1); });
  const char* const paths[] = {nullptr};
  objects(log, [&] { config.setPluginsToSerialize(paths, 1); });
  config.setInt8Calibrator(nullptr);
  config.setAlgorithmSelector(nullptr);
  config.setProgressMonitor(nullptr);
  config.setProfileStream(nullptr);
  const std::unique_ptr<nv::ITimingCache> cache(config.createTimingCache(nullptr, 0));
  ASSERT_NE(cache, nullptr);
  refuses(log, [&] { return cache->combine(null<nv::ITimingCache>(), true); });
  EXPECT_EQ(cache->queryKeys(nullptr, 0), 0);
  refuses(log, [&] { return cache->update(null<nv::TimingCacheKey>(), nv::TimingCacheValue{0, 0}); });
  objects(log, [&] { cache->query(null<nv::TimingCacheKey>()); });
}

TEST(NullArguments, OptimizationProfile) {
  Program p;
  Logger& log = p.logger;
  nv::IOptimizationProfile& profile = *p.builder->createOptimizationProfile();
  constexpr auto kMin = OptProfileSelector::kMIN;
  const int32_t narrow = 1;
  const int64_t wide = 1;
  refuses(log, [&] { return profile.setDimensions(nullptr, kMin, dims({1})); });
  refuses(log, [&] { return profile.setDimensions("x", kMin, null<nv::Dims>()); });
  refuses(log, [&] { return profile.setShapeValues(nullptr, kMin, &narrow, 1); });
  refuses(log, [&] { return profile.setShapeValues("x", kMin, nullptr, 1); });
  refuses(log, [&] { return profile.setShapeValuesV2(nullptr, kMin, &wide, 1); });
  refuses(log, [&] { return profile.setShapeValuesV2("x", kMin, nullptr, 1); });
  EXPECT_EQ(profile.getDimensions(nullptr, kMin).nbDims, -1);
  EXPECT_EQ(profile.getNbShapeValues(nullptr), -1);
  EXPECT_EQ(profile.getShapeValues(nullptr, kMin), nullptr);
  EXPECT_EQ(profile.getShapeValuesV2(nullptr, kMin), nullptr);
}

TEST(NullArguments, Network) {
  Program p;
  Logger& log = p.logger;
  nv::INetworkDefinition& net = *p.network;
  nv::ITensor* const x = p.input("x", {1, 2, 3, 4});
  auto& t = null<nv::ITensor>();
  auto& d = null<nv::Dims>();
  const nv::Weights none = no_weights();
  refuses(log, [&] { return net.addInput(nullptr, nv::DataType::kFLOAT, dims({1})); });
  refuses(log, [&] { return net.addInput("z", nv::DataType::kFLOAT, d); });
  objects(log, [&] { net.markOutput(t); });
  objects(log, [&] { net.unmarkOutput(t); });
  objects(log, [&] { net.removeTensor(t); });
  objects(log, [&] { net.setName(nullptr); });
  refuses(log, [&] { return net.setWeightsName(none, nullptr); });
  refuses(log, [&] { return net.setWeightsName(none, "w"); });
  refuses(log, [&] { return net.addConcatenation(nullptr, 2); });
  refuses(log, [&] { return net.addConstant(d, none); });
  refuses(log, [&] { return net.addConstant(dims({2}), none); });
  refuses(log, [&] { return net.addSlice(*x, d, d, d); });
  refuses(log, [&] { return net.addSlice(t, dims({0}), dims({1}), dims({1})); });
  refuses(log, [&] { return net.addConvolutionNd(*x, 1, d, none, none); });
  refuses(log, [&] { return net.addDeconvolutionNd(t, 1, dims({1, 1}), none, none); });
  refuses(log, [&] { return net.addPoolingNd(*x, nv::PoolingType::kMAX, d); });
  refuses(log, [&] { return net.addPaddingNd(*x, d, d); });
  refuses(log, [&] { return net.addFill(d, nv::FillOperation::kLINSPACE, nv::DataType::kFLOAT); });
  refuses(log, [&] { return net.addScaleNd(t, nv::ScaleMode::kUNIFORM, none, none, none, 1); });
  refuses(log, [&] { return net.addScale(t, nv::ScaleMode::kUNIFORM, none, none, none); });
  refuses(log, [&] { return net.addPluginV2(nullptr, 1, null<nv::IPluginV2>()); });
  refuses(log, [&] { return net.addPluginV3(nullptr, 1, nullptr, 0, null<nv::IPluginV3>()); });
  refuses(log, [&] { return net.addEinsum(nullptr, 1, nullptr); });
  refuses(log, [&] { return net.addAssertion(t, nullptr); });
  net.setErrorRecorder(nullptr);
  EXPECT_EQ(net.getNbLayers(), 0);
}

TEST(NullArguments, NetworkTensors) {
  Program p;
  Logger& log = p.logger;
  nv::INetworkDefinition& net = *p.network;
  nv::ITensor& x = *p.input("x", {1, 2, 3, 4});
  auto& t = null<nv::ITensor>();
  refuses(log, [&] { return net.addActivation(t, nv::ActivationType::kRELU); });
  refuses(log, [&] { return net.addLRN(t, 1, 1, 1, 1); });
  refuses(log, [&] { return net.addSoftMax(t); });
  refuses(log, [&] { return net.addElementWise(x, t, nv::ElementWiseOperation::kSUM); });
  refuses(log, [&] { return net.addElementWise(t, x, nv::ElementWiseOperation::kSUM); });
  refuses(log, [&] { return net.addUnary(t, nv::UnaryOperation::kABS); });
  refuses(log, [&] { return net.addShuffle(t); });
  refuses(log, [&] { return net.addOneHot(t, t, t, 0); });
  refuses(log, [&] { return net.addReduce(t, nv::ReduceOperation::kSUM, 1, false); });
  refuses(log, [&] { return net.addTopK(t, nv::TopKOperation::kMAX, 1, 1); });
  refuses(log, [&] { return net.addGather(x, t, 0); });
  refuses(log, [&] { return net.addGatherV2(t, x, nv::GatherMode::kND); });
  refuses(log, [&] { return net.addRaggedSoftMax(t, t); });
  refuses(log, [&] { return net.addMatrixMultiply(x, nv::MatrixOperation::kNONE, t, nv::MatrixOperation::kNONE); });
  refuses(log, [&] { return net.addNonZero(t, nv::DataType::kINT64); });
  refuses(log, [&] { return net.addIdentity(t); });
  refuses(log, [&] { return net.addCast(t, nv::DataType::kHALF); });
  refuses(log, [&] { return net.addShape(t); });
  refuses(log, [&] { return net.addParametricReLU(x, t); });
  refuses(log, [&] { return net.addResize(t); });
  refuses(log, [&] { return net.addSelect(t, x, x); });
  refuses(log, [&] { return net.addQuantize(x, t, nv::DataType::kINT8); });
  refuses(log, [&] { return net.addDequantize(x, t, nv::DataType::kFLOAT); });
  refuses(log, [&] { return net.addScatter(x, t, t, nv::ScatterMode::kND); });
  refuses(log, [&] { return net.addGridSample(x, t); });
  refuses(log, [&] { return net.addNMS(t, t, t); });
  refuses(log, [&] { return net.addReverseSequence(t, t); });
  refuses(log, [&] { return net.addNormalization(x, t, x, 2); });
  refuses(log, [&] { return net.addNormalizationV2(x, x, t, 2); });
  refuses(log, [&] { return net.addSqueeze(x, t); });
  refuses(log, [&] { return net.addUnsqueeze(t, x); });
  refuses(log, [&] { return net.addCumulative(t, t, nv::CumulativeOperation::kSUM, false, false); });
  refuses(log, [&] { return net.markDebug(t); });
  refuses(log, [&] { return net.unmarkDebug(t); });
  refuses(log, [&] { return net.markWeightsRefittable(nullptr); });
  refuses(log, [&] { return net.unmarkWeightsRefittable(nullptr); });
  EXPECT_FALSE(net.areWeightsMarkedRefittable(nullptr));
}

TEST(NullArguments, TensorsAndLayers) {
  Program p;
  Logger& log = p.logger;
  nv::ITensor& x = *p.input("x", {1, 2, 3, 4});
  objects(log, [&] { x.setName(nullptr); });
  objects(log, [&] { x.setDimensions(null<nv::Dims>()); });
  x.setDimensionName(0, nullptr);
  EXPECT_STREQ(x.getName(), "x");
  nv::IShuffleLayer& shuffle = *p->addShuffle(x);
  objects(log, [&] { shuffle.setName(nullptr); });
  objects(log, [&] { shuffle.setMetadata(nullptr); });
  objects(log, [&] { shuffle.setInput(0, null<nv::ITensor>()); });
  objects(log, [&] { shuffle.setReshapeDimensions(null<nv::Dims>()); });
  nv::ISliceLayer& slice = *p->addSlice(x, dims({0, 0, 0, 0}), dims({1, 1, 1, 1}), dims({1, 1, 1, 1}));
  objects(log, [&] { slice.setStart(null<nv::Dims>()); });
  objects(log, [&] { slice.setSize(null<nv::Dims>()); });
  objects(log, [&] { slice.setStride(null<nv::Dims>()); });
  objects(log, [&] { slice.setAxes(null<nv::Dims>()); });
  nv::IResizeLayer& resize = *p->addResize(x);
  objects(log, [&] { resize.setScales(nullptr, 4); });
  objects(log, [&] { resize.setOutputDimensions(null<nv::Dims>()); });
  nv::IPoolingLayer& pooling = *p->addPoolingNd(x, nv::PoolingType::kMAX, dims({1, 1}));
  objects(log, [&] { pooling.setWindowSizeNd(null<nv::Dims>()); });
  objects(log, [&] { pooling.setStrideNd(null<nv::Dims>()); });
  objects(log, [&] { pooling.setPaddingNd(null<nv::Dims>()); });
  objects(log, [&] { pooling.setPrePadding(null<nv::Dims>()); });
  objects(log, [&] { pooling.setPostPadding(null<nv::Dims>()); });
  const std::array<float, 2> kernel{};
  nv::IConvolutionLayer& conv =
      *p->addConvolutionNd(x, 1, dims({1, 1}), {nv::DataType::kFLOAT, kernel.data(), 2}, no_weights());
  objects(log, [&] { conv.setKernelSizeNd(null<nv::Dims>()); });
  objects(log, [&] { conv.setStrideNd(null<nv::Dims>()); });
  objects(log, [&] { conv.setDilationNd(null<nv::Dims>()); });
  objects(log, [&] { conv.setPaddingNd(null<nv::Dims>()); });
  objects(log, [&] { conv.setKernelWeights({nv::DataType::kFLOAT, nullptr, 2}); });
  objects(log, [&] { conv.setBiasWeights({nv::DataType::kFLOAT, nullptr, 1}); });
  nv::IPaddingLayer& padding = *p->addPaddingNd(x, dims({0, 0}), dims({0, 0}));
  objects(log, [&] { padding.setPrePaddingNd(null<nv::Dims>()); });
  objects(log, [&] { padding.setPostPaddingNd(null<nv::Dims>()); });
  nv::IFillLayer& fill = *p->addFill(dims({2}), nv::FillOperation::kLINSPACE, nv::DataType::kFLOAT);
  objects(log, [&] { fill.setDimensions(null<nv::Dims>()); });
  const float one = 1;
  nv::IConstantLayer& constant = *p->addConstant(dims({1}), {nv::DataType::kFLOAT, &one, 1});
  objects(log, [&] { constant.setDimensions(null<nv::Dims>()); });
  objects(log, [&] { constant.setWeights({nv::DataType::kFLOAT, nullptr, 1}); });
}

TEST(NullArguments, Parser) {
  Program p;
  Logger& log = p.logger;
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*p.network, log));
  ASSERT_NE(parser, nullptr);
  refuses(log, [&] { return parser->parse(nullptr, 10, nullptr); });
  refuses(log, [&] { return parser->parse("", 0, nullptr); });
  refuses(log, [&] { return parser->parseFromFile(nullptr, 2); });
  refuses(log, [&] { return parser->supportsModelV2(nullptr, 10, nullptr); });
  SubGraphCollection_t parts;
  refuses(log, [&] { return parser->supportsModel(nullptr, 10, parts, nullptr); });
  refuses(log, [&] { return parser->supportsModel(nullptr, 10, null<SubGraphCollection_t>(), nullptr); });
  refuses(log, [&] { return parser->loadModelProto(nullptr, 10, nullptr); });
  refuses(log, [&] { return parser->loadInitializer(nullptr, nullptr, 1); });
  refuses(log, [&] { return parser->getLayerOutputTensor(nullptr, 0); });
  refuses(log, [&] { return parser->setBuilderConfig(nullptr); });
  EXPECT_FALSE(parser->supportsOperator(nullptr));
  EXPECT_EQ(parser->getSubgraphNodes(0, null<int64_t>()), nullptr);
  EXPECT_EQ(parser->getUsedVCPluginLibraries(null<int64_t>()), nullptr);
  EXPECT_GT(parser->getNbErrors(), 0);
}

TEST(NullArguments, PluginRegistry) {
  Program p;
  Logger& log = p.logger;
  nv::IPluginRegistry& registry = p.builder->getPluginRegistry();
  refuses(log, [&] { return registry.registerCreator(null<nv::IPluginCreatorInterface>(), ""); });
  refuses(log, [&] { return registry.registerCreator(null<nv::IPluginCreator>(), ""); });
  refuses(log, [&] { return registry.deregisterCreator(null<nv::IPluginCreatorInterface>()); });
  refuses(log, [&] { return registry.deregisterCreator(null<nv::IPluginCreator>()); });
  refuses(log, [&] { return registry.getCreator(nullptr, "1", ""); });
  refuses(log, [&] { return registry.getPluginCreator("name", nullptr, ""); });
  refuses(log, [&] { return registry.loadLibrary(nullptr); });
  objects(log, [&] { registry.deregisterLibrary(nullptr); });
  refuses(log, [&] { return registry.acquirePluginResource("key", nullptr); });
  refuses(log, [&] { return registry.releasePluginResource(nullptr) == 0; });
}

/// A loaded engine of the network x -> relu -> y.
struct Loaded {
  Loaded() {
    program.make_relu();
    runtime.reset(nv::createInferRuntime(program.logger));
    const auto plan = program.build();
    engine = load(*runtime, *plan);
    context.reset(engine->createExecutionContext());
  }
  Program program;
  Logger& log = program.logger;
  std::unique_ptr<nv::IRuntime> runtime;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
};

TEST(NullArguments, Runtime) {
  Loaded l;
  refuses(l.log, [&] { return l.runtime->deserializeCudaEngine(nullptr, 10); });
  refuses(l.log, [&] { return l.runtime->deserializeCudaEngine("", 0); });
  refuses(l.log, [&] { return l.runtime->deserializeCudaEngine(null<nv::IStreamReader>()); });
  refuses(l.log, [&] { return l.runtime->deserializeCudaEngine(null<nv::IStreamReaderV2>()); });
  refuses(l.log, [&] { return l.runtime->loadRuntime(nullptr); });
  l.runtime->setGpuAllocator(nullptr);
  l.runtime->setErrorRecorder(nullptr);
  l.runtime->setTemporaryDirectory(nullptr);
  EXPECT_EQ(l.runtime->getTemporaryDirectory(), nullptr);
}

TEST(NullArguments, Engine) {
  Loaded l;
  nv::ICudaEngine& e = *l.engine;
  constexpr auto kMin = OptProfileSelector::kMIN;
  no_dims(l.log, [&] { return e.getTensorShape(nullptr); });
  no_dims(l.log, [&] { return e.getProfileShape(nullptr, 0, kMin); });
  objects(l.log, [&] { e.getTensorDataType(nullptr); });
  objects(l.log, [&] { e.getTensorLocation(nullptr); });
  refuses(l.log, [&] { return e.isShapeInferenceIO(nullptr); });
  refuses(l.log, [&] { return e.getTensorIOMode(nullptr) != nv::TensorIOMode::kNONE; });
  refuses(l.log, [&] { return e.getTensorBytesPerComponent(nullptr) != -1; });
  refuses(l.log, [&] { return e.getTensorBytesPerComponent(nullptr, 0) != -1; });
  refuses(l.log, [&] { return e.getTensorComponentsPerElement(nullptr) != -1; });
  refuses(l.log, [&] { return e.getTensorComponentsPerElement(nullptr, 0) != -1; });
  objects(l.log, [&] { e.getTensorFormat(nullptr); });
  objects(l.log, [&] { e.getTensorFormat(nullptr, 0); });
  objects(l.log, [&] { e.getTensorFormatDesc(nullptr); });
  objects(l.log, [&] { e.getTensorFormatDesc(nullptr, 0); });
  refuses(l.log, [&] { return e.getTensorVectorizedDim(nullptr) != -1; });
  refuses(l.log, [&] { return e.getTensorVectorizedDim(nullptr, 0) != -1; });
  refuses(l.log, [&] { return e.getProfileTensorValues(nullptr, 0, kMin); });
  refuses(l.log, [&] { return e.getProfileTensorValuesV2(nullptr, 0, kMin); });
  refuses(l.log, [&] { return e.createExecutionContext(static_cast<nv::IRuntimeConfig*>(nullptr)); });
  refuses(l.log, [&] { return e.serializeWithConfig(null<nv::ISerializationConfig>()); });
  refuses(l.log, [&] { return e.getAliasedInputTensor(nullptr); });
  refuses(l.log, [&] { return e.isDebugTensor(nullptr); });
  EXPECT_EQ(nv::createInferRefitter(e, null<nv::ILogger>()), nullptr);  // told on stderr
  refuses(l.log, [&] { return nv::createInferRefitter(null<nv::ICudaEngine>(), l.log); });
  e.setErrorRecorder(nullptr);
  const std::unique_ptr<nv::IEngineInspector> inspector(e.createEngineInspector());
  EXPECT_TRUE(inspector->setExecutionContext(nullptr));
  inspector->setErrorRecorder(nullptr);
  EXPECT_NE(inspector->getEngineInformation(nv::LayerInformationFormat::kJSON), nullptr);
}

TEST(NullArguments, Context) {
  Loaded l;
  nv::IExecutionContext& c = *l.context;
  float data[4] = {};
  objects(l.log, [&] { c.setName(nullptr); });
  refuses(l.log, [&] { return c.setInputShape(nullptr, dims({1, 4})); });
  refuses(l.log, [&] { return c.setInputShape("x", null<nv::Dims>()); });
  no_dims(l.log, [&] { return c.getTensorShape(nullptr); });
  no_dims(l.log, [&] { return c.getTensorStrides(nullptr); });
  refuses(l.log, [&] { return c.setTensorAddress(nullptr, data); });
  refuses(l.log, [&] { return c.setInputTensorAddress(nullptr, data); });
  refuses(l.log, [&] { return c.setOutputTensorAddress(nullptr, data); });
  refuses(l.log, [&] { return c.getTensorAddress(nullptr); });
  refuses(l.log, [&] { return c.getOutputTensorAddress(nullptr); });
  refuses(l.log, [&] { return c.getMaxOutputSize(nullptr) >= 0; });
  refuses(l.log, [&] { return c.setOutputAllocator(nullptr, nullptr); });
  refuses(l.log, [&] { return c.getOutputAllocator(nullptr); });
  refuses(l.log, [&] { return c.inferShapes(1, nullptr) >= 0; });
  refuses(l.log, [&] { return c.executeV2(nullptr); });
  refuses(l.log, [&] { return c.setTensorDebugState(nullptr, true); });
  refuses(l.log, [&] { return c.getDebugState(nullptr); });
  objects(l.log, [&] { c.setAuxStreams(nullptr, 1); });
  EXPECT_TRUE(c.setOutputAllocator("y", nullptr));
  EXPECT_TRUE(c.setInputConsumedEvent(nullptr));
  EXPECT_TRUE(c.setDebugListener(nullptr));
  EXPECT_TRUE(c.setTemporaryStorageAllocator(nullptr));
  c.setProfiler(nullptr);
  c.setErrorRecorder(nullptr);
  // An address may be taken back; the enqueue then says which is missing.
  EXPECT_TRUE(c.setInputShape("x", dims({1, 4})));
  EXPECT_TRUE(c.setTensorAddress("x", nullptr));
  refuses(l.log, [&] { return c.enqueueV3(nullptr); });
  void* const bindings[] = {nullptr, nullptr};
  refuses(l.log, [&] { return c.executeV2(bindings); });
  EXPECT_TRUE(relu_works(c, nullptr)) << l.log.take_errors();
}

}  // namespace
}  // namespace robustness
