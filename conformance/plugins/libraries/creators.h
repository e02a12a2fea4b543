/// Creators for libraries of plugins in tests. They create nothing.
#pragma once

#include <NvInferRuntime.h>

#include <string>

/// Makes a function of the library visible to the program that loads it.
#define LIBRARY_ENTRY extern "C" __attribute__((visibility("default")))

class NewCreator final : public nvinfer1::IPluginCreatorV3One {
 public:
  explicit NewCreator(const char* name = "New", const char* plugin_namespace = "")
      : name_(name), namespace_(plugin_namespace) {}
  nvinfer1::IPluginV3* createPlugin(char const*, nvinfer1::PluginFieldCollection const*,
                                    nvinfer1::TensorRTPhase) noexcept override {
    return nullptr;
  }
  nvinfer1::PluginFieldCollection const* getFieldNames() noexcept override { return nullptr; }
  char const* getPluginName() const noexcept override { return name_; }
  char const* getPluginVersion() const noexcept override { return "1"; }
  char const* getPluginNamespace() const noexcept override { return namespace_; }

 private:
  const char *name_, *namespace_;
};

class OldCreator final : public nvinfer1::IPluginCreator {
 public:
  nvinfer1::IPluginV2* createPlugin(char const*, nvinfer1::PluginFieldCollection const*) noexcept override {
    return nullptr;
  }
  nvinfer1::IPluginV2* deserializePlugin(char const*, void const*, size_t) noexcept override { return nullptr; }
  nvinfer1::PluginFieldCollection const* getFieldNames() noexcept override { return nullptr; }
  char const* getPluginName() const noexcept override { return "Old"; }
  char const* getPluginVersion() const noexcept override { return "2"; }
  void setPluginNamespace(char const* plugin_namespace) noexcept override { namespace_ = plugin_namespace; }
  char const* getPluginNamespace() const noexcept override { return namespace_.c_str(); }

 private:
  std::string namespace_;
};
