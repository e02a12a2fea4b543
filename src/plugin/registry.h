/// Creators of plugins by name, version and namespace: the process's registry, and those of runtimes and builders,
/// whose parent it is.
#pragma once

#include <NvInferRuntime.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/library.h"
#include "plugin/resources.h"

namespace kiln::plugin {

/// Safe from several threads. Holds creators that the program or a library owns. Code of the program (a creator, a
/// resource, a library, a parent, a recorder, a logger) runs under no lock, so it may come back here.
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
  nvinfer1::ILogger* logger() const;
  /// Whether there is a resource of a class of the library, or a creator that `loadLibrary` did not register.
  bool uses_code_of(const Library& library) const;
  /// Deregisters the library's creators that `loadLibrary` did not register.
  void remove_code_of(const Library& library);

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
  struct Loaded {
    Library library;
    std::set<PluginLibraryHandle> handles;
  };
  struct Entry {
    Creator* creator;
    OldCreator* old;        ///< the same, if it is an old one
    const void* code;       ///< of its class
    const Loaded* library;  ///< which loadLibrary registered it from; null: the program did
    /// Keeps the library of its class loaded, which another registry may have loaded. Null: of `library`, or in a
    /// registry that lives as long as the process, for which libraries stay loaded by themselves.
    std::shared_ptr<const void> held_code;
    /// Whether the program or an initialiser registered it, and its code or the object itself is of the library.
    bool is_own_of(const Library& of) const { return !library && (of.contains(code) || of.contains(creator)); }
  };
  using Entries = std::map<Key, Entry>;

  static Result<std::pair<Key, Entry>> describe(Creator& creator, AsciiChar const* plugin_namespace);
  static std::string text_of(const Key& key);
  Status add(Creator& creator, AsciiChar const* plugin_namespace);
  Status remove(const Creator& creator);
  Result<PluginLibraryHandle> load(AsciiChar const* path);
  Result<PluginLibraryHandle> add(Library& library);
  Result<PluginLibraryHandle> add(Library& library, std::vector<std::pair<Key, Entry>> described);
  Status unload(PluginLibraryHandle handle);
  Status check_free(const Key& key) const;
  nvinfer1::IPluginRegistry* parent() const;
  std::shared_ptr<nvinfer1::IErrorRecorder> held_recorder() const;
  std::vector<Creator*> all() const;
  template <class T, class F>
  T guarded(const char* call, T otherwise, F body) const noexcept;
  template <class F>
  bool succeeds(const char* call, F body) const noexcept;
  bool report(const char* call, const Status& status) const;
  void report_current_exception(const char* call) const noexcept;
  void tell(nvinfer1::ErrorCode code, const char* to_recorder, const char* to_logger) const noexcept;

  mutable std::mutex mutex_;
  nvinfer1::IPluginRegistry* parent_ = nullptr;
  bool search_parent_ = true;
  std::shared_ptr<nvinfer1::IErrorRecorder> recorder_;  ///< holds a reference of it
  nvinfer1::ILogger* logger_ = nullptr;
  std::vector<std::unique_ptr<Loaded>> libraries_;
  Entries creators_;
  Resources resources_;
  /// Every list that was given out, each content once: a thread may read one while another changes the registry.
  mutable std::set<std::vector<Creator*>> lists_;
  mutable std::set<std::vector<OldCreator*>> old_lists_;
};

/// What `body` returns, a T or a Result<T>. Where it fails or throws, `otherwise`, and recorder and logger are told.
template <class T, class F>
T Registry::guarded(const char* call, T otherwise, F body) const noexcept {
  try {
    const Result<T> result = body();
    if (result) return *result;
    report(call, std::unexpected(result.error()));
  } catch (...) {
    report_current_exception(call);
  }
  return otherwise;
}

/// Whether `body`, which returns a Status, succeeds.
template <class F>
bool Registry::succeeds(const char* call, F body) const noexcept {
  return guarded(call, false, [&]() -> Result<bool> {
    TRY(body());
    return true;
  });
}

/// The process's registry: `getPluginRegistry()` of the API, whose contract is a global. Never destroyed, since
/// creators deregister when libraries are unloaded.
Registry& process_registry();
/// Creators for engines of EngineCapability::kSAFETY, which Kiln does not build: `getSafePluginRegistry()`.
Registry& safe_registry();

}  // namespace kiln::plugin
