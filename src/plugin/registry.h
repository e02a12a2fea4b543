/// Creators of plugins by name, version and namespace: the process's registry, and those of runtimes and builders,
/// whose parent it is.
#pragma once

#include <NvInferRuntime.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kiln::plugin {

/// Safe from several threads. Holds creators that the program owns.
class Registry final : public nvinfer1::IPluginRegistry {
 public:
  using AsciiChar = nvinfer1::AsciiChar;
  using Creator = nvinfer1::IPluginCreatorInterface;
  using OldCreator = nvinfer1::IPluginCreator;

  explicit Registry(nvinfer1::IPluginRegistry* parent = nullptr) : parent_(parent) {}
  ~Registry() override;
  void set_parent(nvinfer1::IPluginRegistry* parent);
  /// Sets the logger that is told of errors, beside the error recorder; null: none.
  void set_logger(nvinfer1::ILogger* logger);

  bool registerCreator(OldCreator& creator, AsciiChar const* plugin_namespace) noexcept override;
  OldCreator* const* getPluginCreatorList(int32_t* count) const noexcept override;
  OldCreator* getPluginCreator(AsciiChar const* name, AsciiChar const* version,
                               AsciiChar const* plugin_namespace) noexcept override;
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override;
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override;
  bool deregisterCreator(OldCreator const& creator) noexcept override;
  bool isParentSearchEnabled() const override;
  void setParentSearchEnabled(bool enabled) override;
  PluginLibraryHandle loadLibrary(AsciiChar const* path) noexcept override;
  void deregisterLibrary(PluginLibraryHandle handle) noexcept override;
  bool registerCreator(Creator& creator, AsciiChar const* plugin_namespace) noexcept override;
  Creator* const* getAllCreators(int32_t* count) const noexcept override;
  Creator* getCreator(AsciiChar const* name, AsciiChar const* version,
                      AsciiChar const* plugin_namespace) noexcept override;
  bool deregisterCreator(Creator const& creator) noexcept override;
  nvinfer1::IPluginResource* acquirePluginResource(AsciiChar const* key,
                                                   nvinfer1::IPluginResource* resource) noexcept override;
  int32_t releasePluginResource(AsciiChar const* key) noexcept override;
  Creator* const* getAllCreatorsRecursive(int32_t* count) noexcept override;

 private:
  struct Key {
    std::string name, version, plugin_namespace;
    auto operator<=>(const Key&) const = default;
  };
  struct Resource {
    nvinfer1::IPluginResource* clone = nullptr;
    int32_t users = 0;
  };
  void report(nvinfer1::ErrorCode code, const char* call, const std::string& message) const noexcept;
  void list_all();

  mutable std::mutex mutex_;
  nvinfer1::IPluginRegistry* parent_ = nullptr;
  bool search_parent_ = true;
  nvinfer1::IErrorRecorder* recorder_ = nullptr;
  nvinfer1::ILogger* logger_ = nullptr;
  std::map<Key, Creator*> creators_;
  std::map<std::string, Resource, std::less<>> resources_;
  std::vector<Creator*> all_;  ///< what getAllCreators answers, until the next change
  std::vector<OldCreator*> all_old_;
  std::vector<Creator*> all_recursive_;
};

/// The process's registry: `getPluginRegistry()` of the API, whose contract is a global. Never destroyed, since
/// creators deregister when libraries are unloaded.
Registry& process_registry();

}  // namespace kiln::plugin
