// Random tensors from run to run: a context's generator moves on with every run, launched or replayed; a seed says
// where it starts. On a machine with a GPU these run there.
#include <NvOnnxParser.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device_numbers.h"
#include "onnx_nodes.h"
#include "program.h"

namespace robustness {
namespace {

using Numbers = std::vector<float>;
using DeviceNumbers = DeviceArray<float>;

/// An engine of a network that a test makes.
class RandomRuns : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess); }
  void TearDown() override { cudaStreamDestroy(stream_); }
  void parse(std::string_view line) {
    const std::string bytes = onnx_model(parse_node(line), Inputs::kOfNetwork);
    const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*p_.network, p_.logger));
    ASSERT_TRUE(parser->parse(bytes.data(), bytes.size(), nullptr)) << p_.logger.take_errors();
  }
  void build() {
    engine_.reset(p_.builder->buildEngineWithConfig(*p_.network, *p_.config));
    ASSERT_NE(engine_, nullptr) << p_.logger.take_errors();
  }
  std::unique_ptr<nv::IExecutionContext> context() {
    return std::unique_ptr<nv::IExecutionContext>(engine_->createExecutionContext());
  }
  Numbers run(nv::IExecutionContext& context, size_t count) {
    DeviceNumbers y(count);
    EXPECT_TRUE(context.setTensorAddress(engine_->getIOTensorName(engine_->getNbIOTensors() - 1), y.data()));
    EXPECT_TRUE(context.enqueueV3(stream_)) << p_.logger.take_errors();
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    return y.read();
  }

  Program p_;
  std::unique_ptr<nv::ICudaEngine> engine_;
  cudaStream_t stream_ = nullptr;
};

TEST_F(RandomRuns, ALayerDrawsAnewInEachRunAndContext) {
  for (const nv::FillOperation operation : {nv::FillOperation::kRANDOM_UNIFORM, nv::FillOperation::kRANDOM_NORMAL}) {
    Program p;
    nv::IFillLayer* fill = p->addFill(dims({300}), operation, nv::DataType::kFLOAT);
    fill->setAlpha(2);
    fill->setBeta(3);
    p.mark(fill->getOutput(0));
    engine_.reset(p.builder->buildEngineWithConfig(*p.network, *p.config));
    ASSERT_NE(engine_, nullptr) << p.logger.take_errors();
    const auto one = context(), other = context();
    std::vector<Numbers> draws;
    for (int i = 0; i < 3; ++i) draws.push_back(run(*one, 300));
    for (int i = 0; i < 2; ++i) draws.push_back(run(*other, 300));
    for (size_t i = 0; i < draws.size(); ++i)
      for (size_t k = 0; k < i; ++k) EXPECT_NE(draws[i], draws[k]) << i << " and " << k;
    if (operation != nv::FillOperation::kRANDOM_UNIFORM) continue;
    for (const Numbers& numbers : draws)
      EXPECT_TRUE(std::ranges::all_of(numbers, [](float number) { return number >= 2 && number < 3; }));
  }
}

TEST_F(RandomRuns, ASeedFixesTheStartInEveryContextAndEngine) {
  constexpr std::string_view kSeeded = "RandomNormal | | shape=[40], seed=~3";
  parse(kSeeded);
  build();
  const auto one = context();
  const Numbers first = run(*one, 40), second = run(*one, 40);
  EXPECT_NE(first, second);
  const auto other = context();
  EXPECT_EQ(run(*other, 40), first);
  EXPECT_EQ(run(*other, 40), second);
  Program again;
  const std::string bytes = onnx_model(parse_node(kSeeded), Inputs::kOfNetwork);
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*again.network, again.logger));
  ASSERT_TRUE(parser->parse(bytes.data(), bytes.size(), nullptr));
  const std::unique_ptr<nv::ICudaEngine> engine(again.builder->buildEngineWithConfig(*again.network, *again.config));
  ASSERT_NE(engine, nullptr);
  const std::unique_ptr<nv::IExecutionContext> third(engine->createExecutionContext());
  EXPECT_EQ(run(*third, 40), first);
}

TEST_F(RandomRuns, OtherShapesGoOnInTheSameSequence) {
  parse("RandomUniformLike | x[-1] | seed=~1");
  const char* const x = p_->getInput(0)->getName();
  p_.add_profile(x, dims({1}), dims({300}), dims({1000}));
  build();
  DeviceNumbers input(1000);
  const auto drawn = [&](nv::IExecutionContext& context, int64_t count) {
    EXPECT_TRUE(context.setInputShape(x, dims({count})));
    EXPECT_TRUE(context.setTensorAddress(x, input.data()));
    return run(context, static_cast<size_t>(count));
  };
  const auto one = context(), other = context();
  Numbers parts;
  for (const int64_t count : {3, 600, 3, 94})
    for (const float number : drawn(*one, count)) parts.push_back(number);
  EXPECT_EQ(drawn(*other, 700), parts);
}

TEST_F(RandomRuns, ReplaysMoveOn) {
  parse("RandomUniform | | shape=[700], seed=~5");
  build();
  const auto plain = context(), recorded = context();
  const Numbers first = run(*plain, 700), second = run(*plain, 700), third = run(*plain, 700);
  EXPECT_EQ(run(*recorded, 700), first);  // a run before the capture, as TensorRT wants it
  DeviceNumbers y(700);
  ASSERT_TRUE(recorded->setTensorAddress(engine_->getIOTensorName(0), y.data()));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_TRUE(recorded->enqueueV3(stream_)) << p_.logger.take_errors();
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (const Numbers& expected : {second, third}) {
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(y.read(), expected);
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

TEST_F(RandomRuns, ManyRunsWithTheSameAddresses) {  // which a GPU replays by itself
  parse("RandomNormal | | shape=[3], seed=~8");
  build();
  const auto one = context(), other = context();
  DeviceNumbers y(3);
  ASSERT_TRUE(one->setTensorAddress(engine_->getIOTensorName(0), y.data()));
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(one->enqueueV3(stream_));
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(y.read(), run(*other, 3)) << "run " << i;
  }
}

TEST_F(RandomRuns, EqualFillsOfANetworkHaveGeneratorsOfTheirOwn) {
  nv::ITensor* sum = nullptr;
  Program p;
  for (int i = 0; i < 2; ++i) {
    const std::string bytes = onnx_model(parse_node("RandomUniform | | shape=[30], seed=~2"), Inputs::kOfNetwork);
    const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*p.network, p.logger));
    ASSERT_TRUE(parser->parse(bytes.data(), bytes.size(), nullptr)) << p.logger.take_errors();
    nv::ITensor* const drawn = p->getOutput(0);
    p->unmarkOutput(*drawn);
    sum = sum ? p->addElementWise(*sum, *drawn, nv::ElementWiseOperation::kSUB)->getOutput(0) : drawn;
  }
  p.mark(sum);
  engine_.reset(p.builder->buildEngineWithConfig(*p.network, *p.config));
  ASSERT_NE(engine_, nullptr) << p.logger.take_errors();
  const auto one = context();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(*one, 30), Numbers(30, 0)) << "run " << i;
}

}  // namespace
}  // namespace robustness
