#include "api/onnx/parser.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "api/onnx/create.h"
#include "api/run/testing/shared_memory.h"
#include "onnx/test_model.h"

namespace kiln::api {
namespace {

using namespace onnx::test;
using nvonnxparser::ErrorCode;
using nvonnxparser::OnnxParserFlag;

struct Logger final : nvinfer1::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) errors.emplace_back(message);
    if (severity == Severity::kWARNING) warnings.emplace_back(message);
  }
  std::vector<std::string> errors, warnings;
};

/// y = relu(x + w) of [2]
Proto good_model() {
  return model(
      graph({.nodes = {node("Add", {"x", "w"}, {"s"}, "add"), node("Relu", {"s"}, {"y"}, "relu")},
             .inputs = {value("x", 1, {2})},
             .outputs = {value("y", 1, {2})},
             .initializers = {tensor("w", 1, {2}).packed_fixed<float>(onnx::field::tensor::kFloatData, {10, -10})}}));
}
/// Two nodes that Kiln does not have around one that it has.
Proto bad_model() {
  return model(graph({.nodes = {node("Gnarl", {"x"}, {"a"}, "first"), node("Relu", {"x"}, {"b"}, "fine"),
                                node("Snarl", {"b"}, {"y"}, "second")},
                      .inputs = {value("x", 1, {2})},
                      .outputs = {value("y", 1, {2})}}));
}

struct Bench {
  Bench()
      : builder(nvinfer1::createInferBuilder(logger)),
        network(builder->createNetworkV2(0)),
        config(builder->createBuilderConfig()),
        parser(static_cast<nvonnxparser::IParser*>(create_parser(network.get(), &logger, NV_ONNX_PARSER_VERSION))) {}
  bool parse(const Proto& model) { return parser->parse(model.bytes.data(), model.bytes.size(), nullptr); }
  std::vector<float> run(const std::vector<float>& x) {
    const std::unique_ptr<nvinfer1::ICudaEngine> engine(builder->buildEngineWithConfig(*network, *config));
    if (!engine) return {};
    const std::unique_ptr<nvinfer1::IExecutionContext> context(engine->createExecutionContext());
    testing::Shared<float> in(x.begin(), x.end()), out(x.size());
    void* bindings[] = {in.data(), out.data()};
    EXPECT_TRUE(context->executeV2(bindings));
    return {out.begin(), out.end()};
  }
  Logger logger;
  std::unique_ptr<nvinfer1::IBuilder> builder;
  std::unique_ptr<nvinfer1::INetworkDefinition> network;
  std::unique_ptr<nvinfer1::IBuilderConfig> config;
  std::unique_ptr<nvonnxparser::IParser> parser;
};

TEST(Parser, ReadsACopyOfTheBytes) {
  Bench b;
  {
    Proto bytes = good_model();
    EXPECT_TRUE(b.parse(bytes));
    std::fill(bytes.bytes.begin(), bytes.bytes.end(), '\0');
  }
  EXPECT_EQ(b.parser->getNbErrors(), 0);
  ASSERT_EQ(b.network->getNbInputs(), 1);
  EXPECT_STREQ(b.network->getInput(0)->getName(), "x");
  EXPECT_STREQ(b.network->getOutput(0)->getName(), "y");
  const nvinfer1::ITensor* sum = b.parser->getLayerOutputTensor("add", 0);
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->getDimensions().d[0], 2);
  EXPECT_EQ(b.parser->getLayerOutputTensor("add", 1), nullptr);
  EXPECT_EQ(b.parser->getLayerOutputTensor("nobody", 0), nullptr);
  b.parser.reset();
  EXPECT_EQ(b.run({1, 2}), (std::vector<float>{11, 0}));
}

/// An input that is an output, too, is called otherwise, as in TensorRT: names of a network's tensors are its own.
TEST(Parser, AnInputThatIsAnOutputHasAnotherName) {
  Bench b;
  ASSERT_TRUE(b.parse(model(graph({.nodes = {node("Relu", {"x"}, {"y"}, "relu")},
                                   .inputs = {value("__x", 1, {2}), value("x", 1, {2})},
                                   .outputs = {value("x", 1, {2}), value("y", 1, {2})}}))));
  ASSERT_EQ(b.network->getNbInputs(), 2);
  EXPECT_STREQ(b.network->getInput(0)->getName(), "__x");
  EXPECT_STREQ(b.network->getInput(1)->getName(), "____x");
  ASSERT_EQ(b.network->getNbOutputs(), 2);
  EXPECT_STREQ(b.network->getOutput(0)->getName(), "x");
  ASSERT_EQ(b.logger.warnings.size(), 1U);
  EXPECT_EQ(b.logger.warnings[0],
            "IParser::parse: input 'x' is an output of the model, too; the network's input is called '____x'");
  const std::unique_ptr<nvinfer1::IHostMemory> plan(b.builder->buildSerializedNetwork(*b.network, *b.config));
  EXPECT_NE(plan, nullptr) << (b.logger.errors.empty() ? "" : b.logger.errors[0]);
}

TEST(Parser, ASecondModelIsRefused) {
  Bench b;
  ASSERT_TRUE(b.parse(good_model()));
  EXPECT_FALSE(b.parse(good_model()));
  ASSERT_EQ(b.parser->getNbErrors(), 1);
  EXPECT_STREQ(b.parser->getError(0)->desc(),
               "the network has an input 'x' already; a model is parsed into a network of its own");
  EXPECT_EQ(b.network->getNbInputs(), 1);
  EXPECT_EQ(b.network->getNbOutputs(), 1);
  EXPECT_EQ(b.run({1, 2}), (std::vector<float>{11, 0}));
}

TEST(Parser, LayersOfAModelCanBeEdited) {
  Bench b;
  ASSERT_TRUE(b.parse(good_model()));
  nvinfer1::ILayer* last = b.network->getLayer(b.network->getNbLayers() - 1);
  EXPECT_STREQ(last->getName(), "relu");
  ASSERT_EQ(last->getType(), nvinfer1::LayerType::kACTIVATION);
  auto* activation = static_cast<nvinfer1::IActivationLayer*>(last);
  activation->setActivationType(nvinfer1::ActivationType::kCLIP);
  activation->setAlpha(-5);
  activation->setBeta(5);
  EXPECT_EQ(b.run({1, 2}), (std::vector<float>{5, -5}));
}

TEST(Parser, ShowsTransposesAndReshapesAsShuffles) {
  Bench b;
  const Proto perm = attribute("perm", 7).packed(onnx::field::attribute::kInts, {1, 0});
  ASSERT_TRUE(b.parse(
      model(graph({.nodes = {node("Transpose", {"x"}, {"t"}, "turn", {perm}), node("Softmax", {"t"}, {"y"}, "soft")},
                   .inputs = {value("x", 1, {2, 1})},
                   .outputs = {value("y", 1, {1, 2})}}))));
  nvinfer1::ILayer* turn = b.network->getLayer(0);
  ASSERT_EQ(turn->getType(), nvinfer1::LayerType::kSHUFFLE);
  auto* shuffle = static_cast<nvinfer1::IShuffleLayer*>(turn);
  EXPECT_EQ(shuffle->getFirstTranspose().order[0], 1);
  EXPECT_EQ(shuffle->getReshapeDimensions().nbDims, -1);
  auto* soft = static_cast<nvinfer1::ISoftMaxLayer*>(b.network->getLayer(b.network->getNbLayers() - 1));
  EXPECT_EQ(soft->getAxes(), 1U << 1);
  EXPECT_EQ(b.run({0, 0}), (std::vector<float>{0.5F, 0.5F}));
}

TEST(Parser, ReadsFiles) {
  const std::string path = ::testing::TempDir() + "parser_test.onnx";
  std::ofstream(path, std::ios::binary) << good_model().bytes;
  Bench b;
  EXPECT_TRUE(b.parser->parseFromFile(path.c_str(), 2));
  std::remove(path.c_str());
  EXPECT_FALSE(b.parser->parseFromFile(path.c_str(), 2));
  ASSERT_EQ(b.parser->getNbErrors(), 1);
  EXPECT_NE(std::string(b.parser->getError(0)->desc()).find(path), std::string::npos);
  EXPECT_FALSE(b.parser->parseFromFile(nullptr, 2));
}

TEST(Parser, ListsAllProblems) {
  Bench b;
  EXPECT_FALSE(b.parse(bad_model()));
  ASSERT_EQ(b.parser->getNbErrors(), 2);
  const nvonnxparser::IParserError& first = *b.parser->getError(0);
  EXPECT_EQ(first.code(), ErrorCode::kUNSUPPORTED_NODE);
  EXPECT_STREQ(first.nodeName(), "first");
  EXPECT_STREQ(first.nodeOperator(), "Gnarl");
  EXPECT_STREQ(first.func(), "IParser::parse");
  EXPECT_EQ(first.localFunctionStackSize(), 0);
  EXPECT_GE(first.node(), 0);
  EXPECT_STREQ(b.parser->getError(1)->nodeName(), "second");
  EXPECT_EQ(b.parser->getError(2), nullptr);
  EXPECT_EQ(b.parser->getError(-1), nullptr);
  EXPECT_EQ(b.logger.errors.size(), 2U);
  b.parser->clearErrors();
  EXPECT_EQ(b.parser->getNbErrors(), 0);
}

/// A node of a function that another function calls.
TEST(Parser, TellsTheFunctionsAroundANode) {
  const auto local = [](std::string_view name, const Proto& inner) {
    return function(name, {"a"}, {"b"}, {inner})
        .message(onnx::field::function::kOpsetImport, opset("", 18))
        .message(onnx::field::function::kOpsetImport, opset("local", 1));
  };
  Bench b;
  EXPECT_FALSE(b.parse(model(graph({.nodes = {node("Outer", {"x"}, {"y"}, "call", {}, "local")},
                                    .inputs = {value("x", 1, {2})},
                                    .outputs = {value("y", 1, {2})}}),
                             {local("Outer", node("Inner", {"a"}, {"b"}, "inner", {}, "local")),
                              local("Inner", node("Gnarl", {"a"}, {"b"}, "odd"))})));
  ASSERT_EQ(b.parser->getNbErrors(), 1);
  const nvonnxparser::IParserError& error = *b.parser->getError(0);
  EXPECT_STREQ(error.nodeOperator(), "Gnarl");
  EXPECT_STREQ(error.nodeName(), "call/inner/odd");
  ASSERT_EQ(error.localFunctionStackSize(), 2);
  EXPECT_STREQ(error.localFunctionStack()[0], "Outer");
  EXPECT_STREQ(error.localFunctionStack()[1], "Inner");
}

TEST(Parser, WarnsOfFlagsOfAccelerators) {
  Bench b;
  EXPECT_TRUE(b.parse(good_model()));
  EXPECT_TRUE(b.logger.warnings.empty());
  b.parser->setFlag(OnnxParserFlag::kREPORT_CAPABILITY_DLA);
  const Proto good = good_model();
  EXPECT_TRUE(b.parser->supportsModelV2(good.bytes.data(), good.bytes.size(), nullptr));
  EXPECT_EQ(b.logger.warnings,
            std::vector<std::string>{"OnnxParserFlag::kREPORT_CAPABILITY_DLA is ignored: there is no DLA"});
}

TEST(Parser, DamagedBytesAreOneProblem) {
  Bench b;
  EXPECT_FALSE(b.parser->parse("no model", 8, nullptr));
  ASSERT_EQ(b.parser->getNbErrors(), 1);
  EXPECT_EQ(b.parser->getError(0)->code(), ErrorCode::kMODEL_DESERIALIZE_FAILED);
  EXPECT_EQ(b.parser->getError(0)->node(), -1);
  EXPECT_FALSE(b.parser->parse(nullptr, 8, nullptr));
}

TEST(Parser, TellsWhichPartsAreSupported) {
  Bench b;
  const Proto good = good_model(), bad = bad_model();
  EXPECT_TRUE(b.parser->supportsModelV2(good.bytes.data(), good.bytes.size(), nullptr));
  ASSERT_EQ(b.parser->getNbSubgraphs(), 1);
  EXPECT_TRUE(b.parser->isSubgraphSupported(0));
  int64_t length = -1;
  const int64_t* nodes = b.parser->getSubgraphNodes(0, length);
  ASSERT_EQ(length, 2);
  EXPECT_EQ(nodes[1], 1);
  EXPECT_EQ(b.parser->getSubgraphNodes(1, length), nullptr);
  EXPECT_EQ(length, 0);
  EXPECT_EQ(b.network->getNbInputs(), 0);
  EXPECT_FALSE(b.parser->supportsModelV2(bad.bytes.data(), bad.bytes.size(), nullptr));
  ASSERT_EQ(b.parser->getNbSubgraphs(), 1);  // between two nodes that are in no part
  EXPECT_TRUE(b.parser->isSubgraphSupported(0));
  EXPECT_FALSE(b.parser->isSubgraphSupported(1));
  EXPECT_FALSE(b.parser->isSubgraphSupported(-1));
  nodes = b.parser->getSubgraphNodes(0, length);
  ASSERT_EQ(length, 1);
  EXPECT_EQ(nodes[0], 1);
  ::SubGraphCollection_t parts;
  EXPECT_FALSE(b.parser->supportsModel(bad.bytes.data(), bad.bytes.size(), parts, nullptr));
  EXPECT_EQ(parts, (::SubGraphCollection_t{{{1}, true}}));
  EXPECT_TRUE(b.parser->supportsOperator("Relu"));
  EXPECT_FALSE(b.parser->supportsOperator("Gnarl"));
  EXPECT_FALSE(b.parser->supportsOperator(nullptr));
}

TEST(Parser, TakesWeightsBesideTheModel) {
  Bench b;
  const Proto bytes = good_model();
  EXPECT_FALSE(b.parser->parseModelProto());
  ASSERT_TRUE(b.parser->loadModelProto(bytes.bytes.data(), bytes.bytes.size(), nullptr));
  std::vector<float> w{1, 2};
  EXPECT_FALSE(b.parser->loadInitializer("w", w.data(), 4));
  EXPECT_FALSE(b.parser->loadInitializer("v", w.data(), 8));
  EXPECT_TRUE(b.parser->loadInitializer("w", w.data(), 8));
  b.parser->clearErrors();
  EXPECT_TRUE(b.parser->parseModelProto());
  w.assign(2, -100);  // free after the parse
  EXPECT_EQ(b.run({1, 2}), (std::vector<float>{2, 4}));
}

TEST(Parser, KeepsFlags) {
  Bench b;
  EXPECT_TRUE(b.parser->getFlag(OnnxParserFlag::kNATIVE_INSTANCENORM));
  b.parser->setFlag(OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE);
  b.parser->clearFlag(OnnxParserFlag::kNATIVE_INSTANCENORM);
  EXPECT_EQ(b.parser->getFlags(), 1U << 3);
  b.parser->setFlags(1U << 9);
  EXPECT_EQ(b.parser->getFlags(), 1U << 3);
  EXPECT_EQ(b.parser->getNbErrors(), 1);
  int64_t count = 7;
  EXPECT_EQ(b.parser->getUsedVCPluginLibraries(count), nullptr);
  EXPECT_EQ(count, 0);
  EXPECT_TRUE(b.parser->setBuilderConfig(b.config.get()));
  EXPECT_FALSE(b.parser->setBuilderConfig(nullptr));
}

TEST(Parser, NewerHeadersAreRefused) {
  Bench b;
  EXPECT_EQ(create_parser(b.network.get(), &b.logger, NV_ONNX_PARSER_VERSION + 1), nullptr);
  EXPECT_EQ(b.logger.errors.size(), 1U);
  EXPECT_EQ(create_parser(nullptr, &b.logger, NV_ONNX_PARSER_VERSION), nullptr);
  EXPECT_EQ(create_parser(b.network.get(), nullptr, NV_ONNX_PARSER_VERSION), nullptr);
}

TEST(ParserRefitter, SaysThatItIsMissing) {
  Logger logger;
  int engine = 0;
  const std::unique_ptr<nvonnxparser::IParserRefitter> refitter(
      static_cast<nvonnxparser::IParserRefitter*>(create_parser_refitter(&engine, &logger, NV_ONNX_PARSER_VERSION)));
  ASSERT_NE(refitter, nullptr);
  EXPECT_FALSE(refitter->refitFromFile("m.onnx"));
  ASSERT_EQ(refitter->getNbErrors(), 1);
  EXPECT_STREQ(refitter->getError(0)->desc(), "refitting is not in Kiln yet");
}

}  // namespace
}  // namespace kiln::api
