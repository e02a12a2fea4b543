// When engines of a plugin's layers are built, and how many are kept.
#include "library/engines.h"

#include <NvInferPlugin.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace kiln::plugins {
namespace {

/// Counts what builds tell: nothing else does.
class Listener final : public nv::ILogger {
 public:
  void log(Severity, const char*) noexcept override { ++count; }
  int count = 0;
};

class EnginesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    initLibNvInferPlugins(&listener, "");
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(listener));
    if (builder->platformHasFastFp16()) GTEST_SKIP() << "memory here is the host's; KILN_DEVICE=cpu runs it";
  }
  /// Whether a call builds an engine.
  template <class F>
  bool builds(F call) {
    listener.count = 0;
    call();
    return listener.count > 0;
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
  const float least_ = -1, most_ = 1;
  const nv::PluginField fields_[2] = {{"clipMin", &least_, nv::PluginFieldType::kFLOAT32, 1},
                                      {"clipMax", &most_, nv::PluginFieldType::kFLOAT32, 1}};
  const nv::PluginFieldCollection collection_{2, fields_};
};

TEST_F(EnginesTest, OfTheLatestShapesAreKept) {
  const auto clip = std::ranges::find(definitions(), std::string_view("Clip_TRT"), &Definition::name);
  ASSERT_NE(clip, definitions().end());
  const Plugin plugin = make_plugin(*clip, Fields::of(&collection_, clip->fields).value()).value();
  Engines engines(plugin);
  const auto prepares = [&](int64_t extent) {
    const nv::PluginTensorDesc x = floats(extent);
    return builds([&] { EXPECT_TRUE(engines.prepare({.inputs = {&x, 1}, .outputs = {&x, 1}})); });
  };
  for (size_t i = 1; i <= kMostEngines; ++i) EXPECT_TRUE(prepares(static_cast<int64_t>(i)));
  EXPECT_FALSE(prepares(1));
  EXPECT_TRUE(prepares(100));  // in the place of the one that nobody used for the longest time
  EXPECT_FALSE(prepares(1));
  EXPECT_TRUE(prepares(2));
}

TEST_F(EnginesTest, OfVersion2AreBuiltWhenShapesAreTold) {
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
