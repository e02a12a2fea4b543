// Aliased outputs on any device: a plugin that changes its input on its stream, beside steps that read the same tensor.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/build/testing/workbench.h"
#include "api/run/testing/shared_memory.h"

namespace kiln::api {
namespace {

using testing::dims;
using testing::Running;
using testing::Shared;
using testing::Workbench;
namespace nv = nvinfer1;

size_t size_of(nv::DataType type) {
  switch (type) {
    case nv::DataType::kINT64: return 8;
    case nv::DataType::kFLOAT:
    case nv::DataType::kINT32: return 4;
    case nv::DataType::kHALF:
    case nv::DataType::kBF16: return 2;
    default: return 1;
  }
}

/// Moves the elements of a vector one place to the front, in place and on its stream; the last one stays. A second
/// turn over the same memory gives other values, so a run that finds memory changed by the run before is seen.
class ShiftPlugin final : public nv::IPluginV3,
                          public nv::IPluginV3OneCore,
                          public nv::IPluginV3OneBuildV2,
                          public nv::IPluginV3OneRuntime {
 public:
  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    if (type == nv::PluginCapabilityType::kBUILD) return static_cast<nv::IPluginV3OneBuildV2*>(this);
    if (type == nv::PluginCapabilityType::kRUNTIME) return static_cast<nv::IPluginV3OneRuntime*>(this);
    return static_cast<nv::IPluginV3OneCore*>(this);
  }
  nv::IPluginV3* clone() noexcept override { return new ShiftPlugin(*this); }
  const char* getPluginName() const noexcept override { return "TestShift"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }

  int32_t getAliasedInput(int32_t) noexcept override { return 0; }
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
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    return tensors[position].desc.type == tensors[0].desc.type &&
           tensors[position].desc.format == nv::TensorFormat::kLINEAR;
  }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }

  int32_t onShapeChange(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*, int32_t) noexcept override {
    return 0;
  }
  int32_t enqueue(const nv::PluginTensorDesc* desc, const nv::PluginTensorDesc*, const void* const* in,
                  void* const* out, void*, cudaStream_t stream) noexcept override {
    if (in[0] != out[0]) return 1;
    auto* const values = static_cast<std::byte*>(out[0]);
    const size_t size = size_of(desc[0].type);
    for (size_t i = 1; i < static_cast<size_t>(desc[0].dims.d[0]); ++i)
      if (!testing::copy_on(stream, values + (i - 1) * size, values + i * size, size)) return 2;
    return 0;
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext*) noexcept override { return clone(); }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return &none_; }

 private:
  nv::PluginFieldCollection none_{};
};

class ShiftCreator final : public nv::IPluginCreatorV3One {
 public:
  ShiftCreator() { getPluginRegistry()->registerCreator(*this, ""); }
  ~ShiftCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char*, const nv::PluginFieldCollection*, nv::TensorRTPhase) noexcept override {
    return new ShiftPlugin;
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &none_; }
  const char* getPluginName() const noexcept override { return "TestShift"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  nv::PluginFieldCollection none_{};
};

struct AliasOnAnyDevice : ::testing::Test {
  AliasOnAnyDevice() { w.config->setPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03, true); }
  nv::ITensor* shift(nv::ITensor* x) {
    ShiftPlugin plugin;
    return w->addPluginV3(&x, 1, nullptr, 0, plugin)->getOutput(0);
  }

  ShiftCreator creator;
  Workbench w;
};

constexpr int kCount = 16;
constexpr int kRuns = 8;  // enough to be recorded

/// The elements of a run's input, so many places to the front.
std::vector<float> shifted(int run, int places) {
  std::vector<float> values;
  for (int i = 0; i < kCount; ++i) {
    const int from = std::min(i + places, kCount - 1);
    values.push_back(static_cast<float>(100 * run + from * from));
  }
  return values;
}

TEST_F(AliasOnAnyDevice, ReadersOfTheInputFindItUnchanged) {
  nv::ITensor* x = w.input("x", {kCount});
  nv::ITensor* once = shift(x);
  w.mark(shift(shift(once)), "three");
  w.mark(shift(once), "two");
  w.mark(once, "one");
  w.mark(shift(x), "other");
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> values(kCount, 0), one(kCount, 0), two(kCount, 0), three(kCount, 0), other(kCount, 0);
  r.feed("x", values), r.feed("one", one), r.feed("two", two), r.feed("three", three), r.feed("other", other);
  for (int run = 0; run < kRuns; ++run) {
    std::ranges::copy(shifted(run, 0), values.begin());
    ASSERT_TRUE(r.run()) << r.last_error();
    EXPECT_TRUE(values == shifted(run, 0)) << "the program's input, run " << run;
    EXPECT_TRUE(one == shifted(run, 1) && other == shifted(run, 1)) << "run " << run;
    EXPECT_TRUE(two == shifted(run, 2)) << "run " << run;
    EXPECT_TRUE(three == shifted(run, 3)) << "run " << run;
  }
}

// A program that keeps a state gives the input and the output one address, and each run goes on where the last ended.
TEST_F(AliasOnAnyDevice, InputAndOutputMayHaveOneAddress) {
  w.mark(shift(w.input("x", {kCount})));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> state(kCount, 0);
  std::ranges::copy(shifted(0, 0), state.begin());
  r.feed("x", state), r.feed("y", state);
  for (int run = 1; run < kRuns; ++run) {
    ASSERT_TRUE(r.run()) << r.last_error();
    EXPECT_TRUE(state == shifted(0, run)) << "run " << run;
  }
}

// What does not need the plugin's output reads the input first.
TEST_F(AliasOnAnyDevice, ReadersOfAnInputWithTheOutputsAddressComeFirst) {
  w.config->setMaxAuxStreams(2);
  nv::ITensor* x = w.input("x", {kCount});
  w.mark(shift(x));
  const auto negated = [&](nv::ITensor* of) { return w->addUnary(*of, nv::UnaryOperation::kNEG)->getOutput(0); };
  w.mark(negated(x), "reader");
  w.mark(negated(shift(negated(shift(x)))), "twice");
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> state(kCount, 0), reader(kCount, 0), twice(kCount, 0);
  std::ranges::copy(shifted(0, 0), state.begin());
  r.feed("x", state), r.feed("y", state), r.feed("reader", reader), r.feed("twice", twice);
  for (int run = 1; run < kRuns; ++run) {
    ASSERT_TRUE(r.run()) << r.last_error();
    EXPECT_TRUE(state == shifted(0, run)) << "run " << run;
    std::vector<float> expected = shifted(0, run - 1);
    for (float& value : expected) value = -value;
    EXPECT_TRUE(reader == expected) << "run " << run;
    EXPECT_TRUE(twice == shifted(0, run + 1)) << "run " << run;
  }
}

// Chains beside each other may run on several streams.
TEST_F(AliasOnAnyDevice, PluginsOnSeveralStreams) {
  w.config->setMaxAuxStreams(2);
  nv::ITensor* a = shift(w.input("x", {kCount}));
  const char* const names[] = {"y0", "y1", "y2"};
  for (int chain = 0; chain < 3; ++chain) {
    nv::ITensor* y = a;
    for (int turn = 0; turn <= chain; ++turn) y = shift(y);
    w.mark(y, names[chain]);
  }
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> values(kCount, 0);
  std::vector<Shared<float>> outputs(3, Shared<float>(kCount, 0));
  r.feed("x", values);
  for (size_t chain = 0; chain < 3; ++chain) r.feed(names[chain], outputs[chain]);
  for (int run = 0; run < kRuns; ++run) {
    std::ranges::copy(shifted(run, 0), values.begin());
    ASSERT_TRUE(r.run()) << r.last_error();
    for (int chain = 0; chain < 3; ++chain)
      EXPECT_TRUE(outputs[static_cast<size_t>(chain)] == shifted(run, chain + 2))
          << "run " << run << ", chain " << chain;
  }
}

TEST_F(AliasOnAnyDevice, TensorsOfEveryTypeAreCopied) {
  using Type = nv::DataType;
  for (const auto& [type, size] :
       {std::pair(Type::kHALF, 2), {Type::kBF16, 2}, {Type::kINT32, 4}, {Type::kINT64, 8}, {Type::kBOOL, 1}}) {
    Workbench one;
    one.config->setPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03, true);
    nv::ITensor* x = one.input("x", {kCount}, type);
    ShiftPlugin plugin;
    one.mark(one->addPluginV3(&x, 1, nullptr, 0, plugin)->getOutput(0));
    Running r(one);
    ASSERT_TRUE(r.context) << r.error;
    const auto bytes = static_cast<size_t>(kCount * size);
    Shared<uint8_t> values(bytes, 0), y(bytes, 2);
    for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<uint8_t>(i * i % 2);
    std::vector<uint8_t> expected(values.begin() + size, values.end());
    expected.insert(expected.end(), values.end() - size, values.end());
    r.feed("x", values), r.feed("y", y);
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(r.run()) << r.last_error();
      EXPECT_TRUE(y == expected) << "a type of " << size << " bytes";
    }
  }
}

}  // namespace
}  // namespace kiln::api
