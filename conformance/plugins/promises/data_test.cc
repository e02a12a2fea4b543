// What passes between a plugin and Kiln: types, formats, extents, fields, tactics, times and resources.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "program.h"

namespace kiln::promises {
namespace {

using Floats = std::vector<float>;

// Fields: what is serialized is what the creator gets.
struct FieldRow {
  const char* name;
  nv::PluginFieldType type;
  int32_t length;
  size_t bytes;
};
void PrintTo(const FieldRow& row, std::ostream* to) { *to << row.name; }
constexpr FieldRow kFields[] = {
    {"Float16", nv::PluginFieldType::kFLOAT16, 3, 6},  {"Float32", nv::PluginFieldType::kFLOAT32, 3, 12},
    {"Float64", nv::PluginFieldType::kFLOAT64, 3, 24}, {"Int8", nv::PluginFieldType::kINT8, 3, 3},
    {"Int16", nv::PluginFieldType::kINT16, 3, 6},      {"Int32", nv::PluginFieldType::kINT32, 3, 12},
    {"Char", nv::PluginFieldType::kCHAR, 5, 5},        {"Unknown", nv::PluginFieldType::kUNKNOWN, 11, 11},
    {"BF16", nv::PluginFieldType::kBF16, 3, 6},        {"Int64", nv::PluginFieldType::kINT64, 3, 24},
    {"FP8", nv::PluginFieldType::kFP8, 3, 3},          {"Int4", nv::PluginFieldType::kINT4, 3, 2},
    {"FP4", nv::PluginFieldType::kFP4, 3, 2},          {"Empty", nv::PluginFieldType::kINT32, 0, 0},
};
class FieldTypes : public PromiseTable<FieldRow> {};
TEST_P(FieldTypes, ComeBackAsTheyWere) {
  const FieldRow& row = GetParam();
  Field field{"value", row.type, row.length, std::vector<std::byte>(row.bytes)};
  for (size_t i = 0; i < row.bytes; ++i) field.data[i] = static_cast<std::byte>(i * 37 + 1);
  Program p({.fields = {field, {"other", nv::PluginFieldType::kCHAR, 1, {std::byte{'!'}}}}});
  ASSERT_TRUE(p.chain({2}));
  ASSERT_TRUE(p.load());
  EXPECT_EQ(p.creator.given, p.behaviour.fields);
}
INSTANTIATE_TEST_SUITE_P(Promises, FieldTypes, ::testing::ValuesIn(kFields),
                         [](const auto& info) { return row_name(info); });

/// Dims as programs leave them: of three extents, with `rest` in the padding and behind the extents.
Field dims_field(std::byte rest) {
  const nv::Dims extents = dims({2, 3, 5});
  Field field{"dims", nv::PluginFieldType::kDIMS, 2, std::vector<std::byte>(2 * sizeof(extents), rest)};
  for (size_t i = 0; i < 2; ++i) {
    std::byte* const at = field.data.data() + i * sizeof(extents);
    std::memcpy(at + offsetof(nv::Dims, nbDims), &extents.nbDims, sizeof(extents.nbDims));
    std::memcpy(at + offsetof(nv::Dims, d), extents.d, 3 * sizeof(extents.d[0]));
  }
  return field;
}
TEST_F(Promises, FieldsOfDimsComeBack) {
  std::string plans[2];
  for (int i = 0; i < 2; ++i) {
    Program p({.fields = {dims_field(std::byte(0x11 * (i + 1)))}});
    ASSERT_TRUE(p.chain({2}));
    ASSERT_TRUE(p.load());
    EXPECT_EQ(p.creator.given, std::vector{dims_field(std::byte{0})});
    plans[i] = p.plan();
  }
  EXPECT_TRUE(plans[0] == plans[1]) << "equal networks have equal plans";
}

TEST_F(Promises, FieldsAreAskedForOfTheChosenAlone) {
  Program p({.tactics = {1, 2, 3}});
  ASSERT_TRUE(p.chain({2}));
  p.journal.clear();
  ASSERT_TRUE(p.build());
  EXPECT_EQ(p.journal.count("getFieldsToSerialize"), 1);
  EXPECT_GT(p.journal.first("getFieldsToSerialize"), p.journal.first("enqueue")) << "behind the timing";
}

TEST_F(Promises, TacticsOfACombinationShareWhatIsConfigured) {
  Program p({.tactics = {1, 2, 3}});
  ASSERT_TRUE(p.chain({2}));
  p.journal.clear();
  ASSERT_TRUE(p.build());
  EXPECT_EQ(p.journal.count("configurePlugin"), 2) << "once to ask for the tactics, once for all that are timed";
}

// Tactics: the quickest is the one that runs, also from the plan.
TEST_F(Promises, TheQuickestTacticRuns) {
  Program p({.tactics = {3, 8, 5}});
  p.behaviour.run = [](const Enqueue& e) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(e.tactic == 8 ? 0 : 300);
    while (std::chrono::steady_clock::now() < until) {
    }
    *static_cast<float*>(e.outputs[0]) = static_cast<float>(e.tactic);
    return 0;
  };
  ASSERT_TRUE(p.chain({1}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(p.journal.count("setTactic 3") > 0 && p.journal.count("setTactic 8") > 0, true);
  Floats x{0}, y{0};
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->run());
  EXPECT_EQ(y[0], 8);
}

TEST_F(Promises, TacticsThatFailAreLeftOutWithAWarning) {
  Program p({.tactics = {3, 8, 5}});
  p.behaviour.run = [](const Enqueue& e) { return e.tactic == 8 ? 4 : 0; };
  ASSERT_TRUE(p.chain({1}));
  ASSERT_TRUE(p.build());
  ASSERT_EQ(p.logger.warnings.size(), 1u);
  EXPECT_NE(
      p.logger.warnings[0].find("layer 'layer': variants of plugin 'Recorded' version '1' that failed are left out: 1 "
                                "of 3, the first (linear, linear, tactic 8): "),
      std::string::npos)
      << p.logger.warnings[0];
  EXPECT_NE(p.logger.warnings[0].find("enqueue returned 4"), std::string::npos) << p.logger.warnings[0];
}

TEST_F(Promises, WhereAllTacticsFailTheErrorHasTheFirstFewReasons) {
  Program p({.tactics = {1, 2, 3, 4, 5, 6}});
  p.behaviour.run = [](const Enqueue&) { return 4; };
  ASSERT_TRUE(p.chain({1}));
  EXPECT_FALSE(p.build());
  const std::string told = p.logger.take_errors();
  EXPECT_NE(told.find("Plugin 'layer': none of its variants runs: linear, linear, tactic 1: "), std::string::npos)
      << told;
  EXPECT_NE(told.find("; and 2 more"), std::string::npos) << told;
  EXPECT_EQ(told.find("reference"), std::string::npos) << told;
}

// A plan is not for what was not chosen.
TEST_F(Promises, PlansNoteAFewOfManyTactics) {
  std::vector<int32_t> tactics(100);
  std::iota(tactics.begin(), tactics.end(), 1);
  Program p({.tactics = tactics});
  ASSERT_TRUE(p.chain({1}));
  const std::string plan = p.plan();
  int noted = 0;
  for (size_t at = plan.find("(linear, linear, tactic"); at != plan.npos;
       at = plan.find("(linear, linear, tactic", at + 1))
    ++noted;
  EXPECT_EQ(noted, 64);
  EXPECT_NE(plan.find(": 36 more variants, no better"), std::string::npos);
}

TEST_F(Promises, WithoutTacticsItIsTacticZero) {
  Program p;
  ASSERT_TRUE(p.chain({1}));
  ASSERT_TRUE(p.load());
  EXPECT_GT(p.journal.count("setTactic 0"), 0);
  EXPECT_EQ(p.journal.count("setTactic"), p.journal.count("setTactic 0"));
}

struct TimingId {
  const char *name, *id;
  bool is_kept;
};
void PrintTo(const TimingId& row, std::ostream* to) { *to << row.name; }
constexpr TimingId kTimingIds[] = {{"Null", nullptr, false}, {"Empty", "", true}, {"Words", "circular pad 3", true}};
class TimingIds : public PromiseTable<TimingId> {};
TEST_P(TimingIds, DecideWhatTheCacheKeeps) {
  Program p({.tactics = {1, 2}, .timing_id = GetParam().id});
  ASSERT_TRUE(p.chain({2}));
  const std::unique_ptr<nv::ITimingCache> cache(p.config->createTimingCache(nullptr, 0));
  ASSERT_TRUE(p.config->setTimingCache(*cache, false));
  ASSERT_TRUE(p.build());
  p.journal.clear();
  ASSERT_TRUE(p.build());
  EXPECT_EQ(p.journal.count("enqueue") == 0, GetParam().is_kept);
}
INSTANTIATE_TEST_SUITE_P(Promises, TimingIds, ::testing::ValuesIn(kTimingIds),
                         [](const auto& info) { return row_name(info); });

// A plugin's times in a timing cache are those of its name and its id.
class TimingCache : public Promises {
 protected:
  /// Whether a build with a plugin of this name and id times it.
  bool times(const char* name, const char* id) {
    Program p({.name = name, .tactics = {1, 2}, .timing_id = id});
    EXPECT_TRUE(p.config->setTimingCache(*cache, false));
    EXPECT_TRUE(p.chain({2}));
    EXPECT_TRUE(p.build()) << p.logger.take_errors();
    return p.journal.count("enqueue") > 0;
  }
  const Program owner{{.name = "Owner"}};  // its creator is registered beside those of the builds
  const std::unique_ptr<nv::ITimingCache> cache{owner.config->createTimingCache(nullptr, 0)};
};
TEST_F(TimingCache, TimesOfOneIdAreNotAnothers) {
  EXPECT_TRUE(times("Recorded", "one"));
  EXPECT_TRUE(times("Recorded", "two"));
}
TEST_F(TimingCache, TimesOfOneNameAreNotAnothers) {
  EXPECT_TRUE(times("Recorded", "one"));
  EXPECT_TRUE(times("Other", "one"));
}
TEST_F(TimingCache, TimesOfOneNameAndIdAreShared) {
  EXPECT_TRUE(times("Recorded", "one"));
  EXPECT_FALSE(times("Recorded", "one"));
}

TEST_F(Promises, NoMoreCombinationsThanTheLimitAreConfigured) {
  std::vector<std::string> formats;
  Program p({.limit = 2});
  p.behaviour.takes = [](int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t) {
    return tensors[position].desc.format == tensors[0].desc.format;
  };
  p.behaviour.configure = [&](const nv::DynamicPluginTensorDesc* in, const nv::DynamicPluginTensorDesc*) {
    const std::string format = std::to_string(static_cast<int>(in[0].desc.format));
    if (std::ranges::find(formats, format) == formats.end()) formats.push_back(format);
  };
  p.behaviour.run = [](const Enqueue&) { return 0; };
  ASSERT_TRUE(p.chain({1, 4, 2, 2}));
  ASSERT_TRUE(p.build()) << p.logger.take_errors();
  EXPECT_EQ(formats.size(), 2u);
}

// Formats: what a plugin takes is what it gets; around it are copies.
struct FormatRow {
  const char* name;
  nv::TensorFormat format;
  nv::DataType type;
  size_t size_bytes;  ///< of an element
  int channels;       ///< of an image of 2 x 2, or of 2 x 2 x 2 where the format is for volumes
  int block;          ///< channels are divided into so many, the last ones padded
  enum Order : bool { kPixelsLast, kChannelsLast } order;
  bool is_of_volumes = false;

  int pixels() const { return is_of_volumes ? 8 : 4; }
  /// An element's place in memory.
  size_t place(int channel, int pixel) const {
    const int padded = (channels + block - 1) / block * block;
    return static_cast<size_t>(order == kChannelsLast ? pixel * padded + channel
                                                      : (channel / block * pixels() + pixel) * block + channel % block);
  }
};
void PrintTo(const FormatRow& row, std::ostream* to) { *to << row.name; }
class Formats : public PromiseTable<FormatRow> {};
TEST_P(Formats, AreInMemoryAsTheGuideSays) {
  const FormatRow& row = GetParam();
  Program p;
  p.network.reset(
      p.builder->createNetworkV2(1U << static_cast<uint32_t>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED)));
  p.behaviour.takes = [&](int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t) {
    const nv::PluginTensorDesc& desc = tensors[position].desc;
    return desc.type == row.type && desc.format == (position == 0 ? row.format : nv::TensorFormat::kLINEAR);
  };
  p.behaviour.run = [&](const Enqueue& e) {
    if (e.in[0].format != row.format || e.in[0].type != row.type) return 1;
    for (int channel = 0; channel < row.channels; ++channel)
      for (int pixel = 0; pixel < row.pixels(); ++pixel)
        std::memcpy(static_cast<std::byte*>(e.outputs[0]) +
                        static_cast<size_t>(channel * row.pixels() + pixel) * row.size_bytes,
                    static_cast<const std::byte*>(e.inputs[0]) + row.place(channel, pixel) * row.size_bytes,
                    row.size_bytes);
    return 0;
  };
  ASSERT_TRUE(row.is_of_volumes ? p.chain({1, row.channels, 2, 2, 2}, row.type)
                                : p.chain({1, row.channels, 2, 2}, row.type))
      << p.logger.take_errors();
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  // Bytes that differ from their neighbours, and are no NaN of any type.
  std::vector<std::byte> x(static_cast<size_t>(row.channels * row.pixels()) * row.size_bytes), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::byte>(i * 37 % 101);
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, x);
}
using enum nv::TensorFormat;
using enum nv::DataType;
const FormatRow kFormats[] = {
    {"Linear", kLINEAR, kFLOAT, 4, 3, 1, FormatRow::kPixelsLast},
    {"LinearHalf", kLINEAR, kHALF, 2, 3, 1, FormatRow::kPixelsLast},
    {"LinearBF16", kLINEAR, kBF16, 2, 3, 1, FormatRow::kPixelsLast},
    {"LinearInt8", kLINEAR, kINT8, 1, 3, 1, FormatRow::kPixelsLast},
    {"LinearInt32", kLINEAR, kINT32, 4, 3, 1, FormatRow::kPixelsLast},
    {"HWC", kHWC, kFLOAT, 4, 3, 1, FormatRow::kChannelsLast},
    {"DHWC", kDHWC, kFLOAT, 4, 3, 1, FormatRow::kChannelsLast, true},
    {"CHW2", kCHW2, kFLOAT, 4, 3, 2, FormatRow::kPixelsLast},
    {"CHW2Half", kCHW2, kHALF, 2, 3, 2, FormatRow::kPixelsLast},
    {"CHW4", kCHW4, kFLOAT, 4, 5, 4, FormatRow::kPixelsLast},
    {"CHW4Half", kCHW4, kHALF, 2, 5, 4, FormatRow::kPixelsLast},
    {"CHW4Int8", kCHW4, kINT8, 1, 5, 4, FormatRow::kPixelsLast},
    {"CHW16", kCHW16, kFLOAT, 4, 17, 16, FormatRow::kPixelsLast},
    {"CHW16Half", kCHW16, kHALF, 2, 17, 16, FormatRow::kPixelsLast},
    {"CHW32", kCHW32, kFLOAT, 4, 33, 32, FormatRow::kPixelsLast},
    {"CHW32Int8", kCHW32, kINT8, 1, 33, 32, FormatRow::kPixelsLast},
    {"HWC8Half", kHWC8, kHALF, 2, 9, 8, FormatRow::kChannelsLast},
    {"HWC8BF16", kHWC8, kBF16, 2, 9, 8, FormatRow::kChannelsLast},
    {"HWC16Half", kHWC16, kHALF, 2, 17, 16, FormatRow::kChannelsLast},
    {"DHWC8Half", kDHWC8, kHALF, 2, 9, 8, FormatRow::kChannelsLast, true},
    {"DHWC8BF16", kDHWC8, kBF16, 2, 9, 8, FormatRow::kChannelsLast, true},
    {"CDHW32", kCDHW32, kFLOAT, 4, 33, 32, FormatRow::kPixelsLast, true},
    {"CDHW32Half", kCDHW32, kHALF, 2, 33, 32, FormatRow::kPixelsLast, true},
    {"CDHW32Int8", kCDHW32, kINT8, 1, 33, 32, FormatRow::kPixelsLast, true},
};
INSTANTIATE_TEST_SUITE_P(Promises, Formats, ::testing::ValuesIn(kFormats),
                         [](const auto& info) { return row_name(info); });

// Extents.
struct OperationRow {
  const char* name;
  nv::DimensionOperation operation;
  int64_t (*value)(int64_t a, int64_t b);
};
void PrintTo(const OperationRow& row, std::ostream* to) { *to << row.name; }
const OperationRow kOperations[] = {
    {"Sum", nv::DimensionOperation::kSUM, [](int64_t a, int64_t b) { return a + b; }},
    {"Product", nv::DimensionOperation::kPROD, [](int64_t a, int64_t b) { return a * b; }},
    {"Max", nv::DimensionOperation::kMAX, [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"Min", nv::DimensionOperation::kMIN, [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"Difference", nv::DimensionOperation::kSUB, [](int64_t a, int64_t b) { return a - b; }},
    {"Equal", nv::DimensionOperation::kEQUAL, [](int64_t a, int64_t b) { return int64_t{a == b}; }},
    {"Less", nv::DimensionOperation::kLESS, [](int64_t a, int64_t b) { return int64_t{a < b}; }},
    {"FloorDivision", nv::DimensionOperation::kFLOOR_DIV, [](int64_t a, int64_t b) { return a / b; }},
    {"CeilDivision", nv::DimensionOperation::kCEIL_DIV, [](int64_t a, int64_t b) { return (a + b - 1) / b; }},
};
class DynamicExtents : public PromiseTable<OperationRow> {};
TEST_P(DynamicExtents, AreComputedInEachRun) {
  const OperationRow& row = GetParam();
  Program p;
  p.behaviour.shapes = [&](const nv::DimsExprs* in, const nv::DimsExprs*, nv::DimsExprs* out, nv::IExprBuilder& e) {
    out[0].nbDims = 1;
    const auto* extent = e.operation(row.operation, *in[0].d[0], *in[0].d[1]);
    out[0].d[0] = e.operation(nv::DimensionOperation::kSUM, *extent, *e.constant(1));  // never empty
  };
  p.behaviour.run = [](const Enqueue& e) {
    std::fill_n(static_cast<float*>(e.outputs[0]), volume(e.out[0].dims), 4.0f);
    return 0;
  };
  ASSERT_TRUE(p.chain({-1, -1}));
  p.profile("x", {3, 1}, {5, 2}, {7, 3});
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  for (const auto& [a, b] : {std::pair<int64_t, int64_t>{7, 2}, {3, 3}, {5, 1}}) {
    const int64_t expected = row.value(a, b) + 1;
    ASSERT_TRUE(loaded->context->setInputShape("x", dims({a, b})));
    EXPECT_EQ(text(loaded->context->getTensorShape("y")), std::to_string(expected)) << a << ' ' << b;
    Floats x(21), y(static_cast<size_t>(expected));
    loaded->set("x", x), loaded->set("y", y);
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    EXPECT_EQ(y.back(), 4);
    EXPECT_EQ(p.journal.count("onShapeChange " + text(dims({a, b})) + " -> " + std::to_string(expected)) > 0, true);
  }
}
INSTANTIATE_TEST_SUITE_P(Promises, DynamicExtents, ::testing::ValuesIn(kOperations),
                         [](const auto& info) { return row_name(info); });

// Resources of a context.
struct Allocator final : nv::IGpuAllocator {
  void* allocate(uint64_t size, uint64_t, nv::AllocatorFlags) noexcept override {
    constexpr uint64_t kAlignment = 256;
    return std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  }
  bool deallocate(void* memory) noexcept override { return std::free(memory), true; }
};
TEST_F(Promises, TheResourceContextHasTheRuntimesAllocator) {
  Program p;
  nv::IGpuAllocator* seen = nullptr;
  p.behaviour.attach = [&](nv::IPluginResourceContext* context) { seen = context->getGpuAllocator(); };
  ASSERT_TRUE(p.chain({2}));
  const auto plan = p.build();
  ASSERT_TRUE(plan);
  Allocator mine;
  std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(p.logger));
  runtime->setGpuAllocator(&mine);
  std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  ASSERT_TRUE(engine) << p.logger.take_errors();
  std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  ASSERT_TRUE(context);
  EXPECT_EQ(seen, &mine);
}

TEST_F(Promises, TheResourceContextOfABuildHasTheBuilders) {
  Program p({.tactics = {1, 2}});
  Allocator mine;
  p.builder->setGpuAllocator(&mine);
  nv::IGpuAllocator* seen = nullptr;
  p.behaviour.attach = [&](nv::IPluginResourceContext* context) { seen = context->getGpuAllocator(); };
  ASSERT_TRUE(p.chain({2}));
  ASSERT_TRUE(p.build());
  EXPECT_EQ(seen, &mine);
}

TEST_F(Promises, TheResourceContextHasAnAllocatorByDefault) {
  Program p;
  bool has_worked = false;
  p.behaviour.attach = [&](nv::IPluginResourceContext* context) {
    nv::IGpuAllocator* allocator = context->getGpuAllocator();
    void* memory = allocator ? allocator->allocateAsync(1000, 256, 0, nullptr) : nullptr;
    has_worked =
        memory && reinterpret_cast<uintptr_t>(memory) % 256 == 0 && allocator->deallocateAsync(memory, nullptr);
  };
  ASSERT_TRUE(p.chain({2}));
  ASSERT_TRUE(p.load());
  EXPECT_TRUE(has_worked);
}

}  // namespace
}  // namespace kiln::promises
