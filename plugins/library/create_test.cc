#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "library/creators.h"
#include "library/engines.h"

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
            std::vector<std::string>{"Clip_TRT version 1: the field 'clip_max' is none of its; it has no effect"});
}

}  // namespace
}  // namespace kiln::plugins
