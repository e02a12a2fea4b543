// ONNX nodes that plugins of a registry compute.
#include <NvInfer.h>
#include <NvOnnxParser.h>
#include <gtest/gtest.h>
#include <impl/NvInferPythonPlugin.h>

#include <map>

#include "api/onnx/create.h"
#include "api/run/testing/logged_plugins_v2.h"
#include "api/run/testing/shared_memory.h"
#include "onnx/test_model.h"

namespace kiln::api {
namespace {

using namespace onnx::test;
using testing::LoggedCreator;
using testing::LoggedCreatorV2;
using testing::PluginLog;
using testing::PositivePlugin;
using testing::ScaleDynamic;
using testing::ScalePlugin;
using Floats = std::vector<float>;
namespace nv = nvinfer1;

struct Logger final : nv::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) errors.emplace_back(message);
    if (severity == Severity::kWARNING) warnings.append(message).push_back('\n');
  }
  std::vector<std::string> errors;
  std::string warnings;
};

/// The plugins here compute on the host.
class PluginNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
    builder.reset(nv::createInferBuilder(logger));
    config.reset(builder->createBuilderConfig());
  }
  bool parse(const Proto& model, uint32_t flags = 0, nv::NetworkDefinitionCreationFlags network_flags = 0) {
    network.reset(builder->createNetworkV2(network_flags));
    parser.reset(static_cast<nvonnxparser::IParser*>(create_parser(network.get(), &logger, NV_ONNX_PARSER_VERSION)));
    parser->setFlags(flags);
    return parser->parse(model.bytes.data(), model.bytes.size(), nullptr);
  }
  Floats run(const Floats& x, size_t num_results) {
    const std::unique_ptr<nv::ICudaEngine> engine(builder->buildEngineWithConfig(*network, *config));
    if (!engine) return {};
    const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
    Floats in = x, out(num_results);
    void* bindings[] = {in.data(), out.data()};
    EXPECT_TRUE(context->executeV2(bindings));
    return out;
  }
  std::string errors() const {
    std::string text;
    for (const std::string& error : logger.errors) text += error + '\n';
    return text;
  }

  PluginLog log;
  LoggedCreator<ScalePlugin> scale{log, "TestScale"};
  LoggedCreator<PositivePlugin> positive{log, "TestPositive"};
  Logger logger;
  std::unique_ptr<nv::IBuilder> builder;
  std::unique_ptr<nv::IBuilderConfig> config;
  std::unique_ptr<nv::INetworkDefinition> network;
  std::unique_ptr<nvonnxparser::IParser> parser;
};

Proto factor_of(float value) { return attribute("factor", 1).fixed(onnx::field::attribute::kF, value); }
Proto version_of(std::string_view text) {
  return attribute("plugin_version", 3).text(onnx::field::attribute::kS, text);
}

/// y = op(x) of [2], with attributes.
Proto one_node(const char* op, std::initializer_list<Proto> attributes) {
  return model(graph({.nodes = {node(op, {"x"}, {"y"}, "it", attributes)},
                      .inputs = {value("x", 1, {2})},
                      .outputs = {value("y", 1, {2})}}));
}

TEST_F(PluginNodes, AttributesBecomeFields) {
  ASSERT_TRUE(parse(one_node("TestScale", {factor_of(4)}))) << errors();
  ASSERT_EQ(network->getNbLayers(), 1);
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kPLUGIN_V3);
  EXPECT_STREQ(network->getLayer(0)->getName(), "it");
  EXPECT_EQ(run({1, 2}, 2), (Floats{4, 8}));
  EXPECT_TRUE(parse(one_node("TestScale", {factor_of(4), version_of("1"), int_attribute("aot", 0)}))) << errors();
  EXPECT_EQ(logger.warnings, "");
}

/// A creator that does not name an attribute never sees it, so that it need not be one that plugins can have.
TEST_F(PluginNodes, AttributesThatTheCreatorDoesNotNameMayBeAnythingAndAreTold) {
  const auto integer = [](const char* name) { return int_attribute(name, int64_t{1} << 40); };
  ASSERT_TRUE(parse(one_node("TestScale", {factor_of(4), integer("mine")}))) << errors();
  EXPECT_NE(
      logger.warnings.find("attribute 'mine' is ignored, since the creator of plugin 'TestScale' version '1' does "
                           "not take it; it takes factor"),
      std::string::npos)
      << logger.warnings;
  EXPECT_EQ(run({1, 2}, 2), (Floats{4, 8}));
  EXPECT_FALSE(parse(one_node("TestScale", {integer("factor")})));
  EXPECT_NE(errors().find("attribute 'factor' has 1099511627776; plugins get attributes in 32 bits, unless the creator "
                          "describes the field as kINT64"),
            std::string::npos)
      << errors();
}

/// Takes `size` and `sizes`, which it describes as kINT64, and keeps what it was given.
class WideCreator final : public nv::IPluginCreatorV3One {
 public:
  explicit WideCreator(PluginLog& log) : log_(log) { getPluginRegistry()->registerCreator(*this, ""); }
  ~WideCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char*, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase) noexcept override {
    for (const nv::PluginField& field : std::span(fields->fields, static_cast<size_t>(fields->nbFields))) {
      types[field.name] = field.type;
      const bool is_wide = field.type == nv::PluginFieldType::kINT64;
      for (int32_t i = 0; i < field.length; ++i)
        values[field.name].push_back(is_wide ? static_cast<const int64_t*>(field.data)[i]
                                             : static_cast<const int32_t*>(field.data)[i]);
    }
    return new ScalePlugin(log_, 1);
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &names_; }
  const char* getPluginName() const noexcept override { return "TestWide"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }

  std::map<std::string, nv::PluginFieldType> types;
  std::map<std::string, std::vector<int64_t>> values;

 private:
  PluginLog& log_;
  const nv::PluginField described_[2] = {{"size", nullptr, nv::PluginFieldType::kINT64, 1},
                                         {"sizes", nullptr, nv::PluginFieldType::kINT64, 1}};
  const nv::PluginFieldCollection names_{2, described_};
};

/// As in TensorRT, integers that fit are of 32 bits, whatever the creator describes.
TEST_F(PluginNodes, IntegersBeyond32BitsAreFieldsOf64WhereTheCreatorDescribesThemSo) {
  constexpr int64_t kWide = int64_t{1} << 40;
  WideCreator creator(log);
  const Proto list = attribute("sizes", 7)
                         .integer(onnx::field::attribute::kInts, 3)
                         .integer(onnx::field::attribute::kInts, static_cast<uint64_t>(-kWide));
  ASSERT_TRUE(parse(one_node("TestWide", {int_attribute("size", kWide), list}))) << errors();
  EXPECT_EQ(creator.types["size"], nv::PluginFieldType::kINT64);
  EXPECT_EQ(creator.values["size"], std::vector<int64_t>{kWide});
  EXPECT_EQ(creator.types["sizes"], nv::PluginFieldType::kINT64);
  EXPECT_EQ(creator.values["sizes"], (std::vector<int64_t>{3, -kWide}));
  creator.values.clear();
  ASSERT_TRUE(parse(one_node("TestWide", {int_attribute("size", -5)}))) << errors();
  EXPECT_EQ(creator.types["size"], nv::PluginFieldType::kINT32);
  EXPECT_EQ(creator.values["size"], std::vector<int64_t>{-5});
}

TEST_F(PluginNodes, AnAttributeIsGivenOnce) {
  EXPECT_FALSE(parse(one_node("TestScale", {factor_of(4), factor_of(5)})));
  EXPECT_NE(errors().find("attribute 'factor' is given twice"), std::string::npos) << errors();
  const Proto mine = int_attribute("mine", 1);
  EXPECT_FALSE(parse(one_node("TestScale", {factor_of(4), mine, mine}))) << "also one that the creator never sees";
  EXPECT_NE(errors().find("it has two attributes 'mine'"), std::string::npos) << errors();
}

/// Only the library's own plugins of 32 bits get INT32.
TEST_F(PluginNodes, OfTensorRTsNamesThatAProgramHasKeepTheirIntegers) {
  const LoggedCreator<ScalePlugin> own(log, "VoxelGeneratorPlugin");
  const Proto one = model(graph({.nodes = {node("VoxelGeneratorPlugin", {"x"}, {"y"}, "it", {factor_of(4)})},
                                 .inputs = {value("x", 7, {2})},
                                 .outputs = {value("y", 7, {2})}}));
  ASSERT_TRUE(parse(one)) << errors();
  ASSERT_EQ(network->getNbLayers(), 1) << "no cast";
  EXPECT_EQ(network->getLayer(0)->getInput(0)->getType(), nv::DataType::kINT64);
}

TEST_F(PluginNodes, TheDomainDoesNotMatter) {
  for (const char* const domain : {"trt.plugins", "TRT"}) {
    const Proto one = graph({.nodes = {node("TestScale", {"x"}, {"y"}, "it", {factor_of(4)}, domain)},
                             .inputs = {value("x", 1, {2})},
                             .outputs = {value("y", 1, {2})}});
    ASSERT_TRUE(parse(model(one).message(onnx::field::model::kOpsetImport, opset(domain, 1)))) << errors();
  }
  EXPECT_EQ(run({1, 2}, 2), (Floats{4, 8}));
}

/// Keeps the letters of fields.
class WordsCreator final : public nv::IPluginCreatorV3One {
 public:
  explicit WordsCreator(PluginLog& log) : log_(log) { getPluginRegistry()->registerCreator(*this, ""); }
  ~WordsCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char*, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase phase) noexcept override {
    for (int i = 0; phase == nv::TensorRTPhase::kBUILD && i < fields->nbFields; ++i) {
      const nv::PluginField& field = fields->fields[i];
      EXPECT_EQ(field.type, nv::PluginFieldType::kCHAR);
      letters[field.name].assign(static_cast<const char*>(field.data), static_cast<size_t>(field.length));
    }
    return new ScalePlugin(log_, 1);
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &names_; }
  const char* getPluginName() const noexcept override { return "TestWords"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }
  std::map<std::string, std::string> letters;

 private:
  PluginLog& log_;
  const nv::PluginField fields_[3] = {{"word", nullptr, nv::PluginFieldType::kCHAR, 0},
                                      {"list", nullptr, nv::PluginFieldType::kCHAR, 0},
                                      {"table", nullptr, nv::PluginFieldType::kCHAR, 0}};
  const nv::PluginFieldCollection names_{3, fields_};
};

/// TensorRT's parser counts the zero behind each string, too; its sample of a plugin in Python takes it off.
TEST_F(PluginNodes, StringsAreLettersWithAZeroBehindEach) {
  WordsCreator creator(log);
  const Proto word = attribute("word", 3).text(onnx::field::attribute::kS, "text");
  const Proto list =
      attribute("list", 8).text(onnx::field::attribute::kStrings, "one").text(onnx::field::attribute::kStrings, "");
  const Proto table = attribute("table", 4)
                          .message(onnx::field::attribute::kT, tensor("", 8, {2})
                                                                   .text(onnx::field::tensor::kStringData, "a")
                                                                   .text(onnx::field::tensor::kStringData, "bc"));
  ASSERT_TRUE(parse(one_node("TestWords", {word, list, table}))) << errors();
  using namespace std::string_literals;
  EXPECT_EQ(creator.letters["word"], "text\0"s);
  EXPECT_EQ(creator.letters["list"], "one\0\0"s);
  EXPECT_EQ(creator.letters["table"], "a\0bc\0"s);
}

TEST_F(PluginNodes, OfVersion2AreMadeInTheSameWay) {
  const LoggedCreatorV2<ScaleDynamic> old(log, "TestScaleDynamic", "mine");
  const auto namespace_of = [](std::string_view text) {
    return attribute("plugin_namespace", 3).text(onnx::field::attribute::kS, text);
  };
  ASSERT_TRUE(parse(one_node("TestScaleDynamic", {factor_of(4), namespace_of("mine")}))) << errors();
  ASSERT_EQ(network->getNbLayers(), 1);
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kPLUGIN_V2);
  EXPECT_STREQ(static_cast<nv::IPluginV2Layer*>(network->getLayer(0))->getPlugin().getPluginNamespace(), "mine");
  EXPECT_EQ(run({1, 2}, 2), (Floats{4, 8}));
  EXPECT_FALSE(parse(one_node("TestScaleDynamic", {namespace_of("mine")}))) << "the factor is missing";
  EXPECT_NE(errors().find("createPlugin returned null for the node's attributes"), std::string::npos) << errors();
}

/// y = factor * x, as a quick plugin.
class QuickScale final : public nv::IPluginV3,
                         public nv::IPluginV3QuickCore,
                         public nv::IPluginV3QuickBuild,
                         public nv::IPluginV3QuickRuntime {
 public:
  explicit QuickScale(float factor) : factor_(factor) {}
  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    if (type == nv::PluginCapabilityType::kCORE) return static_cast<nv::IPluginV3QuickCore*>(this);
    if (type == nv::PluginCapabilityType::kRUNTIME) return static_cast<nv::IPluginV3QuickRuntime*>(this);
    return static_cast<nv::IPluginV3QuickBuild*>(this);
  }
  nv::IPluginV3* clone() noexcept override { return new QuickScale(factor_); }
  const char* getPluginName() const noexcept override { return "QuickScale"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, const int32_t*,
                             int32_t) const noexcept override {
    out[0] = in[0];
    return 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out, int32_t,
                          nv::IExprBuilder&) noexcept override {
    out[0] = in[0];
    return 0;
  }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }
  int32_t getNbSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t, int32_t) noexcept override {
    return 1;
  }
  int32_t getSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t, int32_t,
                                         nv::PluginTensorDesc* supported, int32_t) noexcept override {
    for (int i = 0; i < 2; ++i)
      supported[i].type = nv::DataType::kFLOAT, supported[i].format = nv::PluginFormat::kLINEAR;
    return 0;
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc*, const void* const* inputs,
                  void* const* outputs, const nv::Dims*, const nv::Dims*, int32_t, int32_t,
                  cudaStream_t) noexcept override {
    for (int64_t i = 0; i < in[0].dims.d[0]; ++i)
      static_cast<float*>(outputs[0])[i] = factor_ * static_cast<const float*>(inputs[0])[i];
    return 0;
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return &fields_; }

 private:
  const float factor_;
  const nv::PluginField field_{"factor", &factor_, nv::PluginFieldType::kFLOAT32, 1};
  const nv::PluginFieldCollection fields_{1, &field_};
};

class QuickScaleCreator final : public nv::IPluginCreatorV3Quick {
 public:
  explicit QuickScaleCreator(nv::IPluginRegistry& registry) : registry_(registry) {
    registry_.registerCreator(*this, "");
  }
  ~QuickScaleCreator() override { registry_.deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char*, const char*, const nv::PluginFieldCollection* fields, nv::TensorRTPhase,
                              nv::QuickPluginCreationRequest request) noexcept override {
    requests.push_back(request);
    return fields->nbFields == 1 ? new QuickScale(*static_cast<const float*>(fields->fields[0].data)) : nullptr;
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &names_; }
  const char* getPluginName() const noexcept override { return "QuickScale"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }
  std::vector<nv::QuickPluginCreationRequest> requests;

 private:
  nv::IPluginRegistry& registry_;
  const nv::PluginField name_{"factor", nullptr, nv::PluginFieldType::kFLOAT32, 1};
  const nv::PluginFieldCollection names_{1, &name_};
};

TEST_F(PluginNodes, QuickOnesAreMadeInTheSameWay) {
  const QuickScaleCreator quick(builder->getPluginRegistry());
  ASSERT_TRUE(parse(one_node("QuickScale", {factor_of(4)}))) << errors();
  ASSERT_EQ(network->getNbLayers(), 1);
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kPLUGIN_V3);
  EXPECT_EQ(run({1, 2}, 2), (Floats{4, 8}));
  EXPECT_FALSE(parse(one_node("QuickScale", {}))) << "the factor is missing";
  EXPECT_NE(errors().find("createPlugin returned null for the node's attributes"), std::string::npos) << errors();
}

// The node's own word comes before what the network prefers.
TEST_F(PluginNodes, QuickOnesAreAskedForTheFormThatIsPreferred) {
  using Flag = nv::NetworkDefinitionCreationFlag;
  using Request = nv::QuickPluginCreationRequest;
  QuickScaleCreator quick(builder->getPluginRegistry());
  const auto bit = [](Flag flag) { return 1U << static_cast<uint32_t>(flag); };
  const uint32_t none = 0, jit = bit(Flag::kPREFER_JIT_PYTHON_PLUGINS), aot = bit(Flag::kPREFER_AOT_PYTHON_PLUGINS);
  const auto request = [&](uint32_t flags, std::initializer_list<Proto> attributes) {
    quick.requests.clear();
    EXPECT_TRUE(parse(one_node("QuickScale", attributes), 0, flags)) << errors();
    return quick.requests.empty() ? Request::kUNKNOWN : quick.requests.back();
  };
  EXPECT_EQ(request(none, {factor_of(4)}), Request::kUNKNOWN);
  EXPECT_EQ(request(jit, {factor_of(4)}), Request::kPREFER_JIT);
  EXPECT_EQ(request(aot, {factor_of(4)}), Request::kPREFER_AOT);
  EXPECT_EQ(request(jit, {factor_of(4), int_attribute("aot", 1)}), Request::kSTRICT_AOT);
  EXPECT_EQ(request(aot, {factor_of(4), int_attribute("aot", 0)}), Request::kSTRICT_JIT);
  EXPECT_EQ(request(jit | aot, {factor_of(4), int_attribute("aot", 0)}), Request::kSTRICT_JIT);
  EXPECT_FALSE(parse(one_node("QuickScale", {factor_of(4)}), 0, jit | aot));
  EXPECT_NE(errors().find("both of kPREFER_AOT_PYTHON_PLUGINS and kPREFER_JIT_PYTHON_PLUGINS"), std::string::npos)
      << errors();
  EXPECT_FALSE(
      parse(one_node("QuickScale", {factor_of(4), attribute("aot", 3).text(onnx::field::attribute::kS, "yes")})));
  EXPECT_NE(errors().find("attribute 'aot' is 4 values of type char; one integer is needed"), std::string::npos)
      << errors();
}

struct NoMemory final : nv::IGpuAllocator {
  void* allocate(uint64_t, uint64_t, nv::AllocatorFlags) noexcept override { return nullptr; }
  bool deallocate(void*) noexcept override { return true; }
};
TEST_F(PluginNodes, GetTheBuildersAllocator) {
  log.tactics = {1, 2};  // which are timed, and attached for that
  NoMemory mine;
  builder->setGpuAllocator(&mine);
  ASSERT_TRUE(parse(one_node("TestScale", {factor_of(4)}))) << errors();
  builder->setGpuAllocator(nullptr);  // the build's own memory; plugins keep what the builder had when they were made
  const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  ASSERT_TRUE(plan) << errors();
  EXPECT_EQ(log.allocator, &mine);
}

TEST_F(PluginNodes, TakeNoDoubles) {
  constexpr int64_t kDouble = 11;
  const auto of_double = [&](const char* op) {
    return model(graph({.nodes = {node("Cast", {"x"}, {"wide"}, "cast", {int_attribute("to", kDouble)}),
                                  node(op, {"wide"}, {"y"}, "it", {factor_of(4)})},
                        .inputs = {value("x", 1, {2})},
                        .outputs = {value("y", 1, {2})}}));
  };
  const LoggedCreatorV2<ScaleDynamic> old(log, "TestScaleDynamic");
  for (const char* op : {"TestScale", "TestScaleDynamic"}) {
    logger.errors.clear();
    EXPECT_FALSE(parse(of_double(op)));
    EXPECT_NE(errors().find("'it'"), std::string::npos) << errors();
    EXPECT_NE(errors().find("input 0 is f64[2]; plugins take no FP64: a Cast to FLOAT is needed before it"),
              std::string::npos)
        << errors();
  }
  EXPECT_EQ(log.alive, 0);
}

/// As in TensorRT, the indices are ignored with a warning.
TEST_F(PluginNodes, OfVersion2HaveNoShapeInputs) {
  const LoggedCreatorV2<ScaleDynamic> old(log, "TestScaleDynamic");
  const Proto shapes = model(graph(
      {.nodes = {node("TestScaleDynamic", {"x", "rows"}, {"y"}, "it",
                      {factor_of(4),
                       attribute("tensorrt_plugin_shape_input_indices", 7).integer(onnx::field::attribute::kInts, 1)})},
       .inputs = {value("x", 1, {3})},
       .outputs = {value("y", 1, {3})},
       .initializers = {tensor("rows", 7, {1}).packed(onnx::field::tensor::kInt64Data, {2})}}));
  ASSERT_TRUE(parse(shapes)) << errors();
  EXPECT_EQ(network->getLayer(network->getNbLayers() - 1)->getNbInputs(), 2);
  EXPECT_NE(logger.warnings.find("'it' (TestScaleDynamic): attribute 'tensorrt_plugin_shape_input_indices' is ignored, "
                                 "since plugin 'TestScaleDynamic' version '1' is of version 2, which has no shape "
                                 "inputs"),
            std::string::npos)
      << logger.warnings;
  parser.reset();
  network.reset();
  EXPECT_EQ(log.alive, 0);
}

TEST_F(PluginNodes, NobodyElseTakesAnotherVersion) {
  EXPECT_FALSE(parse(one_node("TestScale", {factor_of(4), version_of("2")})));
  EXPECT_NE(errors().find("Kiln has no importer for operator TestScale of domain 'ai.onnx', and no creator of plugin "
                          "'TestScale' version '2' is registered"),
            std::string::npos)
      << errors();
}

TEST_F(PluginNodes, ACreatorThatMakesNoneIsNamed) {
  EXPECT_FALSE(parse(one_node("TestScale", {}))) << "the factor is missing";
  EXPECT_NE(errors().find("plugin 'TestScale' version '1': createPlugin returned null for the node's attributes"),
            std::string::npos)
      << errors();
}

constexpr uint32_t kOverrides = 1U << static_cast<uint32_t>(nvonnxparser::OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE);

TEST_F(PluginNodes, AnImporterComesFirstUnlessPluginsOverride) {
  LoggedCreator<ScalePlugin> relu{log, "Relu"};
  ASSERT_TRUE(parse(one_node("Relu", {}))) << errors();
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kACTIVATION);
  ASSERT_TRUE(parse(one_node("Relu", {factor_of(2)}), kOverrides)) << errors();
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kPLUGIN_V3);
  EXPECT_EQ(logger.warnings, "");
}

TEST_F(PluginNodes, AnImporterComesFirstWhereTheCreatorMakesNoPlugin) {
  LoggedCreator<ScalePlugin> relu{log, "Relu"};
  ASSERT_TRUE(parse(one_node("Relu", {}), kOverrides)) << errors() << "the factor is missing";
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kACTIVATION);
  EXPECT_NE(logger.warnings.find("Kiln's importer is used, and the plugin is not: plugin 'Relu' version '1': "
                                 "createPlugin returned null for the node's attributes"),
            std::string::npos)
      << logger.warnings;
  EXPECT_EQ(run({-1, 2}, 2), (Floats{0, 2}));
  const Proto two = model(graph({.nodes = {node("Relu", {"x"}, {"y", "z"}, "it", {factor_of(4)})},
                                 .inputs = {value("x", 1, {2})},
                                 .outputs = {value("y", 1, {2})}}));
  EXPECT_FALSE(parse(two, kOverrides)) << "neither has two outputs";
  EXPECT_NE(logger.warnings.find("plugin 'Relu' version '1' has 1 outputs; the node has 2"), std::string::npos)
      << logger.warnings;
  EXPECT_EQ(log.alive, 0);
}

/// What the creator does not take would be lost, and the result be wrong.
TEST_F(PluginNodes, AnImporterComesFirstWhereTheCreatorDoesNotTakeAnAttribute) {
  LoggedCreator<ScalePlugin> elu{log, "Elu"};
  const auto alpha = [](float value) { return attribute("alpha", 1).fixed(onnx::field::attribute::kF, value); };
  ASSERT_TRUE(parse(one_node("Elu", {factor_of(4), alpha(3)}), kOverrides)) << errors();
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kACTIVATION);
  EXPECT_NE(logger.warnings.find("node 'it' (Elu): Kiln's importer is used, and the plugin is not: the creator of "
                                 "plugin 'Elu' version '1' does not take attribute 'alpha' (getFieldNames)"),
            std::string::npos)
      << logger.warnings;
  logger.warnings.clear();
  ASSERT_TRUE(parse(one_node("Elu", {factor_of(4), alpha(1)}), kOverrides)) << errors() << "1 is the default";
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kPLUGIN_V3);
  EXPECT_EQ(logger.warnings, "");
  ASSERT_TRUE(parse(one_node("Elu", {factor_of(4), int_attribute("mine", 1)}), kOverrides)) << "which Elu has not";
  EXPECT_EQ(network->getLayer(0)->getType(), nv::LayerType::kPLUGIN_V3);
  EXPECT_NE(logger.warnings.find("attribute 'mine' is ignored"), std::string::npos) << logger.warnings;
}

TEST_F(PluginNodes, InputsMayBeMissingAtTheEndAlone) {
  const auto parse_with = [&](std::initializer_list<std::string_view> inputs) {
    return parse(model(graph({.nodes = {node("TestScale", inputs, {"y"}, "it", {factor_of(4)})},
                              .inputs = {value("x", 1, {3})},
                              .outputs = {value("y", 1, {3})}})));
  };
  ASSERT_TRUE(parse_with({"x", "", ""})) << errors();
  EXPECT_EQ(network->getLayer(0)->getNbInputs(), 1);
  EXPECT_FALSE(parse_with({"", "x"}));
  EXPECT_NE(errors().find("input 0 is missing"), std::string::npos) << errors();
}

TEST_F(PluginNodes, IndicesTellShapeInputs) {
  const auto parse_with = [&](int64_t index) {
    return parse(
        model(graph({.nodes = {node("TestPositive", {"rows", "x", ""}, {"y", "k"}, "it",
                                    {attribute("tensorrt_plugin_shape_input_indices", 7)
                                         .integer(onnx::field::attribute::kInts, static_cast<uint64_t>(index))})},
                     .inputs = {value("x", 1, {3})},
                     .outputs = {value("y", 1, {2, 3})},
                     .initializers = {tensor("rows", 7, {1}).packed(onnx::field::tensor::kInt64Data, {2})}})));
  };
  for (const int64_t index : {0, -2}) {  // one below 0 counts from the back
    ASSERT_TRUE(parse_with(index)) << errors();
    EXPECT_EQ(network->getOutput(0)->getDimensions().d[0], 2);
    EXPECT_EQ(network->getOutput(0)->getDimensions().d[1], -1);
  }
  EXPECT_FALSE(parse_with(2)) << "the third is not there";
  EXPECT_NE(errors().find("'tensorrt_plugin_shape_input_indices' has 2; the node has 2 inputs"), std::string::npos)
      << errors();
  EXPECT_FALSE(parse_with(-3));
  EXPECT_NE(errors().find("'tensorrt_plugin_shape_input_indices' has -3; the node has 2 inputs"), std::string::npos)
      << errors();
}

}  // namespace
}  // namespace kiln::api
