/// Plugins of a plan, as a runtime makes them.
#pragma once

#include <string>

#include "ops/plugin_object.h"
#include "plugin/make_plugins.h"
#include "plugin/registry.h"

namespace kiln::plan {

/// Reads every byte of the fields that it is given, and makes nothing of them.
class SeedCreator final : public nvinfer1::IPluginCreatorV3One {
 public:
  nvinfer1::IPluginV3* createPlugin(const char* layer, const nvinfer1::PluginFieldCollection* fields,
                                    nvinfer1::TensorRTPhase) noexcept override {
    read(layer, std::char_traits<char>::length(layer));
    for (int32_t i = 0; i < fields->nbFields; ++i) {
      const nvinfer1::PluginField& field = fields->fields[i];
      read(field.name, std::char_traits<char>::length(field.name));
      read(field.data, static_cast<size_t>(size_bytes(static_cast<PluginFieldType>(field.type), field.length)));
    }
    num_fields += fields->nbFields;
    return nullptr;
  }
  const nvinfer1::PluginFieldCollection* getFieldNames() noexcept override { return &none_; }
  const char* getPluginName() const noexcept override { return "Seed"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return "of seeds"; }
  int32_t num_fields = 0;  ///< so far

 private:
  void read(const void* data, size_t bytes) {
    const auto* at = static_cast<const volatile unsigned char*>(data);
    for (size_t i = 0; i < bytes; ++i) sum_ = sum_ + at[i];
  }
  const nvinfer1::PluginFieldCollection none_{};
  volatile unsigned sum_ = 0;
};

/// How many fields the creator of the seeds' plugin gets of a plan that a reader has accepted.
inline int32_t read_plugin_fields(const Plan& plan) {
  SeedCreator creator;
  plugin::Registry registry;
  registry.registerCreator(creator, creator.getPluginNamespace());
  static_cast<void>(plugin::make_plugins(std::make_shared<const Plan>(plan), {registry}, {}));
  registry.deregisterCreator(creator);
  return creator.num_fields;
}

}  // namespace kiln::plan
