// What programs see of layers inside loops and conditionals: the inspector's texts, and a profiler's calls.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/build/testing/loop_bench.h"

namespace kiln::api::testing {
namespace {

using Floats = std::vector<float>;
using nv::LayerInformationFormat, nv::LoopOutput, nv::TripLimit;

/// y = 4 running sums of x's rows, doubled where c holds: "sum" and "twice" are layers of a loop's iteration, "twice"
/// of a conditional in it.
struct Nested {
  Nested() {
    nv::ILoop* loop = w->addLoop();
    loop->setName("decoder");
    loop->addTripLimit(*w.number(4), TripLimit::kCOUNT);
    nv::ITensor* row = loop->addIterator(*w.input("x", {4, 2}))->getOutput(0);
    nv::IRecurrenceLayer* state = loop->addRecurrence(*w.constant({2}, {0, 0}));
    nv::IElementWiseLayer* sum = w->addElementWise(*state->getOutput(0), *row, nv::ElementWiseOperation::kSUM);
    sum->setName("sum");
    state->setInput(1, *sum->getOutput(0));
    nv::IIfConditional* conditional = w->addIfConditional();
    conditional->setName("choice");
    conditional->setCondition(*w.input("c", {}, nv::DataType::kBOOL));
    nv::ITensor* inside = conditional->addInput(*sum->getOutput(0))->getOutput(0);
    nv::IElementWiseLayer* twice = w->addElementWise(*inside, *inside, nv::ElementWiseOperation::kSUM);
    twice->setName("twice");
    nv::ITensor* chosen = conditional->addOutput(*twice->getOutput(0), *inside)->getOutput(0);
    w.mark(w.stack(loop, chosen, w.number(4)));
  }
  LoopBench w;
};

int layer_called(const nv::IEngineInspector& inspector, int count, std::string_view name) {
  for (int i = 0; i < count; ++i) {
    const std::string line = inspector.getLayerInformation(i, LayerInformationFormat::kONELINE);
    if (line.starts_with(name)) return i;
  }
  return -1;
}

TEST(BodyLayers, AreFoundByName) {
  Nested net;
  net.w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  LoopRun run(net.w);
  ASSERT_EQ(run.error, "");
  const std::unique_ptr<nv::IEngineInspector> inspector(run.engine()->createEngineInspector());
  const int count = run.engine()->getNbLayers();
  const int loop = layer_called(*inspector, count, "Name: decoder,"),
            sum = layer_called(*inspector, count, "Name: sum,"),
            choice = layer_called(*inspector, count, "Name: choice,"),
            twice = layer_called(*inspector, count, "Name: twice,");
  ASSERT_GE(loop, 0);
  EXPECT_LT(loop, sum) << "a layer stands before those inside it";
  EXPECT_LT(sum, choice);
  EXPECT_LT(choice, twice);
  const auto has = [&](int layer, LayerInformationFormat format, std::string_view part) {
    const std::string text = inspector->getLayerInformation(layer, format);
    return text.find(part) != std::string::npos ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << text;
  };
  EXPECT_TRUE(has(sum, LayerInformationFormat::kONELINE, ", Body: iteration of Loop 'decoder'"));
  EXPECT_TRUE(has(sum, LayerInformationFormat::kONELINE, "Dimensions: [2]"));
  EXPECT_TRUE(has(sum, LayerInformationFormat::kJSON, "\"Body\": \"iteration of Loop 'decoder'\""));
  EXPECT_TRUE(has(twice, LayerInformationFormat::kJSON, "\"Body\": \"branch of true of If 'choice'\""));
  EXPECT_FALSE(has(loop, LayerInformationFormat::kJSON, "\"Body\"")) << "it is in no body";
  EXPECT_EQ(inspector->getLayerInformation(count, LayerInformationFormat::kJSON), nullptr);
  const std::string all = inspector->getEngineInformation(LayerInformationFormat::kJSON);
  const std::string lines = inspector->getEngineInformation(LayerInformationFormat::kONELINE);
  for (const char* name : {"sum", "twice"}) {
    EXPECT_NE(all.find(std::string("\"Name\": \"") + name + "\""), std::string::npos) << all;
    EXPECT_NE(lines.find(std::string("\nName: ") + name + ","), std::string::npos) << lines;
  }
}

TEST(BodyLayers, HaveNamesByDefault) {
  Nested net;
  LoopRun run(net.w);
  ASSERT_EQ(run.error, "");
  const std::unique_ptr<nv::IEngineInspector> inspector(run.engine()->createEngineInspector());
  EXPECT_GE(layer_called(*inspector, run.engine()->getNbLayers(), "sum"), 0);
  EXPECT_NE(std::string(inspector->getEngineInformation(LayerInformationFormat::kONELINE)).find("\ntwice\n"),
            std::string::npos);
}

struct Profiler final : nv::IProfiler {
  void reportLayerTime(char const* name, float ms) noexcept override {
    names.emplace_back(name);
    EXPECT_GE(ms, 0);
  }
  std::vector<std::string> names;
};

TEST(BodyLayers, AProfilerIsToldOfTheLoopOnceARun) {
  Nested net;
  LoopRun run(net.w);
  ASSERT_EQ(run.error, "");
  const Bytes x = floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Floats expected = run.floats_of({{"c", flag(true)}, {"x", x}});
  EXPECT_EQ(expected, (Floats{2, 4, 8, 12, 18, 24, 32, 40})) << run.error;
  Profiler profiler;
  run.profiler = &profiler;
  for (const int runs : {1, 2}) {
    EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", x}}), expected) << run.error;
    EXPECT_EQ(std::ranges::count(profiler.names, "decoder"), runs);
  }
  EXPECT_EQ(std::ranges::count(profiler.names, "sum"), 0) << "its time is in the loop's";
}

}  // namespace
}  // namespace kiln::api::testing
