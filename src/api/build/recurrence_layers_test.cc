// Recurrent networks that programs write with loops: they run as one layer, and compute what the loop would.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "api/build/testing/loop_bench.h"

namespace kiln::api::testing {
namespace {

using Floats = std::vector<float>;
using nv::ActivationType, nv::LoopOutput, nv::MatrixOperation, nv::TripLimit;
constexpr int64_t kTime = 5, kBatch = 2, kInput = 3, kHidden = 4;

Floats some_floats(int64_t count, float seed) {
  Floats result;
  for (int64_t i = 0; i < count; ++i) result.push_back(0.7f * std::sin(1.7f * static_cast<float>(i) + seed));
  return result;
}

/// Whether the loop also gives what no recurrence has, so that it stays a loop.
enum class Extra { kNone, kMemory };

struct Settings {
  Extra extra = Extra::kNone;
  bool reverse = false;
  LoopOutput stacked = LoopOutput::kCONCATENATE;
  bool dynamic = false;
  bool vectors = false;  ///< no batch: x is [time, input], the states are [hidden]
};

/// A network that is a loop over x [time, batch, input] with one state, or two.
class CellBench : public LoopBench {
 public:
  explicit CellBench(Settings settings) : settings_(settings) {
    config->clearFlag(nv::BuilderFlag::kTF32);  // loops and recurrences add in different orders
  }

  nv::ITensor* weights(std::vector<int64_t> extents) {
    int64_t count = 1;
    for (const int64_t extent : extents) count *= extent;
    return constant(std::move(extents), some_floats(count, ++seed_));
  }
  nv::ITensor* times(nv::ITensor* x, nv::ITensor* transposed) {
    const MatrixOperation rows = settings_.vectors ? MatrixOperation::kVECTOR : MatrixOperation::kNONE;
    return network->addMatrixMultiply(*x, rows, *transposed, MatrixOperation::kTRANSPOSE)->getOutput(0);
  }
  nv::ITensor* activate(nv::ITensor* x, ActivationType type) { return network->addActivation(*x, type)->getOutput(0); }
  nv::ITensor* sub(nv::ITensor* a, nv::ITensor* b) { return binary(a, b, nv::ElementWiseOperation::kSUB); }
  /// A gate with weights of its own.
  nv::ITensor* gate(ActivationType type, nv::ITensor* h) {
    nv::ITensor* sum = add(times(x, weights({kHidden, kInput})), times(h, weights({kHidden, kHidden})));
    return activate(add(sum, biases(kHidden)), type);
  }
  nv::ITensor* biases(int64_t count) {
    return weights(settings_.vectors ? std::vector<int64_t>{count} : std::vector<int64_t>{1, count});
  }
  /// A part of [batch, gates * hidden].
  nv::ITensor* columns(nv::ITensor* all, int64_t gate) {
    if (settings_.vectors)
      return network->addSlice(*all, dims({gate * kHidden}), dims({kHidden}), dims({1}))->getOutput(0);
    nv::ISliceLayer* slice = network->addSlice(*all, dims({0, gate * kHidden}), dims({kBatch, kHidden}), dims({1, 1}));
    return slice->getOutput(0);
  }
  void begin(bool has_memory) {
    const int64_t batch = settings_.dynamic ? -1 : kBatch, time = settings_.dynamic ? -1 : kTime;
    nv::ITensor* all = settings_.vectors ? input("x", {kTime, kInput}) : input("x", {time, batch, kInput});
    const auto state = [&](const char* name) {
      nv::ITensor* initial = settings_.vectors ? input(name, {kHidden}) : input(name, {batch, kHidden});
      if (settings_.dynamic) initial->setDimensionName(0, "batch");
      return loop_->addRecurrence(*initial);
    };
    if (settings_.dynamic) all->setDimensionName(1, "batch");  // or x might be repeated for all rows of the state
    loop_ = network->addLoop();
    count_ = settings_.dynamic ? extent(all, 0) : number(kTime);
    loop_->addTripLimit(*count_, TripLimit::kCOUNT);
    x = loop_->addIterator(*all, 0, settings_.reverse)->getOutput(0);
    h_ = state("h0");
    h = h_->getOutput(0);
    if (has_memory) c_ = state("c0");
    if (has_memory) c = c_->getOutput(0);
    if (!settings_.dynamic) return;
    nv::IOptimizationProfile* profile = builder->createOptimizationProfile();
    for (const auto& [kind, rows, steps] : {std::tuple(nv::OptProfileSelector::kMIN, int64_t{1}, int64_t{0}),
                                            std::tuple(nv::OptProfileSelector::kOPT, kBatch, kTime),
                                            std::tuple(nv::OptProfileSelector::kMAX, int64_t{4}, int64_t{9})}) {
      profile->setDimensions("x", kind, dims({steps, rows, kInput}));
      profile->setDimensions("h0", kind, dims({rows, kHidden}));
      if (has_memory) profile->setDimensions("c0", kind, dims({rows, kHidden}));
    }
    config->addOptimizationProfile(profile);
  }
  void end(nv::ITensor* next_h, nv::ITensor* next_c = nullptr) {
    h_->setInput(1, *next_h);
    if (next_c) c_->setInput(1, *next_c);
    mark(stack(loop_, next_h, count_, settings_.stacked), "y");
    mark(loop_->addLoopOutput(*h, LoopOutput::kLAST_VALUE)->getOutput(0), "last_h");
    if (next_c) mark(loop_->addLoopOutput(*c, LoopOutput::kLAST_VALUE)->getOutput(0), "last_c");
    nv::ITensor* other = next_c ? next_c : h;
    if (settings_.extra == Extra::kMemory) mark(stack(loop_, other, count_), "memory");
  }

  nv::ITensor *x = nullptr, *h = nullptr, *c = nullptr;

 private:
  const Settings settings_;
  float seed_ = 0;
  nv::ILoop* loop_ = nullptr;
  nv::IRecurrenceLayer *h_ = nullptr, *c_ = nullptr;
  nv::ITensor* count_ = nullptr;
};

using Build = std::function<void(CellBench&)>;

void end_lstm(CellBench& w, nv::ITensor* i, nv::ITensor* f, nv::ITensor* g, nv::ITensor* o) {
  nv::ITensor* next_c = w.add(w.mul(f, w.c), w.mul(i, g));
  w.end(w.mul(o, w.activate(next_c, ActivationType::kTANH)), next_c);
}
/// One product of x and one of h for all gates, whose order is i, f, g, o.
void lstm_of_one_product(CellBench& w) {
  w.begin(true);
  nv::ITensor* sum =
      w.add(w.times(w.x, w.weights({4 * kHidden, kInput})), w.times(w.h, w.weights({4 * kHidden, kHidden})));
  sum = w.add(sum, w.biases(4 * kHidden));
  const auto of = [&](int64_t gate, ActivationType type) { return w.activate(w.columns(sum, gate), type); };
  end_lstm(w, of(0, ActivationType::kSIGMOID), of(1, ActivationType::kSIGMOID), of(2, ActivationType::kTANH),
           of(3, ActivationType::kSIGMOID));
}
void lstm_of_four_products(CellBench& w) {
  w.begin(true);
  nv::ITensor* i = w.gate(ActivationType::kSIGMOID, w.h);
  nv::ITensor* f = w.gate(ActivationType::kSIGMOID, w.h);
  nv::ITensor* g = w.gate(ActivationType::kTANH, w.h);
  end_lstm(w, i, f, g, w.gate(ActivationType::kSIGMOID, w.h));
}
void lstm_of_joined_inputs(CellBench& w) {
  w.begin(true);
  nv::ITensor* parts[] = {w.x, w.h};
  nv::IConcatenationLayer* joined = w->addConcatenation(parts, 2);
  joined->setAxis(1);
  const auto of = [&](ActivationType type) {
    return w.activate(w.add(w.times(joined->getOutput(0), w.weights({kHidden, kInput + kHidden})), w.biases(kHidden)),
                      type);
  };
  nv::ITensor *i = of(ActivationType::kSIGMOID), *f = of(ActivationType::kSIGMOID), *g = of(ActivationType::kTANH);
  end_lstm(w, i, f, g, of(ActivationType::kSIGMOID));
}
void end_gru(CellBench& w, nv::ITensor* z, nv::ITensor* n) {
  nv::ITensor* one = w.constant(std::vector<int64_t>(static_cast<size_t>(z->getDimensions().nbDims), 1), {1});
  w.end(w.add(w.mul(w.sub(one, z), n), w.mul(z, w.h)));
}
void gru_that_resets_first(CellBench& w) {
  w.begin(false);
  nv::ITensor *z = w.gate(ActivationType::kSIGMOID, w.h), *r = w.gate(ActivationType::kSIGMOID, w.h);
  end_gru(w, z, w.gate(ActivationType::kTANH, w.mul(r, w.h)));
}
void gru_that_resets_products(CellBench& w) {
  w.begin(false);
  nv::ITensor *z = w.gate(ActivationType::kSIGMOID, w.h), *r = w.gate(ActivationType::kSIGMOID, w.h);
  nv::ITensor* state = w.add(w.times(w.h, w.weights({kHidden, kHidden})), w.biases(kHidden));
  nv::ITensor* sum = w.add(w.times(w.x, w.weights({kHidden, kInput})), w.mul(r, state));
  end_gru(w, z, w.activate(sum, ActivationType::kTANH));
}
void plain(CellBench& w) {
  w.begin(false);
  w.end(w.gate(ActivationType::kTANH, w.h));
}
const std::pair<const char*, Build> kCells[] = {
    {"lstm of one product", lstm_of_one_product},           {"lstm of four products", lstm_of_four_products},
    {"lstm of joined inputs", lstm_of_joined_inputs},       {"gru that resets first", gru_that_resets_first},
    {"gru that resets products", gru_that_resets_products}, {"plain", plain}};

struct Ran {
  std::map<std::string, Bytes> outputs;
  std::string layers;
  bool has(const std::string& kind) const { return layers.find(kind) != std::string::npos; }
};
Ran run(const Build& build, Settings settings, int64_t time = kTime, int64_t batch = kBatch) {
  CellBench w(settings);
  w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  build(w);
  LoopRun engine(w);
  EXPECT_EQ(engine.error, "");
  if (!engine.engine()) return {};
  const auto tensor = [&](std::vector<int64_t> extents, float seed) {
    if (settings.vectors) std::erase(extents, batch);
    int64_t count = 1;
    for (const int64_t extent : extents) count *= extent;
    return floats(std::move(extents), some_floats(count, seed));
  };
  std::map<std::string, Bytes> inputs{{"x", tensor({time, batch, kInput}, 0.5f)},
                                      {"h0", tensor({batch, kHidden}, 1.5f)}};
  if (w.c) inputs["c0"] = tensor({batch, kHidden}, 2.5f);
  Ran result{.outputs = engine(std::move(inputs)), .layers = ""};
  EXPECT_EQ(engine.error, "");
  const std::unique_ptr<nv::IEngineInspector> inspector(engine.engine()->createEngineInspector());
  result.layers = inspector->getEngineInformation(nv::LayerInformationFormat::kJSON);
  return result;
}
void expect_equal_outputs(const Ran& found, const Ran& wanted) {
  for (const auto& [name, output] : found.outputs) {
    const Bytes& other = wanted.outputs.at(name);
    EXPECT_EQ(output.extents, other.extents) << name;
    const Floats a = elements<float>(output), b = elements<float>(other);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-6f) << name << ' ' << i;
  }
}
const char* const kRecurrence = "\"LayerType\": \"Recurrence\"";
const char* const kLoop = "\"LayerType\": \"Loop\"";

void expect_recurrence(const Build& build, Settings settings, int64_t time = kTime, int64_t batch = kBatch) {
  const Ran found = run(build, settings, time, batch);
  EXPECT_TRUE(found.has(kRecurrence) && !found.has(kLoop)) << found.layers;
  settings.extra = Extra::kMemory;
  const Ran wanted = run(build, settings, time, batch);
  EXPECT_TRUE(wanted.has(kLoop) && !wanted.has(kRecurrence)) << wanted.layers;
  expect_equal_outputs(found, wanted);
}
TEST(RecurrenceLayers, RunAsOneLayer) {
  for (const auto& [name, build] : kCells) {
    SCOPED_TRACE(name);
    expect_recurrence(build, {});
  }
}
TEST(RecurrenceLayers, NeedNoBatch) {
  for (const Build& build : {Build(lstm_of_one_product), Build(lstm_of_four_products), Build(gru_that_resets_products)})
    expect_recurrence(build, {.vectors = true});
}
TEST(RecurrenceLayers, RunInReverse) {
  for (const LoopOutput stacked : {LoopOutput::kCONCATENATE, LoopOutput::kREVERSE})
    for (const bool reverse : {false, true})
      expect_recurrence(lstm_of_four_products, {.reverse = reverse, .stacked = stacked});
}
TEST(RecurrenceLayers, HaveAnyTimeAndBatch) {
  for (const int64_t time : {0, 1, 9}) expect_recurrence(lstm_of_four_products, {.dynamic = true}, time, 3);
  expect_recurrence(gru_that_resets_products, {.dynamic = true}, 4, 1);
}

}  // namespace
}  // namespace kiln::api::testing
