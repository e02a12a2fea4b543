// Debug tensors: what a plan loses by them, and what a listener is shown of runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>

#include "api/build/testing/loop_bench.h"
#include "api/run/stream_table.h"
#include "base/str.h"
#include "plan/metadata.h"
#include "plan/reader.h"

namespace kiln::api::testing {
namespace {

using nv::ActivationType, nv::ElementWiseOperation, nv::MatrixOperation;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

/// Notes what it is shown: "name f32[2] = 1, 2", of other types the bytes' number.
struct Listener : nv::IDebugListener {
  struct Seen {
    std::string name;
    std::vector<int64_t> shape;
    nv::DataType type = nv::DataType::kFLOAT;
    nv::TensorLocation location = nv::TensorLocation::kDEVICE;
    Bytes value;
    const void* address = nullptr;
  };
  bool processDebugTensor(const void* address, nv::TensorLocation location, nv::DataType type, const nv::Dims& shape,
                          const char* name, cudaStream_t stream) override {
    Seen& one = seen.emplace_back(Seen{name, list(shape), type, location, {}, address});
    int64_t count = 1;
    for (const int64_t extent : one.shape) count *= extent;
    const int64_t size = type == nv::DataType::kBOOL ? 1 : type == nv::DataType::kINT64 ? 8 : 4;
    one.value = {one.shape, std::vector<std::byte>(static_cast<size_t>(count * size))};
    EXPECT_TRUE(copy_on(stream, one.value.bytes.data(), address, one.value.bytes.size()));
    last_stream = stream;
    if (then) then(*this);
    return goes_on;
  }
  Floats floats_of(const std::string& name, size_t which = 0) const {
    for (const Seen& one : seen)
      if (one.name == name && which-- == 0) return elements<float>(one.value);
    return {};
  }
  Names names() const {
    Names result;
    for (const Seen& one : seen) result.push_back(one.name);
    return result;
  }
  std::vector<Seen> seen;
  std::function<void(Listener&)> then;
  cudaStream_t last_stream = nullptr;
  bool goes_on = true;
};

/// The plan of a network as it is now, without times.
plan::Plan plan_of(Workbench& w) {
  const std::unique_ptr<nv::IHostMemory> bytes(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_NE(bytes, nullptr) << (w.logger.errors.empty() ? "" : w.logger.errors.back());
  if (!bytes) return {};
  const auto* const data = static_cast<const std::byte*>(bytes->data());
  auto read = plan::read_plan({data, bytes->size()});
  EXPECT_TRUE(read);
  if (!read) return {};
  plan::Plan plan = **read;
  for (plan::Profile& profile : plan.profiles)
    for (plan::Step& step : profile.steps) step.info.time_us = 0;
  for (plan::Body& body : plan.bodies)
    for (plan::Step& step : body.steps) step.info.time_us = 0;
  return plan;
}

/// y = softmax(relu(x W + b) 2): a product with what may be fused into it, and a softmax. Built at level 0, where times
/// have no say in what is chosen.
struct Bench : LoopBench {
  Bench() {
    config->setBuilderOptimizationLevel(0);
    x = input("x", {2, 3});
    product = network->addMatrixMultiply(*x, MatrixOperation::kNONE, *constant({3, 4}, w), MatrixOperation::kNONE)
                  ->getOutput(0);
    sum = add(product, constant({1, 4}, {1, 1, 1, 1}));
    relu = network->addActivation(*sum, ActivationType::kRELU)->getOutput(0);
    doubled = mul(relu, constant({1, 1}, {2}));
    auto* const softmax = network->addSoftMax(*doubled);
    softmax->setAxes(2);
    y = softmax->getOutput(0);
    product->setName("product"), sum->setName("sum"), relu->setName("relu"), doubled->setName("doubled");
    mark(y);
  }
  plan::Plan plan() { return plan_of(*this); }

  Floats w{1, 0, -1, 2, 0, 1, 1, 0, 1, 1, 0, -1};
  nv::ITensor *x, *product, *sum, *relu, *doubled, *y;
};

Names steps_of(const plan::Plan& plan) {
  Names names;
  for (const plan::Step& step : plan.profiles[0].steps)
    names.push_back(str(step.name, " | ", step.info.tactic, " ", step.info.variant, " ", step.step));
  return names;
}
Names debug_names(const plan::Plan& plan) {
  Names names;
  for (const plan::DebugTensor& debug : plan.profiles[0].debug_tensors) names.push_back(debug.name);
  std::ranges::sort(names);
  return names;
}

const Floats kX{1, 2, 3, -1, 0, 1};
const Floats kProduct{4, 5, 1, -1, 0, 1, 1, -3};
const Floats kSum{5, 6, 2, 0, 1, 2, 2, -2};
const Floats kRelu{5, 6, 2, 0, 1, 2, 2, 0};
const Floats kDoubled{10, 12, 4, 0, 2, 4, 4, 0};

/// An engine with its inputs fed and a listener.
struct Watched : Running {
  explicit Watched(Workbench& w) : Running(w), x(kX.begin(), kX.end()), y(8) {
    EXPECT_NE(engine, nullptr) << error;
    if (!engine) return;
    feed("x", x), feed("y", y);
    EXPECT_TRUE(context->setDebugListener(&listener));
  }
  Listener listener;
  Shared<float> x, y;
};

TEST(DebugTensors, ATensorInMemoryChangesNothing) {
  Bench w;
  const plan::Plan before = w.plan();
  ASSERT_TRUE(w->markDebug(*w.doubled));
  ASSERT_TRUE(w->markDebug(*w.x));
  ASSERT_TRUE(w->markDebug(*w.y));
  plan::Plan after = w.plan();
  EXPECT_EQ(debug_names(after), (Names{"doubled", "x", "y"}));
  EXPECT_EQ(steps_of(after), steps_of(before));
  after.profiles[0].debug_tensors.clear();
  EXPECT_EQ(plan::to_record(after), plan::to_record(before));
}

TEST(DebugTensors, AllUnfusedTensorsChangeNothing) {
  Bench w;
  const plan::Plan before = w.plan();
  ASSERT_TRUE(w->markUnfusedTensorsAsDebugTensors());
  plan::Plan after = w.plan();
  EXPECT_TRUE(after.build.debugs_unfused);
  after.build.debugs_unfused = false;
  EXPECT_EQ(plan::to_record(after), plan::to_record(before));
}

TEST(DebugTensors, ATensorInsideOfAStepSplitsIt) {
  Bench w;
  const size_t before = w.plan().profiles[0].steps.size();
  ASSERT_TRUE(w->markDebug(*w.sum));
  const plan::Plan after = w.plan();
  EXPECT_EQ(debug_names(after), (Names{"sum"}));
  EXPECT_GT(after.profiles[0].steps.size(), before);
}

TEST(DebugTensors, AreShownInTheOrderOfTheRun) {
  Bench w;
  for (nv::ITensor* tensor : {w.x, w.product, w.sum, w.relu, w.doubled, w.y}) ASSERT_TRUE(w->markDebug(*tensor));
  Watched run(w);
  ASSERT_TRUE(run.engine);
  EXPECT_TRUE(run.engine->isDebugTensor("sum"));
  EXPECT_FALSE(run.engine->isDebugTensor("b"));
  ASSERT_TRUE(run.run());
  EXPECT_TRUE(run.listener.seen.empty()) << "off by default";
  const Floats y(run.y.begin(), run.y.end());
  ASSERT_TRUE(run.context->setAllTensorsDebugState(true));
  for (int turn = 0; turn < 2; ++turn) {
    run.listener.seen.clear();
    ASSERT_TRUE(run.run()) << run.last_error();
    EXPECT_EQ(run.listener.names(), (Names{"x", "product", "sum", "relu", "doubled", "y"}));
  }
  EXPECT_EQ(run.listener.floats_of("x"), kX);
  EXPECT_EQ(run.listener.floats_of("product"), kProduct);
  EXPECT_EQ(run.listener.floats_of("sum"), kSum);
  EXPECT_EQ(run.listener.floats_of("relu"), kRelu);
  EXPECT_EQ(run.listener.floats_of("doubled"), kDoubled);
  EXPECT_EQ(run.listener.floats_of("y"), Floats(run.y.begin(), run.y.end()));
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(run.y[i], y[i], 1e-6);
  for (const Listener::Seen& one : run.listener.seen) {
    EXPECT_EQ(one.type, nv::DataType::kFLOAT);
    EXPECT_EQ(one.location, nv::TensorLocation::kDEVICE);
    EXPECT_EQ(one.shape, (one.name == "x" ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{2, 4}));
  }
}

TEST(DebugTensors, HaveStatesOfTheirOwn) {
  Bench w;
  ASSERT_TRUE(w->markDebug(*w.relu) && w->markDebug(*w.doubled) && w->markDebug(*w.sum));
  ASSERT_TRUE(w->isDebugTensor(*w.sum));
  ASSERT_TRUE(w->unmarkDebug(*w.sum));
  EXPECT_TRUE(w->unmarkDebug(*w.sum)) << "it is not marked any more";
  EXPECT_FALSE(w->isDebugTensor(*w.sum));
  Watched run(w);
  ASSERT_TRUE(run.engine);
  EXPECT_FALSE(run.context->setTensorDebugState("sum", true));
  EXPECT_EQ(run.last_error(),
            "IExecutionContext::setTensorDebugState: 'sum' was not marked as a debug tensor when the engine was built");
  ASSERT_TRUE(run.context->setTensorDebugState("relu", true));
  EXPECT_TRUE(run.context->getDebugState("relu"));
  EXPECT_FALSE(run.context->getDebugState("doubled"));
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.listener.names(), Names{"relu"});
  const std::unique_ptr<nv::IExecutionContext> other(run.engine->createExecutionContext());
  EXPECT_FALSE(other->getDebugState("relu")) << "states are the context's";
  ASSERT_TRUE(run.context->setDebugListener(nullptr));
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.listener.seen.size(), 1u);
}

TEST(DebugTensors, AreKeptWhereTheNetworkHasNoUseForThem) {
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  nv::ITensor* const x = w.input("x", {2, 3});
  nv::ITensor* const same = w->addIdentity(*x)->getOutput(0);
  nv::ITensor* const constant = w.constant({2}, {3, 4});
  nv::ITensor* const folded = w.add(constant, w.constant({2}, {1, 1}));
  nv::ITensor* const dead = w.add(x, x);
  nv::ITensor* const shape = w->addShape(*x)->getOutput(0);
  nv::IShuffleLayer* const shuffle = w->addShuffle(*same);
  shuffle->setReshapeDimensions(dims({6}));
  nv::ITensor* const flat = shuffle->getOutput(0);
  nv::ITensor* const y = w.mul(flat, w.constant({1}, {2}));
  same->setName("same"), constant->setName("constant"), folded->setName("folded"), dead->setName("dead");
  shape->setName("shape"), flat->setName("flat");
  w.mark(y);
  for (nv::ITensor* tensor : {same, constant, folded, dead, shape, flat}) ASSERT_TRUE(w->markDebug(*tensor));
  Running run(w);
  ASSERT_TRUE(run.engine) << run.error;
  Shared<float> in(kX.begin(), kX.end()), out(6);
  run.feed("x", in), run.feed("y", out);
  Listener listener;
  ASSERT_TRUE(run.context->setDebugListener(&listener));
  ASSERT_TRUE(run.context->setAllTensorsDebugState(true));
  ASSERT_TRUE(run.run()) << run.last_error();
  Names names = listener.names();
  std::ranges::sort(names);
  EXPECT_EQ(names, (Names{"constant", "dead", "flat", "folded", "same", "shape"}));
  EXPECT_EQ(listener.floats_of("same"), kX);
  EXPECT_EQ(listener.floats_of("flat"), kX);
  EXPECT_EQ(listener.floats_of("constant"), (Floats{3, 4}));
  EXPECT_EQ(listener.floats_of("folded"), (Floats{4, 5}));
  EXPECT_EQ(listener.floats_of("dead"), (Floats{2, 4, 6, -2, 0, 2}));
  for (const Listener::Seen& one : listener.seen) {
    if (one.name != "shape") continue;
    EXPECT_EQ(elements<int64_t>(one.value), (std::vector<int64_t>{2, 3}));
  }
}

/// A batch norm's scale becomes the convolution's: its output is then no more what it was.
TEST(DebugTensors, AreNotWhatAPassMadeOfThem) {
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  nv::ITensor* const x = w.input("x", {1, 1, 2, 2});
  const Floats filter{3}, scale{10}, shift{1};
  nv::ITensor* const conv = w->addConvolutionNd(*x, 1, dims({1, 1}), weights(filter), no_weights())->getOutput(0);
  nv::ITensor* const scaled =
      w->addScale(*conv, nv::ScaleMode::kUNIFORM, weights(shift), weights(scale), no_weights())->getOutput(0);
  conv->setName("conv"), scaled->setName("scaled");
  w.mark(w->addActivation(*scaled, ActivationType::kRELU)->getOutput(0));
  ASSERT_TRUE(w->markDebug(*conv) && w->markDebug(*scaled));
  Running run(w);
  ASSERT_TRUE(run.engine) << run.error;
  Shared<float> in{1, 2, 3, 4}, out(4);
  run.feed("x", in), run.feed("y", out);
  Listener listener;
  ASSERT_TRUE(run.context->setDebugListener(&listener) && run.context->setAllTensorsDebugState(true));
  ASSERT_TRUE(run.run()) << run.last_error();
  EXPECT_EQ(listener.floats_of("conv"), (Floats{3, 6, 9, 12}));
  EXPECT_EQ(listener.floats_of("scaled"), (Floats{31, 61, 91, 121}));
}

TEST(DebugTensors, OfALoopAreShownInEachIteration) {
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  nv::ILoop* const loop = w->addLoop();
  loop->addTripLimit(*w.number(3), nv::TripLimit::kCOUNT);
  nv::IRecurrenceLayer* const state = loop->addRecurrence(*w.input("x", {2}));
  nv::ITensor* const twice = w.add(state->getOutput(0), state->getOutput(0));
  nv::ITensor* const next = w.add(twice, w.constant({2}, {1, 1}));
  state->setInput(1, *next);
  state->getOutput(0)->setName("state"), twice->setName("twice"), next->setName("next");
  w.mark(loop->addLoopOutput(*state->getOutput(0), nv::LoopOutput::kLAST_VALUE)->getOutput(0));
  for (nv::ITensor* tensor : {state->getOutput(0), twice, next}) ASSERT_TRUE(w->markDebug(*tensor));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  Listener listener;
  run.listener = &listener;
  EXPECT_EQ(run.floats_of({{"x", floats({2}, {1, 2})}}), (Floats{15, 23})) << run.error;
  const Names once{"state", "twice", "next"};
  Names all;
  for (int i = 0; i < 3; ++i) all.insert(all.end(), once.begin(), once.end());
  EXPECT_EQ(listener.names(), all);
  EXPECT_EQ(listener.floats_of("state", 0), (Floats{1, 2}));
  EXPECT_EQ(listener.floats_of("twice", 1), (Floats{6, 10}));
  EXPECT_EQ(listener.floats_of("next", 2), (Floats{15, 23}));
}

/// Also where only the marks' order would make the iteration another one.
TEST(DebugTensors, OfALoopThatAreInMemoryChangeNothing) {
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  nv::ITensor* const x = w.input("x", {2, 3});
  nv::ILoop* const loop = w->addLoop();
  loop->addTripLimit(*w.number(3), nv::TripLimit::kCOUNT);
  nv::IRecurrenceLayer* const first = loop->addRecurrence(*x);
  nv::IRecurrenceLayer* const second = loop->addRecurrence(*x);
  const auto shares = [&](nv::ITensor* of, int axis) {
    nv::ISoftMaxLayer* const softmax = w->addSoftMax(*of);
    softmax->setAxes(axis);
    return softmax->getOutput(0);
  };
  nv::ITensor* const other = shares(second->getOutput(0), 2);  // the iteration makes `one` first
  nv::ITensor* const one = shares(first->getOutput(0), 1);
  first->setInput(1, *one), second->setInput(1, *other);
  one->setName("one"), other->setName("other");
  w.mark(loop->addLoopOutput(*first->getOutput(0), nv::LoopOutput::kLAST_VALUE)->getOutput(0));
  w.mark(loop->addLoopOutput(*second->getOutput(0), nv::LoopOutput::kLAST_VALUE)->getOutput(0), "z");
  const plan::Plan before = plan_of(w);
  ASSERT_TRUE(w->markDebug(*other) && w->markDebug(*one));
  plan::Plan after = plan_of(w);
  size_t marks = 0;
  for (plan::Body& body : after.bodies) marks += body.debug_tensors.size(), body.debug_tensors.clear();
  EXPECT_EQ(marks, 2u);
  EXPECT_EQ(plan::to_record(after), plan::to_record(before));
}

/// Values of a loop that no output needs, a state and an output of the loop among them.
TEST(DebugTensors, OfALoopAreKeptWhereNoOutputNeedsThem) {
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  nv::ITensor* const x = w.input("x", {2});
  nv::ILoop* const loop = w->addLoop();
  loop->addTripLimit(*w.number(3), nv::TripLimit::kCOUNT);
  nv::IRecurrenceLayer* const state = loop->addRecurrence(*x);
  nv::IRecurrenceLayer* const unread = loop->addRecurrence(*x);
  nv::ITensor* const next = w.add(state->getOutput(0), w.constant({2}, {1, 1}));
  nv::ITensor* const square = w.mul(next, next);
  nv::ITensor* const grown = w.mul(unread->getOutput(0), w.constant({2}, {2, 2}));
  state->setInput(1, *next), unread->setInput(1, *grown);
  nv::ITensor* const last = loop->addLoopOutput(*unread->getOutput(0), nv::LoopOutput::kLAST_VALUE)->getOutput(0);
  square->setName("square"), grown->setName("grown"), last->setName("last");
  w.mark(loop->addLoopOutput(*state->getOutput(0), nv::LoopOutput::kLAST_VALUE)->getOutput(0));
  for (nv::ITensor* tensor : {square, grown, last}) ASSERT_TRUE(w->markDebug(*tensor));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  Listener listener;
  run.listener = &listener;
  EXPECT_EQ(run.floats_of({{"x", floats({2}, {1, 2})}}), (Floats{4, 5})) << run.error;
  Names names = listener.names();
  std::ranges::sort(names);
  EXPECT_EQ(names, (Names{"grown", "grown", "grown", "last", "square", "square", "square"}));
  EXPECT_EQ(listener.floats_of("square", 2), (Floats{16, 25}));
  EXPECT_EQ(listener.floats_of("grown", 1), (Floats{4, 8}));
  EXPECT_EQ(listener.floats_of("last"), (Floats{8, 16}));
}

/// A loop that gives the network nothing at all, and a conditional within it.
TEST(DebugTensors, OfALoopThatNobodyNeedsAreKept) {
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  nv::ITensor* const x = w.input("x", {2});
  nv::ILoop* const loop = w->addLoop();
  loop->addTripLimit(*w.number(2), nv::TripLimit::kCOUNT);
  nv::IRecurrenceLayer* const state = loop->addRecurrence(*x);
  nv::ITensor* const next = w.add(state->getOutput(0), state->getOutput(0));
  state->setInput(1, *next);
  nv::IIfConditional* const choice = w->addIfConditional();
  choice->setCondition(*w.input("c", {}, nv::DataType::kBOOL));
  nv::ITensor* const inside = choice->addInput(*next)->getOutput(0);
  nv::ITensor* const one = w.add(inside, w.constant({2}, {1, 1}));
  nv::ITensor* const other = w.mul(inside, inside);
  choice->addOutput(*one, *other);
  next->setName("next"), one->setName("one"), other->setName("other");
  w.mark(w.add(x, x));
  for (nv::ITensor* tensor : {next, one, other}) ASSERT_TRUE(w->markDebug(*tensor));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  Listener listener;
  run.listener = &listener;
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", floats({2}, {1, 2})}}), (Floats{2, 4})) << run.error;
  EXPECT_EQ(std::ranges::count(listener.names(), "next"), 2);
  EXPECT_EQ(listener.floats_of("next", 1), (Floats{4, 8}));
  EXPECT_EQ(listener.floats_of("one", 1), (Floats{5, 9}));
  EXPECT_EQ(std::ranges::count(listener.names(), "other"), 0) << "the other branch's";
}

TEST(DebugTensors, OfABranchThatIsNotTakenAreNotShown) {
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  nv::IIfConditional* const choice = w->addIfConditional();
  choice->setCondition(*w.input("c", {}, nv::DataType::kBOOL));
  nv::ITensor* const x = choice->addInput(*w.input("x", {2}))->getOutput(0);
  nv::ITensor* const twice = w.add(x, x);
  nv::ITensor* const square = w.mul(x, x);
  twice->setName("twice"), square->setName("square");
  nv::ITensor* const more = w.add(twice, w.constant({2}, {1, 1}));
  w.mark(choice->addOutput(*more, *square)->getOutput(0));
  ASSERT_TRUE(w->markDebug(*twice) && w->markDebug(*square));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  Listener listener;
  run.listener = &listener;
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", floats({2}, {3, 4})}}), (Floats{7, 9})) << run.error;
  EXPECT_EQ(listener.names(), Names{"twice"});
  EXPECT_EQ(listener.floats_of("twice"), (Floats{6, 8}));
  listener.seen.clear();
  EXPECT_EQ(run.floats_of({{"c", flag(false)}, {"x", floats({2}, {3, 4})}}), (Floats{9, 16})) << run.error;
  EXPECT_EQ(listener.names(), Names{"square"});
}

TEST(DebugTensors, HaveTheShapesOfTheRun) {
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  nv::ITensor* const x = w.input("x", {-1, 3});
  w.profile("x", {1, 3}, {2, 3}, {4, 3});
  nv::ITensor* const found = w->addNonZero(*x, nv::DataType::kINT64)->getOutput(0);
  nv::ITensor* const twice = w.add(x, x);
  found->setName("found"), twice->setName("twice");
  w.mark(w->addActivation(*twice, ActivationType::kRELU)->getOutput(0));
  w->markOutput(*w->addCast(*found, nv::DataType::kINT32)->getOutput(0));
  ASSERT_TRUE(w->markDebug(*twice) && w->markDebug(*found));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  Listener listener;
  run.listener = &listener;
  for (const int64_t n : {1, 4, 2}) {
    listener.seen.clear();
    Floats values(static_cast<size_t>(n) * 3);
    values[1] = values.back() = 5;
    EXPECT_FALSE(run({{"x", floats({n, 3}, values)}}).empty()) << run.error;
    ASSERT_EQ(listener.seen.size(), 2u);
    for (const Listener::Seen& one : listener.seen)
      EXPECT_EQ(one.shape, (one.name == "twice" ? std::vector<int64_t>{n, 3} : std::vector<int64_t>{2, 2}));
  }
}

TEST(DebugTensors, UnfusedOnesHaveTheInspectorsNames) {
  Bench w;
  w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  ASSERT_TRUE(w->markUnfusedTensorsAsDebugTensors());
  Watched run(w);
  ASSERT_TRUE(run.engine);
  EXPECT_FALSE(run.engine->isDebugTensor("doubled"));
  ASSERT_TRUE(run.context->setUnfusedTensorsDebugState(true));
  ASSERT_TRUE(run.run()) << run.last_error();
  const std::unique_ptr<nv::IEngineInspector> inspector(run.engine->createEngineInspector());
  std::string text;
  for (int32_t i = 0; i < run.engine->getNbLayers(); ++i)
    text += inspector->getLayerInformation(i, nv::LayerInformationFormat::kJSON);
  EXPECT_EQ(std::ssize(run.listener.seen), run.engine->getNbLayers());
  EXPECT_EQ(run.listener.names().back(), "y");
  EXPECT_EQ(run.listener.floats_of("y"), Floats(run.y.begin(), run.y.end()));
  for (const Listener::Seen& one : run.listener.seen)
    EXPECT_NE(text.find(str("\"Name\": \"", one.name, "\"")), text.npos);
  ASSERT_TRUE(run.context->setUnfusedTensorsDebugState(false));
  run.listener.seen.clear();
  ASSERT_TRUE(run.run());
  EXPECT_TRUE(run.listener.seen.empty());
  ASSERT_TRUE(run.context->setAllTensorsDebugState(true)) << "which has these, too";
  EXPECT_TRUE(run.context->getUnfusedTensorsDebugState());
  ASSERT_TRUE(run.run());
  EXPECT_FALSE(run.listener.seen.empty());
}

TEST(DebugTensors, AListenerEndsTheRun) {
  Bench w;
  ASSERT_TRUE(w->markDebug(*w.relu) && w->markDebug(*w.doubled));
  Watched run(w);
  ASSERT_TRUE(run.engine);
  ASSERT_TRUE(run.context->setAllTensorsDebugState(true));
  run.listener.goes_on = false;
  EXPECT_FALSE(run.run());
  EXPECT_EQ(run.listener.names(), Names{"relu"});
  EXPECT_NE(run.last_error().find("the debug listener returned false when it was shown 'relu': the run ends here"),
            std::string::npos)
      << run.last_error();
  run.listener.goes_on = true;
  run.listener.then = [](Listener&) { throw std::runtime_error("no more"); };
  EXPECT_FALSE(run.run());
  EXPECT_NE(run.last_error().find("the debug listener threw an exception: no more, when it was shown 'relu'"),
            std::string::npos)
      << run.last_error();
  run.listener.then = nullptr;
  run.listener.seen.clear();
  EXPECT_TRUE(run.run());
  EXPECT_EQ(run.listener.names(), (Names{"relu", "doubled"}));
}

/// A listener that calls the context: what would change the run is refused; what is switched off is not shown any more.
TEST(DebugTensors, AListenerMayCallTheContext) {
  Bench w;
  ASSERT_TRUE(w->markDebug(*w.relu) && w->markDebug(*w.doubled));
  Watched run(w);
  ASSERT_TRUE(run.engine);
  ASSERT_TRUE(run.context->setAllTensorsDebugState(true));
  nv::IExecutionContext& context = *run.context;
  run.listener.then = [&](Listener& self) {
    EXPECT_FALSE(run.run());
    EXPECT_NE(run.last_error().find("cannot run another one"), std::string::npos) << run.last_error();
    EXPECT_FALSE(context.enqueueV3(self.last_stream));
    EXPECT_FALSE(context.setOptimizationProfileAsync(0, self.last_stream));
    EXPECT_FALSE(context.setInputShape("x", dims({2, 3})));
    EXPECT_EQ(context.getTensorShape("y").d[1], 4);
    EXPECT_TRUE(context.setAllTensorsDebugState(self.seen.size() > 1));
  };
  EXPECT_TRUE(run.run()) << run.last_error();
  EXPECT_EQ(run.listener.names(), Names{"relu"}) << "the other is off by then";
  run.listener.then = nullptr;
  EXPECT_TRUE(run.run());
  EXPECT_EQ(run.listener.seen.size(), 1u);
  run.listener.seen.clear();
  ASSERT_TRUE(context.setAllTensorsDebugState(true));
  EXPECT_TRUE(run.run());
  EXPECT_EQ(run.listener.names(), (Names{"relu", "doubled"}));
  EXPECT_EQ(run.listener.floats_of("doubled"), kDoubled);
  run.listener.seen.clear();
  run.listener.then = [&](Listener&) { context.setDebugListener(nullptr); };
  EXPECT_TRUE(run.run());
  EXPECT_EQ(run.listener.names(), Names{"relu"});
}

TEST(DebugTensors, OfStreamsOfTheProgram) {
  if (is_on_gpu()) GTEST_SKIP() << "the streams here are the host's";
  Bench w;
  ASSERT_TRUE(w->markDebug(*w.relu));
  Watched run(w);
  ASSERT_TRUE(run.engine);
  ASSERT_TRUE(run.context->setAllTensorsDebugState(true));
  void* const made = *StreamTable::instance().create(0, 0);
  auto* const handle = static_cast<cudaStream_t>(made);
  cpu::HostStream& stream = *StreamTable::instance().find(made);
  struct Queued {
    const void* from = nullptr;
    float first = 0;
  } queued;
  run.listener.then = [&](Listener& self) {
    EXPECT_EQ(self.last_stream, handle);
    queued.from = self.seen.back().address;
    const auto copy = [](void* argument) {
      auto& to = *static_cast<Queued*>(argument);
      std::memcpy(&to.first, to.from, sizeof to.first);
    };
    EXPECT_TRUE(stream.launch_host(copy, &queued));  // read on the stream, which nobody waits for
  };
  ASSERT_TRUE(run.context->enqueueV3(handle)) << run.last_error();
  EXPECT_EQ(run.listener.names(), Names{"relu"}) << "part of enqueueV3";
  EXPECT_EQ(run.listener.floats_of("relu"), kRelu);
  EXPECT_EQ(queued.first, kRelu[0]);
  queued.first = 0;
  run.listener.goes_on = false;
  EXPECT_FALSE(run.context->enqueueV3(handle));
  EXPECT_EQ(queued.first, kRelu[0]) << "what a listener queues is done before the memory is used again";
  run.listener.goes_on = true;
  ASSERT_TRUE(stream.begin_capture());
  EXPECT_FALSE(run.context->enqueueV3(handle));
  EXPECT_NE(run.last_error().find("a capture cannot record that"), std::string::npos) << run.last_error();
  EXPECT_TRUE(stream.end_capture());
  EXPECT_TRUE(StreamTable::instance().destroy(made));
}

/// Chains beside each other, which a GPU runs on several streams: each value is shown when it is complete, and before
/// another chain's may lie where it was.
TEST(DebugTensors, OfAuxiliaryStreams) {
  constexpr int kChains = 3;
  LoopBench w;
  w.config->setBuilderOptimizationLevel(0);
  w.config->setMaxAuxStreams(kChains - 1);
  nv::ITensor* const x = w.input("x", {2, 3});
  std::vector<Floats> filters;
  for (int c = 0; c < kChains; ++c) {
    Floats& filter = filters.emplace_back(Floats{1, 0, -1, 2, 0, 1, 1, 0, 1, 1, 0, -1});
    for (float& number : filter) number *= static_cast<float>(c + 1);
    nv::ITensor* const product =
        w->addMatrixMultiply(*x, MatrixOperation::kNONE, *w.constant({3, 4}, filter), MatrixOperation::kNONE)
            ->getOutput(0);
    auto* const softmax = w->addSoftMax(*product);
    softmax->setAxes(2);
    nv::ITensor* const y = w.mul(softmax->getOutput(0), w.constant({1, 1}, {2}));
    product->setName(str("product", c).c_str()), softmax->getOutput(0)->setName(str("softmax", c).c_str());
    w.mark(y, str("y", c).c_str());
    ASSERT_TRUE(w->markDebug(*product) && w->markDebug(*softmax->getOutput(0)) && w->markDebug(*y));
  }
  Running run(w);
  ASSERT_TRUE(run.engine) << run.error;
  if (is_on_gpu()) {
    EXPECT_GT(run.engine->getNbAuxStreams(), 0);
  }
  Shared<float> in(kX.begin(), kX.end());
  std::vector<Shared<float>> out(kChains, Shared<float>(8));
  run.feed("x", in);
  for (int c = 0; c < kChains; ++c) run.feed(str("y", c).c_str(), out[static_cast<size_t>(c)]);
  Listener listener;
  ASSERT_TRUE(run.context->setDebugListener(&listener) && run.context->setAllTensorsDebugState(true));
  for (int turn = 0; turn < 5; ++turn) {
    listener.seen.clear();
    ASSERT_TRUE(run.run()) << run.last_error();
    ASSERT_EQ(listener.seen.size(), 3u * kChains);
    const Names names = listener.names();
    const auto place = [&](const std::string& name) { return std::ranges::find(names, name) - names.begin(); };
    for (int c = 0; c < kChains; ++c) {
      EXPECT_LT(place(str("product", c)), place(str("softmax", c)));
      EXPECT_LT(place(str("softmax", c)), place(str("y", c)));
      const Floats product = listener.floats_of(str("product", c)), softmax = listener.floats_of(str("softmax", c));
      for (size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(product[i], kProduct[i] * static_cast<float>(c + 1));
        EXPECT_NEAR(softmax[i] * 2, out[static_cast<size_t>(c)][i], 1e-6);
      }
      EXPECT_EQ(listener.floats_of(str("y", c)),
                Floats(out[static_cast<size_t>(c)].begin(), out[static_cast<size_t>(c)].end()));
    }
  }
}

TEST(DebugTensors, OfContextsOnThreadsOfTheirOwn) {
  Bench w;
  ASSERT_TRUE(w->markDebug(*w.sum));
  Running run(w);
  ASSERT_TRUE(run.engine);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const std::unique_ptr<nv::IExecutionContext> context(run.engine->createExecutionContext());
      Shared<float> x(kX.begin(), kX.end()), y(8);
      x[0] = static_cast<float>(t);
      context->setTensorAddress("x", x.data()), context->setTensorAddress("y", y.data());
      Listener listener;
      if (t > 0) context->setDebugListener(&listener);
      context->setAllTensorsDebugState(true);
      void* bindings[] = {x.data(), y.data()};
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(context->executeV2(bindings));
      EXPECT_EQ(listener.seen.size(), t > 0 ? 20u : 0u);
      for (const Listener::Seen& one : listener.seen)
        EXPECT_EQ(elements<float>(one.value)[0], static_cast<float>(t) + 4) << "x W + b";
    });
}

TEST(DebugTensors, NeedNamesOfTheirOwn) {
  Bench w;
  w.relu->setName("sum");
  ASSERT_TRUE(w->markDebug(*w.relu) && w->markDebug(*w.sum));
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_EQ(plan, nullptr);
  EXPECT_NE(w.take_error().find("two debug tensors are called 'sum': call setName"), std::string::npos);
}

}  // namespace
}  // namespace kiln::api::testing
