#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "library/creators.h"
#include "library/engines.h"
#include "library/objects.h"

namespace kiln::plugins {
namespace {

struct Listener final : nv::ILogger {
  void log(Severity severity, const char* text) noexcept override {
    if (severity <= Severity::kWARNING) said.emplace_back(text);
  }
  std::vector<std::string> said;
};

/// What making a Clip_TRT of a field 'clipMin', another one and 'clipMax' tells.
std::vector<std::string> told_with(const char* another) {
  Listener listener;
  set_logger(&listener);
  const float least = 0, most = 1;
  const nv::PluginField fields[] = {{"clipMin", &least, nv::PluginFieldType::kFLOAT32, 1},
                                    {another, &most, nv::PluginFieldType::kFLOAT32, 1},
                                    {"clipMax", &most, nv::PluginFieldType::kFLOAT32, 1}};
  const nv::PluginFieldCollection collection{3, fields};
  for (const Definition& definition : definitions()) {
    if (std::string(definition.name) != "Clip_TRT") continue;
    const auto creator = make_creator(definition, "");
    nv::IPluginV2* const made = static_cast<nv::IPluginCreator&>(*creator).createPlugin("", &collection);
    EXPECT_NE(made, nullptr);
    if (made) made->destroy();
  }
  set_logger(nullptr);
  return listener.said;
}

TEST(Create, WarnsOfFieldsThatThePluginDoesNotKnow) {
  EXPECT_EQ(told_with("clip_max"),
            std::vector<std::string>{"Clip_TRT version 1: it has no field 'clip_max', which is ignored"});
}

/// Clones share the fields, which may be a table of weights.
TEST(Create, ClonesHaveNoFieldsOfTheirOwn) {
  const int32_t in_half = 0;
  const float bias[] = {1, 2, 3}, least = 0, most = 1;
  const nv::PluginField of_clip[] = {{"clipMin", &least, nv::PluginFieldType::kFLOAT32, 1},
                                     {"clipMax", &most, nv::PluginFieldType::kFLOAT32, 1}};
  const nv::PluginField of_gelu[] = {{"type_id", &in_half, nv::PluginFieldType::kINT32, 1},
                                     {"bias", bias, nv::PluginFieldType::kFLOAT32, 3}};
  int seen = 0;
  for (const Definition& definition : definitions()) {
    const std::string name = str(definition.name, ' ', definition.version);
    const auto creator = make_creator(definition, "");
    if (name == "Clip_TRT 1") {
      const nv::PluginFieldCollection fields{2, of_clip};
      auto* const made = static_cast<nv::IPluginCreator&>(*creator).createPlugin("", &fields);
      ASSERT_NE(made, nullptr);
      auto* const clone = made->clone();
      EXPECT_EQ(known_plugin(clone), known_plugin(made));
      clone->destroy(), made->destroy();
      ++seen;
    }
    if (name == "CustomGeluPluginDynamic 2") {
      const nv::PluginFieldCollection fields{2, of_gelu};
      const std::unique_ptr<nv::IPluginV3> made(
          static_cast<nv::IPluginCreatorV3One&>(*creator).createPlugin("", &fields, nv::TensorRTPhase::kBUILD));
      ASSERT_NE(made, nullptr);
      const std::unique_ptr<nv::IPluginV3> clone(made->clone());
      EXPECT_EQ(known_plugin(clone.get()), known_plugin(made.get()));
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace kiln::plugins
