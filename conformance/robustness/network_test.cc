// Networks as programs really make them: edited between builds, with odd shapes and types, with names twice.
#include <gtest/gtest.h>

#include <cmath>

#include "device_numbers.h"
#include "program.h"

namespace robustness {
namespace {

using nv::DataType;

/// Builds what the program has, runs it on buffers given by name, and says why not.
struct Session {
  explicit Session(Program& program) : log(program.logger) {
    engine.reset(program.builder->buildEngineWithConfig(*program.network, *program.config));
    if (engine) context.reset(engine->createExecutionContext());
  }
  bool operator()(std::initializer_list<std::pair<const char*, void*>> buffers) {
    if (!context) return false;
    for (const auto& [name, data] : buffers)
      if (!context->setTensorAddress(name, data)) return false;
    return context->enqueueV3(nullptr) && cudaDeviceSynchronize() == cudaSuccess;
  }
  Logger& log;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
};

TEST(OddNetworks, NothingAtAll) {
  Program p;
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_NE(p.logger.take_errors().find("output"), std::string::npos);
  p.input("x", {2});
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_EQ(p->getLayer(0), nullptr);
  EXPECT_EQ(p->getInput(1), nullptr);
  EXPECT_EQ(p->getInput(-1), nullptr);
  EXPECT_EQ(p->getOutput(0), nullptr);
}

TEST(OddNetworks, BuiltTwiceAndEditedBetween) {
  Program p;
  nv::ITensor& x = *p.input("x", {4});
  nv::IActivationLayer& layer = *p->addActivation(x, nv::ActivationType::kRELU);
  p.mark(layer.getOutput(0));
  Managed<float> in{-1, 2, -3, 4}, out(4), other(4);
  Session first(p);
  EXPECT_TRUE(first({{"x", in.data()}, {"y", out.data()}})) << p.logger.take_errors();
  layer.setActivationType(nv::ActivationType::kTANH);
  nv::ITensor& negated = *p->addUnary(*layer.getOutput(0), nv::UnaryOperation::kNEG)->getOutput(0);
  p.mark(&negated, "z");
  Session second(p);
  EXPECT_TRUE(second({{"x", in.data()}, {"y", out.data()}, {"z", other.data()}})) << p.logger.take_errors();
  EXPECT_FLOAT_EQ(out[0], std::tanh(-1.0F));
  EXPECT_FLOAT_EQ(other[1], -std::tanh(2.0F));
  EXPECT_TRUE(first({{"x", in.data()}, {"y", out.data()}}));
  EXPECT_EQ(out, (Managed<float>{0, 2, 0, 4}));
  p->unmarkOutput(negated);
  p->unmarkOutput(*layer.getOutput(0));
  EXPECT_EQ(p->getNbOutputs(), 0);
  EXPECT_EQ(p.build(), nullptr);
  p->markOutput(negated);
  EXPECT_EQ(Session(p).engine->getNbIOTensors(), 2);
}

TEST(OddNetworks, OutputsMarkedTwiceAndUnmarkedTwice) {
  Program p;
  nv::ITensor& y = *p->addIdentity(*p.input("x", {2}))->getOutput(0);
  y.setName("y");
  p->markOutput(y);
  p->markOutput(y);
  EXPECT_EQ(p->getNbOutputs(), 1);
  EXPECT_EQ(Session(p).engine->getNbIOTensors(), 2);
  p->unmarkOutput(y);
  p.logger.take_errors();
  p->unmarkOutput(y);
  EXPECT_NE(p.logger.take_errors().find("'y' is no output"), std::string::npos);
}

TEST(OddNetworks, AnInputIsNoOutput) {
  Program p;
  nv::ITensor& x = *p.input("x", {2});
  p->markOutput(x);
  EXPECT_NE(p.logger.take_errors().find("is an input"), std::string::npos);
  EXPECT_EQ(p->getNbOutputs(), 0);
}

TEST(OddNetworks, NamesTwice) {
  Program p;
  nv::ITensor& x = *p.input("x", {2});
  EXPECT_EQ(p.input("x", {3}), nullptr);
  EXPECT_NE(p.logger.take_errors().find("there is an input 'x' already"), std::string::npos);
  nv::ITensor& a = *p->addUnary(x, nv::UnaryOperation::kABS)->getOutput(0);
  nv::ITensor& b = *p->addUnary(x, nv::UnaryOperation::kNEG)->getOutput(0);
  p.mark(&a, "y");
  p.mark(&b, "y");
  EXPECT_EQ(p.build(), nullptr) << "two outputs of one name";
  EXPECT_NE(p.logger.take_errors().find("'y'"), std::string::npos);
  b.setName("x");
  EXPECT_EQ(p.build(), nullptr) << "an output with an input's name";
  EXPECT_NE(p.logger.take_errors().find("'x'"), std::string::npos);
  b.setName("z");
  p->getLayer(0)->setName("same");
  p->getLayer(1)->setName("same");
  Managed<float> in{-1, 2}, y(2), z(2);
  EXPECT_TRUE(Session(p)({{"x", in.data()}, {"y", y.data()}, {"z", z.data()}})) << p.logger.take_errors();
  EXPECT_EQ(z, (Managed<float>{1, -2}));
}

TEST(OddNetworks, Scalars) {
  Program p;
  nv::ITensor& x = *p.input("x", {});
  const float two = 2;
  nv::ITensor& c = *p->addConstant(dims({}), {DataType::kFLOAT, &two, 1})->getOutput(0);
  nv::IElementWiseLayer* const product = p->addElementWise(x, c, nv::ElementWiseOperation::kPROD);
  ASSERT_NE(product, nullptr) << p.logger.take_errors();
  p.mark(product->getOutput(0));
  Managed<float> in{21}, out(1);
  EXPECT_TRUE(Session(p)({{"x", in.data()}, {"y", out.data()}})) << p.logger.take_errors();
  EXPECT_EQ(out[0], 42);
}

TEST(OddNetworks, NoElements) {
  Program p;
  nv::ITensor& x = *p.input("x", {-1, 3});
  nv::ITensor& doubled = *p->addElementWise(x, x, nv::ElementWiseOperation::kSUM)->getOutput(0);
  p.mark(&doubled);
  p.mark(p->addReduce(x, nv::ReduceOperation::kSUM, 1, false)->getOutput(0), "sum");
  p.add_profile("x", dims({0, 3}), dims({2, 3}), dims({4, 3}));
  Session run(p);
  ASSERT_NE(run.context, nullptr) << p.logger.take_errors();
  Managed<float> sum{7, 7, 7}, none(1);
  EXPECT_TRUE(run.context->setInputShape("x", dims({0, 3})));
  EXPECT_TRUE(run({{"x", none.data()}, {"y", none.data()}, {"sum", sum.data()}})) << p.logger.take_errors();
  EXPECT_EQ(sum, (Managed<float>{0, 0, 0}));
  EXPECT_EQ(list(run.context->getTensorShape("y")), (std::vector<int64_t>{0, 3}));
  // An empty tensor needs no memory.
  EXPECT_TRUE(run({{"x", nullptr}, {"y", nullptr}, {"sum", sum.data()}})) << p.logger.take_errors();
}

TEST(OddNetworks, EightAxes) {
  Program p;
  nv::ITensor& x = *p.input("x", {2, 1, 2, 1, 2, 1, 2, 2});
  nv::IShuffleLayer& shuffle = *p->addShuffle(x);
  shuffle.setFirstTranspose({{7, 6, 5, 4, 3, 2, 1, 0}});
  nv::ITensor& t = *shuffle.getOutput(0);
  EXPECT_EQ(list(t.getDimensions()), (std::vector<int64_t>{2, 2, 1, 2, 1, 2, 1, 2}));
  p.mark(p->addElementWise(t, t, nv::ElementWiseOperation::kSUM)->getOutput(0));
  p.mark(p->addReduce(x, nv::ReduceOperation::kMAX, 0xff, false)->getOutput(0), "peak");
  Managed<float> in(32), out(32), peak(1);
  for (size_t i = 0; i < 32; ++i) in[i] = static_cast<float>(i);
  EXPECT_TRUE(Session(p)({{"x", in.data()}, {"y", out.data()}, {"peak", peak.data()}})) << p.logger.take_errors();
  EXPECT_EQ(peak[0], 31);
  EXPECT_EQ(out[1], 32);  // the outermost axis is now the innermost
  nv::Dims nine = dims({1, 1, 1, 1, 1, 1, 1, 1});
  nine.nbDims = 9;
  EXPECT_EQ(p->addInput("nine", DataType::kFLOAT, nine), nullptr);
  EXPECT_NE(p.logger.take_errors().find("nbDims is 9"), std::string::npos);
}

TEST(OddNetworks, IntegersAndBools) {
  Program p;
  nv::ITensor& a = *p.input("a", {3}, DataType::kINT64);
  nv::ITensor& b = *p.input("b", {3}, DataType::kINT64);
  p.mark(p->addElementWise(a, b, nv::ElementWiseOperation::kFLOOR_DIV)->getOutput(0), "quotient");
  p.mark(p->addElementWise(a, b, nv::ElementWiseOperation::kLESS)->getOutput(0), "less");
  Session run(p);
  ASSERT_NE(run.engine, nullptr) << p.logger.take_errors();
  EXPECT_EQ(run.engine->getTensorDataType("less"), DataType::kBOOL);
  EXPECT_EQ(run.engine->getTensorDataType("quotient"), DataType::kINT64);
  Managed<int64_t> in{7, -7, INT64_MAX}, by{2, 2, INT64_MAX}, quotient(3);
  Managed<char> less(3);
  EXPECT_TRUE(run({{"a", in.data()}, {"b", by.data()}, {"quotient", quotient.data()}, {"less", less.data()}}));
  EXPECT_EQ(quotient, (Managed<int64_t>{3, -4, 1}));
  EXPECT_EQ(less, (Managed<char>{false, true, false}));
  // Divisions that no machine can do must not end the process, whatever they give.
  in = {1, INT64_MIN, 0}, by = {0, -1, 0};
  run({{"a", in.data()}, {"b", by.data()}, {"quotient", quotient.data()}, {"less", less.data()}});
  EXPECT_TRUE(process_is_fine());
}

TEST(OddNetworks, ExtentsThatOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  Program p;
  nv::ITensor* const x = p.input("x", {kHuge, kHuge});
  if (x) {  // refused at once, or when built
    p.mark(p->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0));
    EXPECT_EQ(p.build(), nullptr);
  }
  EXPECT_NE(p.logger.take_errors(), "");
  Program q;
  nv::ITensor& small = *q.input("x", {-1, -1});
  q.mark(q->addElementWise(small, small, nv::ElementWiseOperation::kSUM)->getOutput(0));
  nv::IOptimizationProfile& profile = *q.builder->createOptimizationProfile();
  profile.setDimensions("x", nv::OptProfileSelector::kMIN, dims({1, 1}));
  profile.setDimensions("x", nv::OptProfileSelector::kOPT, dims({1, 1}));
  profile.setDimensions("x", nv::OptProfileSelector::kMAX, dims({INT64_MAX, INT64_MAX}));
  q.config->addOptimizationProfile(&profile);
  const auto plan = q.build();
  EXPECT_TRUE(plan || q.logger.take_errors() != "");
  if (plan) {
    const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(q.logger));
    const auto engine = load(*runtime, *plan);
    const std::unique_ptr<nv::IExecutionContext> context(engine ? engine->createExecutionContext() : nullptr);
    Managed<float> value(1);
    if (context && context->setInputShape("x", dims({int64_t{1} << 33, int64_t{1} << 33}))) {
      context->setTensorAddress("x", value.data());
      context->setTensorAddress("y", value.data());
      EXPECT_FALSE(context->enqueueV3(nullptr));
    }
    EXPECT_NE(q.logger.take_errors(), "");
  }
  EXPECT_TRUE(process_is_fine());
}

TEST(OddNetworks, ConstantsThatOverflow) {
  Program p;
  const float one = 1;
  const nv::Weights weights{DataType::kFLOAT, &one, 1};
  constexpr int64_t kHuge = int64_t{1} << 33;
  EXPECT_EQ(p->addConstant(dims({kHuge, kHuge}), weights), nullptr);
  EXPECT_EQ(p->addConstant(dims({-1}), weights), nullptr);
  EXPECT_EQ(p->addConstant(dims({1}), {DataType::kFLOAT, &one, -1}), nullptr);
  EXPECT_EQ(p->addConvolutionNd(*p.input("x", {1, 1, 4, 4}), kHuge, dims({kHuge, kHuge}), weights, no_weights()),
            nullptr);
  EXPECT_EQ(p->addFill(dims({kHuge, kHuge}), nv::FillOperation::kLINSPACE, DataType::kFLOAT) &&
                p->getLayer(0)->getOutput(0)->getDimensions().nbDims == 2 && p.build(),
            false);
  EXPECT_NE(p.logger.take_errors(), "");
}

TEST(OddNetworks, WrongDims) {
  Program p;
  for (const int32_t rank : {-2, -1, 9, 1000, INT32_MAX, INT32_MIN}) {
    nv::Dims wrong = dims({1, 1, 1, 1});
    wrong.nbDims = rank;
    EXPECT_EQ(p->addInput("x", DataType::kFLOAT, wrong), nullptr) << rank;
    EXPECT_EQ(p->addConstant(wrong, no_weights()), nullptr) << rank;
    nv::IOptimizationProfile& profile = *p.builder->createOptimizationProfile();
    EXPECT_FALSE(profile.setDimensions("x", nv::OptProfileSelector::kMIN, wrong)) << rank;
    EXPECT_NE(p.logger.take_errors().find("nbDims is " + std::to_string(rank)), std::string::npos);
  }
  EXPECT_EQ(p->addInput("x", DataType::kFLOAT, dims({-2})), nullptr);
  EXPECT_EQ(p->addInput("x", static_cast<DataType>(77), dims({1})), nullptr);
  EXPECT_EQ(p->addInput("", DataType::kFLOAT, dims({1})), nullptr);
  EXPECT_EQ(p->addInput(std::string(5000, 'n').c_str(), DataType::kFLOAT, dims({1})), nullptr);
}

TEST(OddNetworks, TensorsOfOthers) {
  Program p, q;
  nv::ITensor& x = *p.input("x", {2});
  nv::ITensor& theirs = *q.input("x", {2});
  EXPECT_EQ(p->addElementWise(x, theirs, nv::ElementWiseOperation::kSUM), nullptr);
  p->markOutput(*q->addIdentity(theirs)->getOutput(0));
  EXPECT_EQ(p->getNbOutputs(), 0);
  EXPECT_EQ(q.builder->buildSerializedNetwork(*p.network, *q.config), nullptr);  // no output; the pairing is allowed
}

}  // namespace
}  // namespace robustness
