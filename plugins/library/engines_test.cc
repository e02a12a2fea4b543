// When engines of a plugin's layers are built, and how many are kept.
#include "library/engines.h"

#include <NvInferPlugin.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "ops/enqueue_kind.h"

namespace kiln::plugins {
namespace {

/// Counts what builds tell: nothing else does.
class Listener final : public nv::ILogger {
 public:
  void log(Severity, const char*) noexcept override {
    ++count;
    if (const std::function<void()> once = std::exchange(answer, nullptr)) once();
  }
  int count = 0;
  std::function<void()> answer;  ///< called when something is told the next time
};

class EnginesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    initLibNvInferPlugins(&listener, "");
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(listener));
    is_on_gpu = builder->platformHasFastFp16();
  }
  /// Whether a call builds an engine.
  template <class F>
  bool builds(F call) {
    listener.count = 0;
    call();
    return listener.count > 0;
  }
  Plugin clip() const {
    const auto definition = std::ranges::find(definitions(), std::string_view("Clip_TRT"), &Definition::name);
    return make_plugin(*definition, Fields::of(&collection_, definition->fields).value()).value();
  }
  /// Whether an engine for such a tensor is built.
  bool prepares(Engines& engines, int64_t extent) {
    const nv::PluginTensorDesc x = floats(extent);
    return builds([&] { EXPECT_TRUE(engines.prepare({.inputs = {&x, 1}, .outputs = {&x, 1}})); });
  }
  static nv::PluginTensorDesc floats(int64_t extent) {
    nv::PluginTensorDesc desc{};
    desc.type = nv::DataType::kFLOAT;
    desc.dims = nv::Dims{1, {extent}};
    return desc;
  }

  Listener& listener = *[] {
    static Listener* const first = new Listener;  // the library may keep it
    return first;
  }();
  bool is_on_gpu = false;
  const float least_ = -1, most_ = 1;
  const nv::PluginField fields_[2] = {{"clipMin", &least_, nv::PluginFieldType::kFLOAT32, 1},
                                      {"clipMax", &most_, nv::PluginFieldType::kFLOAT32, 1}};
  const nv::PluginFieldCollection collection_{2, fields_};
};

TEST_F(EnginesTest, OfTheLatestShapesAreKept) {
  const Plugin plugin = clip();
  Engines engines(plugin);
  for (size_t i = 1; i <= kMostEngines; ++i) EXPECT_TRUE(prepares(engines, static_cast<int64_t>(i)));
  EXPECT_FALSE(prepares(engines, 1));
  EXPECT_TRUE(prepares(engines, 100));  // in the place of the one that nobody used for the longest time
  EXPECT_FALSE(prepares(engines, 1));
  EXPECT_TRUE(prepares(engines, 2));
}

TEST_F(EnginesTest, ThatAGraphOfTheProgramsRunsAreKept) {
  if (is_on_gpu) GTEST_SKIP() << "memory here is the host's; KILN_DEVICE=cpu runs it";
  const Plugin plugin = clip();
  Engines engines(plugin);
  const float in[2] = {-2, 2};
  float out[2];
  const void* const from[] = {in};
  void* const to[] = {out};
  const auto enqueues = [&](int64_t extent, EnqueueKind kind) {
    const nv::PluginTensorDesc x = floats(extent);
    const EnqueueScope scope(kind);
    EXPECT_TRUE(engines.enqueue({.inputs = {&x, 1}, .outputs = {&x, 1}}, from, to, nullptr));
  };
  enqueues(1, EnqueueKind::kCapture);
  enqueues(2, EnqueueKind::kRecording);
  for (size_t i = 0; i < kMostEngines; ++i) EXPECT_TRUE(prepares(engines, static_cast<int64_t>(10 + i)));
  EXPECT_FALSE(prepares(engines, 1));
  EXPECT_FALSE(prepares(engines, 10)) << "it is not in the place of one of the latest";
  EXPECT_TRUE(prepares(engines, 2));
}

TEST_F(EnginesTest, ABuildsLoggerMayPrepareOthers) {
  const Plugin plugin = clip();
  Engines engines(plugin);
  listener.answer = [&] { prepares(engines, 2); };
  EXPECT_TRUE(prepares(engines, 1));
  EXPECT_FALSE(prepares(engines, 1));
  EXPECT_FALSE(prepares(engines, 2));
}

TEST_F(EnginesTest, OfVersion2AreBuiltWhenShapesAreTold) {
  if (is_on_gpu) GTEST_SKIP() << "memory here is the host's; KILN_DEVICE=cpu runs it";
  auto& creator = static_cast<nv::IPluginCreator&>(*getPluginRegistry()->getCreator("Clip_TRT", "1"));
  auto* const plugin = static_cast<nv::IPluginV2DynamicExt*>(creator.createPlugin("clip", &collection_));
  ASSERT_NE(plugin, nullptr);
  nv::DynamicPluginTensorDesc x{floats(4), floats(4).dims, floats(4).dims, floats(4).dims};
  EXPECT_FALSE(builds([&] { plugin->configurePlugin(&x, 1, &x, 1); })) << "a build has the layers themselves";
  plugin->attachToContext(nullptr, nullptr, nullptr);
  EXPECT_TRUE(builds([&] { plugin->configurePlugin(&x, 1, &x, 1); }));
  const float in[4] = {-2, 0, 0.5F, 2};
  float out[4];
  const void* const from[] = {in};
  void* const to[] = {out};
  EXPECT_FALSE(builds([&] { EXPECT_EQ(plugin->enqueue(&x.desc, &x.desc, from, to, nullptr, nullptr), 0); }));
  plugin->destroy();
}

}  // namespace
}  // namespace kiln::plugins
